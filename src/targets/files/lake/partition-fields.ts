/**
 * The partition fields of a table: each file has rows of one partition. The values of a partition are text, in the same form in both
 * formats: a value as it is cast to text, a year as `2026`, a month as `2026-03`, a day as `2026-03-04`, an hour as `2026-03-04-07` (UTC).
 */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import type { PartitionPart } from '../../../engine/sql/partition-wish.ts';

export interface PartitionField {
  readonly column: string;
  readonly part: PartitionPart;
}

/** A partition's values, in the order of the fields; null: rows without a value. */
export type PartitionValues = readonly (string | null)[];

/** Formats the fields, as `year(booked_on),region`. */
export function partitionText(fields: readonly PartitionField[]): string {
  return fields.map(({ part, column }) => (part === 'identity' ? column : `${part}(${column})`)).join(',');
}

/** Returns the column of a Delta table that has the value, because its log has no parts of values. */
export function deltaColumn({ column, part }: PartitionField): string {
  return part === 'identity' ? column : `${column}_${part}`;
}

/** Returns DuckDB's expression of the value's text. `sqlType`: of the column. */
export function partitionExpression({ column, part }: PartitionField, sqlType: string): string {
  const value = doubleQuoted(column);
  if (part === 'identity') return `${value}::VARCHAR`;
  // the DuckDB session uses UTC
  const moment = sqlType === 'DATE' ? value : `${value}::TIMESTAMP`;
  const forms = { year: '%Y', month: '%Y-%m', day: '%Y-%m-%d', hour: '%Y-%m-%d-%H' } as const;
  return `strftime(${moment}, '${forms[part]}')`;
}

const wholes = new Set(['VARCHAR', 'BOOLEAN', 'SMALLINT', 'INTEGER', 'BIGINT', 'DATE']);

/** Returns why a column of that type cannot have the partition field; null if it can. */
export function typeFault({ part }: Pick<PartitionField, 'part'>, sqlType: string): string | null {
  if (part === 'identity')
    return wholes.has(sqlType)
      ? null
      : `is ${sqlType}: partitions are of text, whole numbers, dates and booleans${sqlType.startsWith('TIMESTAMP') ? ', or of year(), month(), day() and hour() of it' : ''}`;
  const isMoment = sqlType.startsWith('TIMESTAMP') && !sqlType.endsWith('[]');
  if (isMoment || (sqlType === 'DATE' && part !== 'hour')) return null;
  return `is ${sqlType}, which has no ${part}`;
}

export function isSamePartitioning(
  one: readonly PartitionField[],
  other: readonly PartitionField[],
): boolean {
  return partitionText(one) === partitionText(other);
}
