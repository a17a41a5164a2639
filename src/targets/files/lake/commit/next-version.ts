/** From a version of a table and what a job does to the table to what the next version is to say. */
import { AppError } from '../../../../errors.ts';
import { addsZone, settledType, type DecimalDigits } from '../../../sql/duckdb/types.ts';
import type { TypeChange } from '../data-files.ts';
import { canTakeZone } from '../empty-columns.ts';
import type { TableStep } from '../manifest.ts';
import {
  fieldOf,
  type LakeColumn,
  type LakeField,
  type TableFormat,
  type TableVersion,
} from '../table-format.ts';

export interface NextVersion {
  readonly fields: readonly LakeField[];
  /** what becomes of the columns of files that are there, and of the job's own; none: they stay as they are */
  readonly there: ReadonlyMap<string, TypeChange>;
  readonly own: ReadonlyMap<string, TypeChange>;
  /** all files that are there go */
  readonly clears: boolean;
  /** in words, for the log */
  readonly changes: readonly string[];
}

/** `digitsOf`: of a column's decimals in the files that are there and in the job's own. AppError `conflict` for a column that others made something else. */
export async function nextVersion(
  format: Pick<TableFormat, 'promotes'>,
  state: TableVersion | null,
  step: TableStep,
  digitsOf: (column: string) => Promise<DecimalDigits>,
): Promise<NextVersion> {
  const none: ReadonlyMap<string, TypeChange> = new Map();
  const { keptJobs, keptDocuments = [] } = step;
  const clears = step.replace && keptJobs.length + keptDocuments.length === 0;
  // the rows alone change
  if (state !== null && step.columns.length === 0)
    return { fields: state.fields, there: none, own: none, clears, changes: [] };
  if (state === null || clears || state.isUnused)
    return {
      fields: step.columns.map(fieldOf),
      there: none,
      own: none,
      clears,
      changes: [],
    };
  const before = state.fields;
  const ours = new Map(step.columns.map((column) => [column.name.toLowerCase(), column]));
  const known = new Set(before.map(({ name }) => name.toLowerCase()));
  const there = new Map<string, TypeChange>();
  const own = new Map<string, TypeChange>();
  const changes: string[] = [];
  const fields: LakeField[] = [];
  for (const field of before) {
    const column = ours.get(field.name.toLowerCase());
    const nullable = field.nullable || (column?.nullable ?? true);
    if (nullable && !field.nullable) changes.push(`${step.name}.${field.name}: NOT NULL dropped`);
    if (column === undefined) {
      fields.push({ ...field, nullable });
      continue;
    }
    const type = typeThere(step.name, field, column);
    const settled =
      addsZone(type, column.sqlType) && canTakeZone(state, field)
        ? column.sqlType
        : await settledType(type, column.sqlType, () => digitsOf(field.name));
    if (settled !== type) {
      if (!format.promotes(type, settled))
        there.set(field.name, { from: type, to: settled, offset: column.offset });
      changes.push(`${step.name}.${field.name}: ${type} widened to ${settled}`);
    }
    if (settled !== column.sqlType) own.set(field.name, { from: column.sqlType, to: settled });
    const comment = field.comment === '' ? column.comment : field.comment;
    fields.push({ ...field, sqlType: settled, nullable, comment });
  }
  for (const column of step.columns) {
    if (known.has(column.name.toLowerCase())) continue;
    // rows that are there do not have it
    fields.push(fieldOf({ ...column, nullable: true }));
    changes.push(`${step.name}.${column.name}: added`);
  }
  return { fields, there, own, clears, changes };
}

function typeThere(table: string, { name, sqlType, stored }: LakeField, column: LakeColumn): string {
  if (name === column.name && sqlType !== null) return sqlType;
  throw new AppError(
    'conflict',
    `${table}: somebody made the column ${column.name} another one (${name}, ${JSON.stringify(stored?.['type'] ?? sqlType)}); take that back, or take another folder.`,
  );
}

/** The type for the values of a file that is about to be written, where the table tells it without a look at its rows. */
export async function typeToWrite(there: string | null, needed: string): Promise<string> {
  // a zone is only asked for where the column has no value yet
  if (there === null || addsZone(there, needed)) return needed;
  let isTold = true;
  const settled = await settledType(there, needed, async () => {
    isTold = false;
    return { whole: 0, fraction: 0 };
  });
  return isTold ? settled : needed;
}
