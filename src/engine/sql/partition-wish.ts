/** `--partition`: the requested columns by which rows of a table are partitioned. */

export type PartitionPart = 'identity' | 'year' | 'month' | 'day' | 'hour';

export interface PartitionWish {
  /** part of each value: the whole value, or a part of a date or timestamp */
  readonly part: PartitionPart;
  /** `COLUMN` or `TABLE.COLUMN` */
  readonly column: string;
}

/**
 * Parses `COLUMN,…`, in which `year(COLUMN)`, `month(…)`, `day(…)` and `hour(…)` are parts of the column. Returns a text that describes
 * the fault if it is invalid.
 */
export function parsePartition(text: string): readonly PartitionWish[] | string {
  const wishes: PartitionWish[] = [];
  for (const item of text.split(',').map((one) => one.trim())) {
    const call = /^(\w+)\s*\((.*)\)$/.exec(item);
    const [part, column] = call === null ? ['identity', item] : [call[1]!.toLowerCase(), call[2]!.trim()];
    if (column === '') return 'must be COLUMN or year(COLUMN), several separated by commas';
    if (!isPart(part)) return `has ${part}(…), but only year, month, day and hour are supported`;
    if (wishes.some((known) => known.part === part && known.column === column)) return `has ${item} twice`;
    wishes.push({ part, column });
  }
  return wishes;
}

function isPart(text: string): text is PartitionPart {
  return ['identity', 'year', 'month', 'day', 'hour'].includes(text);
}
