/** Converts staged CSV to values of DuckDB's types. Types are never guessed, and values are rounded only if the type cannot hold them. */
import type { ColumnType } from '../../../engine/model/relational-model.ts';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { pathLiteral, type DuckDb } from './database.ts';
import type { DecimalDigits } from './types.ts';

/** A staged file: rows as `csvEncoder` writes them, without a header. */
export interface StagedCsv {
  readonly path: string;
  readonly columnCount: number;
  /** the length of the longest row */
  readonly longestRowBytes: number;
}

/** Returns the name of a staged column, by its position. */
export function stagedColumn(at: number): string {
  return `c${at}`;
}

/** Returns the file as a table of text columns `c0`, `c1` … */
export function stagedRows(staged: StagedCsv): string {
  const columns = Array.from({ length: staged.columnCount }, (_, at) => `'${stagedColumn(at)}': 'VARCHAR'`);
  const longest = Math.max(512 * 1024, staged.longestRowBytes + 1);
  return `read_csv(${pathLiteral(staged.path)}, auto_detect = false, header = false, delim = ',', quote = '"', escape = '"',
    new_line = '\\n', nullstr = '', allow_quoted_nulls = false, strict_mode = true, max_line_size = ${longest},
    buffer_size = ${longest * 4}, columns = {${columns.join(', ')}})`;
}

/**
 * Returns the digits that the values of a file have in columns for which the model says only "a decimal" or "a list of decimals": by
 * column, for those among `columns`; others are left out.
 */
export async function measuredDigits(
  database: DuckDb,
  staged: StagedCsv,
  columns: readonly { readonly at: number; readonly type: ColumnType }[],
): Promise<Map<number, DecimalDigits>> {
  const measured = new Map<number, DecimalDigits>();
  const measure = async (wanted: typeof columns, digits: typeof roughDigits): Promise<void> => {
    if (wanted.length === 0) return;
    const values = wanted.flatMap(({ at, type }) => {
      const column = stagedColumn(at);
      const [whole, fraction] = type.list
        ? digits('item').map(
            (count) => `list_max(list_transform(${plainItems(column)}, lambda item: ${count}))`,
          )
        : digits(column);
      return [`max(${whole})::INTEGER AS w${at}`, `max(${fraction})::INTEGER AS f${at}`];
    });
    const [row] = await database.read<Record<string, number | null>>(
      `SELECT ${values.join(', ')} FROM ${stagedRows(staged)}`,
    );
    for (const { at } of wanted)
      measured.set(at, { whole: row![`w${at}`] ?? 0, fraction: row![`f${at}`] ?? 0 });
  };
  const open = columns.filter(({ type }) => type.kind === 'numeric' && type.precision === undefined);
  await measure(open, roughDigits);
  const many = open.filter(({ at }) => !isShort(measured.get(at)!));
  await measure(many, exactDigits);
  return measured;
}

/** Returns expressions for an upper bound of the digits that is quick to compute: it counts the sign and zeros at the ends. */
function roughDigits(value: string): readonly [whole: string, fraction: string] {
  const point = `strpos(${value}, '.')`;
  return [
    `CASE WHEN ${point} = 0 THEN length(${value}) ELSE ${point} - 1 END`,
    `CASE WHEN ${point} = 0 THEN 0 ELSE length(${value}) - ${point} END`,
  ];
}

/** Returns expressions for the significant digits of a decimal written as text. */
export function exactDigits(value: string): readonly [whole: string, fraction: string] {
  return [
    `length(ltrim(split_part(${value}, '.', 1), '+-0'))`,
    `length(rtrim(split_part(${value}, '.', 2), '0'))`,
  ];
}

/**
 * Returns the staged column as a value of `sqlType`. A column of text gets the text of the document; items of a list are then separated by
 * spaces, as in XML. `digits`: those of this file's values, if they were measured; `texts`: by their staged keys, rows whose value is text
 * although it looks like a staged list.
 */
export function stagedValue(
  column: string,
  type: ColumnType,
  sqlType: string,
  digits?: DecimalDigits,
  texts?: { readonly keys: ReadonlySet<string>; readonly key: string },
): string {
  const isStaged =
    texts === undefined ? '' : ` AND ${texts.key} NOT IN (${[...texts.keys].map(standardLiteral).join()})`;
  if (type.list !== true) {
    return isFloat(type.kind) && sqlType === 'VARCHAR'
      ? `CASE WHEN ${column} IN ('Infinity', '-Infinity')${isStaged} THEN replace(${column}, 'Infinity', 'INF') ELSE ${column} END`
      : scalar(column, type, sqlType, digits);
  }
  const items = type.kind === 'text' ? quotedItems(column) : plainItems(column);
  if (!sqlType.endsWith('[]')) {
    // a value that is not a list of such items is staged as it is in the document
    return `CASE WHEN ${column} LIKE '{%}'${isStaged} THEN array_to_string(${textItems(items, type)}, ' ') ELSE ${column} END`;
  }
  const itemType = sqlType.slice(0, -2);
  if (itemType === 'VARCHAR') return textItems(items, type);
  return `list_transform(${items}, lambda item: ${scalar('item', type, itemType, digits)})`;
}

function scalar(value: string, type: ColumnType, sqlType: string, digits: DecimalDigits | undefined): string {
  if (sqlType === 'VARCHAR') return value;
  switch (type.kind) {
    case 'numeric':
      return decimal(value, sqlType, digits);
    case 'time':
    case 'timestamp':
    case 'timestamptz':
      return rounded(value, sqlType, type.kind === 'time' ? 15 : 26);
    default:
      return `${value}::${sqlType}`;
  }
}

/**
 * Converts text to a decimal. Conversion to more than 18 digits is a hundred times slower than to fewer, which are then widened. So the
 * parts before and after the point are converted separately if neither has more digits in any value.
 */
function decimal(value: string, sqlType: string, digits: DecimalDigits | undefined): string {
  if (digits !== undefined && isShort(digits)) return `${value}::DECIMAL(18,${digits.fraction})::${sqlType}`;
  if (digits === undefined || digits.fraction === 0) return `${value}::${sqlType}`;
  const [whole, fraction] = [`split_part(${value}, '.', 1)`, `split_part(${value}, '.', 2)`];
  const zero = `CASE WHEN ${value} LIKE '-%' THEN '-0.' ELSE '0.' END`;
  return `CASE WHEN length(${whole}) > 18 OR length(${fraction}) > 18 THEN ${value}::${sqlType}
    ELSE CASE WHEN ltrim(${whole}, '+-') = '' THEN 0 ELSE ${whole}::DECIMAL(18,0) END::${sqlType}
      + (${zero} || ${fraction})::DECIMAL(18,${Math.min(18, digits.fraction)})::${sqlType} END`;
}

function isShort({ whole, fraction }: DecimalDigits): boolean {
  return whole + fraction <= 18;
}

/** Rounds the microsecond by the digits after it, which DuckDB would cut off. `length`: texts up to this length have none. */
function rounded(value: string, sqlType: string, length: number): string {
  const cast = `${value}::${sqlType}`;
  return `CASE WHEN length(${value}) <= ${length} THEN ${cast}
    WHEN regexp_matches(${value}, '[.]\\d{6}[5-9]') THEN ${cast} + INTERVAL 1 MICROSECOND ELSE ${cast} END`;
}

/** Returns whether text of a document could be mistaken for the staged form of a value of the type. */
export function looksStaged(text: string, { kind, list }: ColumnType): boolean {
  if (list === true) return text.startsWith('{') && text.endsWith('}');
  return isFloat(kind) && /^-?Infinity$/.test(text);
}

function isFloat(kind: ColumnType['kind']): boolean {
  return kind === 'real' || kind === 'double';
}

/** Returns the items of a literal in the form of XML. */
function textItems(items: string, { kind }: ColumnType): string {
  switch (kind) {
    case 'boolean':
      return `list_transform(${items}, lambda item: CASE item WHEN 't' THEN 'true' WHEN 'f' THEN 'false' ELSE item END)`;
    case 'real':
    case 'double':
      return `list_transform(${items}, lambda item: replace(item, 'Infinity', 'INF'))`;
    default:
      return items;
  }
}

/** Parses `{1,2}`. */
function plainItems(column: string): string {
  return `CASE WHEN ${column} = '{}' THEN [] ELSE string_split(${column}[2:-2], ',') END`;
}

/** Parses `{"a","b"}`: items have no white space, and their quotes and backslashes are preceded by a backslash. */
function quotedItems(column: string): string {
  return `CASE WHEN ${column} LIKE '{"%' THEN list_transform(string_split(${column}[3:-3], '","'),
    lambda item: CASE WHEN contains(item, '\\') THEN regexp_replace(item, '\\\\(.)', '\\1', 'g') ELSE item END)
    ELSE ${plainItems(column)} END`;
}
