/**
 * The transaction log of a Delta table (the Delta transaction log protocol): what is in the table at a version, and the next version,
 * which is made once or not at all.
 */
import { AppError } from '../../../../errors.ts';
import { isObject, parsed } from '../../json.ts';
import { type LakeFiles, ownNamespace } from '../table-format.ts';
import { pathBelow } from '../../place/plain-paths.ts';
import type { Action, AddedFile, Metadata, Protocol, RemovedFile, DeltaState } from './actions.ts';
import { readCheckpoint } from './checkpoint.ts';

export const logFolder = '_delta_log';
/** versions that are read at the same time */
const atOnce = 16;
/** versions that are read without a look for a checkpoint */
const mostCommits = 32;

/** `00000000000000000007.json` */
export function commitName(version: number): string {
  return `${versionDigits(version)}.json`;
}

export function versionDigits(version: number): string {
  return String(version).padStart(20, '0');
}

/**
 * The table in that folder at its newest version, or at `version`; null where there is none. `label`: the table, for people. AppError
 * `conflict` where the log does not tell.
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
  // commits from the first to the newest one tell all; where there are many, or old ones were cleaned away, a checkpoint stands for them
  const last = lastCheckpoint(names, newest);
  const isWhole = commits[0] === 0 && commits.length === newest + 1;
  const checkpoint = isWhole && newest < mostCommits ? null : last;
  const acted =
    checkpoint === null
      ? null
      : await readCheckpoint(place, log, checkpoint.files).catch((error: unknown) => {
          // the log tells all that a checkpoint of somebody else cannot
          if (isWhole && !(error instanceof AppError)) return null;
          throw error;
        });
  const from = checkpoint === null || acted === null ? 0 : checkpoint.version + 1;
  const replayed = commits.filter((number) => number >= from);
  if (replayed.length !== newest + 1 - from)
    throw new AppError('conflict', `${label}: versions are missing in ${logFolder}.`);
  const state = new Replay(label, null);
  if (acted !== null) state.take(acted);
  // that of the checkpoint, too: what it says of itself is in no checkpoint
  for await (const lines of commitsBetween(place, directory, label, Math.min(from, newest), newest)) {
    if (lines === null)
      throw new AppError('conflict', `${label}: somebody takes versions out of ${logFolder}.`);
    state.take(lines);
  }
  return state.at(newest, last?.version ?? 0);
}

/** Paths of all files that any version up to that one has; null where the log does not begin at its first one. */
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

/** As `readDeltaTable`, of the versions after `known` alone; null where the log does not go on from it: somebody cleaned it up. */
export async function readDeltaSince(
  place: LakeFiles,
  directory: string,
  label: string,
  known: DeltaState,
): Promise<DeltaState | null> {
  const state = new Replay(label, known);
  let version = known.version - 1;
  // the one known, the one that came first, and whether there are more
  for (let count = 3; ; count = Math.min(2 * count, atOnce)) {
    const commits = await readCommits(place, directory, label, version + 1, count);
    for (const lines of commits) {
      if (lines === null) return version < known.version ? null : state.at(version, known.checkpoint);
      version += 1;
      if (version > known.version) state.take(lines);
    }
  }
}

/** The lines of each version from the first to the last; null: there is no such one. */
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

/** The lines of so many versions; null: there is no such one. */
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

/** Makes that version of the table; false where somebody else made it first. */
export function commitVersion(
  place: LakeFiles,
  directory: string,
  version: number,
  actions: readonly Action[],
): Promise<boolean> {
  const text = actions.map((action) => `${JSON.stringify(action)}\n`).join('');
  return place.create(`${directory}/${logFolder}/${commitName(version)}`, text);
}

/** Versions that commits are there of; beside them lie checksums, checkpoints and what else other programs keep. */
function commitsAmong(names: readonly string[]): number[] {
  return names
    .flatMap((name) => {
      const match = /^(\d{20})\.json$/.exec(name);
      return match === null ? [] : [Number(match[1])];
    })
    .toSorted((a, b) => a - b);
}

/** The newest one that is there in all its parts. */
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

  /** `known`: what it goes on from; null: nothing. */
  constructor(label: string, known: DeltaState | null) {
    this.#label = label;
    this.#files = new Map(known?.files);
    this.#removed = new Map(known?.removed);
    this.#transactions = new Map(known?.transactions);
    this.#protocol = known?.protocol ?? null;
    this.#metadata = known?.metadata ?? null;
    this.#told = known?.told ?? null;
  }

  /** Of one version, or of a checkpoint. */
  take(lines: readonly Action[]): void {
    // each job has a name of its own; of the jobs before it nothing is asked any more
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
      // what is added again has other statistics
      this.#files.delete(path);
      this.#removed.delete(path);
      this.#files.set(path, add as AddedFile);
    }
  }

  at(version: number, checkpoint: number): DeltaState {
    if (this.#protocol === null || this.#metadata === null)
      throw new AppError('conflict', `${this.#label}: its log tells neither protocol nor schema.`);
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
