/** Collects the rows of an answer within its limits, and makes JSON values of cells. */
import { AppError } from '../../errors.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { AnswerValue, ReadRows, RowAnswer } from '../../ports/target-reader.ts';

/** Returns a whole number as a JSON number if a double holds it exactly, otherwise as text. */
export function wholeValue(value: bigint | number): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Returns a floating-point number; JSON has no NaN and no infinities. */
export function floatValue(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** The error for a statement that the database does not accept. `position`: index of the fault in the statement, from 0. */
export function statementFault(
  message: string,
  sql: string,
  { position, hint }: { readonly position?: number | undefined; readonly hint?: string | undefined } = {},
): AppError {
  const place = position === undefined ? '' : `${placeIn(sql, position)}: `;
  const told = message.slice(0, 2000);
  const advice =
    hint === undefined || hint === '' ? '' : `${/[.?!]$/.test(told) ? '' : '.'} Hint: ${hint.slice(0, 2000)}`;
  const detail = `${place}${told}${advice}`;
  return new AppError('invalid_body', detail, { errors: [{ pointer: '/sql', detail }] });
}

function placeIn(sql: string, position: number): string {
  const before = sql.slice(0, Math.max(0, position)).split('\n');
  return `line ${before.length}, column ${before.at(-1)!.length + 1}`;
}

/** The error for a request that needs more time than it has. */
export function tooSlow(): AppError {
  return new AppError(
    'unprocessable_input',
    `the rows could not be read within ${fixedLimits.queryMs / 1000} seconds: read fewer tables or rows, or query the target with a program of your own`,
  );
}

/** Tables that a message names; the rest are counted. */
const maxNamed = 20;

/** `tables`: the names that the target has. */
export function noSuchTable(table: string, tables: readonly string[]): AppError {
  const named = tables
    .toSorted()
    .slice(0, maxNamed)
    .map((name) => JSON.stringify(name));
  const more = tables.length > named.length ? ` and ${tables.length - named.length} more` : '';
  const known = named.length === 0 ? 'it has none' : `it has ${named.join(', ')}${more}`;
  return new AppError('not_found', `the target has no table or view ${JSON.stringify(table)}: ${known}`);
}

/**
 * Reads at most `maxRows` rows, and stops before the answer exceeds `fixedLimits.answerRowBytes`. AppError `unprocessable_input` if the
 * first row alone does, or if `isWhole` and not all rows fit.
 */
export async function collectRows(
  { columns, rows }: ReadRows,
  maxRows: number,
  isWhole: boolean,
): Promise<RowAnswer> {
  const collected: (readonly AnswerValue[])[] = [];
  const { answerRowBytes } = fixedLimits;
  let bytes = JSON.stringify(columns).length;
  let truncated = false;
  for await (const row of rows) {
    if (collected.length === maxRows) {
      truncated = true;
      break;
    }
    bytes += new TextEncoder().encode(JSON.stringify(row)).length + 1;
    if (bytes > answerRowBytes) {
      if (isWhole || collected.length === 0)
        throw new AppError(
          'unprocessable_input',
          `the rows have more than the ${answerRowBytes / 1024 ** 2} MiB that an answer may have: ${
            isWhole ? 'take a smaller page' : 'select fewer columns, or shorten their values'
          }`,
        );
      truncated = true;
      break;
    }
    collected.push(row);
  }
  return { columns, rows: collected, truncated };
}

/** Returns the column that has the row key of a table of a model, by its name; null for other tables. */
export function rowKeyOf(table: string, columns: readonly string[]): string | null {
  const [first] = columns;
  if (first === undefined || table.startsWith('_')) return null;
  const name = first.toLowerCase();
  return name === `${table.toLowerCase()}_key` || name.endsWith('_row_key') ? first : null;
}
