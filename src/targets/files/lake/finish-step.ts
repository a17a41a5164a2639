/**
 * Carries out the decided step of a job in the tables of a folder: one commit for each table. If another writer made a version meanwhile,
 * the commit follows that version. A step may be repeated at any point; a table with the job's transaction has all of its changes.
 */
import { holdRecovered, eachAtOnce } from '../place/journal.ts';
import type { LakeTarget, HeldLakePlace } from './place.ts';
import { join } from 'node:path';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import { jobMark } from '../folder/place.ts';
import { dataFolder, fileNamesOf } from './table-format.ts';
import { openDataFiles } from './data-files.ts';
import { formatsOf, mainFormat } from './formats.ts';
import type { LakeStep, LakeTable, TableStep } from './manifest.ts';
import {
  Conflicts,
  NewestVersions,
  changeAfter,
  type FormatPlace,
  RewrittenFiles,
  type StepPlace,
} from './next-files.ts';

export interface FinishedStep {
  /** the changes other than rows, in words */
  readonly changes: readonly string[];
  /** files that a compaction left as they are, and why, in words */
  readonly left: readonly string[];
  /** the number of files of each table that got a version */
  readonly fileCounts: ReadonlyMap<string, number>;
}

/**
 * Finishes a decided step; does nothing if there is none. `isRecovery`: a dead process may have begun it. AppError `service_unavailable` if
 * other writers were always first.
 */
export async function finishStep(
  place: HeldLakePlace,
  { isRecovery }: { readonly isRecovery: boolean },
): Promise<FinishedStep> {
  const step = await place.readStep();
  if (step === null) return { changes: [], left: [], fileCounts: new Map() };
  const staging = join(place.local, step.staging);
  const files = openDataFiles(place.local, staging);
  const newest = new NewestVersions(place);
  const rewritten = new Map<string, RewrittenFiles>();
  const inStep = { place, step, staging, files, newest, rewritten, isRecovery };
  const conflicts = new Conflicts();
  let committed: readonly CommittedTable[] | null;
  try {
    for (;;) {
      const commit = (): Promise<readonly CommittedTable[]> => commitTables(inStep);
      committed = await (place.catalogue?.together(commit) ?? commit());
      if (committed !== null) break;
      await conflicts.next(place.label);
    }
    for (const table of committed) await removeUnused(inStep, table);
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
    left: committed.flatMap(({ main: { left } }) => left),
    fileCounts: new Map(committed.map(({ table, main }) => [table.name, main.fileCount])),
  };
}

/** Locks the tables: waits for other writers, and finishes the step that a dead one decided. */
export async function holdPlace(target: LakeTarget, makes: boolean): Promise<HeldLakePlace> {
  return holdRecovered(target, makes, (place) => finishStep(place, { isRecovery: true }));
}

function versionsOf(committed: readonly CommittedTable[]): ReadonlyMap<string, number> {
  return new Map(committed.map(({ table, main }) => [table.name, main.version]));
}

/** Commits all tables of the step. The tables of documents and of jobs come after the others, in their order. */
async function commitTables(inStep: StepPlace): Promise<readonly CommittedTable[]> {
  const { place, step, newest } = inStep;
  const none = new Map<string, number>();
  // a catalogue commits all tables at once, so no state gets outdated while it waits for the others
  if (place.catalogue !== undefined) await newest.lookAt(mainFormat(step.format), step.tables);
  const ofRows = step.tables.filter(isOfRows);
  const committed = await eachAtOnce(ofRows, (table) => commitTable(inStep, table, none));
  for (const table of step.tables)
    if (!isOfRows(table)) committed.push(await commitTable(inStep, table, versionsOf(committed)));
  return committed;
}

const behindRows: ReadonlySet<string> = new Set([sideTableNames.documents, sideTableNames.loads]);

function isOfRows({ name }: TableStep): boolean {
  return !behindRows.has(name);
}

/** Commits one table in each of its formats. */
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
  const rewritten = inStep.rewritten.get(directory) ?? new RewrittenFiles(inStep, directory);
  inStep.rewritten.set(directory, rewritten);
  const committed: FormatCommitted[] = [];
  for (const format of formats)
    committed.push(await commitInFormat(inStep, { table, format, rewritten }, versions));
  return { table, committed, main: committed[0]!, rewritten };

  function below(folder: string): string {
    return `${directory}/${folder}`;
  }
}

interface FormatCommitted {
  readonly version: number;
  readonly fileCount: number;
  /** the changes, in words */
  readonly changes: readonly string[];
  /** see FormatChange.left */
  readonly left: readonly string[];
  /** paths of the job's files in the version; null if an earlier try made the version */
  readonly added: ReadonlySet<string> | null;
  /** the files that versions of earlier tries added; null if the table does not record them */
  readonly addedEarlier: () => Promise<ReadonlySet<string> | null>;
}

interface CommittedTable {
  readonly table: TableStep;
  /** the result in each of the table's formats */
  readonly committed: readonly FormatCommitted[];
  /** the result in the main format, which determines what is in the table */
  readonly main: FormatCommitted;
  readonly rewritten: RewrittenFiles;
}

/** Removes the files of this attempt that are in no version, and after a dead process all files of the job that are in no version. */
async function removeUnused(
  { place, step, isRecovery }: StepPlace,
  { table, committed, rewritten }: CommittedTable,
): Promise<void> {
  const data = `${table.directory}/${dataFolder}`;
  const kept = new Set<string>();
  for (const { added, addedEarlier } of committed) {
    const earlier = isRecovery || added === null ? await addedEarlier() : new Set<string>();
    if (earlier === null) return;
    for (const file of [...earlier, ...(added ?? [])]) kept.add(file);
  }
  const own = fileNamesOf(jobMark(step.job, step.jobUuid));
  const made = [...rewritten.names(), ...table.files.map(({ name }) => name)];
  // other writers' files have other names
  const candidates = isRecovery ? (await place.list(data)).filter((name) => own.test(name)) : made;
  for (const name of candidates)
    if (!kept.has(`${dataFolder}/${name}`)) await place.remove(`${data}/${name}`);
}

async function commitInFormat(
  inStep: StepPlace,
  inFormat: FormatPlace,
  versions: ReadonlyMap<string, number>,
): Promise<FormatCommitted> {
  const { place, step, staging, files, newest } = inStep;
  const { table, format } = inFormat;
  const { job, jobUuid, installation } = step;
  const label = `${place.label}: ${table.name}`;
  const conflicts = new Conflicts();
  for (;;) {
    const state = await newest.of(format, table);
    const addedEarlier = (): Promise<ReadonlySet<string> | null> =>
      state?.addedBy(jobUuid) ?? Promise.resolve(new Set());
    if (state?.isOfJob(jobUuid) === true) {
      await format.sweep(place, table.directory, state, step);
      return {
        version: state.version,
        fileCount: state.files.size,
        changes: [],
        left: [],
        added: null,
        addedEarlier,
      };
    }
    state?.checkWritable();
    const { changes, left = [], ...parts } = await changeAfter(inStep, inFormat, state);
    // after the table was read: if another process has taken over the place, its later job is not in the state that was read, so it cannot
    // be done twice
    await place.checkHeld();
    const version = await format.commit(place, table.directory, label, state, {
      ...parts,
      name: table.name,
      comment: table.comment,
      partitioning: table.partitioning ?? [],
      job,
      jobUuid,
      installation,
      versions: table.name === sideTableNames.loads ? toldVersions(step, versions) : null,
      drafts: staging,
      run: files.run,
    });
    if (version !== null)
      return {
        version,
        fileCount: (state?.files.size ?? 0) + parts.added.length - parts.removed.length,
        changes,
        left,
        added: new Set(parts.added.map((file) => `${dataFolder}/${file.name}`)),
        addedEarlier,
      };
    await conflicts.next(label);
  }
}

/** Returns the versions that the tables had once all rows of the job were there. */
function toldVersions(step: LakeStep, versions: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries(
    step.manifest.tables.map(({ name, version }) => [name, versions.get(name) ?? version]),
  );
}
