/**
 * What a job does to the tables of a folder, once it is decided: a commit a table, in which a version that somebody else made meanwhile is
 * the one to go on from. May be repeated at any point; a table that has the job's transaction has everything of it.
 */
import { join } from 'node:path';
import { sideTableNames } from '../../engine/model/side-tables.ts';
import { AppError } from '../../errors.ts';
import { dataFolder, openDataFiles, type DataFiles, type Rewriting, type LocalRows } from './data-files.ts';
import { closedValues } from './documents/merged-documents.ts';
import { keptRows, localFiles, touchedFiles, without } from './documents/touched-files.ts';
import { rowFiles } from './store/row-files.ts';
import { formatsOf, numberingFormat } from './formats.ts';
import type { LakeStep, LakeTable, TableStep } from './manifest.ts';
import { nextVersion } from './next-version.ts';
import type { PartitionValues } from './partitions/fields.ts';
import type { HeldPlace } from './store/place.ts';
import type { FieldIds, NewFile, TableChange, TableFormat, TableVersion } from './table-format.ts';

export interface FinishedStep {
  /** what changed but for rows, in words */
  readonly changes: readonly string[];
  /** files of the tables that were given a version; by table */
  readonly fileCounts: ReadonlyMap<string, number>;
}

/** Ends what was decided; does nothing where nothing was. `isRecovery`: a dead process may have begun. */
export async function finishStep(
  place: HeldPlace,
  { isRecovery }: { readonly isRecovery: boolean },
): Promise<FinishedStep> {
  const step = await place.readStep();
  if (step === null) return { changes: [], fileCounts: new Map() };
  const staging = join(place.local, step.staging);
  const files = openDataFiles(place.local, staging);
  const inStep = { place, step, staging, files };
  let committed: readonly CommittedTable[] | null = null;
  try {
    // what an attempt made in vain is like what a dead one left
    for (let isLater = isRecovery; committed === null; isLater = true)
      committed = await place.together(() => commitTables({ ...inStep, isRecovery: isLater }));
    for (const table of committed) await removeUnused(table);
  } finally {
    await files.close();
  }
  const { manifest } = step;
  const versions = versionsOf(committed);
  await place.conclude(step, {
    ...manifest,
    tables: manifest.tables.map((table): LakeTable => ({
      ...table,
      version: versions.get(table.name) ?? table.version,
    })),
  });
  return {
    changes: committed.flatMap(({ main: { changes } }) => changes),
    fileCounts: new Map(committed.map(({ table, main }) => [table.name, main.fileCount])),
  };
}

function versionsOf(committed: readonly CommittedTable[]): ReadonlyMap<string, number> {
  return new Map(committed.map(({ table, main }) => [table.name, main.version]));
}

/** All tables of the step, one after the other. */
async function commitTables(inStep: StepPlace): Promise<readonly CommittedTable[]> {
  const committed: CommittedTable[] = [];
  for (const table of inStep.step.tables)
    committed.push(await commitTable(inStep, table, versionsOf(committed)));
  return committed;
}

interface StepPlace {
  readonly place: HeldPlace;
  readonly step: LakeStep;
  /** folder of this machine */
  readonly staging: string;
  readonly files: DataFiles;
  readonly isRecovery: boolean;
}

/** One table, in each of its formats. */
async function commitTable(
  inStep: StepPlace,
  table: TableStep,
  versions: ReadonlyMap<string, number>,
): Promise<CommittedTable> {
  const { place, step } = inStep;
  const formats = formatsOf(step.format);
  const { directory } = table;
  const folders = [directory, ...[dataFolder, ...formats.map(({ folder }) => folder)].map(below)];
  for (const folder of folders) await place.makeFolder(folder);
  await place.settle(
    step,
    table.files.map(({ name }) => name),
    `${directory}/${dataFolder}`,
  );
  const rewritten = new Rewritten(inStep, directory);
  const committed: FormatCommitted[] = [];
  for (const format of formats)
    committed.push(await commitInFormat(inStep, { table, format, rewritten }, versions));
  return { inStep, table, committed, main: committed[0]!, rewritten };

  function below(folder: string): string {
    return `${directory}/${folder}`;
  }
}

interface FormatCommitted {
  readonly version: number;
  readonly fileCount: number;
  /** in words */
  readonly changes: readonly string[];
  /** paths that the version has of the job; null where an earlier attempt made it */
  readonly added: ReadonlySet<string> | null;
  /** of all versions before */
  readonly everAdded: () => Promise<ReadonlySet<string> | null>;
}

interface CommittedTable {
  readonly inStep: StepPlace;
  readonly table: TableStep;
  /** in each of its formats */
  readonly committed: readonly FormatCommitted[];
  /** in the format that tells what is in the table */
  readonly main: FormatCommitted;
  readonly rewritten: Rewritten;
}

/** Files of this attempt that no version took, and after a dead one whatever of the job no version has. */
async function removeUnused({ inStep, table, committed, rewritten }: CommittedTable): Promise<void> {
  const { place, step, isRecovery } = inStep;
  const data = `${table.directory}/${dataFolder}`;
  const kept = new Set<string>();
  for (const { added, everAdded } of committed) {
    const earlier = isRecovery ? await everAdded() : new Set<string>();
    if (earlier === null) return;
    for (const file of [...earlier, ...(added ?? [])]) kept.add(file);
  }
  const own = new RegExp(`^${step.job}-[0-9a-f]{16}\\.parquet$`);
  const made = [...rewritten.names(), ...table.files.map(({ name }) => name)];
  // what others write has other names
  const candidates = isRecovery ? (await place.list(data)).filter((name) => own.test(name)) : made;
  for (const name of candidates)
    if (!kept.has(`${dataFolder}/${name}`)) await place.remove(`${data}/${name}`);
}

interface FormatPlace {
  readonly table: TableStep;
  readonly format: TableFormat;
  readonly rewritten: Rewritten;
}

async function commitInFormat(
  inStep: StepPlace,
  inFormat: FormatPlace,
  versions: ReadonlyMap<string, number>,
): Promise<FormatCommitted> {
  const { place, step, staging, files, isRecovery } = inStep;
  const { table, format } = inFormat;
  const name = `${place.label}: ${table.name}`;
  for (;;) {
    const state = await format.readTable(place, table.directory, name);
    if (state?.lastJob(step.installation) === step.job) {
      if (isRecovery) await format.sweep(place, table.directory, state, step.job, step.installation);
      return {
        version: state.version,
        fileCount: state.files.size,
        changes: [],
        added: null,
        everAdded: state.everAdded,
      };
    }
    if (state !== null) state.checkWritable();
    const { changes, ...parts } = await (table.merges === undefined
      ? changeOf(inStep, inFormat, state)
      : mergedFiles(inStep, inFormat, state));
    // after the look at the table: a later job of whoever took the place over is not in what was read, so it is not done twice
    await place.checkHeld();
    const version = await format.commit(place, table.directory, name, state, {
      ...parts,
      name: table.name,
      comment: table.comment,
      partitioning: table.partitioning ?? [],
      job: step.job,
      installation: step.installation,
      versions: table.name === sideTableNames.loads ? toldVersions(step, versions) : null,
      drafts: staging,
      run: files.run,
    });
    if (version !== null)
      return {
        version,
        fileCount: (state?.files.size ?? 0) + parts.added.length - parts.removed.length,
        changes,
        added: new Set(parts.added.map((file) => `${dataFolder}/${file.name}`)),
        everAdded: state?.everAdded ?? (() => Promise.resolve(new Set())),
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
  readonly #inStep: StepPlace;
  readonly #directory: string;
  readonly #made = new Map<string, NewFile | null>();

  constructor(inStep: StepPlace, directory: string) {
    this.#inStep = inStep;
    this.#directory = directory;
  }

  names(): readonly string[] {
    return [...this.#made.values()].flatMap((file) => (file === null ? [] : [file.name]));
  }

  /** All rows of files of the table, by their paths below its folder. */
  async merged(
    paths: readonly string[],
    rows: number,
    merging: Pick<Rewriting, 'columns' | 'fieldIds'>,
  ): Promise<NewFile> {
    const { place, step, staging, files } = this.#inStep;
    const key = JSON.stringify([paths, merging.columns, merging.fieldIds]);
    const known = this.#made.get(key);
    if (known !== undefined && known !== null) return known;
    const local = await localFiles(
      place,
      paths.map((path) => `${this.#directory}/${path}`),
    );
    const made = await files.merge(local, step.job, rows, merging);
    await place.add(join(staging, made.name), `${this.#directory}/${dataFolder}/${made.name}`);
    this.#made.set(key, made);
    return made;
  }

  /** Null where no row stays. */
  async of(file: LocalRows, rewriting: Rewriting): Promise<NewFile | null> {
    const { place, step, staging, files } = this.#inStep;
    const { conversions, where, columns, fieldIds, values = [] } = rewriting;
    const key = JSON.stringify([file, [...conversions], where, columns, fieldIds, [...values]]);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = await files.rewrite(file, step.job, rewriting);
    if (made !== null)
      await place.add(join(staging, made.name), `${this.#directory}/${dataFolder}/${made.name}`);
    this.#made.set(key, made);
    return made;
  }
}

type FormatChange = Pick<TableChange, 'fields' | 'operation' | 'removed' | 'added'> &
  Pick<FormatCommitted, 'changes'>;

async function changeOf(
  { place, step, files }: StepPlace,
  inFormat: FormatPlace,
  state: TableVersion | null,
): Promise<FormatChange> {
  const { table, format, rewritten } = inFormat;
  const { directory } = table;
  const present = [...(state?.files ?? [])].map(([name, of]) => ({
    path: `${directory}/${name}`,
    name,
    of,
  }));
  for (const { path } of present) await place.checkFile(path);
  const pathOf = (file: NewFile): string => `${directory}/${dataFolder}/${file.name}`;
  const next = await nextVersion(format, state, table, async (column) =>
    files.digits(
      [...(await rowFiles(place, present)), ...(await localFiles(place, table.files.map(pathOf)))],
      column,
    ),
  );
  const columns = next.fields.flatMap(({ name, sqlType }) => (sqlType === null ? [] : [{ name, sqlType }]));
  const numbering = numberingFormat(step.format);
  const fieldIds =
    numbering === format || table.files[0]?.fieldIds === undefined
      ? await fieldIdsIn(place, inFormat, numbering, state, next.fields)
      : table.files[0].fieldIds;
  const going =
    table.replace || next.there.size > 0
      ? present
      : await touchedFiles(place, files, present, columns, table);
  if (going.length > 0 && state!.isAppendOnly)
    throw new AppError(
      'conflict',
      `${place.label}: ${table.name} has the property delta.appendOnly, and its rows would be written anew; take that away.`,
    );
  const where = table.replace ? await keptRows(place, table, step) : without(table.without);
  const added: NewFile[] = [];
  for (const file of next.clears ? [] : going) {
    const kept = await rewritten.of((await rowFiles(place, [file]))[0]!, {
      conversions: next.there,
      columns,
      where,
      fieldIds,
      ...(table.closing === undefined ? {} : { values: closedValues(table.closing) }),
    });
    if (kept !== null) added.push(inPartition(kept, file.of.partition));
  }
  for (const own of table.files) {
    const isAsItIs = next.own.size === 0 && (fieldIds === null || hasFieldIds(own, fieldIds));
    const settled = isAsItIs
      ? own
      : await rewritten.of(await place.localFile(pathOf(own)), {
          conversions: next.own,
          columns,
          where: null,
          fieldIds,
        });
    if (settled !== null) added.push(inPartition(settled, own.partition ?? []));
  }
  return {
    fields: next.fields,
    operation: operationOf(table),
    removed: going.map(({ name }) => name),
    added,
    changes: next.changes,
  };
}

/** Other files with the same rows: of each list of files that the table still has, one. */
async function mergedFiles(
  { place, step }: StepPlace,
  inFormat: FormatPlace,
  state: TableVersion | null,
): Promise<FormatChange> {
  const { table, rewritten } = inFormat;
  const fields = state?.fields ?? [];
  const columns = fields.flatMap(({ name, sqlType }) => (sqlType === null ? [] : [{ name, sqlType }]));
  const fieldIds = await fieldIdsIn(place, inFormat, numberingFormat(step.format), state, fields);
  const added: NewFile[] = [];
  const removed: string[] = [];
  for (const paths of columns.length < fields.length ? [] : table.merges!) {
    const there = paths.flatMap((path) => state?.files.get(path) ?? []);
    // somebody else took one of them away meanwhile
    if (there.length < paths.length) continue;
    const rows = there.reduce((sum, file) => sum + file.rows, 0);
    added.push(inPartition(await rewritten.merged(paths, rows, { columns, fieldIds }), there[0]!.partition));
    removed.push(...paths);
  }
  const changes =
    removed.length === 0 ? [] : [`${table.name}: ${removed.length} files became ${added.length}`];
  return { fields, operation: 'compact', removed, added, changes };
}

function inPartition(file: NewFile, partition: PartitionValues): NewFile {
  return partition.length === 0 ? file : { ...file, partition };
}

/** Numbers of columns in files that serve all formats of the table; null where none numbers them. */
async function fieldIdsIn(
  place: HeldPlace,
  { table, format }: FormatPlace,
  numbering: TableFormat | null,
  state: TableVersion | null,
  fields: TableVersion['fields'],
): Promise<FieldIds | null> {
  if (numbering === null) return null;
  const label = `${place.label}: ${table.name}`;
  const numbered = numbering === format ? state : await numbering.readTable(place, table.directory, label);
  return numbering.fieldIds(numbered, fields);
}

/** Whether the columns of the file have these numbers. */
function hasFieldIds({ fieldIds = {} }: NewFile, wanted: FieldIds): boolean {
  return Object.entries(fieldIds).every(([name, ids]) => ids.join() === wanted[name]?.join());
}

function operationOf({ without, closing, columns, replace }: TableStep): TableChange['operation'] {
  if (replace) return 'overwrite';
  if (columns.length === 0) return 'delete';
  return without.length > 0 || closing !== undefined ? 'merge' : 'append';
}
