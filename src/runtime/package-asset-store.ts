/** The reference page's files, out of the installed package `swagger-ui-dist`. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { docAssetNames, type AssetStore } from '../ports/files.ts';

export function createPackageAssetStore(): AssetStore {
  const require = createRequire(import.meta.url);
  return {
    read: async (name) => {
      // Only the fixed names ever become part of a path
      const known = docAssetNames.find((candidate) => candidate === name);
      if (known === undefined) return null;
      try {
        return Uint8Array.from(await readFile(require.resolve(`swagger-ui-dist/${known}`)));
      } catch {
        return null;
      }
    },
  };
}
