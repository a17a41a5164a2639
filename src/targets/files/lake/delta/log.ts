/**
 * The transaction log of a Delta table (the Delta transaction log protocol): parses its lines and checkpoints, computes the state of the
 * table at a version, and creates the next version at most once.
 */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { AppError } from '../../../../errors.ts';
import { isObject, parsed, pathBelow } from '../../json.ts';
import { type LakeFiles, ownNamespace } from '../table-format.ts';
import { openDuckDbReader, pathLiteral } from '../../../sql/duckdb/database.ts';
import { standardLiteral } from '../../../../engine/sql/dialect.ts';

export interface AddedFile {
  /** the path as in the log, percent-encoded */
  readonly path: string;
  readonly size: number;
  readonly modificationTime?: number;
  readonly dataChange?: boolean;
  readonly stats?: string | null;
  readonly deletionVector?: unknown;
  readonly partitionValues?: Readonly<Record<string, string | null>>;
}

export interface Metadata {
  readonly id: string;
  readonly schemaString: string;
  readonly partitionColumns?: readonly string[];
  readonly configuration?: Readonly<Record<string, string>>;
  readonly createdTime?: number;
  readonly [member: string]: unknown;
}

export interface Protocol {
  readonly minReaderVersion: number;
  readonly minWriterVersion: number;
  readonly readerFeatures?: readonly string[] | null;
  readonly writerFeatures?: readonly string[] | null;
}

interface RemovedFile {
  readonly path: string;
  readonly [member: string]: unknown;
}

/** One line of a log; absent members may be null in checkpoints. */
export interface Action {
  readonly commitInfo?: Readonly<Record<string, unknown>> | null;
  readonly protocol?: Protocol | null;
  readonly metaData?: Metadata | null;
  readonly txn?: { readonly appId: string; readonly version: number; readonly lastUpdated?: number } | null;
  readonly add?: AddedFile | null;
  readonly remove?: RemovedFile | null;
}

export interface DeltaState {
  readonly version: number;
  readonly protocol: Protocol;
  readonly metadata: Metadata;
  /** keyed by path below the table's folder, in the order in which they were added */
  readonly files: ReadonlyMap<string, AddedFile>;
  /** keyed by path, the files that are no longer in the table */
  readonly removed: ReadonlyMap<string, RemovedFile>;
  /** the last transaction of each application; for our jobs only the last one */
  readonly transactions: ReadonlyMap<string, number>;
  /** the tables' versions that the newest version records; null if it records none */
  readonly told: Readonly<Record<string, unknown>> | null;
  /** the version of the last known checkpoint; 0 if there is none */
  readonly checkpoint: number;
}

export const logFolder = '_delta_log';
/** the number of versions that are read at the same time */
const atOnce = 16;
/** the number of versions that are read without a search for a checkpoint */
const maxCommits = 32;

/** Returns a name such as `00000000000000000007.json`. */
function commitName(version: number): string {
  return `${versionDigits(version)}.json`;
}

export function versionDigits(version: number): string {
  return String(version).padStart(20, '0');
}

/**
 * Returns the table in that folder at its newest version, or at `version`; null if there is none. `label`: the table, for people. AppError
 * `conflict` if the log is incomplete.
 */
export async function readDeltaTable(
  place: LakeFiles,
  directory: string,
  label: string,
  version = Infinity,
): Promise<DeltaState | null> {
  const log = `${directory}/${logFolder}`;
  const names = await place.list(log);
  const commits = commitsAmong(names).filter((number) => number <= version);
  const newest = commits.at(-1);
  if (newest === undefined || (version !== Infinity && newest !== version)) {
    if (names.length === 0 && version === Infinity) return null;
    throw new AppError('not_found', `${label}: the log of the table has no version ${version}.`);
  }
  // commits from the first to the newest are sufficient; if there are many, or old ones were removed, a checkpoint replaces them
  const last = lastCheckpoint(names, newest);
  const isWhole = commits[0] === 0 && commits.length === newest + 1;
  const checkpoint = isWhole && newest < maxCommits ? null : last;
  const acted =
    checkpoint === null
      ? null
      : await readCheckpoint(place, log, checkpoint.files).catch((error: unknown) => {
          // the log is sufficient if a checkpoint of another program is unreadable
          if (isWhole && !(error instanceof AppError)) return null;
          throw error;
        });
  const from = checkpoint === null || acted === null ? 0 : checkpoint.version + 1;
  const replayed = commits.filter((number) => number >= from);
  if (replayed.length !== newest + 1 - from)
    throw new AppError('conflict', `${label}: versions are missing in ${logFolder}.`);
  const state = new Replay(label, null);
  if (acted !== null) state.take(acted);
  // includes the version of the checkpoint, because a checkpoint does not contain that version's own record of itself
  for await (const lines of commitsBetween(place, directory, label, Math.min(from, newest), newest)) {
    if (lines === null)
      throw new AppError('conflict', `${label}: another program removes versions from ${logFolder}.`);
    state.take(lines);
  }
  return state.at(newest, last?.version ?? 0);
}

/** Returns the paths of all files in any version up to that one; null if the log does not begin with its first version. */
export async function filesEverAdded(
  place: LakeFiles,
  directory: string,
  label: string,
  version: number,
): Promise<ReadonlySet<string> | null> {
  const added = new Set<string>();
  for await (const lines of commitsBetween(place, directory, label, 0, version)) {
    if (lines === null) return null;
    for (const { add } of lines) if (isObject(add)) added.add(pathInLog(add.path, label));
  }
  return added;
}

/**
 * Like `readDeltaTable`, but reads only the versions after `known`. Returns null if the log does not continue from `known`, because another
 * program cleaned it up.
 */
export async function readDeltaSince(
  place: LakeFiles,
  directory: string,
  label: string,
  known: DeltaState,
): Promise<DeltaState | null> {
  const state = new Replay(label, known);
  let version = known.version - 1;
  // the known version, the next one, and one more to see whether there are others
  for (let count = 3; ; count = Math.min(2 * count, atOnce)) {
    const commits = await readCommits(place, directory, label, version + 1, count);
    for (const lines of commits) {
      if (lines === null) return version < known.version ? null : state.at(version, known.checkpoint);
      version += 1;
      if (version > known.version) state.take(lines);
    }
  }
}

/** Yields the lines of each version from the first to the last; null if a version does not exist. */
async function* commitsBetween(
  place: LakeFiles,
  directory: string,
  label: string,
  first: number,
  last: number,
): AsyncIterable<readonly Action[] | null> {
  for (let at = first; at <= last; at += atOnce)
    yield* await readCommits(place, directory, label, at, Math.min(atOnce, last + 1 - at));
}

/** Returns the lines of `count` versions; null if a version does not exist. */
function readCommits(
  place: LakeFiles,
  directory: string,
  label: string,
  first: number,
  count: number,
): Promise<readonly (readonly Action[] | null)[]> {
  const versions = Array.from({ length: count }, (_, at) => first + at);
  return Promise.all(versions.map((version) => readCommit(place, directory, version, label)));
}

async function readCommit(
  place: LakeFiles,
  directory: string,
  version: number,
  label: string,
): Promise<readonly Action[] | null> {
  const bytes = await place.read(`${directory}/${logFolder}/${commitName(version)}`);
  if (bytes === null) return null;
  return new TextDecoder()
    .decode(bytes)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const action = parsed<Action>(line);
      if (isObject(action)) return action;
      throw new AppError('conflict', `${label}: ${logFolder}/${commitName(version)} is not a log of Delta.`);
    });
}

/** Creates that version of the table; returns false if another writer created it first. */
export function commitVersion(
  place: LakeFiles,
  directory: string,
  version: number,
  actions: readonly Action[],
): Promise<boolean> {
  const text = actions.map((action) => `${JSON.stringify(action)}\n`).join('');
  return place.create(`${directory}/${logFolder}/${commitName(version)}`, text);
}

/** Returns the versions that have commits. The folder also has checksums, checkpoints and files of other programs. */
function commitsAmong(names: readonly string[]): number[] {
  return names
    .flatMap((name) => {
      const match = /^(\d{20})\.json$/.exec(name);
      return match === null ? [] : [Number(match[1])];
    })
    .toSorted((a, b) => a - b);
}

/** Returns the newest checkpoint that has all of its parts. */
function lastCheckpoint(
  names: readonly string[],
  newest: number,
): { readonly version: number; readonly files: readonly string[] } | null {
  const found = names.flatMap((name) => {
    const match = /^(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10}))?\.parquet$/.exec(name);
    if (match === null || Number(match[1]) > newest) return [];
    return [{ name, version: Number(match[1]), parts: Number(match[3] ?? 1) }];
  });
  const groups = Map.groupBy(found, ({ version, parts }) => `${version} ${parts}`);
  const whole = [...groups.values()].filter((group) => group.length === group[0]!.parts);
  const [last] = whole.toSorted((a, b) => b[0]!.version - a[0]!.version);
  return last === undefined ? null : { version: last[0]!.version, files: last.map(({ name }) => name) };
}

class Replay {
  readonly #label: string;
  readonly #files: Map<string, AddedFile>;
  readonly #removed: Map<string, RemovedFile>;
  readonly #transactions: Map<string, number>;
  #protocol: Protocol | null;
  #metadata: Metadata | null;
  #told: DeltaState['told'];

  /** `known`: the state to continue from; null: none. */
  constructor(label: string, known: DeltaState | null) {
    this.#label = label;
    this.#files = new Map(known?.files);
    this.#removed = new Map(known?.removed);
    this.#transactions = new Map(known?.transactions);
    this.#protocol = known?.protocol ?? null;
    this.#metadata = known?.metadata ?? null;
    this.#told = known?.told ?? null;
  }

  /** Applies the actions of one version or of a checkpoint. */
  take(lines: readonly Action[]): void {
    // each job has its own application id; those of earlier jobs are no longer needed
    if (lines.some(({ txn }) => isObject(txn) && isOfJob(txn.appId)))
      for (const appId of this.#transactions.keys()) if (isOfJob(appId)) this.#transactions.delete(appId);
    this.#told = lines.map(({ commitInfo: info }) => info?.['svc.tables']).find(isObject) ?? null;
    for (const action of lines) this.#takeAction(action);
  }

  #takeAction({ protocol, metaData, txn, add, remove }: Action): void {
    if (isObject(protocol)) this.#protocol = protocol;
    if (isObject(metaData)) this.#metadata = metaData as Metadata;
    if (isObject(txn)) this.#transactions.set(txn.appId, Number(txn.version));
    if (isObject(remove)) {
      const path = pathInLog(remove.path, this.#label);
      this.#files.delete(path);
      this.#removed.set(path, remove as RemovedFile);
    }
    if (isObject(add)) {
      const path = pathInLog(add.path, this.#label);
      // a file that is added again has other statistics
      this.#files.delete(path);
      this.#removed.delete(path);
      this.#files.set(path, add as AddedFile);
    }
  }

  at(version: number, checkpoint: number): DeltaState {
    if (this.#protocol === null || this.#metadata === null)
      throw new AppError('conflict', `${this.#label}: its log has no protocol or no schema.`);
    return {
      version,
      protocol: this.#protocol,
      metadata: this.#metadata,
      files: this.#files,
      removed: this.#removed,
      transactions: this.#transactions,
      told: this.#told,
      checkpoint,
    };
  }
}

function isOfJob(appId: string): boolean {
  return appId.startsWith(ownNamespace);
}

function pathInLog(encoded: unknown, label: string): string {
  return pathBelow(typeof encoded === 'string' ? decoded(encoded) : null, label);
}

function decoded(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}

/** `log`: the folder of the table's log. */
async function readCheckpoint(place: LakeFiles, log: string, names: readonly string[]): Promise<Action[]> {
  const spill = await mkdtemp(join(tmpdir(), 'delta-checkpoint-'));
  try {
    const paths: string[] = [];
    for (const name of names) paths.push(await place.localFile(`${log}/${name}`));
    const database = await openDuckDbReader(':memory:', spill, { data: dirname(paths[0]!), streams: 1 });
    try {
      const actions: Action[] = [];
      for (const path of paths) {
        const rows = await database.read<{ action: string }>(
          `SELECT to_json(t)::VARCHAR AS action FROM read_parquet(${pathLiteral(path)}, hive_partitioning = false) t`,
        );
        for (const { action } of rows) actions.push(JSON.parse(action) as Action);
      }
      return actions;
    } finally {
      database.close();
    }
  } finally {
    await rm(spill, { recursive: true, force: true });
  }
}

/** the default number of versions between checkpoints */
const usualInterval = 10;

/** Returns whether that version of the table should get a checkpoint: each tenth, and one after ten that others made without any. */
export function isCheckpointDue({
  version,
  metadata,
  checkpoint,
}: Pick<DeltaState, 'version' | 'metadata' | 'checkpoint'>): boolean {
  const wanted = Number(metadata.configuration?.['delta.checkpointInterval']);
  const interval = Number.isInteger(wanted) && wanted > 0 ? wanted : usualInterval;
  return version > 0 && (version % interval === 0 || version - checkpoint > interval);
}

/** The DuckDB types of the columns of a checkpoint, of versions before sidecars. */
const columns = {
  txn: 'STRUCT("appId" VARCHAR, "version" BIGINT)',
  add: 'STRUCT("path" VARCHAR, "partitionValues" MAP(VARCHAR, VARCHAR), "size" BIGINT, "modificationTime" BIGINT, "dataChange" BOOLEAN, "tags" MAP(VARCHAR, VARCHAR), "stats" VARCHAR)',
  remove:
    'STRUCT("path" VARCHAR, "deletionTimestamp" BIGINT, "dataChange" BOOLEAN, "extendedFileMetadata" BOOLEAN, "partitionValues" MAP(VARCHAR, VARCHAR), "size" BIGINT)',
  metaData:
    'STRUCT("id" VARCHAR, "name" VARCHAR, "description" VARCHAR, "format" STRUCT("provider" VARCHAR, "options" MAP(VARCHAR, VARCHAR)), "schemaString" VARCHAR, "partitionColumns" VARCHAR[], "configuration" MAP(VARCHAR, VARCHAR), "createdTime" BIGINT)',
  protocol:
    'STRUCT("minReaderVersion" INTEGER, "minWriterVersion" INTEGER, "readerFeatures" VARCHAR[], "writerFeatures" VARCHAR[])',
} as const;

interface CheckpointPlace {
  readonly files: LakeFiles;
  readonly log: string;
  /** the digits of that version in file names */
  readonly digits: string;
  /** a folder of this machine for unfinished files */
  readonly drafts: string;
  readonly run: (sql: string) => Promise<unknown>;
}

/** Writes the checkpoint of the state. It becomes visible only when it is complete. */
export async function writeCheckpoint(
  { version, protocol, metadata, files, removed, transactions }: DeltaState,
  { files: place, log, digits, drafts, run }: CheckpointPlace,
): Promise<void> {
  const actions: Action[] = [
    { protocol },
    { metaData: metadata },
    ...[...transactions].map(([appId, last]): Action => ({ txn: { appId, version: last } })),
    ...[...files.values()].map((add): Action => ({ add: { ...add, dataChange: false } })),
    ...[...removed.values()].map((remove): Action => ({ remove: { ...remove, dataChange: false } })),
  ];
  const draft = join(drafts, `.checkpoint-${randomUUID()}`);
  const [lines, parquet] = [`${draft}.json`, `${draft}.parquet`];
  try {
    await writeFile(lines, actions.map((action) => `${JSON.stringify(action)}\n`).join(''), { flag: 'wx' });
    const types = Object.entries(columns).map(([name, type]) => `${name}: ${standardLiteral(type)}`);
    await run(
      `COPY (SELECT * FROM read_json(${pathLiteral(lines)}, format = 'newline_delimited', columns = {${types.join(', ')}})) TO ${standardLiteral(parquet)} (FORMAT parquet, COMPRESSION zstd)`,
    );
    await place.add(parquet, `${log}/${digits}.checkpoint.parquet`);
    // a hint for readers; one that does not find it lists the names
    await place.write(`${log}/_last_checkpoint`, JSON.stringify({ version, size: actions.length }));
  } finally {
    for (const path of [lines, parquet]) await rm(path, { force: true });
  }
}
