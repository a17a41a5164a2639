/** Chooses the column of rows that holds the documents, and the extra columns that carry the others. */
import { AppError } from '../../errors.ts';
import { reservedName } from '../../jobs/options/reserved-names.ts';
import type { ExtraColumn } from '../../jobs/request/shape.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';
import type { QueryColumn } from '../../ports/rows/query.ts';

export interface ChosenColumns {
  /** place of the documents among the columns */
  readonly document: number;
  /** places of the others */
  readonly carried: readonly number[];
  /** index of the column that rows are ordered by; null: rows come in any order */
  readonly after: number | null;
}

/** AppError `invalid_option`: it is not clear which, or a column could not be one of a table. */
export function chooseColumns(
  columns: readonly QueryColumn[],
  { xmlColumn, after, extraColumns }: Pick<ToolRequest, 'xmlColumn' | 'after' | 'extraColumns'>,
): ChosenColumns {
  const taken = new Set(extraColumns.map(({ name }) => name.toLowerCase()));
  for (const { name } of columns) {
    if (taken.has(name.toLowerCase()))
      throw refused(
        `the rows of --from have the column ${name} twice, or -R has it, too: SELECT … AS another`,
      );
    taken.add(name.toLowerCase());
  }
  const document = xmlColumn === undefined ? evident(columns) : named('--xml-column', xmlColumn, columns);
  if (columns[document]!.holds === 'other')
    throw refused(`--xml-column ${columns[document]!.name}: holds neither text nor bytes`);
  const carried = columns.flatMap((column, at) => {
    if (at === document) return [];
    const fault = nameFault(column.name);
    if (fault !== null)
      throw refused(`column ${column.name.slice(0, 80)} of --from: ${fault}: SELECT … AS another`);
    return [at];
  });
  const ordering = after === undefined ? null : named('--after', after.column, columns);
  if (ordering === document) throw refused('--after: documents have no order: name another column');
  return { document, carried, after: ordering };
}

/** Returns an extra column as `-R` would define it. */
export function extraOf({ name, type }: QueryColumn): ExtraColumn {
  return { name, type: type as ExtraColumn['type'], kind: 'carried' };
}

function nameFault(name: string): string | null {
  if (name === '' || name.length > 128 || /\p{Cc}/u.test(name)) return 'is no name of a column';
  return reservedName(name);
}

/** Returns the only column of XML; otherwise the only one of text or bytes. */
function evident(columns: readonly QueryColumn[]): number {
  const [xml, others] = [['xml'], ['text', 'bytes']].map((kinds) =>
    columns.flatMap(({ holds }, at) => (kinds.includes(holds) ? [at] : [])),
  ) as [number[], number[]];
  const candidates = xml.length > 0 ? xml : others;
  if (candidates.length === 1) return candidates[0]!;
  const names = candidates.map((at) => columns[at]!.name);
  throw refused(
    candidates.length === 0
      ? `--from: no column holds text, bytes or XML (there are ${columns.map(({ name }) => name).join(', ')})`
      : `--from: documents could stand in ${names.join(', ')}: name one with --xml-column`,
  );
}

function named(option: string, name: string, columns: readonly QueryColumn[]): number {
  const exact = columns.findIndex((column) => column.name === name);
  const at =
    exact < 0 ? columns.findIndex((column) => column.name.toLowerCase() === name.toLowerCase()) : exact;
  if (at >= 0) return at;
  throw refused(
    `${option} ${name}: there is no such column (there are ${columns.map((column) => column.name).join(', ')})`,
  );
}

function refused(detail: string): AppError {
  return new AppError('invalid_option', detail);
}
