/** The metadata of a Delta table: its schema and partitions, and its requirements for readers and writers. */
import { checkCase, typeNames } from '../type-names.ts';
import { AppError } from '../../../../errors.ts';
import { isList, isObject, parsed } from '../../json.ts';
import { type LakeField, type ToldValue, isOwnFile } from '../table-format.ts';
import { deltaColumn, type PartitionField, type PartitionValues } from '../partition-fields.ts';
import type { AddedFile, Metadata, Protocol, DeltaState } from './log.ts';

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
export function storedType(sqlType: string): string {
  return sqlType === 'TIME' ? 'VARCHAR' : sqlType === 'TIME[]' ? 'VARCHAR[]' : sqlType;
}

function deltaType(sqlType: string): DeltaType {
  if (sqlType.endsWith('[]'))
    return { type: 'array', elementType: deltaType(sqlType.slice(0, -2)), containsNull: true };
  return names[sqlType] ?? sqlType.toLowerCase();
}

export function schemaStringOf(fields: readonly LakeField[]): string {
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

export function lakeFieldOf(field: DeltaField): LakeField {
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

export function fieldsOf(schemaString: string): readonly DeltaField[] {
  const schema = parsed<{ fields?: unknown }>(schemaString);
  if (
    isObject(schema) &&
    isList(schema['fields'], (field) => isObject(field) && typeof field['name'] === 'string')
  )
    return schema['fields'] as DeltaField[];
  throw new AppError('conflict', 'The schema in the log of a Delta table cannot be read.');
}

/** Delta does not allow such column names without column mapping, which few readers support. */
export function checkColumnNames(table: string, names: readonly string[]): void {
  const wrong = names.find((name) => /[ ,;{}()\n\t=]/.test(name));
  if (wrong !== undefined)
    throw new AppError(
      'invalid_option',
      `-f delta: ${table} has a column called "${wrong}", and columns of Delta have none of the characters space , ; { } ( ) = in their names; give it another name.`,
    );
  checkCase('delta', table, names);
}

const property = 'conversion-job-service.partition';

/** Returns the partition metadata of a new table. */
export function partitionMetadata(
  fields: readonly PartitionField[],
): Pick<Metadata, 'partitionColumns' | 'configuration'> {
  return {
    partitionColumns: fields.map(deltaColumn),
    configuration: fields.length === 0 ? {} : { [property]: JSON.stringify(fields) },
  };
}

/** Returns null if others partitioned the table. */
export function partitioningOf({
  partitionColumns = [],
  configuration,
}: Metadata): readonly PartitionField[] | null {
  const told = parsed<unknown>(configuration?.[property] ?? '[]');
  const isTold = isList(told, (field) => isObject(field) && typeof field['column'] === 'string');
  const fields = isTold ? (told as PartitionField[]) : [];
  return fields.map(deltaColumn).join('\n') === partitionColumns.join('\n') ? fields : null;
}

/** Returns the values of partition columns that other writers keep only in the log, not in the file. */
export function valuesBeside(
  path: string,
  fields: readonly PartitionField[],
  columns: readonly LakeField[],
  told: AddedFile['partitionValues'],
): readonly ToldValue[] {
  if (isOwnFile(path)) return [];
  const values = valuesOf(fields, told);
  return fields.flatMap((field, at) => {
    const name = deltaColumn(field);
    const sqlType = columns.find((column) => column.name === name)?.sqlType;
    return sqlType === null || sqlType === undefined ? [] : [{ name, sqlType, value: values[at]! }];
  });
}

export function valuesOf(
  fields: readonly PartitionField[],
  told: AddedFile['partitionValues'],
): PartitionValues {
  return fields.map((field) => told?.[deltaColumn(field)] ?? null);
}

export function toldValues(
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
export function protocolFor(schemaString: string, before: Protocol | null): Protocol | null {
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
export function checkReadable(state: DeltaState, label: string): void {
  const { protocol, metadata, files } = state;
  const unknown = (protocol.readerFeatures ?? []).find((feature) => !understood.has(feature));
  if (protocol.minReaderVersion > 3 || unknown !== undefined) refuse(label, unknown ?? 'a newer protocol');
  const mapping = metadata.configuration?.['delta.columnMapping.mode'] ?? 'none';
  if (mapping !== 'none') refuse(label, 'column mapping');
  if (partitioningOf(metadata) === null) refuse(label, 'partitions of another kind');
  for (const { deletionVector } of files.values())
    if (deletionVector !== null && deletionVector !== undefined)
      refuse(label, 'deletion vectors; REORG TABLE … APPLY (PURGE) writes its files without them');
}

/** Checks as `checkReadable` does, and throws if a commit of ours would violate a requirement that the table has for writers. */
export function checkWritable(state: DeltaState, label: string): void {
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
export function isAppendOnly({ configuration }: Metadata): boolean {
  return configuration?.['delta.appendOnly'] === 'true';
}

function refuse(label: string, feature: string): never {
  throw new AppError(
    'conflict',
    `${label}: somebody gave the table what this version cannot keep to (${feature}); take that away again, or take another folder.`,
  );
}
