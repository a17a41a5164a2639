/**
 * Links this project's own commands into node_modules/.bin after an installation, so that `npx xml2er …` works in a
 * checkout: without the links npx would first set up a copy of the project in its cache.
 */
import { mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const folder = new URL('node_modules/.bin/', root);
const { bin } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

if (process.platform !== 'win32') {
  mkdirSync(folder, { recursive: true });
  for (const [name, path] of Object.entries(bin)) {
    const link = fileURLToPath(new URL(name, folder));
    rmSync(link, { force: true });
    symlinkSync(`../../${path}`, link);
  }
}
