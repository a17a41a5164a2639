/** Folders that a job had to create for its target; they are removed again when the job publishes nothing. */
import { rmdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from './create-folder.ts';

export interface CreatedFolders {
  /** Removes those of them that are empty. */
  remove(): Promise<void>;
}

export async function makeFolders(directory: string): Promise<CreatedFolders> {
  const outermost = await makeFolder(directory);
  return {
    remove: async () => {
      if (outermost === undefined) return;
      for (let folder = directory; folder !== dirname(outermost); folder = dirname(folder)) {
        try {
          await rmdir(folder);
        } catch {
          return;
        }
      }
    },
  };
}
