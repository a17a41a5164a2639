/** `npm run docs:reference`: the pages of docs/reference that describe registries of the code, written anew from them. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptOptions } from './options.ts';
import { referencePages } from './reference/pages.ts';

scriptOptions(import.meta.filename, {});
const root = join(import.meta.dirname, '..');
const pages = Object.entries(await referencePages());
for (const [path, text] of pages) writeFileSync(join(root, path), text);
execFileSync(
  join(root, 'node_modules/.bin/oxfmt'),
  pages.map(([path]) => path),
  { cwd: root },
);
