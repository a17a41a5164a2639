/** Removes documents from a database that is one file, in one transaction. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../../ports/rows/remover.ts';
import { refuseLink } from '../../../adapters/folder/loaded-documents.ts';
import { pinFolder } from '../../../adapters/local-files/open-folder.ts';
import { ledgerStatement, publishedQuery } from '../../../adapters/row-sinks/ledger.ts';
import { checkFoundTables } from '../found-tables.ts';
import { drawModel } from '../publication.ts';
import { removeDocuments } from '../removal.ts';
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

async function removeInTransaction<Database extends FileDatabase>(
  driver: FileDriver<Database>,
  database: Database,
  label: string,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  await database.run(driver.begin);
  let isOpen = true;
  try {
    const removed = await removeNamed(driver, database, label, plan);
    if (plan.dryRun || removed.already) return removed;
    if (!(await fence(removed)))
      throw new AppError('conflict', 'The job is another worker’s by now: nothing was removed.');
    await database.run('COMMIT');
    isOpen = false;
    return removed;
  } finally {
    if (isOpen) await database.run('ROLLBACK');
  }
}

/** Removes the documents of that name, and notes in the ledger how much the target holds less. */
async function removeNamed<Database extends FileDatabase>(
  driver: FileDriver<Database>,
  database: Database,
  label: string,
  plan: RemovalPlan,
): Promise<Removed> {
  const { quote, literal } = driver.dialect;
  const { model, idLschma, documentName } = plan;
  const known = await driver.readTables(database);
  const drawn = drawModel(model, driver.dialect);
  if (!known.has(sideTableNames.documents))
    throw new AppError('not_found', `${label}: no documents were loaded there.`);
  checkFoundTables(driver, label, known, drawn, false);
  if ((await database.read(publishedQuery(plan, quote))).length > 0)
    return { documents: 0, rows: {}, already: true };
  const { documents, rows } = await removeDocuments(
    { database, driver, model, drawn, known },
    `name = ${literal(documentName)}`,
  );
  if (documents === 0)
    throw new AppError(
      'not_found',
      `${label}: no document called ${documentName} was loaded with logical schema ${idLschma}.`,
    );
  const removed = Object.values(rows).reduce((sum, count) => sum + count, 0);
  await database.run(
    ledgerStatement(
      plan,
      { documents: -documents, rows: -removed },
      { into: quote(sideTableNames.loads), now: driver.now(), quote },
    ),
  );
  return { documents, rows, already: false };
}
