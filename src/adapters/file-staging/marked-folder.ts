/** Folders that attempts write into until they publish: what marks one is a file in it, as a name alone may be anybody's. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

const markName = '.svc-staging';

export async function makeStaging(directory: string): Promise<void> {
  await mkdir(directory);
  await writeFile(join(directory, markName), basename(directory), { flag: 'wx' });
}

/** Whether an attempt made it, under the name that it has now. */
export async function isStaging(directory: string): Promise<boolean> {
  const mark = await readFile(join(directory, markName), 'utf8').catch(() => null);
  return mark === basename(directory);
}
