/** Avro schemas of the rows: a list of records, one for each table, which is a schema itself (a union of them). */
import { mapInSlices } from '../in-slices.ts';
import type { ColumnType } from '../model/relational-model.ts';
import type { DescribedColumn, DescribedModel, DescribedTable } from './described.ts';
import { plainNames, plainNamesOf } from './names.ts';

/** Returns the schemas in pieces. */
export async function avroSchemas(model: DescribedModel): Promise<readonly string[]> {
  const namespace = plainNames([model.name])[0]!;
  const names = plainNamesOf(model.tables.map(({ name }) => name));
  const records = await mapInSlices(model.tables, (table, at) => {
    const text = JSON.stringify([record(table, names.get(table.name)!, namespace)], null, 2).slice(2, -2);
    return `${at === 0 ? '' : ',\n'}${text}`;
  });
  return ['[\n', ...records, '\n]\n'];
}

function record(table: DescribedTable, name: string, namespace: string): object {
  const names = plainNamesOf(table.columns.map((column) => column.name));
  return {
    type: 'record',
    name,
    namespace,
    doc: table.description,
    ...(name === table.name ? {} : { table: table.name }),
    fields: table.columns.map((column) => field(column, names.get(column.name)!)),
  };
}

/** `column`: the original name if it is not allowed in Avro; `values`: all possible values. */
function field({ name, type, nullable, description, enumeration }: DescribedColumn, shown: string): object {
  const { list, ...item } = type;
  const value = list === true ? { type: 'array', items: valueType(item) } : valueType(item);
  return {
    name: shown,
    doc: description,
    type: nullable ? ['null', value] : value,
    ...(nullable ? { default: null } : {}),
    ...(shown === name ? {} : { column: name }),
    ...(enumeration === null ? {} : { values: enumeration }),
  };
}

/** A number without bounds is a text: the scale of Avro's decimals is part of the type. */
function valueType({ kind, precision, scale = 0 }: ColumnType): string | object {
  switch (kind) {
    case 'text':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'smallint':
    case 'integer':
      return 'int';
    case 'bigint':
      return 'long';
    case 'numeric':
      return precision === undefined ? 'string' : { type: 'bytes', logicalType: 'decimal', precision, scale };
    case 'real':
      return 'float';
    case 'double':
      return 'double';
    case 'date':
      return { type: 'int', logicalType: 'date' };
    case 'time':
      return { type: 'long', logicalType: 'time-micros' };
    case 'timestamp':
      return { type: 'long', logicalType: 'local-timestamp-micros' };
    case 'timestamptz':
      return { type: 'long', logicalType: 'timestamp-micros' };
  }
}
