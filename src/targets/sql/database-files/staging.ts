/** Where a job's rows wait beside the file of a database, and the lock of that file: both tell whether their process still lives. */
import { randomBytes } from 'node:crypto';
import { access, readdir, rm, rmdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import {
  isDeadLock,
  lockFile,
  lockFolder,
  lockName,
  type FileLock,
} from '../../../adapters/file-staging/lock.ts';
import { isStaging, makeStaging } from '../../../adapters/file-staging/marked-folder.ts';

/** One writer of the file at a time: DuckDB's own lock does not hold within one process, and SQLite's waits without end to its queue. */
export function lockDatabaseFile(file: string, timeoutMs: number, label: string): Promise<FileLock> {
  return lockFile(join(dirname(file), `.${basename(file)}${lockName}`), timeoutMs, label);
}

export interface StagingFolder {
  readonly directory: string;
  /** Removes it with all that is in it. */
  remove(): Promise<void>;
}

export async function makeStagingFolder(file: string, idJob: number): Promise<StagingFolder> {
  const directory = join(dirname(file), `${stagingPrefix(file)}${idJob}-${randomBytes(4).toString('hex')}`);
  await makeStaging(directory);
  const lock = await lockFolder(directory, 0);
  return {
    directory,
    remove: async () => {
      // what tells whose it is goes last: who is killed here leaves what the next one knows again
      for (const name of await readdir(directory))
        if (!name.startsWith('.svc-')) await rm(join(directory, name), { recursive: true, force: true });
      await lock.release();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** What attempts left that died. Called under the file's lock, so that none is just being made without one. */
export async function removeDeadStaging(file: string): Promise<void> {
  const draft = `.${basename(file)}${lockName}-`;
  for (const name of await readdir(dirname(file))) {
    // a lock that was not taken yet
    if (name.startsWith(draft) && (await isDeadLock(join(dirname(file), name))))
      await rm(join(dirname(file), name), { force: true });
    if (!name.startsWith(stagingPrefix(file))) continue;
    const directory = join(dirname(file), name);
    if (await isStaging(directory)) {
      if ((await isDeadLock(join(directory, lockName))) || !(await holds(directory, lockName)))
        await rm(directory, { recursive: true, force: true });
    } else if ((await readdir(directory)).length === 0) await rmdir(directory);
  }
}

async function holds(directory: string, name: string): Promise<boolean> {
  return access(join(directory, name)).then(
    () => true,
    () => false,
  );
}

function stagingPrefix(file: string): string {
  return `.${basename(file)}.svc-staging-`;
}
