/**
 * Writes rows into a database that is one file. Rows are staged next to it while documents are read. Then one transaction loads them and
 * writes the ledger, so that a job is there once or not at all (docs/decisions/loading/staging-and-publishing.md). A new file appears
 * whole, under its name, in one step. The file itself is open, and locked, only while the job publishes.
 */
import { randomBytes } from 'node:crypto';
import { access, link, lstat, mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolders, type CreatedFolders, isStaging, makeStaging } from '../../storage/staging/folders.ts';
import { isDeadLock, lockFile, lockFolder, lockName, type FileLock } from '../../storage/staging/lock.ts';
import { syncPath } from '../../storage/staging/durable-file.ts';
import { StagedFiles, type HandedRows } from '../../storage/staging/staged-files.ts';
import { pinFolder, type PinnedFolder, refuseLink } from '../../storage/local/open-folder.ts';
import type { ColumnType } from '../../engine/model/relational-model.ts';
import { sideTableDefinitions } from '../../engine/model/side-tables.ts';
import { AppError } from '../../errors.ts';
import type {
  MergeCounts,
  MergeOrder,
  RowRemover,
  Fence,
  Published,
  RowEncoding,
  RowSink,
  SideTable,
  SinkPlan,
  UnconvertedValue,
  ZoneTable,
  ExistingZones,
  TargetLoad,
} from '../../ports/row-sink.ts';
import { passFence } from '../rows/staged-rows.ts';
import { columnId, type DecimalRoom } from '../rows/unfit-columns.ts';
import type { SqlDatabase } from './database.ts';
import { drawModel, type DrawnModel, type FoundTables } from './found-tables.ts';
import { givenKeys } from './keys.ts';
import { targetLoads, type AskedTarget } from './ledger.ts';
import {
  newPublication,
  reportOf,
  type Publication,
  type SqlDriver,
  type StagedRowsFile,
  type StagedTables,
} from './publication.ts';
import { publishRows } from './publish.ts';
import { removeInTransaction } from './removal.ts';
import { SqlRowSink, nothingPublished } from './sink.ts';

export interface DatabaseFileOptions {
  readonly file: string;
  /** the path was checked and its links resolved: a link that has appeared in it since then is refused (false) */
  readonly refuseLinks?: boolean;
  /** how long to wait for another job that publishes into the file (15 minutes) */
  readonly lockTimeoutMs?: number;
  /** how long to wait for another program that has the file open (30 seconds) */
  readonly busyTimeoutMs?: number;
  /** interrupts the database; a transaction that is being committed is not interrupted */
  readonly signal?: AbortSignal;
  /** the place of the file if it is a copy; absent: the file is in its place */
  readonly place?: DatabaseFilePlace;
}

/** The place of a database file that is changed in a copy. */
export interface DatabaseFilePlace {
  /** path of the file for messages */
  readonly path: string;
  /** Puts the changed copy in its place, in one step. */
  store(): Promise<void>;
  /** Lets others change the file. */
  release(): Promise<void>;
}

export interface FileDatabase extends SqlDatabase {
  /** Closes the file; safe to call again. */
  close(): void;
}

export interface OpenFileOptions extends Pick<DatabaseFileOptions, 'busyTimeoutMs' | 'signal'> {
  /** the name of the target in messages */
  readonly label: string;
  /** rows that the database is about to load */
  readonly staged: StagedTables;
  /** no other process knows the file */
  readonly isNew: boolean;
  /** the folder of the job's staged rows */
  readonly directory: string;
}

/** A database that is one file. An instance belongs to one sink, and may remember the cause of the last failed attempt to publish. */
export interface FileDriver<Database extends FileDatabase> extends SqlDriver<Database> {
  /** the prefix of the file in `-o` */
  readonly scheme: 'sqlite' | 'duckdb';
  readonly encoding: RowEncoding;
  readonly scalesDecimals: boolean;
  readonly decimalRoom: DecimalRoom;
  /** suffixes of the files that the database keeps next to its own */
  readonly sidecars: readonly string[];
  /** the statement that begins a transaction */
  readonly begin: string;
  open(path: string, options: OpenFileOptions): Promise<Database>;
  /** Calls `read` with a database that cannot be changed. Rejects with ENOENT if there is no such file. */
  readOnly<T>(
    path: string,
    options: Pick<OpenFileOptions, 'label' | 'busyTimeoutMs'>,
    read: (database: Pick<Database, 'read'>) => Promise<T>,
  ): Promise<T>;
  readTables(database: Pick<Database, 'read'>): Promise<FoundTables> | FoundTables;
  /** Finds the columns that keep a time zone, if the database has types for that. */
  zones?(
    database: Pick<Database, 'read'>,
    known: FoundTables,
    tables: readonly ZoneTable[],
  ): Promise<ExistingZones>;
  /** Returns whether text of a document looks like the staged form of a value of the type. */
  looksStaged(text: string, type: ColumnType): boolean;
  /** Returns the reason why the database cannot keep a file of that name; null if it can. */
  nameRefusal?(file: string): string | null;
  /** Returns whether the attempt lacked something that the database has when it is opened the next time. */
  mayTryAgain?(error: unknown): boolean;
  /** Moves all content into the one file after the commit. */
  settle(database: Database, isNew: boolean): Promise<void>;
  /** Converts a fault of the database to an AppError that names the target; returns other faults unchanged. */
  faultOf(error: unknown, label: string): unknown;
}

/** Like `RowSink.loads`, for an existing file. */
export function readFileLoads<Database extends FileDatabase>(
  driver: FileDriver<Database>,
  file: string,
  options: Pick<OpenFileOptions, 'label' | 'busyTimeoutMs'>,
): Promise<readonly TargetLoad[]> {
  return driver.readOnly(file, options, async (database) => {
    const known = await driver.readTables(database);
    return targetLoads(database, (name) => known.get(name)?.columns, driver.dialect.quote, options.label);
  });
}

type LastCheck = (merged?: MergeCounts) => Promise<void>;

export class DatabaseFileSink<Database extends FileDatabase> extends SqlRowSink<Database> implements RowSink {
  readonly encoding: RowEncoding;
  readonly scalesDecimals: boolean;
  readonly widensInPlace = false;
  readonly label: string;
  protected override readonly decimalRoom: DecimalRoom;
  readonly #driver: FileDriver<Database>;
  readonly #options: DatabaseFileOptions;
  /** in its folder, which is held open from the time it exists */
  #file: string;
  #drawn!: DrawnModel;
  /** keyed by `columnId`: staged keys of rows whose text only looks like the staged form of a value */
  readonly #textRows = new Map<string, Set<string>>();
  #pinned: PinnedFolder | null = null;
  #createdFolders: CreatedFolders | null = null;
  #staging: StagingFolder | null = null;
  #files!: StagedFiles;

  constructor(driver: FileDriver<Database>, options: DatabaseFileOptions) {
    super();
    this.#driver = driver;
    this.#options = options;
    this.#file = resolve(options.file);
    this.label = `${driver.scheme}:${options.place?.path ?? options.file}`;
    this.encoding = driver.encoding;
    this.scalesDecimals = driver.scalesDecimals;
    this.decimalRoom = driver.decimalRoom;
  }

  protected override prepare({ model }: SinkPlan): void {
    this.#drawn = drawModel(model, this.#driver.dialect);
    const refusal = this.#driver.nameRefusal?.(this.#file) ?? null;
    if (refusal !== null) throw new AppError('target_not_allowed', `${this.label}: ${refusal}`);
  }

  override async unconverted(value: UnconvertedValue): Promise<void> {
    await super.unconverted(value);
    const { table, column, rowKey, text } = value;
    if (!this.#driver.looksStaged(text, this.plan.model.tables[table]!.columns[column]!.type)) return;
    const id = columnId(table, column);
    this.#textRows.set(id, (this.#textRows.get(id) ?? new Set()).add(String(rowKey)));
  }

  async loads(): Promise<readonly TargetLoad[]> {
    return (await this.#readIfExists(() => readFileLoads(this.#driver, this.#file, this.#reading))) ?? [];
  }

  async existingZones(tables: readonly ZoneTable[]): Promise<ExistingZones> {
    const driver = this.#driver;
    const { zones } = driver;
    if (zones === undefined) return new Map();
    const there = await this.#readIfExists(() =>
      driver.readOnly(this.#file, this.#reading, async (database) =>
        zones(database, await driver.readTables(database), tables),
      ),
    );
    return there ?? new Map();
  }

  get #reading(): Pick<OpenFileOptions, 'label' | 'busyTimeoutMs'> {
    return { label: this.label, busyTimeoutMs: this.#options.busyTimeoutMs };
  }

  /** Returns null if there is no such file. */
  async #readIfExists<T>(read: () => Promise<T>): Promise<T | null> {
    // the folder that is opened later; it is not created here
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

  async keyOffsets(): Promise<ReadonlyMap<string, number>> {
    return new Map();
  }

  /** Reads the results completely, because the file is locked meanwhile. */
  protected override async *ask<T>(
    question: (target: AskedTarget<Database>) => AsyncIterable<T>,
  ): AsyncIterable<T> {
    if (!(await exists(this.#file))) return;
    yield* await this.guarded(async () => {
      const lock = await this.#lock();
      try {
        return await this.#withOpen(async (database) =>
          Array.fromAsync(question(await this.#asked(database))),
        );
      } finally {
        await lock.release();
      }
    });
  }

  async #withOpen<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = await this.#openDatabase(this.#file, new Map(), false);
    try {
      return await work(database);
    } finally {
      database.close();
    }
  }

  #openDatabase(path: string, staged: StagedTables, isNew: boolean): Promise<Database> {
    const { busyTimeoutMs, signal } = this.#options;
    const { directory } = this.#staging!;
    return this.#driver.open(path, { label: this.label, staged, isNew, directory, busyTimeoutMs, signal });
  }

  async #asked(database: Database): Promise<AskedTarget<Database>> {
    const known = await this.#driver.readTables(database);
    return { database, driver: this.#driver, plan: this.plan, drawn: this.#drawn, known };
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
          throw new AppError(
            'service_unavailable',
            `${this.label}: another job has taken over the lock on the file.`,
          );
        await passFence(fence, merged);
      });
      // a file that has the job already is in its place
      if (this.outcome === 'load' && !published.already) await this.#store();
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
      await this.#options.place?.release();
    }
  }

  async #store(): Promise<void> {
    await storeWhole(this.#options.place, this.#file, this.#driver.sidecars, this.label);
  }

  protected override async openTarget(): Promise<'load' | 'skip'> {
    const { saveMode, idJob } = this.plan;
    this.#createdFolders = await makeFolders(dirname(this.#file));
    await this.#pin();
    const lock = await this.#lock();
    try {
      await removeDeadStaging(this.#file);
      this.#staging = await makeStagingFolder(this.#file, idJob);
      this.#files = new StagedFiles(this.#staging.directory, { isScratch: true });
      if (!(await exists(this.#file))) {
        if ((await lstat(this.#file).catch(() => null)) !== null)
          throw new AppError('target_not_allowed', `${this.label} is a broken link.`);
        this.outcome = 'load';
      } else {
        this.outcome = await this.#withOpen(async (database) =>
          this.findOutcome(await this.#asked(database)),
        );
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
    // the database would follow links
    if (refuse) for (const end of ['', ...this.#driver.sidecars]) await refuseLink(`${this.#file}${end}`);
  }

  #lock(): ReturnType<typeof lockDatabaseFile> {
    return lockDatabaseFile(this.#file, this.#options.lockTimeoutMs ?? 15 * 60_000, this.label);
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

  /** Repeats the publication as long as the database can get more of the resource that it lacked: a failed transaction leaves nothing. */
  async #publish(staged: StagedTables, merge: MergeOrder, lastCheck: LastCheck): Promise<Published> {
    const fresh = join(this.#staging!.directory, 'new');
    for (;;) {
      const path = (await exists(this.#file)) ? this.#file : fresh;
      try {
        return await this.#publishInto(path, staged, merge, lastCheck);
      } catch (error) {
        if (this.#driver.mayTryAgain?.(error) !== true) throw error;
      }
      for (const end of ['', ...this.#driver.sidecars]) await rm(`${fresh}${end}`, { force: true });
    }
  }

  async #publishInto(
    path: string,
    staged: StagedTables,
    merge: MergeOrder,
    lastCheck: LastCheck,
  ): Promise<Published> {
    const isNew = path !== this.#file;
    const database = await this.#openDatabase(path, staged, isNew);
    try {
      await database.run(this.#driver.begin);
      const published = await this.#publishWithin(database, { staged, merge, isNew }).catch(
        async (error: unknown) => {
          // the first fault is reported; a transaction that cannot be rolled back ends with its connection
          await database.run('ROLLBACK').catch(() => undefined);
          throw error;
        },
      );
      if ('nothing' in published) {
        await database.run('ROLLBACK');
        return published.nothing;
      }
      if (!isNew) await lastCheck(published.merged);
      await database.run('COMMIT');
      if (isNew) {
        await this.#driver.settle(database, isNew);
        await this.#appear(database, path, () => lastCheck(published.merged));
      } else await this.#settle(database, staged);
      return published;
    } finally {
      database.close();
    }
  }

  /** Returns `nothing` if the transaction is to be rolled back. */
  async #publishWithin(
    database: Database,
    { staged, merge, isNew }: Pick<Publication<Database>, 'staged' | 'merge' | 'isNew'>,
  ): Promise<Published | { readonly nothing: Published }> {
    const target = await this.#asked(database);
    const outcome = await this.findOutcome(target);
    if (outcome !== 'load') return { nothing: nothingPublished(outcome) };
    const publication = newPublication({
      driver: this.#driver,
      database,
      plan: this.plan,
      drawn: this.#drawn,
      isNew,
      staged,
      nullAllowed: this.nullAllowed,
      widened: this.widened,
      textRows: this.#textRows,
      signal: this.#options.signal,
      known: target.known,
      merge,
    });
    const rows = await publishRows(publication);
    return { rows, already: false, ...reportOf(publication, await givenKeys(publication)) };
  }

  /** Folds the file's log into the file. The committed rows stay, even if the log cannot be folded in now. */
  async #settle(committed: Database, staged: StagedTables): Promise<void> {
    let database = committed;
    for (;;) {
      try {
        await this.#driver.settle(database, false);
        return;
      } catch (error) {
        if (this.#driver.mayTryAgain?.(error) !== true) return;
      } finally {
        database.close();
      }
      try {
        database = await this.#openDatabase(this.#file, staged, false);
      } catch {
        return;
      }
    }
  }

  async #appear(database: Database, path: string, lastCheck: () => Promise<void>): Promise<void> {
    database.close();
    await syncPath(path);
    await lastCheck();
    await link(path, this.#file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new AppError(
        'service_unavailable',
        `${this.label}: another program created the file during the run.`,
      );
    });
    await syncPath(dirname(this.#file));
  }

  protected override faultOf(error: unknown): unknown {
    return this.#driver.faultOf(error, this.label);
  }
}

/** Stores a closed file, if it is a copy. AppError `service_unavailable` if rows of it are in a file beside it. */
async function storeWhole(
  place: DatabaseFilePlace | undefined,
  file: string,
  sidecars: readonly string[],
  label: string,
): Promise<void> {
  if (place === undefined || !(await exists(file))) return;
  for (const end of sidecars) {
    const beside = await lstat(`${file}${end}`).catch(() => null);
    if (beside !== null && beside.size > 0 && !end.endsWith('-shm'))
      throw new AppError(
        'service_unavailable',
        `${label}: the database could not move its log into the file.`,
      );
  }
  await place.store();
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

export type DatabaseFileRemoverOptions = Omit<DatabaseFileOptions, 'signal'>;

export function createDatabaseFileRemover<Database extends FileDatabase>(
  driver: FileDriver<Database>,
  options: DatabaseFileRemoverOptions,
): RowRemover {
  const label = `${driver.scheme}:${options.place?.path ?? options.file}`;
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
  /** Runs `work` with the file open and locked. */
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
          // the removal is committed, whatever happens to the log
          if (!plan.dryRun) await driver.settle(database, false).catch(() => undefined);
          return removed;
        }).then(async (removed) => {
          if (!plan.dryRun && !removed.already) await storeWhole(options.place, file, driver.sidecars, label);
          return removed;
        }),
      ),
    close: async () => options.place?.release(),
  };
}

/**
 * Allows one writer of the file at a time: DuckDB's own lock has no effect within one process, and SQLite's waits without limit or queue.
 */
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
      // the files that identify the owner are removed last, so that the next job recognizes a directory whose removal was interrupted
      for (const name of await readdir(directory))
        if (!name.startsWith('.svc-')) await rm(join(directory, name), { recursive: true, force: true });
      await lock.release();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/**
 * Removes staging left by attempts that died. The caller holds the file's lock, so no other job is making staging without one at the same
 * time.
 */
export async function removeDeadStaging(file: string): Promise<void> {
  const draft = `.${basename(file)}${lockName}-`;
  for (const name of await readdir(dirname(file))) {
    // a lock that was not acquired yet
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
