/**
 * What a job does to the tables of a folder, once it is decided: a commit a table, in which a version that somebody else made meanwhile is
 * the one to go on from. May be repeated at any point; a table that has the job's transaction has everything of it.
 */
import { randomUUID } from 'node:crypto';
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileKeyName, sideTableNames } from '../../engine/model/side-tables.ts';
import { AppError } from '../../errors.ts';
import { journalName, renameIfThere, syncPath } from '../folder/contents/manifest.ts';
import type { Action, AddedFile, TableState } from './log/actions.ts';
import { dataFolder, openDataFiles, parquet, type DataFiles } from './data-files.ts';
import { plainFile } from './log/plain-paths.ts';
import { isCheckpointDue, writeCheckpoint } from './log/checkpoint.ts';
import { commitVersion, logFolder, readTable, versionDigits } from './log/versions.ts';
import {
  readLakeStep,
  writeLakeManifest,
  type LakeStep,
  type LakeTable,
  type NewFile,
  type TableStep,
} from './manifest.ts';
import { nextVersion } from './next-version.ts';
import { checkWritable, isAppendOnly, protocolFor } from './log/protocol.ts';
import { schemaStringOf } from './log/schema.ts';
import { sqlTypeOf } from './log/types.ts';

/** Applications that commit to a table have a name of their own there. */
export function applicationId(installation: string): string {
  return `conversion-job-service/${installation}`;
}

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
  readonly version: number;
  readonly changes: readonly string[];
}

async function commitTable(
  place: StepPlace,
  table: TableStep,
  versions: ReadonlyMap<string, number>,
): Promise<Committed> {
  const { label, step, staging } = place;
  const directory = join(place.directory, table.directory);
  const data = join(directory, dataFolder);
  for (const folder of [directory, data, join(directory, logFolder)]) await makeOwnFolder(folder, label);
  const { file } = table;
  if (file !== null) {
    await renameIfThere(join(staging, file.name), join(data, file.name));
    await syncPath(data);
  }
  const name = `${label}: ${table.name}`;
  for (;;) {
    const state = await readTable(directory, name);
    if (state?.transactions.get(applicationId(step.installation)) === step.job) {
      await sweep(data, step.job, state);
      return { version: state.version, changes: [] };
    }
    if (state !== null) checkWritable(state, name);
    const { actions, changes, made } = await actionsOf(place, table, state);
    const version = (state?.version ?? -1) + 1;
    const lines = [commitInfo(table, step, versions), ...actions];
    if (await commitVersion(directory, version, lines, staging)) {
      const isAdded = actions.some(({ add }) => add?.path === `${dataFolder}/${file?.name}`);
      if (file !== null && !isAdded) await rm(join(data, file.name), { force: true });
      if (state !== null && isCheckpointDue({ ...state, version }))
        await addCheckpoint(place, directory, name, version);
      return { version, changes };
    }
    for (const { name: unused } of made) await rm(join(data, unused), { force: true });
  }
}

/** The version is there without it: what stands in its way is no fault of the job. */
async function addCheckpoint(
  { staging, files }: StepPlace,
  directory: string,
  label: string,
  version: number,
): Promise<void> {
  // somebody cleaned the log up meanwhile
  const state = await readTable(directory, label, version).catch(() => null);
  if (state === null) return;
  const place = {
    log: join(directory, logFolder),
    digits: versionDigits(version),
    drafts: staging,
    run: files.run,
  };
  // the next tenth version has the next chance
  await writeCheckpoint(state, place).catch(() => undefined);
}

/** A file of the table, by its whole path. */
interface PresentFile {
  readonly path: string;
  readonly added: AddedFile;
}

interface TableActions {
  readonly actions: readonly Action[];
  readonly changes: readonly string[];
  /** files that were made for this version alone */
  readonly made: readonly NewFile[];
}

async function actionsOf(
  { directory: folder, label, step, files }: StepPlace,
  table: TableStep,
  state: TableState | null,
): Promise<TableActions> {
  const directory = join(folder, table.directory);
  const data = join(directory, dataFolder);
  const present: PresentFile[] = [];
  for (const [path, added] of state?.files ?? [])
    present.push({ path: await plainFile(directory, path), added });
  const ownPath = table.file === null ? [] : [join(data, table.file.name)];
  const next = await nextVersion(state, table, (column) =>
    files.digits([...present.map(({ path }) => path), ...ownPath], column),
  );
  const schemaString =
    table.without.length > 0 && state !== null ? state.metadata.schemaString : schemaStringOf(next.fields);
  const columns = next.fields.flatMap(({ name, type }) => {
    const sqlType = sqlTypeOf(type);
    return sqlType === null ? [] : [{ name, sqlType }];
  });
  const now = Date.now();
  const made: NewFile[] = [];
  const actions: Action[] = [
    { txn: { appId: applicationId(step.installation), version: step.job, lastUpdated: now } },
  ];
  const protocol = protocolFor(schemaString, state?.protocol ?? null);
  if (protocol !== null) actions.push({ protocol });
  if (state === null || state.metadata.schemaString !== schemaString) {
    actions.push({
      metaData: {
        ...(state?.metadata ?? {
          id: randomUUID(),
          name: table.name,
          ...(table.comment === '' ? {} : { description: table.comment }),
          format: { provider: 'parquet', options: {} },
          partitionColumns: [],
          configuration: {},
          createdTime: now,
        }),
        schemaString,
      },
    });
  }
  const rewritten =
    table.replace || next.there.size > 0 ? present : await withDocuments(files, present, table.without);
  if (rewritten.length > 0 && isAppendOnly(state!.metadata))
    throw new AppError(
      'conflict',
      `${label}: ${table.name} has the property delta.appendOnly, and its rows would be written anew; take that away.`,
    );
  const where = table.replace ? await keptRows(folder, table, step) : without(table.without);
  for (const { path, added } of rewritten) {
    const kept = next.clears
      ? null
      : await files.rewrite(path, step.job, data, {
          conversions: next.there,
          columns,
          where,
        });
    if (kept !== null) made.push(kept);
    actions.push({
      remove: {
        path: added.path,
        deletionTimestamp: now,
        dataChange: true,
        extendedFileMetadata: true,
        partitionValues: {},
        size: added.size,
      },
    });
  }
  let own = table.file;
  if (own !== null && next.own.size > 0) {
    own = await files.rewrite(join(data, own.name), step.job, data, {
      conversions: next.own,
      columns,
      where: null,
    });
    if (own !== null) made.push(own);
  }
  if (made.length > 0) await syncPath(data);
  for (const file of [...made.filter((one) => one !== own), ...(own === null ? [] : [own])])
    actions.push({ add: addOf(file, now) });
  return { actions, changes: next.changes, made };
}

function addOf({ name, bytes, stats }: NewFile, now: number): NonNullable<Action['add']> {
  return {
    path: `${dataFolder}/${name}`,
    partitionValues: {},
    size: bytes,
    modificationTime: now,
    dataChange: true,
    stats,
  };
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
  const state = await readTable(directory, sideTableNames.documents);
  const paths: string[] = [];
  for (const path of state?.files.keys() ?? []) paths.push(await plainFile(directory, path));
  return paths.length === 0
    ? 'false'
    : `${fileKeyName} IN (SELECT ${fileKeyName} FROM ${parquet(paths)} WHERE ${jobs})`;
}

function commitInfo(table: TableStep, step: LakeStep, versions: ReadonlyMap<string, number>): Action {
  const { installation, job } = step;
  return {
    commitInfo: {
      timestamp: Date.now(),
      ...(table.without.length > 0
        ? { operation: 'DELETE', operationParameters: { predicate: '[]' } }
        : {
            operation: 'WRITE',
            operationParameters: { mode: table.replace ? 'Overwrite' : 'Append', partitionBy: '[]' },
          }),
      engineInfo: 'conversion-job-service',
      isBlindAppend: false,
      'svc.installation': installation,
      'svc.job': job,
      // what the tables were when the job was there with all of its rows
      ...(table.name === sideTableNames.loads
        ? {
            'svc.tables': Object.fromEntries(
              step.manifest.tables.map(({ name, version }) => [name, versions.get(name) ?? version]),
            ),
          }
        : {}),
    },
  };
}

/** Files of a dead attempt that no version has; what others write has other names. */
async function sweep(data: string, job: number, { everAdded }: TableState): Promise<void> {
  if (everAdded === null) return;
  const own = new RegExp(`^${job}-[0-9a-f]{16}\\.parquet$`);
  for (const name of await readdir(data))
    if (own.test(name) && !everAdded.has(`${dataFolder}/${name}`))
      await rm(join(data, name), { force: true });
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
