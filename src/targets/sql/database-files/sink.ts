/**
 * Rows into a database that is one file: rows wait beside it while documents are read, then one transaction takes them in and writes the
 * ledger, so that a job is there once or not at all (docs/decisions/loading/staging-and-publishing.md). A new file appears whole, under its
 * name, in one step. The file itself is open, and locked, only while the job publishes.
 */
import { access, link, lstat, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../../engine/model/side-tables.ts';
import { AppError } from '../../../errors.ts';
import type { Loading } from '../../../engine/sql/loaded-documents.ts';
import type {
  CurrentDocument,
  MergeCounts,
  MergeOrder,
  UnmappedOfDocument,
} from '../../../ports/rows/merge.ts';
import type {
  Fence,
  Published,
  RowEncoding,
  RowSink,
  SideTable,
  UnconvertedValue,
  ZonesThere,
  ZoneTable,
} from '../../../ports/rows/sink.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import { makeFolders, type CreatedFolders } from '../../../adapters/file-staging/created-folders.ts';
import { fileFault } from '../../../adapters/file-staging/faults.ts';
import { StagedFiles, type HandedRows } from '../../../adapters/file-staging/staged-files.ts';
import { syncPath } from '../../../adapters/folder/contents/manifest.ts';
import { refuseLink } from '../../../adapters/folder/loaded-documents.ts';
import { pinFolder, type PinnedFolder } from '../../../adapters/local-files/open-folder.ts';
import { passFence, StagedRowSink } from '../../../adapters/row-sinks/staged-rows.ts';
import { columnId } from '../../../adapters/row-sinks/unfit-columns.ts';
import { lockDatabaseFile, makeStagingFolder, removeDeadStaging, type StagingFolder } from './staging.ts';

export interface DatabaseFileOptions {
  readonly file: string;
  /** the path was checked and its links resolved: one that stands in it by now is refused (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for another job that publishes into the file (15 minutes) */
  readonly lockTimeoutMs?: number;
  /** how long to wait for another program that has the file open (30 seconds) */
  readonly busyTimeoutMs?: number;
  /** ends what the database is doing; a transaction that is being committed is not ended */
  readonly signal?: AbortSignal;
}

export interface FileDatabase {
  run(sql: string): Promise<unknown>;
  close(): void;
}

/** Rows of one table that wait beside the file, without a header. */
export interface StagedRowsFile {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly columnCount: number;
  /** no row is longer */
  readonly longestRowBytes: number;
}

/** By index of the table, or name of the table beside the data. */
export type StagedTables = ReadonlyMap<number | string, StagedRowsFile>;

type LastCheck = (merged?: MergeCounts) => Promise<void>;

export abstract class DatabaseFileSink<Database extends FileDatabase>
  extends StagedRowSink
  implements RowSink
{
  abstract readonly encoding: RowEncoding;
  abstract readonly scalesDecimals: boolean;
  readonly widensInPlace = false;
  readonly label: string;
  protected readonly options: DatabaseFileOptions;
  /** in its folder, which is held open once it is there */
  protected file: string;
  /** what the database calls the files that it keeps beside its own: ends of their names */
  protected abstract readonly sidecars: readonly string[];
  protected abstract readonly begin: string;
  /** by `columnId`: keys, as they are staged, of rows whose text only looks like what a value of the column is staged as */
  protected readonly textRows = new Map<string, Set<string>>();
  #pinned: PinnedFolder | null = null;
  #createdFolders: CreatedFolders | null = null;
  #staging: StagingFolder | null = null;
  #files!: StagedFiles;

  /** `scheme`: what stands before the file in `-o` */
  constructor(scheme: string, options: DatabaseFileOptions) {
    super();
    this.options = options;
    this.file = resolve(options.file);
    this.label = `${scheme}:${options.file}`;
  }

  /** The folder of this job's staged rows. */
  protected get stagingDirectory(): string {
    return this.#staging!.directory;
  }

  /** Whether text of a document would be taken for what a row has of a value of the type. */
  protected abstract looksStaged(text: string, type: ColumnType): boolean;
  protected abstract readLoads(): Promise<readonly TargetLoad[]>;
  protected abstract readZones(tables: readonly ZoneTable[]): Promise<ZonesThere>;
  /** `isNew`: nobody else knows the file. */
  protected abstract openDatabase(path: string, staged: StagedTables, isNew: boolean): Promise<Database>;

  /** Whether the database lacked something to publish that it has the next time that it is opened. */
  protected mayTryAgain?(error: unknown): boolean;
  /** What opening leads to; AppError `conflict` where the file cannot take the rows. */
  protected abstract inspect(database: Database): Promise<'load' | 'nothing' | 'already'>;
  /** SHA-256 of the documents that have rows in the model's tables there, or were kept whole by its logical schema. */
  protected abstract readHashes(database: Database): Promise<readonly string[]>;
  /** Those of them that no other one has replaced. */
  protected abstract readCurrent(database: Database): Promise<readonly CurrentDocument[]>;
  /** `loading`: as `unmappedContentQuery` has it. */
  protected abstract readUnmapped(
    database: Database,
    loading: Loading | null,
  ): Promise<readonly UnmappedOfDocument[]>;
  /** Within the transaction; `nothing`: it is rolled back. */
  protected abstract publishWithin(
    database: Database,
    staged: StagedTables,
    merge: MergeOrder,
  ): Promise<Published | { readonly nothing: Published }>;
  /** After the commit: everything into the one file. */
  protected abstract settle(database: Database, isNew: boolean): Promise<void>;

  override async unconverted(value: UnconvertedValue): Promise<void> {
    await super.unconverted(value);
    const { table, column, rowKey, text } = value;
    if (!this.looksStaged(text, this.plan.model.tables[table]!.columns[column]!.type)) return;
    const id = columnId(table, column);
    this.textRows.set(id, (this.textRows.get(id) ?? new Set()).add(String(rowKey)));
  }

  async loads(): Promise<readonly TargetLoad[]> {
    return (await this.#readThere(() => this.readLoads())) ?? [];
  }

  async zonesThere(tables: readonly ZoneTable[]): Promise<ZonesThere> {
    return (await this.#readThere(() => this.readZones(tables))) ?? new Map();
  }

  /** Null: there is no such file. */
  async #readThere<T>(read: () => Promise<T>): Promise<T | null> {
    // the same folder that is opened later, without making it
    if (!(await exists(dirname(this.file)))) return null;
    return this.guarded(async () => {
      await this.#pin();
      if (!(await exists(this.file))) return null;
      const lock = await this.#lock();
      try {
        return await read();
      } finally {
        await lock.release();
      }
    });
  }

  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  async loadedDocuments(sha256s: readonly string[]): Promise<ReadonlySet<string>> {
    if (this.plan.saveMode === 'overwrite' || sha256s.length === 0) return new Set();
    const wanted = new Set(sha256s);
    const there = (await this.readOnce((database) => this.readHashes(database))) ?? [];
    return new Set(there.filter((sha256) => wanted.has(sha256)));
  }

  /** Null: there is no such file. */
  protected async readOnce<T>(read: (database: Database) => Promise<T>): Promise<T | null> {
    if (!(await exists(this.file))) return null;
    return this.guarded(async () => {
      const lock = await this.#lock();
      try {
        const database = await this.openDatabase(this.file, new Map(), false);
        try {
          return await read(database);
        } finally {
          database.close();
        }
      } finally {
        await lock.release();
      }
    });
  }

  async *currentDocuments(): AsyncIterable<CurrentDocument> {
    yield* (await this.readOnce((database) => this.readCurrent(database))) ?? [];
  }

  async *unmappedContent(of: 'others' | 'all'): AsyncIterable<UnmappedOfDocument> {
    const loading = of === 'all' ? null : this.plan;
    yield* (await this.readOnce((database) => this.readUnmapped(database, loading))) ?? [];
  }

  async write(table: number, ...rows: HandedRows): Promise<void> {
    await this.guarded(() => this.#files.write(this.#stagedName(table), ...rows));
  }

  async writeSide(table: SideTable, ...rows: HandedRows): Promise<void> {
    await this.guarded(() => this.#files.write(this.#stagedName(table), ...rows));
  }

  #stagedName(table: number | string): string {
    return `${table}.${this.encoding}`;
  }

  protected override async publishStaged(
    fence: Fence,
    _: ReadonlyMap<string, number>,
    merge: MergeOrder,
  ): Promise<Published> {
    const staged = await this.#stagedTables();
    const lock = await this.#lock();
    try {
      const published = await this.#publish(staged, merge, async (merged) => {
        if (!(await lock.isHeld()))
          throw new AppError('service_unavailable', `${this.label}: another job has taken the file over.`);
        await passFence(fence, merged);
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
    this.#createdFolders = await makeFolders(dirname(this.file));
    await this.#pin();
    const lock = await this.#lock();
    try {
      await removeDeadStaging(this.file);
      this.#staging = await makeStagingFolder(this.file, idJob);
      this.#files = new StagedFiles(this.#staging.directory, { isScratch: true });
      if (!(await exists(this.file))) {
        if ((await lstat(this.file).catch(() => null)) !== null)
          throw new AppError('target_not_allowed', `${this.label} is a link that leads nowhere.`);
        this.outcome = 'load';
      } else {
        const database = await this.openDatabase(this.file, new Map(), false);
        try {
          this.outcome = await this.inspect(database);
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
    const refuse = this.options.refuseLinks === true;
    this.#pinned = await pinFolder(dirname(this.file), refuse ? 'refuse' : 'follow');
    this.file = join(this.#pinned.path, basename(this.file));
    // the database would follow them
    if (refuse) for (const end of ['', ...this.sidecars]) await refuseLink(`${this.file}${end}`);
  }

  #lock(): ReturnType<typeof lockDatabaseFile> {
    return lockDatabaseFile(this.file, this.options.lockTimeoutMs ?? 15 * 60_000, this.label);
  }

  async #stagedTables(): Promise<StagedTables> {
    const staged = new Map<number | string, StagedRowsFile>();
    for (const { name, rows, bytes, longestWriteBytes } of await this.#files.finish()) {
      if (rows === 0) continue;
      const key = name.slice(0, name.indexOf('.'));
      const isSide = key in sideTableDefinitions;
      const { columns } = isSide
        ? sideTableDefinitions[key as SideTable]
        : this.plan.model.tables[Number(key)]!;
      staged.set(isSide ? key : Number(key), {
        path: join(this.#staging!.directory, name),
        rows,
        bytes,
        columnCount: columns.length,
        longestRowBytes: longestWriteBytes,
      });
    }
    return staged;
  }

  /** Again, as long as the database can be given more of what it lacked: a transaction that failed left nothing. */
  async #publish(staged: StagedTables, merge: MergeOrder, lastCheck: LastCheck): Promise<Published> {
    const fresh = join(this.#staging!.directory, 'new');
    for (;;) {
      const path = (await exists(this.file)) ? this.file : fresh;
      try {
        return await this.#publishInto(path, staged, merge, lastCheck);
      } catch (error) {
        if (this.mayTryAgain?.(error) !== true) throw error;
      }
      for (const end of ['', ...this.sidecars]) await rm(`${fresh}${end}`, { force: true });
    }
  }

  async #publishInto(
    path: string,
    staged: StagedTables,
    merge: MergeOrder,
    lastCheck: LastCheck,
  ): Promise<Published> {
    const isNew = path !== this.file;
    const database = await this.openDatabase(path, staged, isNew);
    try {
      await database.run(this.begin);
      const published = await this.publishWithin(database, staged, merge).catch(async (error: unknown) => {
        // the first fault is the one to tell; a transaction that cannot be rolled back ends with its connection
        await database.run('ROLLBACK').catch(() => undefined);
        throw error;
      });
      if ('nothing' in published) {
        await database.run('ROLLBACK');
        return published.nothing;
      }
      if (!isNew) await lastCheck(published.merged);
      await database.run('COMMIT');
      if (isNew) {
        await this.settle(database, isNew);
        await this.#appear(database, path, () => lastCheck(published.merged));
      } else await this.#settle(database, staged);
      return published;
    } finally {
      database.close();
    }
  }

  /** What is committed stays, also where the file's log cannot be folded in now. */
  async #settle(committed: Database, staged: StagedTables): Promise<void> {
    let database = committed;
    for (;;) {
      try {
        await this.settle(database, false);
        return;
      } catch (error) {
        if (this.mayTryAgain?.(error) !== true) return;
      } finally {
        database.close();
      }
      try {
        database = await this.openDatabase(this.file, staged, false);
      } catch {
        return;
      }
    }
  }

  async #appear(database: Database, path: string, lastCheck: () => Promise<void>): Promise<void> {
    database.close();
    await syncPath(path);
    await lastCheck();
    await link(path, this.file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new AppError('service_unavailable', `${this.label}: another program made the file meanwhile.`);
    });
    await syncPath(dirname(this.file));
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
