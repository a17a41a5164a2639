/** Which tables of a model `--partition` is for, and the columns that they have for it. */
import { didYouMean } from '../../../engine/closest-word.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import type { PartitionPart, PartitionWish } from '../../../engine/sql/partition-wish.ts';
import { AppError } from '../../../errors.ts';
import { columnSqlType } from '../../duckdb/types.ts';
import { storedTypeIn } from '../formats.ts';
import type { LakeFormatName } from '../table-format.ts';
import type { LakeColumn } from '../table-format.ts';
import { deltaColumn, typeFault, type PartitionField } from './fields.ts';

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
    if (!isKnown) throw unknownColumn(model, wanted);
  }
  return found;
}

function unknownColumn({ tables }: RelationalModel, wanted: string): AppError {
  const names = tables.flatMap(({ name, columns }) =>
    columns.map((column) => (wanted.includes('.') ? `${name}.${column.name}` : column.name)),
  );
  return new AppError(
    'invalid_option',
    `--partition ${wanted}: no table has a column called so${didYouMean(wanted, names)}.`,
  );
}
