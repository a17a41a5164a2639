/**
 * Splits rows that are too wide for one table (docs/decisions/model/wide-rows.md): their columns are distributed over the first table and
 * continuations.
 *
 * One model serves every dialect, so a table takes what the narrowest database holds in one row, whatever the values. Values count 30 bytes
 * each: a decimal of 65 digits in MySQL, and no less than the 24 of a text that PostgreSQL (8,160 bytes) or SQL Server (8,060) keep in the
 * row when it is full, with room for alignment, so that a column may be widened later. Keys, positions and flags never take more than 9. A
 * table then has at most 266 values, or 888 keys: below all limits on the number of columns (Oracle's 1,000 is the least).
 */
import type { ColumnRole } from '../../model/relational-model.ts';
import {
  newColumn,
  orderedColumns,
  type ColumnDraft,
  type PartDraft,
  type TableDraft,
} from './model-builder.ts';

export const maxRowBytes = 8_000;

export function columnBytes(role: ColumnRole): number {
  switch (role) {
    case 'row_key':
    case 'parent_key':
    case 'child_key':
    case 'document':
    case 'position':
    case 'folded_position':
    case 'presence':
    case 'nil':
    case 'offset':
      return 9;
    default:
      return 30;
  }
}

/** The roles of columns that identify a row and its position; they are few enough to fit in any table. */
const inFirstPart: ReadonlySet<ColumnRole> = new Set(['row_key', 'document', 'position']);

/** The parts of the row in earlier versions, whether or not this version still has them: a target keeps the columns of all its models. */
export interface PreviousParts {
  /** bytes taken, by part */
  readonly bytes: readonly number[];
  /** the part that had a column of that use */
  partOf(use: string): number | undefined;
}

/**
 * Settles `parts` of a table whose columns have their names. Columns of an earlier version stay in their parts. New columns go to the last
 * part that has room, or else to a further one. So the same column is in the same table in every later version.
 */
export function splitTable(
  table: TableDraft,
  previous: PreviousParts | null,
  useOf: (column: ColumnDraft) => string,
): void {
  const ordered = orderedColumns(table);
  const extras = ordered.filter((column) => column.role === 'extra');
  const own = ordered.filter((column) => column.role !== 'extra');
  const fixedBytes = columnBytes('row_key') + columnBytes('document') + extras.length * columnBytes('extra');
  const parts: ColumnDraft[][] = (previous?.bytes ?? [0]).map(() => []);
  const used = parts.map((_, at) => previous?.bytes[at] ?? fixedBytes);
  const added: ColumnDraft[] = [];
  for (const column of own) {
    const known = previous?.partOf(useOf(column));
    if (known !== undefined) parts[known]!.push(column);
    else if (inFirstPart.has(column.role)) {
      parts[0]!.push(column);
      const isFixed = column.role === 'row_key' || column.role === 'document';
      if (!isFixed) used[0]! += columnBytes(column.role);
    } else added.push(column);
  }
  for (const [order, column] of added.entries()) {
    const bytes = columnBytes(column.role);
    // the offset of a time directly follows it
    const behind = added[order + 1]?.offsetOf === column ? columnBytes('offset') : 0;
    let at = parts.length - 1;
    if (used[at]! + bytes + behind > maxRowBytes) {
      at = parts.push([]) - 1;
      used.push(fixedBytes);
    }
    parts[at]!.push(column);
    used[at]! += bytes;
  }
  const rank = new Map(own.map((column, at) => [column, at]));
  table.parts.length = 0;
  for (const [at, columns] of parts.entries()) {
    // all columns that an earlier version had there are gone
    if (at > 0 && columns.length === 0) continue;
    columns.sort((a, b) => rank.get(a)! - rank.get(b)!);
    table.parts.push(
      at === 0 ? firstPart([...columns, ...extras]) : continuation(table, at, columns, extras),
    );
  }
}

function firstPart(columns: readonly ColumnDraft[]): PartDraft {
  return { columns, number: 0, index: -1, name: '' };
}

function copyOf(column: ColumnDraft): ColumnDraft {
  return { ...column, requiredBy: new Set(column.requiredBy) };
}

/**
 * Makes a continuation of the table. Its row key and document are those of the first part, under the same names; every table has the extra
 * columns.
 */
function continuation(
  table: TableDraft,
  number: number,
  columns: readonly ColumnDraft[],
  extras: readonly ColumnDraft[],
): PartDraft {
  const first = table.columns.find((column) => column.role === 'row_key')!;
  const key = { ...newColumn({ role: 'row_key', type: first.type, parent: table }), name: first.name };
  const documents = table.columns.filter(({ role }) => role === 'document');
  return {
    columns: [key, ...documents.map(copyOf), ...columns, ...extras.map(copyOf)],
    number,
    index: -1,
    name: '',
  };
}
