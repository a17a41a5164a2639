/** Which tables of a model `--partition` is for, and the columns that they have for it. */
import { closestWord } from '../../../../engine/closest-word.ts';
import type { RelationalModel } from '../../../../engine/model/relational-model.ts';
import type { PartitionPart, PartitionWish } from '../../../../engine/sql/partition-wish.ts';
import { AppError } from '../../../../errors.ts';
import { columnSqlType } from '../../../sql/duckdb/types.ts';
import { storedTypeIn } from '../formats.ts';
import type { LakeFormatName, LakeColumn } from '../table-format.ts';
import { deltaColumn, typeFault, type PartitionField } from './fields.ts';

/** columns that a message names */
const mostNamed = 8;

const partTypes: Readonly<Record<PartitionPart, string>> = {
  identity: 'VARCHAR',
  year: 'INTEGER',
  month: 'VARCHAR',
  day: 'DATE',
  hour: 'VARCHAR',
};

/** Columns that Delta tables have beside those of the rows. */
export function derivedColumns(
  fields: readonly PartitionField[],
  format: LakeFormatName,
): readonly LakeColumn[] {
  if (format === 'iceberg') return [];
  return fields
    .filter(({ part }) => part !== 'identity')
    .map((field) => ({
      name: deltaColumn(field),
      sqlType: partTypes[field.part],
      nullable: true,
      comment: `${field.part} of ${field.column}, in UTC: what the table is partitioned by`,
    }));
}

/** By table, what it is to be partitioned by. AppError `invalid_option`: no table has such a column, or it is none for partitions. */
export function partitionsOf(
  model: RelationalModel,
  format: LakeFormatName,
  wishes: readonly PartitionWish[],
): ReadonlyMap<string, readonly PartitionField[]> {
  const found = new Map<string, PartitionField[]>();
  for (const { part, column: wanted } of wishes) {
    let isKnown = false;
    for (const { name, columns } of model.tables) {
      const column = columns.find((one) => one.name === wanted || `${name}.${one.name}` === wanted);
      if (column === undefined) continue;
      isKnown = true;
      const field = { column: column.name, part };
      const fault = typeFault(field, storedTypeIn(format, columnSqlType(column.type)));
      if (fault !== null)
        throw new AppError('invalid_option', `--partition ${wanted}: ${name}.${column.name} ${fault}.`);
      if (part !== 'identity' && columns.some((one) => one.name === deltaColumn(field)))
        throw new AppError(
          'invalid_option',
          `--partition ${part}(${wanted}): ${name} has a column called ${deltaColumn(field)} already.`,
        );
      found.set(name, [...(found.get(name) ?? []), field]);
    }
    if (!isKnown) throw unknownColumn(model, format, { part, column: wanted });
  }
  return found;
}

/** What is near in letters may be meant; otherwise columns are named that it can be done by, of the table that was named or of all. */
function unknownColumn(
  { tables }: RelationalModel,
  format: LakeFormatName,
  { part, column: wanted }: PartitionWish,
): AppError {
  const dot = wanted.lastIndexOf('.');
  const last = wanted.slice(dot + 1);
  const own = tables.filter(({ name }) => dot > 0 && name === wanted.slice(0, dot));
  const labels = new Map<string, string>();
  const fitting = new Set<string>();
  for (const { name, columns } of own.length > 0 ? own : tables)
    for (const column of columns) {
      const label = dot < 0 ? column.name : `${name}.${column.name}`;
      // in the table that was named it is the column that was not
      labels.set(own.length > 0 ? column.name : label, label);
      const type = storedTypeIn(format, columnSqlType(column.type));
      if (column.role === 'value' && typeFault({ part }, type) === null) fitting.add(label);
    }
  const other = tables.find(({ columns }) => columns.some(({ name }) => name === last));
  const meant =
    other === undefined
      ? labels.get(closestWord(own.length > 0 ? last : wanted, labels.keys()) ?? '')
      : `${other.name}.${last}`;
  const named = [...fitting].slice(0, mostNamed).join(', ');
  let hint = '.';
  if (meant !== undefined) hint = `; did you mean ${meant}?`;
  else if (fitting.size > 0)
    hint = `. ${part === 'identity' ? 'Columns' : `Columns for ${part}()`}: ${named}${fitting.size > mostNamed ? ` and ${fitting.size - mostNamed} more` : ''}.`;
  const where = own.length > 0 ? `${own[0]!.name} has no column` : 'no table has a column';
  return new AppError('invalid_option', `--partition ${wanted}: ${where} called so${hint}`);
}
