/** Removes documents from a database that is one file, in one transaction. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError } from '../../../errors.ts';
import type { RowRemover } from '../../../ports/rows/remover.ts';
import { refuseLink } from '../../files/folder/loaded-documents.ts';
import { pinFolder } from '../../../adapters/local-files/open-folder.ts';
import { removeInTransaction } from '../removal.ts';
import { readFileLoads, type DatabaseFileOptions, type FileDatabase, type FileDriver } from './sink.ts';
import { lockDatabaseFile } from './staging.ts';

export type DatabaseFileRemoverOptions = Omit<DatabaseFileOptions, 'signal'>;

export function createDatabaseFileRemover<Database extends FileDatabase>(
  driver: FileDriver<Database>,
  options: DatabaseFileRemoverOptions,
): RowRemover {
  const label = `${driver.scheme}:${options.file}`;
  const { busyTimeoutMs, refuseLinks = false, lockTimeoutMs = 15 * 60_000 } = options;
  const withFile = async <T>(work: (file: string) => Promise<T>): Promise<T> => {
    try {
      const path = resolve(options.file);
      const folder = await pinFolder(dirname(path), refuseLinks ? 'refuse' : 'follow');
      try {
        const file = join(folder.path, basename(path));
        if (refuseLinks) for (const end of ['', ...driver.sidecars]) await refuseLink(`${file}${end}`);
        return await work(file);
      } finally {
        await folder.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        throw new AppError('not_found', `${label}: there is no such file.`);
      throw driver.faultOf(error, label);
    }
  };
  /** The file, open and locked. */
  const withDatabase = async <T>(file: string, work: (database: Database) => Promise<T>): Promise<T> => {
    const lock = await lockDatabaseFile(file, lockTimeoutMs, label);
    const directory = await mkdtemp(join(tmpdir(), 'removal-'));
    try {
      const staged = new Map();
      const database = await driver.open(file, { label, staged, isNew: false, directory, busyTimeoutMs });
      try {
        return await work(database);
      } finally {
        database.close();
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
      await lock.release();
    }
  };
  return {
    label,
    loads: () => withFile((file) => readFileLoads(driver, file, { label, busyTimeoutMs })),
    removeDocuments: (plan, fence) =>
      withFile((file) =>
        withDatabase(file, async (database) => {
          const removed = await removeInTransaction(driver, database, label, plan, fence);
          // the removal is committed, whatever becomes of the log
          if (!plan.dryRun) await driver.settle(database, false).catch(() => undefined);
          return removed;
        }),
      ),
    close: () => Promise.resolve(),
  };
}
