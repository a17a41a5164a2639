/** Converts types and partitions of a schema to Iceberg's form (Iceberg table specification, "Schemas and Data Types", "Partitioning"). */
import { typeNames, type FieldIds, type LakeField } from '../table-format.ts';
import { isObject } from '../../json.ts';
import type { IcebergField, PartitionSpec, SpecField, TableMetadata } from './shape.ts';
import type { PartitionField, PartitionValues } from '../partition-fields.ts';

const { names, sqlTypeOf } = typeNames(
  { INTEGER: 'int', TIMESTAMP: 'timestamp', 'TIMESTAMP WITH TIME ZONE': 'timestamptz' },
  (type) => (isObject(type) && type['type'] === 'list' ? type['element'] : undefined),
);

/** Iceberg has no 16-bit integers, and times of day are text, because Spark cannot read a table with them. */
export function storedType(sqlType: string): string {
  return sqlType.replace(/^(?:TIME|SMALLINT)(?=$|\[)/, (type) => (type === 'TIME' ? 'VARCHAR' : 'INTEGER'));
}

/** `ids`: of the column, and of the items of a list. */
export function icebergType(sqlType: string, [, item]: readonly [number, number?]): unknown {
  if (sqlType.endsWith('[]'))
    return {
      type: 'list',
      'element-id': item,
      element: icebergType(sqlType.slice(0, -2), [0]),
      'element-required': false,
    };
  const decimal = /^DECIMAL\((\d+),(\d+)\)$/.exec(sqlType);
  return decimal === null ? names[sqlType] : `decimal(${decimal[1]}, ${decimal[2]})`;
}

/** Returns whether readers convert files of the first type to the second one ("Schema Evolution"). */
export function promotes(from: string, to: string): boolean {
  if (from === 'FLOAT' && to === 'DOUBLE') return true;
  const [ours, theirs] = [from, to].map((type) => /^DECIMAL\((\d+),(\d+)\)$/.exec(type));
  return ours?.[2] !== undefined && ours[2] === theirs?.[2] && Number(ours[1]) <= Number(theirs[1]);
}

export function lakeFieldOf(field: IcebergField, keys: readonly number[]): LakeField {
  const { id, name, type, required, doc = '' } = field;
  return {
    name,
    sqlType: sqlTypeOf(type),
    nullable: !required,
    comment: doc,
    isKey: keys.includes(id),
    stored: { ...field },
  };
}

/** Assigns field ids. Columns keep their ids as long as values in older files can be read; others get new ids after `lastId`. */
export function numbered(
  before: readonly LakeField[],
  lastId: number,
  fields: readonly LakeField[],
): { readonly ids: FieldIds; readonly lastId: number } {
  const known = new Map(before.map((field) => [field.name, field]));
  const ids: Record<string, readonly [number, number?]> = {};
  let last = lastId;
  // list items come after all columns, as catalogues number a new table
  const lists: string[] = [];
  for (const { name, sqlType } of fields) {
    const there = known.get(name);
    const stored = there?.stored as unknown as IcebergField | undefined;
    const isKept =
      stored !== undefined && (there!.sqlType === sqlType || promotes(there!.sqlType ?? '', sqlType ?? ''));
    const item = isObject(stored?.type) ? Number(stored.type['element-id']) : undefined;
    if (isKept) ids[name] = item === undefined || Number.isNaN(item) ? [stored.id] : [stored.id, item];
    else {
      ids[name] = [(last += 1)];
      if (sqlType?.endsWith('[]') === true) lists.push(name);
    }
  }
  for (const name of lists) ids[name] = [ids[name]![0], (last += 1)];
  return { ids, lastId: last };
}

const firstFieldId = 1000;
const dayMs = 86_400_000;

export function currentSpec(metadata: TableMetadata): PartitionSpec {
  const id = metadata['default-spec-id'];
  return metadata['partition-specs'].find((spec) => spec['spec-id'] === id)!;
}

function specFieldsOf(
  partitioning: readonly PartitionField[],
  ids: FieldIds,
  firstId: number,
): readonly SpecField[] {
  return partitioning.map(({ column, part }, at) => {
    const name = part === 'identity' ? column : `${column}_${part}`;
    return {
      // only a column that is an identity partition may have the name of a partition field
      name: part !== 'identity' && name in ids ? `${name}_part` : name,
      transform: part,
      'source-id': ids[column]![0],
      'field-id': firstId + at,
    };
  });
}

/** Returns the partition spec of a new table, which never changes. */
export function specsOf(
  partitioning: readonly PartitionField[],
  ids: FieldIds,
): Pick<TableMetadata, 'partition-specs' | 'last-partition-id'> {
  const fields = specFieldsOf(partitioning, ids, firstFieldId);
  return {
    'partition-specs': [{ 'spec-id': 0, fields }],
    'last-partition-id': fields.at(-1)?.['field-id'] ?? firstFieldId - 1,
  };
}

/**
 * Adds the partition spec to a table that was created for a job that has not written yet. The spec comes with the job's rows, so that an
 * attempt that dies leaves none.
 */
export function addedSpec(
  metadata: TableMetadata,
  partitioning: readonly PartitionField[],
  ids: FieldIds,
): Pick<TableMetadata, 'partition-specs' | 'default-spec-id' | 'last-partition-id'> {
  const specs = metadata['partition-specs'];
  const lastId = Math.max(firstFieldId - 1, Number(metadata['last-partition-id'] ?? 0));
  const fields = specFieldsOf(partitioning, ids, lastId + 1);
  const spec = { 'spec-id': 1 + Math.max(...specs.map((one) => one['spec-id'])), fields };
  return {
    'partition-specs': [...specs, spec],
    'default-spec-id': spec['spec-id'],
    'last-partition-id': lastId + fields.length,
  };
}

/** Returns null for transforms that no load uses. */
export function partitioningOf(
  { fields }: PartitionSpec,
  columns: readonly LakeField[],
): readonly PartitionField[] | null {
  const found: PartitionField[] = [];
  for (const { transform, 'source-id': source } of fields) {
    const column = columns.find(({ stored }) => (stored as unknown as IcebergField).id === source);
    if (column === undefined || !/^(?:identity|year|month|day|hour)$/.test(transform)) return null;
    if (transform === 'identity' && !identities.has(column.sqlType ?? '')) return null;
    found.push({ column: column.name, part: transform as PartitionField['part'] });
  }
  return found;
}

const identities: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['VARCHAR', 'string'],
  ['BOOLEAN', 'boolean'],
  ['INTEGER', 'int'],
  ['BIGINT', 'long'],
  ['DATE', { type: 'int', logicalType: 'date' }],
]);

/** Returns the Avro type of a field's values. */
export function avroTypeOf({ part }: PartitionField, sqlType: string): unknown {
  if (part === 'day') return identities.get('DATE');
  return part === 'identity' ? identities.get(sqlType) : 'int';
}

/** Returns the DuckDB types of the partition columns, in the order of the fields. */
export function partitionTypes(
  partitioning: readonly PartitionField[],
  columns: readonly LakeField[],
): readonly string[] {
  const types = new Map(columns.map(({ name, sqlType }) => [name, sqlType]));
  return partitioning.map(({ column }) => types.get(column) ?? 'VARCHAR');
}

/** Returns the partition values as a manifest stores them, by field name. */
export function partitionRecord(
  fields: readonly SpecField[],
  types: readonly string[],
  values: PartitionValues,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    fields.map(({ name, transform }, at) => {
      const text = values[at] ?? null;
      return [name, text === null ? null : encoded(transform, types[at]!, text)];
    }),
  );
}

function encoded(transform: string, sqlType: string, text: string): unknown {
  const [year, month = 1, , hour = 0] = text.split('-').map(Number) as [number, number?, number?, number?];
  switch (transform) {
    case 'year':
      return year - 1970;
    case 'month':
      return (year - 1970) * 12 + month - 1;
    case 'day':
      return daysOf(text);
    case 'hour':
      return daysOf(text.slice(0, 10)) * 24 + hour;
    default:
      return identityOf(sqlType, text);
  }
}

function identityOf(sqlType: string, text: string): unknown {
  switch (sqlType) {
    case 'BOOLEAN':
      return text === 'true';
    case 'INTEGER':
      return Number(text);
    case 'BIGINT':
      return BigInt(text);
    case 'DATE':
      return daysOf(text);
    default:
      return text;
  }
}

function daysOf(date: string): number {
  return Math.round(Date.parse(`${date}T00:00:00Z`) / dayMs);
}

/** Returns the texts of the values in a manifest. */
export function partitionValues(
  fields: readonly SpecField[],
  types: readonly string[],
  record: Readonly<Record<string, unknown>>,
): PartitionValues {
  return fields.map(({ name, transform }, at) => {
    const value = record[name] ?? null;
    return value === null ? null : decoded(transform, types[at]!, value);
  });
}

function decoded(transform: string, sqlType: string, value: unknown): string {
  const number = Number(value);
  switch (transform) {
    case 'year':
      return digits(1970 + number, 4);
    case 'month':
      return `${digits(1970 + Math.floor(number / 12), 4)}-${digits((((number % 12) + 12) % 12) + 1, 2)}`;
    case 'day':
      return dayText(number);
    case 'hour':
      return `${dayText(Math.floor(number / 24))}-${digits(((number % 24) + 24) % 24, 2)}`;
    default:
      return sqlType === 'DATE' ? dayText(number) : String(value);
  }
}

function dayText(days: number): string {
  return new Date(days * dayMs).toISOString().slice(0, 10);
}

function digits(number: number, count: number): string {
  return String(number).padStart(count, '0');
}
