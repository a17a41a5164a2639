/** The documentation that `npm run docs` builds into the folder of the installation. */
import { readFile } from 'node:fs/promises';
import { installation } from '../installation.ts';
import type { AssetStore } from '../ports/files.ts';

/** `folder`: ends in a slash. */
export function createHelpStore(folder = new URL('dist/help/', installation)): AssetStore {
  return {
    async read(name) {
      const file = new URL(name, folder);
      if (!file.href.startsWith(folder.href)) return null;
      try {
        return Uint8Array.from(await readFile(file));
      } catch {
        return null;
      }
    },
  };
}
