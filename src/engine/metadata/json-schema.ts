/** JSON Schema, draft 2020-12, of the rows as JSON: one definition for each table. */
import { mapInSlices } from '../in-slices.ts';
import type { ColumnType } from '../model/relational-model.ts';
import type { DescribedColumn, DescribedModel, DescribedTable } from './described.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Returns the schema in pieces. It describes a database as one object: for each table a list of its rows. */
export async function jsonSchema(model: DescribedModel): Promise<readonly string[]> {
  const definitions = await mapInSlices(
    model.tables,
    (table, at) =>
      `${at === 0 ? '' : ',\n'}    ${JSON.stringify(table.name)}: ${indented(JSON.stringify(rowSchema(table), null, 2), 4)}`,
  );
  const lists = await mapInSlices(model.tables, ({ name }, at) => {
    const rows = { type: 'array', items: { $ref: `#/$defs/${pointer(name)}` } };
    return `${at === 0 ? '' : ',\n'}    ${JSON.stringify(name)}: ${JSON.stringify(rows)}`;
  });
  const title = JSON.stringify(`Tables of ${model.name}, version ${model.version}`);
  return [
    `{\n  "$schema": "https://json-schema.org/draft/2020-12/schema",\n  "title": ${title},\n  "type": "object",\n`,
    '  "properties": {\n',
    ...lists,
    '\n  },\n  "$defs": {\n',
    ...definitions,
    '\n  }\n}\n',
  ];
}

/** A name as a step of a JSON Pointer in a fragment (RFC 6901). */
function pointer(name: string): string {
  return encodeURIComponent(name.toWellFormed().replaceAll('~', '~0').replaceAll('/', '~1'));
}

function indented(text: string, by: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(by)}`);
}

function rowSchema(table: DescribedTable): Schema {
  return {
    type: 'object',
    description: table.description,
    properties: Object.fromEntries(table.columns.map((column) => [column.name, columnSchema(column)])),
    required: table.columns.flatMap(({ name, nullable }) => (nullable ? [] : [name])),
    additionalProperties: false,
  };
}

function columnSchema({ type, nullable, description, enumeration }: DescribedColumn): Schema {
  const { list, ...item } = type;
  const value = valueSchema(item, enumeration);
  const schema: Schema = list === true ? { type: 'array', items: value } : value;
  return { description, ...(nullable ? orNull(schema) : schema) };
}

function orNull({ type, enum: values, ...rest }: Schema): Schema {
  return {
    ...(type === undefined ? {} : { type: [...[type].flat(), 'null'] }),
    ...(values === undefined ? {} : { enum: [...(values as readonly unknown[]), null] }),
    ...rest,
  };
}

const bits: Readonly<Partial<Record<ColumnType['kind'], number>>> = { smallint: 16, integer: 32 };

function valueSchema({ kind, length, fixed }: ColumnType, enumeration: readonly string[] | null): Schema {
  switch (kind) {
    case 'text':
      if (enumeration !== null) return { type: 'string', enum: enumeration };
      return {
        type: 'string',
        ...(fixed === true ? { minLength: length } : {}),
        ...(length === undefined ? {} : { maxLength: length }),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'smallint':
    case 'integer':
    case 'bigint': {
      const size = bits[kind];
      const bounds = size === undefined ? {} : { minimum: -(2 ** (size - 1)), maximum: 2 ** (size - 1) - 1 };
      return { type: 'integer', ...bounds };
    }
    case 'numeric':
      return { type: 'number' };
    case 'real':
    case 'double':
      // special values, for which JSON has no number, are texts
      return { type: ['number', 'string'], pattern: '^(INF|-INF|\\+INF|NaN)$' };
    case 'date':
      return { type: 'string', format: 'date' };
    case 'timestamptz':
      return { type: 'string', format: 'date-time' };
    case 'time':
    case 'timestamp':
      return { type: 'string', $comment: `${kind}, without a zone` };
  }
}
