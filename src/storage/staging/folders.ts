/** Folders that a load creates: with missing parents, marked as a target, and removed again if the load fails. */
import { mkdir, stat, rmdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, basename, join } from 'node:path';

// Folders made with all that are missing above them. Node's own `recursive` asks again and again for one that can never be: below
// `/proc` every new name "is not there", though the folder above it is.

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
    if (codeOf(error) !== 'ENOENT' || parent === directory) return ignoreExisting(directory, error);
    const outermost = await makeWithParents(parent, mode);
    await mkdir(directory, { mode }).catch((second: unknown) => ignoreExisting(directory, second));
    return outermost ?? directory;
  }
}

/** Some systems say of an existing folder that it may not be made, before they say that it exists. */
async function ignoreExisting(directory: string, error: unknown): Promise<undefined> {
  const found = await stat(directory).catch(() => null);
  if (found?.isDirectory() !== true) throw error;
  return undefined;
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown }).code;
}

// Folders that a job had to create for its target; they are removed again when the job publishes nothing.

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

// Folders that attempts write into until they publish. A mark file identifies such a folder, because any folder may have such a name.

const markName = '.svc-staging';

export async function makeStaging(directory: string): Promise<void> {
  await mkdir(directory);
  await writeFile(join(directory, markName), basename(directory), { flag: 'wx' });
}

/** Removes a folder of a dead attempt, even if it died before the mark was written; folders of others stay. */
export async function removeDeadStaging(directory: string): Promise<void> {
  if (await isStaging(directory)) return rm(directory, { recursive: true, force: true });
  const names = await readdir(directory).catch(() => null);
  const mark = join(directory, markName);
  if (names?.join('/') === markName && (await readFile(mark, 'utf8')) === '') await rm(mark);
  else if (names?.length !== 0) return;
  // a link to an empty folder is none
  await rmdir(directory).catch(() => undefined);
}

/** Whether an attempt made it, under the name that it has now. */
export async function isStaging(directory: string): Promise<boolean> {
  const mark = await readFile(join(directory, markName), 'utf8').catch(() => null);
  return mark === basename(directory);
}
