/**
 * Folders made with all that are missing above them. Node's own `recursive` asks again and again for one that can never be: below
 * `/proc` every new name "is not there", though the folder above it is.
 */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Number of times that making a folder is restarted: others may remove empty parent folders meanwhile. */
const attempts = 10;

/** Returns the outermost folder that was made, if any; throws the system's fault. `mode`: mode of each folder that is made. */
export async function makeFolder(directory: string, mode = 0o777): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await makeWithParents(directory, mode);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT' || attempt === attempts) throw error;
    }
  }
}

async function makeWithParents(directory: string, mode: number): Promise<string | undefined> {
  try {
    await mkdir(directory, { mode });
    return directory;
  } catch (error) {
    const parent = dirname(directory);
    if (codeOf(error) !== 'ENOENT' || parent === directory) return unlessThere(directory, error);
    const outermost = await makeWithParents(parent, mode);
    await mkdir(directory, { mode }).catch((second: unknown) => unlessThere(directory, second));
    return outermost ?? directory;
  }
}

/** Some systems say of an existing folder that it may not be made, before they say that it exists. */
async function unlessThere(directory: string, error: unknown): Promise<undefined> {
  const found = await stat(directory).catch(() => null);
  if (found?.isDirectory() !== true) throw error;
  return undefined;
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}
