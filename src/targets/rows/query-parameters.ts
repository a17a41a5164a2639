/** Finds parameters in queries that come from programs; `--query` has no values for them. */
import { AppError } from '../../errors.ts';

/** The first characters of parameters: `?`, `$1`, `$name`, `:name`, `@name`. */
export type ParameterMark = '?' | '$' | ':' | '@';

const rest = String.raw`--[^\n]*|/\*[\s\S]*?\*/|\$(\w*)\$[\s\S]*?\$\1\$|[A-Za-z_][\w$]*|\d+|::|:=|@@\w+|(\?\d*|\$\w+|:[A-Za-z_]\w*|@[A-Za-z_]\w*)`;
/** Texts, quoted names, comments, words, numbers, casts and assignments; then parameters. */
const parts = {
  standard: new RegExp(String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|${rest}`, 'g'),
  mysql: new RegExp(String.raw`'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|${'`[^`]*`'}|#[^\n]*|${rest}`, 'g'),
};

/** Returns the first parameter of a query that begins with one of the marks; null if it has none. */
export function findParameter(
  query: string,
  marks: readonly ParameterMark[],
  syntax: keyof typeof parts = 'standard',
): string | null {
  for (const [, , parameter] of query.matchAll(parts[syntax]))
    if (parameter !== undefined && marks.includes(parameter[0] as ParameterMark)) return parameter;
  return null;
}

export function parameterFault(parameter: string, label: string): AppError {
  return new AppError(
    'unprocessable_input',
    `${label}: the query has the parameter ${parameter}, and --query cannot give it a value: write the value into the query`,
  );
}
