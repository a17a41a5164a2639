/**
 * Rows into a DuckDB file: CSV beside it while documents are read, then one transaction that takes it in
 * (src/targets/sql/database-files/sink.ts).
 */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import {
  currentDocumentsQuery,
  documentColumns,
  loadedDocumentsQuery,
  unmappedContentQuery,
  type Loading,
} from '../../../engine/sql/loaded-documents.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { physicalTables, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { hasOtherKeys, otherKeysMessage } from '../../../engine/model/key-columns.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { CurrentDocument, MergeOrder, UnmappedOfDocument } from '../../../ports/rows/merge.ts';
import type { Published, RowSink, SinkPlan, ZonesThere, ZoneTable } from '../../../ports/rows/sink.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import { DatabaseFileSink, type DatabaseFileOptions, type StagedTables } from '../database-files/sink.ts';
import { looksStaged } from './csv-import.ts';
import { readDuckDbLoads, readDuckDbZones } from './ledger.ts';
import { foldedName, lacksMemory, memoryFor, mostMemory, openDuckDb, type DuckDb } from './database.ts';
import { temporaryName, type DuckDbPublication } from './publication.ts';
import { givenKeys, publishRows } from './publish.ts';
import { readTables, type KnownTables } from './tables.ts';
import { publishedQuery } from '../../../adapters/row-sinks/ledger.ts';
import { refusePreRelease } from '../../../adapters/row-sinks/pre-release.ts';
import {
  currentDocumentOf,
  unmappedContentOf,
  type CurrentDocumentRow,
  type UnmappedContentRow,
} from '../../../adapters/row-sinks/current-documents.ts';

export type DuckDbRowSinkOptions = DatabaseFileOptions;

/** rows of a table that DuckDB keeps together, and bytes of their text up to which little memory is enough to fill tables */
const [rowGroupRows, smallGroupBytes] = [122_880, 32 * 1024 * 1024];

/** columns filled by one job beyond which memory would be too much for them all */
const manyColumns = 3000;

export function createDuckDbRowSink(options: DuckDbRowSinkOptions): RowSink {
  return new DuckDbRowSink(options);
}

class DuckDbRowSink extends DatabaseFileSink<DuckDb> {
  readonly encoding = 'csv';
  readonly scalesDecimals = true;
  protected readonly sidecars = ['.wal'];
  protected readonly begin = 'BEGIN';
  #tables: readonly PhysicalTable[] = [];
  /** of the database that was opened last: whether nobody else knows it, its memory, and how many times the usual that is (0: what filling tables takes) */
  #isNew = false;
  #memoryBytes = 0;
  #memoryFactor = 0;

  constructor(options: DuckDbRowSinkOptions) {
    super('duckdb', options);
  }

  protected override looksStaged(text: string, type: ColumnType): boolean {
    return looksStaged(text, type);
  }

  protected override readLoads(): Promise<readonly TargetLoad[]> {
    return readDuckDbLoads(this.file, this.label, this.options.busyTimeoutMs);
  }

  protected override readZones(tables: readonly ZoneTable[]): Promise<ZonesThere> {
    return readDuckDbZones(this.file, tables, this.label, this.options.busyTimeoutMs);
  }

  protected override prepare(plan: SinkPlan): void {
    this.#tables = physicalTables(plan.model, duckdb);
    if (this.file.includes('?')) {
      // where it would look for its log, the name ends at the question mark
      throw new AppError(
        'target_not_allowed',
        `${this.label}: DuckDB cannot keep a file under a name with ?.`,
      );
    }
  }

  protected override async readHashes(database: DuckDb): Promise<readonly string[]> {
    const roots = this.#documentColumns(await readTables(database));
    if (roots === null) return [];
    const rows = await database.read<{ sha256: string }>(
      loadedDocumentsQuery(roots, this.plan, doubleQuoted),
    );
    return rows.map(({ sha256 }) => sha256);
  }

  protected override async readCurrent(database: DuckDb): Promise<readonly CurrentDocument[]> {
    const known = await readTables(database);
    const roots = this.#documentColumns(known);
    if (roots === null) return [];
    const isMerged = known.get(sideTableNames.documents)!.columns.has('valid_to');
    const rows = await database.read<CurrentDocumentRow>(
      currentDocumentsQuery(roots, this.plan, doubleQuoted, isMerged),
    );
    return rows.map(currentDocumentOf);
  }

  protected override async readUnmapped(
    database: DuckDb,
    loading: Loading | null,
  ): Promise<readonly UnmappedOfDocument[]> {
    if (!(await readTables(database)).has(sideTableNames.unmapped)) return [];
    const rows = await database.read<UnmappedContentRow>(unmappedContentQuery(loading, doubleQuoted));
    return rows.map(unmappedContentOf);
  }

  /** Null: no documents were loaded there. */
  #documentColumns(known: KnownTables): ReturnType<typeof documentColumns> | null {
    if (!known.has(sideTableNames.documents)) return null;
    return documentColumns(this.plan.model, this.#tables).filter(({ table }) => known.has(foldedName(table)));
  }

  protected override openDatabase(path: string, staged: StagedTables, isNew: boolean): Promise<DuckDb> {
    const files = [...staged.values()];
    const longest = Math.max(0, ...files.map((csv) => csv.longestRowBytes));
    const columns = files.reduce((sum, csv) => sum + csv.columnCount, 0);
    const smallBlocks = isNew && columns > manyColumns;
    const widest = smallBlocks ? 0 : Math.max(0, ...files.map((csv) => csv.columnCount));
    const filled = Math.min(columns, smallBlocks ? manyColumns : columns);
    const group = Math.max(0, ...files.map(({ bytes, rows }) => bytes * Math.min(1, rowGroupRows / rows)));
    // where that was not enough, as much as usual
    const onlyFills = isNew && group <= smallGroupBytes && this.#memoryFactor === 0;
    const usual = memoryFor(longest, filled, widest, onlyFills);
    this.#memoryBytes = usual * Math.max(1, this.#memoryFactor);
    this.#isNew = isNew;
    return openDuckDb(path, {
      directory: this.stagingDirectory,
      memoryBytes: this.#memoryBytes,
      smallBlocks,
      skipsLog: isNew,
      label: this.label,
      busyTimeoutMs: this.options.busyTimeoutMs ?? 30_000,
      signal: this.options.signal,
    });
  }

  protected override mayTryAgain(error: unknown): boolean {
    if (!lacksMemory(error) || this.#memoryBytes * 2 > mostMemory()) return false;
    this.#memoryFactor = this.#memoryFactor === 0 && this.#isNew ? 1 : Math.max(1, this.#memoryFactor) * 2;
    return true;
  }

  protected override async inspect(database: DuckDb): Promise<'load' | 'nothing' | 'already'> {
    const known = await readTables(database);
    this.#checkTables(known);
    if (await this.#isPublished(database, known)) return 'already';
    return (await this.mayLoad(() => this.#findFilled(database, known))) ? 'load' : 'nothing';
  }

  protected override async settle(database: DuckDb): Promise<void> {
    await database.run('CHECKPOINT');
  }

  protected override async publishWithin(
    database: DuckDb,
    staged: StagedTables,
    merge: MergeOrder,
  ): Promise<Published | { readonly nothing: Published }> {
    const plan = this.plan;
    const known = await readTables(database);
    this.#checkTables(known);
    if (await this.#isPublished(database, known))
      return { nothing: { rows: {}, already: true, changes: [] } };
    if (!(await this.mayLoad(() => this.#findFilled(database, known)))) {
      const changes = ['tables were filled meanwhile: nothing was added'];
      return { nothing: { rows: {}, already: false, changes } };
    }
    const publication: DuckDbPublication = {
      database,
      plan: plan.saveMode === 'write-schema' ? { ...plan, allTables: true } : plan,
      tables: this.#tables,
      isNew: this.#isNew,
      staged,
      nullAllowed: this.nullAllowed,
      widened: this.widened,
      textRows: this.textRows,
      known,
      oldDocuments: temporaryName(),
      merge,
      merging: null,
      changes: [],
    };
    const rows = await publishRows(publication);
    const { changes, merging } = publication;
    const merged = merging === null ? {} : { merged: merging.counts };
    return { rows, already: false, changes, ...merged, ...(await givenKeys(publication)) };
  }

  #checkTables(known: KnownTables): void {
    for (const name of [...this.#tables.map((table) => table.name), ...Object.values(sideTableNames)]) {
      const there = known.get(foldedName(name));
      if (there?.isView === true && there.madeView === null)
        throw new AppError('conflict', `${this.label}: ${name} exists and is not a table.`);
    }
    refusePreRelease(this.label, (name) => known.get(name)?.columns);
    if (this.plan.saveMode === 'overwrite') return;
    for (const [index, { name }] of this.#tables.entries()) {
      const table = known.get(foldedName(name));
      const there = table?.isView === true ? undefined : table?.columns;
      const has = (key: string): boolean => there!.has(foldedName(physicalName(duckdb, key)));
      if (there !== undefined && hasOtherKeys(this.plan.model.tables[index]!.columns, has))
        throw new AppError('conflict', otherKeysMessage(this.label, name));
    }
  }

  async #isPublished(database: DuckDb, known: KnownTables): Promise<boolean> {
    if (!known.has(sideTableNames.loads)) return false;
    return (await database.read(publishedQuery(this.plan, doubleQuoted))).length > 0;
  }

  async #findFilled(database: DuckDb, known: KnownTables): Promise<readonly string[]> {
    const filled: string[] = [];
    for (const { name } of this.#tables) {
      if (known.get(foldedName(name))?.isView !== false) continue;
      const rows = await database.read(`SELECT 1 FROM ${doubleQuoted(name)} LIMIT 1`);
      if (rows.length > 0) filled.push(name);
    }
    return filled;
  }
}
