/** Folders that attempts write into until they publish. A mark file identifies such a folder, because any folder may have such a name. */
import { mkdir, readFile, readdir, rm, rmdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

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
