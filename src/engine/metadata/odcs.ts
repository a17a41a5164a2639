/** An Open Data Contract (ODCS v3.1, Bitol): YAML that its JSON Schema accepts. */
import { mapInSlices } from '../in-slices.ts';
import { stableHash } from '../map/names/identifiers.ts';
import type { ColumnType } from '../model/relational-model.ts';
import type { DescribedColumn, DescribedModel, DescribedTable } from './described.ts';
import { isPlainName, plainNamesOf } from './names.ts';
import { yaml, yamlItem, type YamlValue } from './yaml.ts';

/** Returns the contract in pieces. */
export async function odcsContract(model: DescribedModel): Promise<readonly string[]> {
  const ids = await idsOf(model.tables);
  const schema = await mapInSlices(model.tables, (table) => yamlItem(schemaObject(table, ids), 2));
  const head = yaml({
    apiVersion: 'v3.1.0',
    kind: 'DataContract',
    id: `${[...plainNamesOf([model.name]).values()][0]!}-${stableHash(model.name)}`,
    name: model.name,
    version: `${model.version}.0.0`,
    status: 'active',
    description: { purpose: `Tables of ${model.name}, version ${model.version}` },
  });
  return [`${head}schema:\n`, ...schema];
}

/** References use the name of objects whose names only have letters, digits and underscores, and the id of all others. */
interface Ids {
  readonly tables: ReadonlyMap<string, string>;
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

async function idsOf(tables: readonly DescribedTable[]): Promise<Ids> {
  const columns = await mapInSlices(
    tables,
    (table) => [table.name, plainNamesOf(table.columns.map(({ name }) => name))] as const,
  );
  return { tables: plainNamesOf(tables.map(({ name }) => name)), columns: new Map(columns) };
}

function schemaObject(table: DescribedTable, ids: Ids): YamlValue {
  const composite = table.uniqueKeys.filter(({ columns }) => columns.length > 1);
  return {
    id: ids.tables.get(table.name)!,
    name: table.name,
    physicalName: table.name,
    physicalType: 'table',
    logicalType: 'object',
    description: table.description,
    properties: table.columns.map((column) => property(table, column, ids)),
    quality:
      composite.length === 0
        ? undefined
        : composite.map(({ columns }) => ({
            metric: 'duplicateValues',
            arguments: { properties: columns },
            mustBe: 0,
          })),
  };
}

function property(table: DescribedTable, column: DescribedColumn, ids: Ids): YamlValue {
  const { name, type, nullable, description, enumeration } = column;
  const position = table.primaryKey.indexOf(name) + 1;
  const isUnique =
    (position > 0 && table.primaryKey.length === 1) ||
    table.uniqueKeys.some(({ columns }) => columns.length === 1 && columns[0] === name);
  const references = table.references.filter((reference) => reference.column === name);
  const { list, ...item } = type;
  const isEnumerated = enumeration !== null && list !== true;
  return {
    id: ids.columns.get(table.name)!.get(name)!,
    name,
    physicalName: name,
    ...logicalType(type),
    ...(list === true ? { items: { name: 'item', ...logicalType(item) } } : {}),
    description,
    required: !nullable,
    unique: isUnique ? true : undefined,
    primaryKey: position > 0 ? true : undefined,
    primaryKeyPosition: position > 0 ? position : undefined,
    relationships:
      references.length === 0
        ? undefined
        : references.map(({ parentTable, parentColumn }) => ({
            type: 'foreignKey',
            to: referenceTo(parentTable, parentColumn, ids),
          })),
    quality: isEnumerated
      ? [{ metric: 'invalidValues', arguments: { validValues: enumeration }, mustBe: 0 }]
      : undefined,
  };
}

function referenceTo(table: string, column: string, ids: Ids): string {
  if (isPlainName(table) && isPlainName(column)) return `${table}.${column}`;
  return `schema/${ids.tables.get(table)!}/properties/${ids.columns.get(table)!.get(column)!}`;
}

const logicalNames: Readonly<Record<ColumnType['kind'], string>> = {
  text: 'string',
  boolean: 'boolean',
  smallint: 'integer',
  integer: 'integer',
  bigint: 'integer',
  numeric: 'number',
  real: 'number',
  double: 'number',
  date: 'date',
  time: 'time',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
};

const formats: Readonly<Partial<Record<ColumnType['kind'], string>>> = {
  smallint: 'i16',
  integer: 'i32',
  bigint: 'i64',
  real: 'f32',
  double: 'f64',
};

function logicalType(type: ColumnType): { readonly [name: string]: YamlValue | undefined } {
  if (type.list === true) return { logicalType: 'array' };
  const { kind, length, fixed } = type;
  const options =
    kind === 'text' && length !== undefined
      ? { ...(fixed === true ? { minLength: length } : {}), maxLength: length }
      : kind === 'timestamp' || kind === 'timestamptz'
        ? { timezone: kind === 'timestamptz' }
        : formats[kind] === undefined
          ? undefined
          : { format: formats[kind] };
  return { logicalType: logicalNames[kind], logicalTypeOptions: options };
}
