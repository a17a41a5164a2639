/** The table format Delta Lake. */
import {
  checkCase,
  typeNames,
  type LakeField,
  type SharedValue,
  isOwnFile,
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
import { AppError } from '../../../../errors.ts';
import { isList, isObject, parsed, parseExact } from '../../json.ts';
import { deltaColumn, type PartitionField, type PartitionValues } from '../partition-fields.ts';
import {
  type AddedFile,
  type Metadata,
  type Protocol,
  type DeltaState,
  type Action,
  isCheckpointDue,
  writeCheckpoint,
  commitVersion,
  filesEverAdded,
  logFolder,
  readDeltaSince,
  readDeltaTable,
  versionDigits,
} from './log.ts';
import { randomUUID } from 'node:crypto';

// The metadata of a table: its schema and partitions, and its requirements for readers and writers.

/** The JSON of a type in a schema: a name, or an object for nested types. */
type DeltaType = string | { readonly type: string; readonly [member: string]: unknown };

const { names, sqlTypeOf } = typeNames(
  {
    SMALLINT: 'short',
    INTEGER: 'integer',
    TIMESTAMP: 'timestamp_ntz',
    'TIMESTAMP WITH TIME ZONE': 'timestamp',
  },
  (type) => (isObject(type) && type['type'] === 'array' ? type['elementType'] : undefined),
);

/** Returns the DuckDB type that a Delta table stores for a DuckDB type. Delta has no times of day, which become text. */
function storedType(sqlType: string): string {
  return sqlType === 'TIME' ? 'VARCHAR' : sqlType === 'TIME[]' ? 'VARCHAR[]' : sqlType;
}

function deltaType(sqlType: string): DeltaType {
  if (sqlType.endsWith('[]'))
    return { type: 'array', elementType: deltaType(sqlType.slice(0, -2)), containsNull: true };
  return names[sqlType] ?? sqlType.toLowerCase();
}

function schemaStringOf(fields: readonly LakeField[]): string {
  return JSON.stringify({ type: 'struct', fields: fields.map(storedField) });
}

function storedField({ name, sqlType, nullable, comment, stored }: LakeField): unknown {
  if (stored === undefined)
    return { name, type: deltaType(sqlType!), nullable, metadata: comment === '' ? {} : { comment } };
  const metadata = isObject(stored['metadata']) ? stored['metadata'] : {};
  const type = stored['type'] as DeltaType;
  return {
    ...stored,
    type: sqlType === null || sqlTypeOf(type) === sqlType ? type : deltaType(sqlType),
    nullable,
    metadata: 'comment' in metadata || comment === '' ? metadata : { ...metadata, comment },
  };
}

/** A column in the log. */
interface DeltaField {
  readonly name: string;
  readonly type: DeltaType;
  readonly nullable: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

function lakeFieldOf(field: DeltaField): LakeField {
  const { name, type, nullable, metadata } = field;
  const comment = metadata?.['comment'];
  return {
    name,
    sqlType: sqlTypeOf(type),
    nullable,
    comment: typeof comment === 'string' ? comment : '',
    isKey: false,
    stored: { ...field },
  };
}

function fieldsOf(schemaString: string): readonly DeltaField[] {
  const schema = parsed<{ fields?: unknown }>(schemaString);
  if (
    isObject(schema) &&
    isList(schema['fields'], (field) => isObject(field) && typeof field['name'] === 'string')
  )
    return schema['fields'] as DeltaField[];
  throw new AppError('conflict', 'The schema in the log of a Delta table cannot be read.');
}

/** Delta does not allow such column names without column mapping, which few readers support. */
function checkColumnNames(table: string, names: readonly string[]): void {
  const wrong = names.find((name) => /[ ,;{}()\n\t=]/.test(name));
  if (wrong !== undefined)
    throw new AppError(
      'invalid_option',
      `-f delta: ${table} has a column called "${wrong}", but column names in Delta cannot contain spaces or any of , ; { } ( ) =; give it another name.`,
    );
  checkCase('delta', table, names);
}

const property = 'conversion-job-service.partition';

/** Returns the partition metadata of a new table. */
function partitionMetadata(
  fields: readonly PartitionField[],
): Pick<Metadata, 'partitionColumns' | 'configuration'> {
  return {
    partitionColumns: fields.map(deltaColumn),
    configuration: fields.length === 0 ? {} : { [property]: JSON.stringify(fields) },
  };
}

/** Returns null if others partitioned the table. */
function partitioningOf({
  partitionColumns = [],
  configuration,
}: Metadata): readonly PartitionField[] | null {
  const told = parsed<unknown>(configuration?.[property] ?? '[]');
  const isTold = isList(told, (field) => isObject(field) && typeof field['column'] === 'string');
  const fields = isTold ? (told as PartitionField[]) : [];
  return fields.map(deltaColumn).join('\n') === partitionColumns.join('\n') ? fields : null;
}

/** Returns the values of partition columns that other writers keep only in the log, not in the file. */
function valuesBeside(
  path: string,
  fields: readonly PartitionField[],
  columns: readonly LakeField[],
  told: AddedFile['partitionValues'],
): readonly SharedValue[] {
  if (isOwnFile(path)) return [];
  const values = valuesOf(fields, told);
  return fields.flatMap((field, at) => {
    const name = deltaColumn(field);
    const sqlType = columns.find((column) => column.name === name)?.sqlType;
    return sqlType === null || sqlType === undefined ? [] : [{ name, sqlType, value: values[at]! }];
  });
}

function valuesOf(fields: readonly PartitionField[], told: AddedFile['partitionValues']): PartitionValues {
  return fields.map((field) => told?.[deltaColumn(field)] ?? null);
}

function toldValues(
  fields: readonly PartitionField[],
  values: PartitionValues = [],
): Readonly<Record<string, string | null>> {
  return Object.fromEntries(fields.map((field, at) => [deltaColumn(field), values[at] ?? null]));
}

/** the accepted features; those that versions before table features imply change nothing unless they are used */
const understood: ReadonlySet<string> = new Set([
  'appendOnly',
  'invariants',
  'checkConstraints',
  'generatedColumns',
  'changeDataFeed',
  'identityColumns',
  'columnMapping',
  'timestampNtz',
  'deletionVectors',
]);

const plain: Protocol = { minReaderVersion: 1, minWriterVersion: 2 };

/**
 * Returns the protocol for a table with these types; null keeps the existing one. Times without a zone need a feature of their own. If
 * features are listed, the feature of NOT NULL columns is among them; without it, Spark refuses the table.
 */
function protocolFor(schemaString: string, before: Protocol | null): Protocol | null {
  const needsNtz = schemaString.includes('"timestamp_ntz"');
  if (before === null && !needsNtz) return plain;
  if (before === null) return protocolFor(schemaString, plain);
  const listed = before.writerFeatures;
  if (listed?.includes('timestampNtz') === true)
    return listed.includes('invariants') ? null : { ...before, writerFeatures: [...listed, 'invariants'] };
  if (!needsNtz) return null;
  return {
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures: [
      ...(before.readerFeatures ?? []),
      ...(before.minReaderVersion === 2 ? ['columnMapping'] : []),
      'timestampNtz',
    ],
    writerFeatures: [...(before.writerFeatures ?? impliedFeatures(before.minWriterVersion)), 'timestampNtz'],
  };
}

/** Returns the features that a writer version below 7 implies. */
function impliedFeatures(version: number): string[] {
  return [
    ...(version >= 2 ? ['appendOnly', 'invariants'] : []),
    ...(version >= 3 ? ['checkConstraints'] : []),
    ...(version >= 4 ? ['changeDataFeed', 'generatedColumns'] : []),
    ...(version >= 5 ? ['columnMapping'] : []),
    ...(version >= 6 ? ['identityColumns'] : []),
  ];
}

/** AppError `conflict` if rows could be misread. `label`: the table, for people. */
function checkReadable(state: DeltaState, label: string): void {
  const { protocol, metadata, files } = state;
  const unknown = (protocol.readerFeatures ?? []).find((feature) => !understood.has(feature));
  if (protocol.minReaderVersion > 3 || unknown !== undefined) refuse(label, unknown ?? 'a newer protocol');
  const mapping = metadata.configuration?.['delta.columnMapping.mode'] ?? 'none';
  if (mapping !== 'none') refuse(label, 'column mapping');
  if (partitioningOf(metadata) === null) refuse(label, 'changed partitioning');
  for (const { deletionVector } of files.values())
    if (deletionVector !== null && deletionVector !== undefined)
      refuse(label, 'deletion vectors; REORG TABLE … APPLY (PURGE) removes them');
}

/** Checks as `checkReadable` does, and throws if a commit of ours would violate a requirement that the table has for writers. */
function checkWritable(state: DeltaState, label: string): void {
  checkReadable(state, label);
  const { protocol, metadata } = state;
  const unknown = (protocol.writerFeatures ?? []).find((feature) => !understood.has(feature));
  if (protocol.minWriterVersion > 7 || unknown !== undefined) refuse(label, unknown ?? 'a newer protocol');
  const configuration = metadata.configuration ?? {};
  if (configuration['delta.enableChangeDataFeed'] === 'true') refuse(label, 'a change data feed');
  if (Object.keys(configuration).some((key) => key.startsWith('delta.constraints.')))
    refuse(label, 'constraints');
  for (const { metadata: notes = {} } of fieldsOf(metadata.schemaString))
    if (Object.keys(notes).some((key) => /^delta\.(?:invariants|generationExpression|identity)/.test(key)))
      refuse(label, 'generated columns or invariants');
}

/** Returns whether rows may only be added. */
function isAppendOnly({ configuration }: Metadata): boolean {
  return configuration?.['delta.appendOnly'] === 'true';
}

function refuse(label: string, feature: string): never {
  throw new AppError(
    'conflict',
    `${label}: the table has a feature that this version does not support (${feature}); remove the feature, or use another folder.`,
  );
}

// The format.

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
  readonly recordedVersions;
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
    this.recordedVersions = state.told;
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
