/**
 * What a job does to the tables of a folder, once it is decided: a commit a table, in which a version that somebody else made meanwhile is
 * the one to go on from. May be repeated at any point; a table that has the job's transaction has everything of it.
 */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileKeyName, sideTableNames } from '../../engine/model/side-tables.ts';
import { AppError } from '../../errors.ts';
import { journalName, renameIfThere, syncPath } from '../folder/contents/manifest.ts';
import { dataFolder, openDataFiles, parquet, type DataFiles, type Rewriting } from './data-files.ts';
import { formatsOf, mainFormat, numberingFormat } from './formats.ts';
import {
  readLakeStep,
  writeLakeManifest,
  type LakeStep,
  type LakeTable,
  type TableStep,
} from './manifest.ts';
import { nextVersion } from './next-version.ts';
import { plainFile } from './plain-paths.ts';
import type { FieldIds, NewFile, TableChange, TableFormat, TableVersion } from './table-format.ts';

/** Ends what the folder's journal says; does nothing without one. Answers what changed but for rows. `label`: the folder, for people. */
export async function finishStep(directory: string, label: string): Promise<readonly string[]> {
  const step = await readLakeStep(directory);
  if (step === null) return [];
  const staging = join(directory, step.staging);
  const files = openDataFiles(directory, staging);
  const changes: string[] = [];
  const versions = new Map<string, number>();
  try {
    for (const table of step.tables) {
      const committed = await commitTable({ directory, label, step, staging, files }, table, versions);
      versions.set(table.name, committed.version);
      changes.push(...committed.changes);
    }
  } finally {
    await files.close();
  }
  const { manifest } = step;
  await writeLakeManifest(directory, {
    ...manifest,
    tables: manifest.tables.map((table): LakeTable => ({
      ...table,
      version: versions.get(table.name) ?? table.version,
    })),
  });
  await rm(staging, { recursive: true, force: true });
  await rm(join(directory, journalName), { force: true });
  await syncPath(directory);
  return changes;
}

interface StepPlace {
  readonly directory: string;
  readonly label: string;
  readonly step: LakeStep;
  readonly staging: string;
  readonly files: DataFiles;
}

interface Committed {
  /** in the format that tells what is in the table */
  readonly version: number;
  readonly changes: readonly string[];
}

/** One table, in each of its formats. */
async function commitTable(
  place: StepPlace,
  table: TableStep,
  versions: ReadonlyMap<string, number>,
): Promise<Committed> {
  const { label, step, staging } = place;
  const formats = formatsOf(step.format);
  const directory = join(place.directory, table.directory);
  const data = join(directory, dataFolder);
  const folders = [directory, data, ...formats.map(({ folder }) => join(directory, folder))];
  for (const folder of folders) await makeOwnFolder(folder, label);
  const { file } = table;
  if (file !== null) {
    await renameIfThere(join(staging, file.name), join(data, file.name));
    await syncPath(data);
  }
  const rewritten = new Rewritten(place, data);
  const committed: FormatCommitted[] = [];
  for (const format of formats)
    committed.push(await commitInFormat(place, { table, format, directory, rewritten }, versions));
  await removeUnused(directory, { table, committed, rewritten, job: step.job });
  const [{ version, changes }] = committed as [FormatCommitted];
  return { version, changes };
}

interface FormatCommitted extends Committed {
  /** paths that the version has of the job; null where an earlier attempt made it */
  readonly added: ReadonlySet<string> | null;
  readonly everAdded: () => Promise<ReadonlySet<string> | null>;
}

interface CommittedTable {
  readonly table: TableStep;
  readonly committed: readonly FormatCommitted[];
  readonly rewritten: Rewritten;
  readonly job: number;
}

/** Files of this attempt that no version took, and after a dead one whatever of the job no version has. */
async function removeUnused(
  directory: string,
  { table, committed, rewritten, job }: CommittedTable,
): Promise<void> {
  const data = join(directory, dataFolder);
  const kept = new Set<string>();
  let isRecovered = false;
  for (const { added, everAdded } of committed) {
    isRecovered ||= added === null;
    const files = added ?? (await everAdded());
    if (files === null) return;
    for (const file of files) kept.add(file);
  }
  const own = new RegExp(`^${job}-[0-9a-f]{16}\\.parquet$`);
  const made = [...rewritten.names(), ...(table.file === null ? [] : [table.file.name])];
  // what others write has other names
  const candidates = isRecovered ? (await readdir(data)).filter((name) => own.test(name)) : made;
  for (const name of candidates)
    if (!kept.has(`${dataFolder}/${name}`)) await rm(join(data, name), { force: true });
}

interface FormatPlace {
  readonly table: TableStep;
  readonly format: TableFormat;
  readonly directory: string;
  readonly rewritten: Rewritten;
}

async function commitInFormat(
  place: StepPlace,
  inFormat: FormatPlace,
  versions: ReadonlyMap<string, number>,
): Promise<FormatCommitted> {
  const { label, step, staging, files } = place;
  const { table, format, directory } = inFormat;
  const name = `${label}: ${table.name}`;
  for (;;) {
    const state = await format.readTable(directory, name);
    if (state?.lastJob(step.installation) === step.job)
      return { version: state.version, changes: [], added: null, everAdded: state.everAdded };
    if (state !== null) state.checkWritable();
    const { changes, ...parts } = await changeOf(place, inFormat, state);
    const version = await format.commit(directory, name, state, {
      ...parts,
      name: table.name,
      comment: table.comment,
      job: step.job,
      installation: step.installation,
      versions: table.name === sideTableNames.loads ? toldVersions(step, versions) : null,
      drafts: staging,
      run: files.run,
    });
    if (version !== null)
      return {
        version,
        changes,
        added: new Set(parts.added.map((file) => `${dataFolder}/${file.name}`)),
        everAdded: () => Promise.resolve(null),
      };
  }
}

/** What the tables were when the job was there with all of its rows. */
function toldVersions(step: LakeStep, versions: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries(
    step.manifest.tables.map(({ name, version }) => [name, versions.get(name) ?? version]),
  );
}

/** Files of the table that were written anew: once for all formats, where these ask for the same. */
class Rewritten {
  readonly #files: DataFiles;
  readonly #job: number;
  readonly #data: string;
  readonly #made = new Map<string, NewFile | null>();

  constructor({ files, step }: StepPlace, data: string) {
    this.#files = files;
    this.#job = step.job;
    this.#data = data;
  }

  names(): readonly string[] {
    return [...this.#made.values()].flatMap((file) => (file === null ? [] : [file.name]));
  }

  /** Null where no row stays. */
  async of(path: string, rewriting: Rewriting): Promise<NewFile | null> {
    const { conversions, where, columns, fieldIds } = rewriting;
    const key = JSON.stringify([path, [...conversions], where, columns, fieldIds]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = await this.#files.rewrite(path, this.#job, this.#data, rewriting);
    if (made !== null) await syncPath(this.#data);
    this.#made.set(key, made);
    return made;
  }
}

/** A file of the table, by its whole path. */
interface PresentFile {
  readonly path: string;
  readonly name: string;
}

type FormatChange = Pick<TableChange, 'fields' | 'operation' | 'removed' | 'added'> &
  Pick<Committed, 'changes'>;

async function changeOf(
  { directory: folder, label, step, files }: StepPlace,
  { table, format, directory, rewritten }: FormatPlace,
  state: TableVersion | null,
): Promise<FormatChange> {
  const data = join(directory, dataFolder);
  const present: PresentFile[] = [];
  for (const name of state?.files.keys() ?? [])
    present.push({ path: await plainFile(directory, name), name });
  const ownPath = table.file === null ? [] : [join(data, table.file.name)];
  const next = await nextVersion(format, state, table, (column) =>
    files.digits([...present.map(({ path }) => path), ...ownPath], column),
  );
  const columns = next.fields.flatMap(({ name, sqlType }) => (sqlType === null ? [] : [{ name, sqlType }]));
  const numbering = numberingFormat(step.format);
  const fieldIds =
    numbering === format ? format.fieldIds(state, next.fields) : (table.file?.fieldIds ?? null);
  const going =
    table.replace || next.there.size > 0 ? present : await withDocuments(files, present, table.without);
  if (going.length > 0 && state!.isAppendOnly)
    throw new AppError(
      'conflict',
      `${label}: ${table.name} has the property delta.appendOnly, and its rows would be written anew; take that away.`,
    );
  const where = table.replace ? await keptRows(folder, table, step) : without(table.without);
  const added: NewFile[] = [];
  for (const { path } of next.clears ? [] : going) {
    const kept = await rewritten.of(path, { conversions: next.there, columns, where, fieldIds });
    if (kept !== null) added.push(kept);
  }
  const own = table.file;
  if (own !== null) {
    const isAsItIs = next.own.size === 0 && (fieldIds === null || hasFieldIds(own, fieldIds));
    const settled = isAsItIs
      ? own
      : await rewritten.of(join(data, own.name), { conversions: next.own, columns, where: null, fieldIds });
    if (settled !== null) added.push(settled);
  }
  return {
    fields: next.fields,
    operation: table.without.length > 0 ? 'delete' : table.replace ? 'overwrite' : 'append',
    removed: going.map(({ name }) => name),
    added,
    changes: next.changes,
  };
}

/** Whether the columns of the file have these numbers. */
function hasFieldIds({ fieldIds = {} }: NewFile, wanted: FieldIds): boolean {
  return Object.entries(fieldIds).every(([name, ids]) => ids.join() === wanted[name]?.join());
}

/** A condition: the row is of none of these documents; null where it may be of any. */
function without(keys: readonly string[]): string | null {
  return keys.length === 0 ? null : `(${fileKeyName} IN (${keys.join(', ')})) IS NOT TRUE`;
}

/** The files that have rows of these documents. */
async function withDocuments(
  files: DataFiles,
  present: readonly PresentFile[],
  keys: readonly string[],
): Promise<readonly PresentFile[]> {
  const found: PresentFile[] = [];
  if (keys.length === 0) return found;
  for (const file of present) {
    const rows = await files.read(
      `SELECT 1 FROM ${parquet([file.path])} WHERE ${fileKeyName} IN (${keys.join(', ')}) LIMIT 1`,
    );
    if (rows.length > 0) found.push(file);
  }
  return found;
}

/** Of a table beside the data: a condition for the rows of documents that stay. */
async function keptRows(folder: string, table: TableStep, step: LakeStep): Promise<string> {
  const jobs = `job IN (${table.keptJobs.join(', ')})`;
  if (table.name === sideTableNames.documents) return jobs;
  const documents = step.tables.find(({ name }) => name === sideTableNames.documents);
  const directory = join(folder, documents?.directory ?? sideTableNames.documents);
  const state = await mainFormat(step.format).readTable(directory, sideTableNames.documents);
  const paths: string[] = [];
  for (const path of state?.files.keys() ?? []) paths.push(await plainFile(directory, path));
  return paths.length === 0
    ? 'false'
    : `${fileKeyName} IN (SELECT ${fileKeyName} FROM ${parquet(paths)} WHERE ${jobs})`;
}

/** A folder, made where there is none, and no link to one. */
async function makeOwnFolder(path: string, label: string): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  if (!(await lstat(path)).isDirectory())
    throw new AppError(
      'target_not_allowed',
      `${label}: a link or a file stands where a table’s folder is needed.`,
    );
}
