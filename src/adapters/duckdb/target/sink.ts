/**
 * Rows into a DuckDB file: CSV beside it while documents are read, then one transaction that takes it in and writes the ledger, so
 * that a job is there once or not at all (docs/decisions/loading/staging-and-publishing.md). A new file appears whole, under its name, in one step. The file
 * itself is open, and locked, only while the job publishes.
 */
import { access, link, lstat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { documentColumns, loadedDocumentsQuery } from '../../../engine/sql/loaded-documents.ts';
import { physicalName } from '../../../engine/sql/physical-names.ts';
import { physicalTables, type PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { hasOtherKeys, otherKeysMessage } from '../../../engine/model/key-columns.ts';
import { sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type {
  Published,
  RowSink,
  SideTable,
  SinkPlan,
  ZonesThere,
  ZoneTable,
} from '../../../ports/rows/sink.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import { readDuckDbLoads, readDuckDbZones } from '../ledger.ts';
import type { StagedCsv } from '../csv-import.ts';
import { foldedName, memoryFor, openDuckDb, type DuckDb } from '../database.ts';
import { temporaryName, type DuckDbPublication } from './publication.ts';
import { givenKeys, publishRows } from './publish.ts';
import { lockDatabaseFile, makeStagingFolder, removeDeadStaging, type StagingFolder } from './staging.ts';
import { readTables, type KnownTables } from '../tables.ts';
import { fileFault } from '../../file-staging/faults.ts';
import { passFence, StagedRowSink } from '../../row-sinks/staged-rows.ts';
import { refuseLink } from '../../folder/loaded-documents.ts';
import { StagedFiles } from '../../file-staging/staged-files.ts';
import { makeFolders, type CreatedFolders } from '../../file-staging/created-folders.ts';
import { syncPath } from '../../folder/contents/manifest.ts';
import { pinFolder, type PinnedFolder } from '../../local-files/open-folder.ts';

export interface DuckDbRowSinkOptions {
  readonly file: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for another job that publishes into the file (15 minutes) */
  readonly lockTimeoutMs?: number;
  /** how long to wait for another program that has the file open (30 seconds) */
  readonly busyTimeoutMs?: number;
  /** ends what DuckDB is doing; a transaction that is being committed is not ended */
  readonly signal?: AbortSignal;
}

/** columns filled by one job beyond which memory would be too much for them all */
const manyColumns = 3000;

export function createDuckDbRowSink(options: DuckDbRowSinkOptions): RowSink {
  return new DuckDbRowSink(options);
}

class DuckDbRowSink extends StagedRowSink implements RowSink {
  readonly encoding = 'csv';
  readonly widensInPlace = false;
  readonly label: string;
  readonly #options: DuckDbRowSinkOptions;
  /** in its folder, which is held open once it is there */
  #file: string;
  #pinned: PinnedFolder | null = null;
  #tables: readonly PhysicalTable[] = [];
  #createdFolders: CreatedFolders | null = null;
  #staging: StagingFolder | null = null;
  #files!: StagedFiles;

  constructor(options: DuckDbRowSinkOptions) {
    super();
    this.#options = options;
    this.#file = resolve(options.file);
    this.label = `duckdb:${options.file}`;
  }

  async loads(): Promise<readonly TargetLoad[]> {
    const { busyTimeoutMs } = this.#options;
    return (await this.#readThere(() => readDuckDbLoads(this.#file, this.label, busyTimeoutMs))) ?? [];
  }

  async zonesThere(tables: readonly ZoneTable[]): Promise<ZonesThere> {
    const { busyTimeoutMs } = this.#options;
    const answers = await this.#readThere(() =>
      readDuckDbZones(this.#file, tables, this.label, busyTimeoutMs),
    );
    return answers ?? new Map();
  }

  /** Null: there is no such file. */
  async #readThere<T>(read: () => Promise<T>): Promise<T | null> {
    // the same folder that is opened later, without making it
    if (!(await exists(dirname(this.#file)))) return null;
    return this.guarded(async () => {
      await this.#pin();
      if (!(await exists(this.#file))) return null;
      const lock = await this.#lock();
      try {
        return await read();
      } finally {
        await lock.release();
      }
    });
  }

  protected override prepare(plan: SinkPlan): void {
    this.#tables = physicalTables(plan.model, duckdb);
    if (this.#file.includes('?')) {
      // where it would look for its log, the name ends at the question mark
      throw new AppError(
        'target_not_allowed',
        `${this.label}: DuckDB cannot keep a file under a name with ?.`,
      );
    }
  }

  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.plan.saveMode === 'overwrite' || sha256s.length === 0 || !(await exists(this.#file)))
      return new Set();
    return this.guarded(async () => {
      const lock = await this.#lock();
      try {
        return await this.#loadedDocuments(new Set(sha256s));
      } finally {
        await lock.release();
      }
    });
  }

  async #loadedDocuments(wanted: ReadonlySet<string>): Promise<Set<string>> {
    const database = await this.#openDatabase(this.#file, []);
    try {
      const known = await readTables(database);
      if (!known.has(sideTableNames.documents)) return new Set();
      const roots = documentColumns(this.plan.model, this.#tables).filter(({ table }) =>
        known.has(foldedName(table)),
      );
      const rows = await database.read<{ sha256: string }>(
        loadedDocumentsQuery(roots, this.plan, doubleQuoted),
      );
      return new Set(rows.map(({ sha256 }) => sha256).filter((sha256) => wanted.has(sha256)));
    } finally {
      database.close();
    }
  }

  async write(table: number, rows: Uint8Array, rowCount: number): Promise<void> {
    await this.guarded(() => this.#files.write(`${table}.csv`, rows, rowCount));
  }

  async writeSide(table: SideTable, rows: Uint8Array, rowCount: number): Promise<void> {
    await this.guarded(() => this.#files.write(`${table}.csv`, rows, rowCount));
  }

  protected override async publishStaged(fence: () => Promise<boolean>): Promise<Published> {
    const staged = await this.#stagedFiles();
    const lock = await this.#lock();
    try {
      const published = await this.#publish(staged, async () => {
        if (!(await lock.isHeld()))
          throw new AppError('service_unavailable', `${this.label}: another job has taken the file over.`);
        await passFence(fence);
      });
      this.outcome = published.already ? 'already' : 'nothing';
      this.#createdFolders = null;
      await this.#staging?.remove();
      this.#staging = null;
      return published;
    } finally {
      await lock.release();
    }
  }

  async abort(): Promise<void> {
    this.outcome = 'nothing';
    if (this.#staging === null) return;
    await this.guarded(async () => {
      await this.#files.settle();
      await this.#staging?.remove();
      this.#staging = null;
      await this.#createdFolders?.remove();
    });
  }

  async close(): Promise<void> {
    try {
      await this.abort();
    } finally {
      await this.#pinned?.close();
      this.#pinned = null;
    }
  }

  protected override async openTarget(): Promise<'load' | 'skip'> {
    const { saveMode, idJob } = this.plan;
    this.#createdFolders = await makeFolders(dirname(this.#file));
    await this.#pin();
    const lock = await this.#lock();
    try {
      await removeDeadStaging(this.#file);
      this.#staging = await makeStagingFolder(this.#file, idJob);
      this.#files = new StagedFiles(this.#staging.directory);
      if (!(await exists(this.#file))) {
        if ((await lstat(this.#file).catch(() => null)) !== null)
          throw new AppError('target_not_allowed', `${this.label} is a link that leads nowhere.`);
        this.outcome = 'load';
      } else {
        const database = await this.#openDatabase(this.#file, []);
        try {
          const known = await readTables(database);
          this.#checkTables(known);
          if (await this.#isPublished(database, known)) this.outcome = 'already';
          else if (await this.mayLoad(() => this.#findFilled(database, known))) this.outcome = 'load';
        } finally {
          database.close();
        }
      }
    } finally {
      await lock.release();
    }
    return this.outcome === 'load' && saveMode !== 'write-schema' ? 'load' : 'skip';
  }

  async #pin(): Promise<void> {
    if (this.#pinned !== null) return;
    const refuse = this.#options.refuseLinks === true;
    this.#pinned = await pinFolder(dirname(this.#file), refuse ? 'refuse' : 'follow');
    this.#file = join(this.#pinned.path, basename(this.#file));
    // DuckDB would follow both
    if (refuse) for (const path of [this.#file, `${this.#file}.wal`]) await refuseLink(path);
  }

  #lock(): ReturnType<typeof lockDatabaseFile> {
    return lockDatabaseFile(this.#file, this.#options.lockTimeoutMs ?? 15 * 60_000, this.label);
  }

  #openDatabase(path: string, staged: readonly StagedCsv[]): Promise<DuckDb> {
    const longest = Math.max(0, ...staged.map((csv) => csv.longestRowBytes));
    const columns = staged.reduce((sum, csv) => sum + csv.columnCount, 0);
    const smallBlocks = path !== this.#file && columns > manyColumns;
    const widest = smallBlocks ? 0 : Math.max(0, ...staged.map((csv) => csv.columnCount));
    return openDuckDb(path, {
      directory: this.#staging!.directory,
      memoryBytes: memoryFor(longest, Math.min(columns, smallBlocks ? manyColumns : columns), widest),
      smallBlocks,
      label: this.label,
      busyTimeoutMs: this.#options.busyTimeoutMs ?? 30_000,
      signal: this.#options.signal,
    });
  }

  /** By index of the table, or name of the table beside the data. */
  async #stagedFiles(): Promise<Map<number | string, StagedCsv>> {
    const staged = new Map<number | string, StagedCsv>();
    for (const { name, rows, longestWriteBytes } of await this.#files.finish()) {
      if (rows === 0) continue;
      const key = name.slice(0, -'.csv'.length);
      const isSide = key in sideTableDefinitions;
      const { columns } = isSide
        ? sideTableDefinitions[key as SideTable]
        : this.plan.model.tables[Number(key)]!;
      staged.set(isSide ? key : Number(key), {
        path: join(this.#staging!.directory, name),
        columnCount: columns.length,
        longestRowBytes: longestWriteBytes,
      });
    }
    return staged;
  }

  async #publish(
    staged: ReadonlyMap<number | string, StagedCsv>,
    lastCheck: () => Promise<void>,
  ): Promise<Published> {
    const isNew = !(await exists(this.#file));
    const path = isNew ? join(this.#staging!.directory, 'new.duckdb') : this.#file;
    const database = await this.#openDatabase(path, [...staged.values()]);
    try {
      await database.run('BEGIN');
      const published = await this.#publishWithin(database, staged).catch(async (error: unknown) => {
        // the first fault is the one to tell; a transaction that cannot be rolled back ends with its connection
        await database.run('ROLLBACK').catch(() => undefined);
        throw error;
      });
      if ('nothing' in published) {
        await database.run('ROLLBACK');
        return published.nothing;
      }
      if (!isNew) await lastCheck();
      await database.run('COMMIT');
      // what is committed stays, also where the file's log cannot be folded in now
      await database.run('CHECKPOINT').catch((error: unknown) => {
        if (isNew) throw error;
      });
      if (isNew) await this.#appear(database, path, lastCheck);
      return published;
    } finally {
      database.close();
    }
  }

  async #appear(database: DuckDb, path: string, lastCheck: () => Promise<void>): Promise<void> {
    database.close();
    await syncPath(path);
    await lastCheck();
    await link(path, this.#file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new AppError('service_unavailable', `${this.label}: another program made the file meanwhile.`);
    });
    await syncPath(dirname(this.#file));
  }

  async #publishWithin(
    database: DuckDb,
    staged: ReadonlyMap<number | string, StagedCsv>,
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
      staged,
      nullAllowed: this.nullAllowed,
      widened: this.widened,
      known,
      oldDocuments: temporaryName(),
      changes: [],
    };
    const rows = await publishRows(publication);
    return { rows, already: false, changes: publication.changes, ...(await givenKeys(publication)) };
  }

  #checkTables(known: KnownTables): void {
    for (const name of [...this.#tables.map((table) => table.name), ...Object.values(sideTableNames)]) {
      const there = known.get(foldedName(name));
      if (there?.isView === true && there.madeView === null)
        throw new AppError('conflict', `${this.label}: ${name} exists and is not a table.`);
    }
    if (this.plan.saveMode === 'overwrite') return;
    for (const [index, { name }] of this.#tables.entries()) {
      const table = known.get(foldedName(name));
      const there = table?.isView === true ? undefined : table?.columns;
      const has = (key: string): boolean => there!.has(foldedName(physicalName(duckdb, key)));
      if (there !== undefined && hasOtherKeys(this.plan.model, this.plan.model.tables[index]!.columns, has))
        throw new AppError('conflict', otherKeysMessage(this.label, name));
    }
  }

  async #isPublished(database: DuckDb, known: KnownTables): Promise<boolean> {
    if (!known.has(sideTableNames.loads)) return false;
    const { idJob, installation = '' } = this.plan;
    const rows = await database.read(
      `SELECT 1 FROM ${doubleQuoted(sideTableNames.loads)} WHERE job = ${idJob} AND installation = ${standardLiteral(installation)}`,
    );
    return rows.length > 0;
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

  protected override faultOf(error: unknown): unknown {
    return fileFault(error, this.label);
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
