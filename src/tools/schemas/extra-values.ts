/** Values for the extra columns (`-R`) of a logical schema; the request may name others than the schema has. */
import type { RelationalModel } from '../../engine/model/relational-model.ts';
import { AppError } from '../../errors.ts';
import type { ExtraColumn } from '../../service/jobs/request/shape.ts';
import type { CarriedValues } from '../../inputs/members.ts';

/**
 * Returns the values in the order of the extra columns of every table. A column is found by its name, or by its index if its name had
 * to be changed. Null: the request does not name it.
 */
export function extrasOf(
  model: RelationalModel,
  requested: readonly ExtraColumn[],
): readonly (ExtraColumn | null)[] {
  const names = namesOf(model);
  const left = new Map(requested.map((column) => [column.name.toLowerCase(), column]));
  const found = names.map((name) => {
    const column = left.get(name) ?? null;
    left.delete(name);
    return column;
  });
  return found.map((column, at) => {
    const placed = requested[at];
    return column ?? (placed !== undefined && left.has(placed.name.toLowerCase()) ? placed : null);
  });
}

/** AppError `invalid_option` for one that the tables do not have: `-l` takes them as they are. */
export function requireExtras(model: RelationalModel, requested: readonly ExtraColumn[]): void {
  const names = namesOf(model);
  const missing = requested.find(({ name }) => !names.includes(name.toLowerCase()));
  if (missing === undefined) return;
  const known = names.length === 0 ? 'none' : names.join(', ');
  throw new AppError(
    'invalid_option',
    `${missing.kind === 'carried' ? '--from: column' : '-R'} ${missing.name}: no such extra column in the logical schema that -l names (it has ${known}); -x instead of -l makes one`,
  );
}

/** Table and column of those that stay empty. */
export function unfilledExtras(
  model: RelationalModel,
  extras: readonly (ExtraColumn | null)[],
): readonly (readonly [table: number, column: number])[] {
  if (!extras.includes(null)) return [];
  return model.tables.flatMap(({ columns }, table) => {
    const extraColumns = columns.flatMap(({ role }, at) => (role === 'extra' ? [at] : []));
    return extraColumns.flatMap((at, index) => (extras[index] === null ? [[table, at] as const] : []));
  });
}

/** UTC, in the form of the column's type. */
export function momentOf(type: ExtraColumn['type'], moment: Date): string {
  const text = moment.toISOString();
  if (type === 'date') return text.slice(0, 10);
  if (type === 'time') return text.slice(11, -1);
  return type === 'timestamp' ? text.slice(0, -1) : text;
}

function namesOf({ tables }: RelationalModel): string[] {
  return (tables[0]?.columns ?? [])
    .filter(({ role }) => role === 'extra')
    .map(({ name }) => name.toLowerCase());
}

/** Returns the values of the extra columns for a document. */
export function valuesOf(
  extras: readonly (ExtraColumn | null)[],
  document: {
    readonly idJob: number;
    readonly fileName: string;
    readonly filePath: string;
    readonly carried: CarriedValues | undefined;
  },
): readonly (string | null)[] {
  return extras.map((column) => {
    switch (column?.kind) {
      case undefined:
        return null;
      case 'now':
        return momentOf(column.type, new Date());
      case 'id':
        return String(document.idJob);
      case 'filename':
        return document.fileName;
      case 'filepath':
        return document.filePath;
      case 'value':
        return column.value ?? '';
      case 'carried':
        return document.carried?.[column.name] ?? null;
    }
  });
}
