/**
 * SQLite as a target: rows wait in the text of PostgreSQL's COPY and are bound to prepared statements. A reader does not wait for a load,
 * because a file that a load makes keeps a write-ahead log.
 */
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { RowRemover, RowSink } from '../../../ports/rows/sink.ts';
import {
  createDatabaseFileRemover,
  DatabaseFileSink,
  type DatabaseFileRemoverOptions,
  type DatabaseFileOptions,
  type FileDriver,
} from '../database-files.ts';
import { adaptTable, drawForRows } from './alter-tables.ts';
import { foldedName, openSqlite, sqliteFault, type SqliteDb } from './database.ts';
import { makeIndexes } from './indexes.ts';
import { addSideRows, insertRows, looksStaged } from './insert-rows.ts';
import { readTables, tableStatement } from './tables.ts';
import { keepCodeTexts, keepHigherKey } from '../publication.ts';
import { isText } from './types.ts';

export function createSqliteRowSink(options: DatabaseFileOptions): RowSink {
  return new DatabaseFileSink(sqliteDriver, options);
}

export function createSqliteRowRemover(options: DatabaseFileRemoverOptions): RowRemover {
  return createDatabaseFileRemover(sqliteDriver, options);
}

export const sqliteDriver: FileDriver<SqliteDb> = {
  title: 'SQLite',
  scheme: 'sqlite',
  dialect: sqlite,
  encoding: 'copy-text',
  scalesDecimals: false,
  // a number of more than 15 digits is kept as text
  decimalRoom: { digits: 0, fraction: 0 },
  sidecars: ['-wal', '-shm', '-journal'],
  begin: 'BEGIN IMMEDIATE',
  keepHigherKey: keepHigherKey('max'),
  keepCodeTexts,
  foldedName,
  readTables,
  now: () => standardLiteral(new Date().toISOString()),
  instant: standardLiteral,
  async latestChange(database) {
    const [row] = database.read<{ latest: string | null }>(
      `SELECT max(max(valid_from, coalesce(valid_to, valid_from))) AS latest FROM ${sideTableNames.documents}`,
    );
    return row!.latest;
  },
  open: (path, { label, busyTimeoutMs, signal, isNew }) =>
    openSqlite(path, { label, busyTimeoutMs, signal, isNew }),
  async readOnly(path, { label, busyTimeoutMs }, read) {
    const database = await openSqlite(path, { label, busyTimeoutMs, readOnly: true });
    try {
      return await read(database);
    } finally {
      database.close();
    }
  },
  looksStaged,
  drawForRows: ({ plan, known, widened, nullAllowed }) =>
    drawForRows(plan.model, known, { widened, nullAllowed }),
  async readyTable(publication, index) {
    const table = publication.drawn.tables[index]!;
    const there = publication.known.get(foldedName(table.name));
    if (there !== undefined) return adaptTable(publication, index, there);
    await publication.database.run(tableStatement(table));
    return table.columns.map(({ sqlType }) => sqlType);
  },
  addRows: insertRows,
  addSideRows,
  finishTables: makeIndexes,
  isText,
  isAsModelled: ({ type }, { sqlType }) => type === sqlType || !isText(type),
  viewStatements: ({ name, query }, comment) => [
    `CREATE VIEW ${sqlite.quote(name)} AS /* ${comment.replaceAll('*/', '* /').replaceAll('/*', '/ *')} */\n${query.replace(/^\s*/, '')}`,
  ],
  viewRefusal: (error) => (error as Error).message.split('\n')[0]!,
  async settle(database, isNew) {
    // from now on readers and the next load do not wait for each other
    await database.run(isNew ? 'PRAGMA journal_mode = WAL' : 'PRAGMA wal_checkpoint(PASSIVE)');
  },
  faultOf: sqliteFault,
};
