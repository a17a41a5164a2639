/**
 * Rows into a SQLite file: text beside it while documents are read, then one transaction that takes it in
 * (src/targets/sql/database-files/sink.ts). Readers are not held up: a file that a load makes keeps a write-ahead log.
 */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import {
  currentDocumentsQuery,
  documentColumns,
  loadedDocumentsQuery,
  unmappedContentQuery,
  type Loading,
} from '../../../engine/sql/loaded-documents.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { hasOtherKeys, otherKeysMessage } from '../../../engine/model/key-columns.ts';
import { sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { CurrentDocument, MergeOrder, UnmappedOfDocument } from '../../../ports/rows/merge.ts';
import type { Published, RowSink, SinkPlan, ZonesThere } from '../../../ports/rows/sink.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import { DatabaseFileSink, type DatabaseFileOptions, type StagedTables } from '../database-files/sink.ts';
import { foldedName, openSqlite, sqliteFault, type SqliteDb } from './database.ts';
import { readSqliteLoads } from './ledger.ts';
import { looksStaged } from './staged-text.ts';
import { readTables, type FoundTables } from './tables.ts';
import { drawModel, type DrawnModel, type SqlitePublication } from './publication.ts';
import { givenKeys, publishRows } from './publish.ts';
import { publishedQuery } from '../../../adapters/row-sinks/ledger.ts';
import { refusePreRelease } from '../../../adapters/row-sinks/pre-release.ts';
import {
  currentDocumentOf,
  unmappedContentOf,
  type CurrentDocumentRow,
  type UnmappedContentRow,
} from '../../../adapters/row-sinks/current-documents.ts';

export function createSqliteRowSink(options: DatabaseFileOptions): RowSink {
  return new SqliteRowSink(options);
}

class SqliteRowSink extends DatabaseFileSink<SqliteDb> {
  readonly encoding = 'copy-text';
  // decimals of more than 15 digits are text there
  protected override readonly decimalRoom = { digits: 0, fraction: 0 };
  readonly scalesDecimals = false;
  protected readonly sidecars = ['-wal', '-shm', '-journal'];
  protected readonly begin = 'BEGIN IMMEDIATE';
  #drawn!: DrawnModel;

  constructor(options: DatabaseFileOptions) {
    super('sqlite', options);
  }

  protected override prepare(plan: SinkPlan): void {
    this.#drawn = drawModel(plan.model);
  }

  protected override readLoads(): Promise<readonly TargetLoad[]> {
    return readSqliteLoads(this.file, this.label, this.options.busyTimeoutMs);
  }

  protected override looksStaged(text: string, type: ColumnType): boolean {
    return looksStaged(text, type);
  }

  /** Instants are text here, with a time zone or without one: each row says it for itself. */
  protected override async readZones(): Promise<ZonesThere> {
    return new Map();
  }

  protected override openDatabase(path: string, _: StagedTables, isNew: boolean): Promise<SqliteDb> {
    const { busyTimeoutMs, signal } = this.options;
    return openSqlite(path, { label: this.label, busyTimeoutMs, signal, isNew });
  }

  protected override async readHashes(database: SqliteDb): Promise<readonly string[]> {
    const roots = this.#documentColumns(readTables(database));
    if (roots === null) return [];
    return database
      .read<{ sha256: string }>(loadedDocumentsQuery(roots, this.plan, doubleQuoted))
      .map(({ sha256 }) => sha256);
  }

  protected override async readCurrent(database: SqliteDb): Promise<readonly CurrentDocument[]> {
    const known = readTables(database);
    const roots = this.#documentColumns(known);
    if (roots === null) return [];
    const isMerged = known.get(sideTableNames.documents)!.columns.has('valid_to');
    return database
      .read<CurrentDocumentRow>(currentDocumentsQuery(roots, this.plan, doubleQuoted, isMerged))
      .map(currentDocumentOf);
  }

  protected override async readUnmapped(
    database: SqliteDb,
    loading: Loading | null,
  ): Promise<readonly UnmappedOfDocument[]> {
    if (!readTables(database).has(sideTableNames.unmapped)) return [];
    return database
      .read<UnmappedContentRow>(unmappedContentQuery(loading, doubleQuoted))
      .map(unmappedContentOf);
  }

  /** Null: no documents were loaded there. */
  #documentColumns(known: FoundTables): ReturnType<typeof documentColumns> | null {
    if (!known.has(sideTableNames.documents)) return null;
    return documentColumns(this.plan.model, this.#drawn.tables).filter(({ table }) =>
      known.has(foldedName(table)),
    );
  }

  protected override async inspect(database: SqliteDb): Promise<'load' | 'nothing' | 'already'> {
    const known = readTables(database);
    this.#checkTables(known);
    if (this.#isPublished(database, known)) return 'already';
    return (await this.mayLoad(async () => this.#findFilled(database, known))) ? 'load' : 'nothing';
  }

  protected override async publishWithin(
    database: SqliteDb,
    staged: StagedTables,
    merge: MergeOrder,
  ): Promise<Published | { readonly nothing: Published }> {
    const plan = this.plan;
    const known = readTables(database);
    this.#checkTables(known);
    if (this.#isPublished(database, known)) return { nothing: { rows: {}, already: true, changes: [] } };
    if (!(await this.mayLoad(async () => this.#findFilled(database, known)))) {
      const changes = ['tables were filled meanwhile: nothing was added'];
      return { nothing: { rows: {}, already: false, changes } };
    }
    const publication: SqlitePublication = {
      database,
      plan: plan.saveMode === 'write-schema' ? { ...plan, allTables: true } : plan,
      drawn: this.#drawn,
      staged,
      nullAllowed: this.nullAllowed,
      widened: this.widened,
      textRows: this.textRows,
      signal: this.options.signal,
      known,
      made: new Set(),
      changes: [],
      brokenKeys: [],
      indexes: { count: 0, seconds: 0 },
      merge,
      merging: null,
    };
    const rows = await publishRows(publication);
    const { changes, brokenKeys, indexes, merging } = publication;
    return {
      rows,
      already: false,
      changes,
      brokenKeys,
      indexes,
      ...(merging === null ? {} : { merged: merging.counts }),
      ...givenKeys(publication),
    };
  }

  protected override async settle(database: SqliteDb, isNew: boolean): Promise<void> {
    // from now on readers and the next load do not wait for each other
    await database.run(isNew ? 'PRAGMA journal_mode = WAL' : 'PRAGMA wal_checkpoint(PASSIVE)');
  }

  #checkTables(known: FoundTables): void {
    const names = [...this.#drawn.tables.map((table) => table.name), ...Object.values(sideTableNames)];
    for (const name of names) {
      const there = known.get(foldedName(name));
      if (there?.isView === true && there.madeView === null)
        throw new AppError('conflict', `${this.label}: ${name} exists and is not a table.`);
    }
    refusePreRelease(this.label, (name) => known.get(name)?.columns);
    this.#checkSideTables(known);
    if (this.plan.saveMode === 'overwrite') return;
    for (const [index, { columns }] of this.plan.model.tables.entries()) {
      const { name } = this.#drawn.tables[index]!;
      const table = known.get(foldedName(name));
      if (table === undefined || table.isView) continue;
      const has = (key: string): boolean => table.columns.has(foldedName(physicalName(sqlite, key)));
      if (hasOtherKeys(columns, has)) throw new AppError('conflict', otherKeysMessage(this.label, name));
    }
  }

  /** What somebody changed in them by hand, or another program calls so. */
  #checkSideTables(known: FoundTables): void {
    for (const { name, columns } of Object.values(sideTableDefinitions)) {
      const there = known.get(foldedName(name));
      const missing = there === undefined ? undefined : columns.find((one) => !there.columns.has(one.name));
      if (missing !== undefined)
        throw new AppError(
          'conflict',
          `${this.label}: ${name} has no column ${missing.name}: another program made it, or it was changed by hand. Name another file, or put the column back.`,
        );
    }
  }

  #isPublished(database: SqliteDb, known: FoundTables): boolean {
    if (!known.has(sideTableNames.loads)) return false;
    return database.read(publishedQuery(this.plan, doubleQuoted)).length > 0;
  }

  #findFilled(database: SqliteDb, known: FoundTables): readonly string[] {
    return this.#drawn.tables
      .map(({ name }) => name)
      .filter(
        (name) =>
          known.get(foldedName(name))?.isView === false &&
          database.read(`SELECT 1 FROM ${doubleQuoted(name)} LIMIT 1`).length > 0,
      );
  }

  protected override faultOf(error: unknown): unknown {
    return sqliteFault(error, this.label);
  }
}
