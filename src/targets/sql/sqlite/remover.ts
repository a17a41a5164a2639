/** Takes documents out of a SQLite file, in one transaction. Which rows hang from them is told by the file's own foreign keys. */
import { dirname, join, resolve, basename } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { hasOtherKeys, otherKeysMessage } from '../../../engine/model/key-columns.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { RemovalPlan, Removed, RowRemover } from '../../../ports/rows/remover.ts';
import { lockDatabaseFile } from '../database-files/staging.ts';
import { refuseLink } from '../../../adapters/folder/loaded-documents.ts';
import { pinFolder } from '../../../adapters/local-files/open-folder.ts';
import { foldedName, openSqlite, sqliteFault, type SqliteDb } from './database.ts';
import { readSqliteLoads } from './ledger.ts';
import { readTables, type FoundTables } from './tables.ts';
import { SqliteRemoval } from './document-removal.ts';
import { drawModel, type DrawnModel } from './publication.ts';
import { publishedQuery, ledgerStatement } from '../../../adapters/row-sinks/ledger.ts';
import { refusePreRelease } from '../../../adapters/row-sinks/pre-release.ts';

export interface SqliteRowRemoverOptions {
  readonly file: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for a job that publishes into the file (15 minutes) */
  readonly lockTimeoutMs?: number;
  /** how long to wait for another program that writes into the file (30 seconds) */
  readonly busyTimeoutMs?: number;
}

export function createSqliteRowRemover(options: SqliteRowRemoverOptions): RowRemover {
  const label = `sqlite:${options.file}`;
  const { busyTimeoutMs, refuseLinks = false, lockTimeoutMs = 15 * 60_000 } = options;
  const held = async <T>(work: (file: string) => Promise<T>): Promise<T> => {
    try {
      const path = resolve(options.file);
      const folder = await pinFolder(dirname(path), refuseLinks ? 'refuse' : 'follow');
      try {
        const file = join(folder.path, basename(path));
        if (refuseLinks)
          for (const end of ['', '-wal', '-shm', '-journal']) await refuseLink(`${file}${end}`);
        return await work(file);
      } finally {
        await folder.close();
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        throw new AppError('not_found', `${label}: there is no such file.`);
      throw sqliteFault(error, label);
    }
  };
  return {
    label,
    loads: () => held((file) => readSqliteLoads(file, label, busyTimeoutMs)),
    removeDocuments: (plan, fence) =>
      held(async (file) => {
        const lock = await lockDatabaseFile(file, lockTimeoutMs, label);
        try {
          const database = await openSqlite(file, { label, busyTimeoutMs });
          try {
            return await removeDocuments(database, label, plan, fence);
          } finally {
            database.close();
          }
        } finally {
          await lock.release();
        }
      }),
    close: () => Promise.resolve(),
  };
}

async function removeDocuments(
  database: SqliteDb,
  label: string,
  plan: RemovalPlan,
  fence: (removed: Removed) => Promise<boolean>,
): Promise<Removed> {
  await database.run('BEGIN IMMEDIATE');
  let isOpen = true;
  try {
    const removed = await removeNamed(database, plan, label);
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

/** Refuses what is not as it should be, removes, and keeps the ledger's sums: they go on telling what the target holds. */
async function removeNamed(database: SqliteDb, plan: RemovalPlan, label: string): Promise<Removed> {
  const known = readTables(database);
  const drawn = drawModel(plan.model);
  if (!known.has(sideTableNames.documents))
    throw new AppError('not_found', `${label}: no documents were loaded there.`);
  refusePreRelease(label, (name) => known.get(name)?.columns);
  checkKeys(known, plan, drawn, label);
  const { idLschma, documentName } = plan;
  const done = database.read(publishedQuery(plan, doubleQuoted));
  if (done.length > 0) return { documents: 0, rows: {}, already: true };
  const removal = new SqliteRemoval(database, plan.model, drawn, known);
  const { documents, rows } = await removal.remove(`name = ${standardLiteral(documentName)}`);
  if (documents === 0)
    throw new AppError(
      'not_found',
      `${label}: no document called ${documentName} was loaded with logical schema ${idLschma}.`,
    );
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0);
  await database.run(
    ledgerStatement(
      plan,
      { documents: -documents, rows: -total },
      {
        into: doubleQuoted(sideTableNames.loads),
        now: standardLiteral(new Date().toISOString()),
        quote: doubleQuoted,
      },
    ),
  );
  return { documents, rows, already: false };
}

function checkKeys(known: FoundTables, { model }: RemovalPlan, drawn: DrawnModel, label: string): void {
  for (const [index, { columns }] of model.tables.entries()) {
    const { name } = drawn.tables[index]!;
    const there = known.get(foldedName(name))?.columns;
    const has = (key: string): boolean => there!.has(foldedName(physicalName(sqlite, key)));
    if (there !== undefined && hasOtherKeys(columns, has))
      throw new AppError('conflict', otherKeysMessage(label, name));
  }
}
