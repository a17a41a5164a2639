/** The table format Delta Lake. */
import { randomUUID } from 'node:crypto';
import { isObject, parsed, parseExact } from '../../json.ts';
import type { PartitionField } from '../partition-fields.ts';
import {
  type LakeFiles,
  ownNamespace,
  type LakeFile,
  type NewFile,
  type TableChange,
  type TableFormat,
  type TableVersion,
  type ValueRange,
  dataFolder,
} from '../table-format.ts';
import {
  type Action,
  type DeltaState,
  isCheckpointDue,
  writeCheckpoint,
  commitVersion,
  filesEverAdded,
  logFolder,
  readDeltaSince,
  readDeltaTable,
  versionDigits,
} from './log.ts';
import {
  partitioningOf,
  partitionMetadata,
  toldValues,
  valuesBeside,
  valuesOf,
  checkReadable,
  checkWritable,
  isAppendOnly,
  protocolFor,
  checkColumnNames,
  fieldsOf,
  lakeFieldOf,
  schemaStringOf,
  storedType,
} from './schema.ts';

export const deltaFormat: TableFormat = {
  name: 'delta',
  title: 'Delta',
  folder: logFolder,
  storedType,
  promotes: () => false,
  checkColumnNames,
  fieldIds: () => null,
  readTable: async (files, directory, label, version) => {
    const state = await readDeltaTable(files, directory, label, version);
    return state === null ? null : new DeltaVersion(state, files, directory, label);
  },
  readSince: async (files, directory, label, known) => {
    const state =
      (known instanceof DeltaVersion ? await readDeltaSince(files, directory, label, known.state) : null) ??
      (await readDeltaTable(files, directory, label));
    return state === null ? null : new DeltaVersion(state, files, directory, label);
  },
  commit: async (files, directory, label, before, change) => {
    const state = before instanceof DeltaVersion ? before.state : null;
    const version = (state?.version ?? -1) + 1;
    const lines = [commitInfo(change), ...actionsOf(state, before, change)];
    if (!(await commitVersion(files, directory, version, lines))) return null;
    if (state !== null && isCheckpointDue({ ...state, version }))
      await addCheckpoint(files, directory, label, version, change);
    return version;
  },
  // a version is one file, so there is nothing to remove
  sweep: () => Promise.resolve(),
};

class DeltaVersion implements TableVersion {
  readonly state: DeltaState;
  readonly version: number;
  readonly fields;
  readonly partitioning;
  readonly files: ReadonlyMap<string, LakeFile>;
  readonly versionsTold;
  readonly isAppendOnly: boolean;
  readonly isUnused = false;
  readonly checkReadable: () => void;
  readonly checkWritable: () => void;
  readonly addedBy: TableVersion['addedBy'];

  constructor(state: DeltaState, files: LakeFiles, directory: string, label: string) {
    this.state = state;
    this.version = state.version;
    this.fields = fieldsOf(state.metadata.schemaString).map(lakeFieldOf);
    this.partitioning = partitioningOf(state.metadata) ?? [];
    this.files = new Map(
      [...state.files].map(([path, { size, stats, partitionValues }]) => [
        path,
        {
          bytes: Number(size),
          rows: rowsIn(stats),
          partition: valuesOf(this.partitioning, partitionValues),
          told: valuesBeside(path, this.partitioning, this.fields, partitionValues),
          rangeOf: (column) => rangeIn(stats, column),
          nullsOf: (column) => nullsIn(stats, column),
        },
      ]),
    );
    this.versionsTold = state.told;
    this.isAppendOnly = isAppendOnly(state.metadata);
    this.checkReadable = () => checkReadable(state, label);
    this.checkWritable = () => checkWritable(state, label);
    this.addedBy = () => filesEverAdded(files, directory, label, state.version);
  }

  isOfJob = (jobUuid: string): boolean => this.state.transactions.has(ownNamespace + jobUuid);
}

/** Returns the number of rows; NaN if the log does not have it. */
function rowsIn(stats: string | null | undefined): number {
  const told = parsed<{ numRecords?: unknown } | null>(stats ?? '');
  return Number(told?.numRecords ?? Number.NaN);
}

function rangeIn(stats: string | null | undefined, column: string): ValueRange | null {
  const told = stats === null || stats === undefined || stats === '' ? null : parseExact(stats);
  if (!isObject(told)) return null;
  const [least, greatest] = ['minValues', 'maxValues'].map((name) => {
    const values = told[name];
    return wholeNumber(isObject(values) ? values[column] : undefined);
  });
  return least === null || least === undefined || greatest === null || greatest === undefined
    ? null
    : [least, greatest];
}

function nullsIn(stats: string | null | undefined, column: string): number | null {
  const told = parsed<{ nullCount?: Readonly<Record<string, unknown>> } | null>(stats ?? '');
  const count = told?.nullCount?.[column];
  return typeof count === 'number' ? count : null;
}

function wholeNumber(value: unknown): bigint | null {
  return typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value as bigint | number) : null;
}

function actionsOf(state: DeltaState | null, before: TableVersion | null, change: TableChange): Action[] {
  const schemaString =
    state !== null && change.fields === before?.fields
      ? state.metadata.schemaString
      : schemaStringOf(change.fields);
  const now = Date.now();
  const actions: Action[] = [
    { txn: { appId: ownNamespace + change.jobUuid, version: change.job, lastUpdated: now } },
  ];
  const protocol = protocolFor(schemaString, state?.protocol ?? null);
  if (protocol !== null) actions.push({ protocol });
  if (state === null || state.metadata.schemaString !== schemaString) {
    actions.push({
      metaData: {
        ...(state?.metadata ?? {
          id: randomUUID(),
          name: change.name,
          ...(change.comment === '' ? {} : { description: change.comment }),
          format: { provider: 'parquet', options: {} },
          ...partitionMetadata(change.partitioning),
          createdTime: now,
        }),
        schemaString,
      },
    });
  }
  for (const path of change.removed) {
    const added = state!.files.get(path)!;
    actions.push({
      remove: {
        path: added.path,
        deletionTimestamp: now,
        dataChange: change.operation !== 'compact',
        extendedFileMetadata: true,
        partitionValues: added.partitionValues ?? {},
        size: added.size,
      },
    });
  }
  const partitioning = before?.partitioning ?? change.partitioning;
  for (const file of change.added)
    actions.push({ add: { ...addOf(file, partitioning, now), dataChange: change.operation !== 'compact' } });
  return actions;
}

function addOf(
  { name, bytes, stats, partition }: NewFile,
  partitioning: readonly PartitionField[],
  now: number,
): NonNullable<Action['add']> {
  return {
    path: `${dataFolder}/${name}`,
    partitionValues: toldValues(partitioning, partition),
    size: bytes,
    modificationTime: now,
    stats,
  };
}

const operations = {
  append: { operation: 'WRITE', operationParameters: { mode: 'Append', partitionBy: '[]' } },
  overwrite: { operation: 'WRITE', operationParameters: { mode: 'Overwrite', partitionBy: '[]' } },
  merge: { operation: 'MERGE', operationParameters: { predicate: '[]' } },
  delete: { operation: 'DELETE', operationParameters: { predicate: '[]' } },
  compact: { operation: 'OPTIMIZE', operationParameters: { predicate: '[]' } },
} as const;

function commitInfo({ operation, installation, job, jobUuid, versions }: TableChange): Action {
  return {
    commitInfo: {
      timestamp: Date.now(),
      ...operations[operation],
      engineInfo: 'conversion-job-service',
      isBlindAppend: false,
      'svc.installation': installation,
      'svc.job': job,
      'svc.job-uuid': jobUuid,
      // the versions of the tables once all rows of the job were there
      ...(versions === null ? {} : { 'svc.tables': versions }),
    },
  };
}

/** Adds a checkpoint. The version is committed without it, so a failure here does not fail the job. */
async function addCheckpoint(
  files: LakeFiles,
  directory: string,
  label: string,
  version: number,
  { drafts, run }: TableChange,
): Promise<void> {
  // another program has cleaned up the log
  const state = await readDeltaTable(files, directory, label, version).catch(() => null);
  if (state === null) return;
  const place = { files, log: `${directory}/${logFolder}`, digits: versionDigits(version), drafts, run };
  // a failure is ignored: the next tenth version tries again
  await writeCheckpoint(state, place).catch(() => undefined);
}
