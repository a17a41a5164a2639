/** `npm run docs`: the documentation as a static site with search, in `dist/help`, where the service finds it and serves it at /help. */
import { join } from 'node:path';
import { scriptOptions } from './options.ts';
import { buildSite } from './site/build.ts';

scriptOptions(import.meta.filename, {});
const root = join(import.meta.dirname, '..');
const { pages, files, bytes } = await buildSite(root, join(root, 'dist/help'));
process.stdout.write(`dist/help: ${pages} pages, ${files} files, ${(bytes / 1024 / 1024).toFixed(1)} MiB\n`);
