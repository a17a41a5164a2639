/** Returns rows of a query of a DuckDB file, or of a file of Parquet or CSV; the query cannot read any other file of the machine. */
import { dirname } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import type { QueryCell, QueryColumn, QueryRows } from '../../../ports/row-source.ts';
import {
  findParameter,
  parameterFault,
  type ParameterMark,
  selectRows,
  tableOf,
  textsOf,
} from '../../rows/query.ts';
import { openDuckDbReader, pathLiteral } from './database.ts';
import { chunksOf } from './row-chunks.ts';

const dialect = { quote: doubleQuoted, literal: standardLiteral };

/** the memory that a chunk of 2,048 rows may take for documents, in the unit that a reader's memory is counted in */
const streams = 64;
/** longest line of a CSV file, including a document in it */
const longestLineBytes = 64 * 1024 * 1024;

export interface DuckDbQueryOptions {
  readonly label: string;
  /** a folder for data that does not fit into memory */
  readonly spill: string;
}

export async function openDuckDbQuery(
  path: string,
  query: string,
  { label, spill }: DuckDbQueryOptions,
): Promise<QueryRows> {
  const reader = await openDuckDbReader(path, spill, { label, streams, isLocked: true });
  return rowsOf(reader, tableOf(query), label, async () => {
    const parameter = findParameter(query, ['?', '$']);
    if (parameter !== null) throw parameterFault(parameter, label);
    await checkQuery(reader.read, query, label).catch((error: unknown): never => {
      const other = error instanceof AppError ? findParameter(query, markIn(error.message)) : null;
      throw other === null ? error : parameterFault(other, label);
    });
  });
}

/**
 * Returns the marks of parameters that the message refers to. DuckDB has operators that begin like the parameters of other databases, so
 * its message shows which mark it did not accept.
 */
function markIn(message: string): readonly ParameterMark[] {
  if (message.includes('error at or near ":"')) return [':'];
  return /the function \S*@/.test(message) ? ['@'] : [];
}

/** Reads all rows of a file; the first line of a CSV file names its columns, which are texts. */
export async function openRowFile(
  path: string,
  format: 'parquet' | 'csv',
  { label, spill }: DuckDbQueryOptions,
): Promise<QueryRows> {
  const reader = await openDuckDbReader(':memory:', spill, {
    label,
    streams,
    data: dirname(path),
    isLocked: true,
  });
  const table =
    format === 'parquet'
      ? `read_parquet(${pathLiteral(path)})`
      : `read_csv(${pathLiteral(path)}, header = true, all_varchar = true, delim = ${/\.tsv(?:\.gz)?$/i.test(label) ? "E'\\t'" : "','"}, quote = '"', escape = '"', parallel = false, max_line_size = ${longestLineBytes}, buffer_size = ${longestLineBytes * 2})`;
  return rowsOf(reader, `${table} AS svc_rows`, label);
}

function rowsOf(
  reader: Awaited<ReturnType<typeof openDuckDbReader>>,
  table: string,
  label: string,
  check: () => Promise<void> = () => Promise.resolve(),
): QueryRows {
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw queryFault(error, label);
    }
  };
  let known: Promise<readonly QueryColumn[]> | null = null;
  const describe = (): Promise<readonly QueryColumn[]> =>
    asked(async () => {
      await check();
      const statement = `DESCRIBE SELECT * FROM ${table}`;
      const connection = await reader.connect();
      try {
        if ((await connection.extractStatements(statement)).count !== 1)
          throw new AppError('invalid_option', `${label}: --query must be one SELECT`);
      } finally {
        connection.closeSync();
      }
      const found = await reader.read<{ column_name: string; column_type: string }>(statement);
      return found.map(({ column_name: name, column_type: type }) => ({ name, ...kindOf(type) }));
    });
  const columns = (): Promise<readonly QueryColumn[]> => (known ??= describe());
  return {
    label,
    columns,
    async *rows(order) {
      const all = await columns();
      const expressions = textsOf(all, doubleQuoted, 'VARCHAR');
      const connection = await reader.connect();
      const result = await asked(() => connection.stream(selectRows(dialect, table, expressions, order)));
      const chunks = chunksOf(connection, result);
      try {
        for (;;) {
          const chunk = await asked(() => chunks.next());
          if (chunk === null) return;
          for (const row of chunk.getRows()) yield row.map(cellOf);
        }
      } finally {
        await chunks.close();
      }
    },
    close: () => Promise.resolve(reader.close()),
  };
}

function kindOf(type: string): Pick<QueryColumn, 'type' | 'holds'> {
  const [name] = /^[A-Z ]+/.exec(type.toUpperCase()) ?? [''];
  const isList = type.endsWith(']');
  return (isList ? undefined : types[name.trim()]) ?? { type: 'text', holds: 'other' };
}

const types: Readonly<Record<string, Pick<QueryColumn, 'type' | 'holds'>>> = {
  VARCHAR: { type: 'text', holds: 'text' },
  BLOB: { type: 'text', holds: 'bytes' },
  BOOLEAN: { type: 'boolean', holds: 'other' },
  TINYINT: { type: 'smallint', holds: 'other' },
  SMALLINT: { type: 'smallint', holds: 'other' },
  UTINYINT: { type: 'smallint', holds: 'other' },
  INTEGER: { type: 'integer', holds: 'other' },
  USMALLINT: { type: 'integer', holds: 'other' },
  BIGINT: { type: 'bigint', holds: 'other' },
  UINTEGER: { type: 'bigint', holds: 'other' },
  UBIGINT: { type: 'numeric', holds: 'other' },
  HUGEINT: { type: 'numeric', holds: 'other' },
  DECIMAL: { type: 'numeric', holds: 'other' },
  FLOAT: { type: 'real', holds: 'other' },
  DOUBLE: { type: 'double', holds: 'other' },
  DATE: { type: 'date', holds: 'other' },
  TIME: { type: 'time', holds: 'other' },
  TIMESTAMP: { type: 'timestamp', holds: 'other' },
  'TIMESTAMP WITH TIME ZONE': { type: 'timestamptz', holds: 'other' },
};

function cellOf(value: unknown): QueryCell {
  if (value === null || typeof value === 'string') return value;
  return (value as { readonly bytes: Uint8Array }).bytes;
}

/** Returns an AppError with DuckDB's own message, which says what it does not accept in the query or the file. */
function queryFault(error: unknown, label: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const [told = ''] = error.message.split('\n', 1);
  if (/Out of Memory/i.test(told))
    return new AppError(
      'unprocessable_input',
      `${label}: 2,048 rows, the number read at once, do not fit into memory: write the file with smaller row groups, or the documents as separate files`,
    );
  return new AppError('unprocessable_input', `${label}: ${told.slice(0, 2000)}`, { cause: error });
}

type Read = <T>(sql: string) => Promise<T[]>;

/** names without a schema that belong to DuckDB's own catalogues */
const ownCatalogues = /^(?:duckdb|pragma|pg|sqlite)_/i;

/**
 * Also checks the views and macros of the file, which a query may use. Throws AppError `invalid_option`, which names the parts that are not
 * allowed, or says that the query is not a SELECT.
 */
export async function checkQuery(read: Read, query: string, label: string): Promise<void> {
  const found = await forbiddenParts(read, query);
  if ('message' in found)
    throw new AppError(
      'invalid_option',
      `${label}: --query must be one SELECT${found.message === '' ? '' : ` (${found.message.slice(0, 500)})`}`,
    );
  const [first] = found.parts;
  if (first !== undefined)
    throw new AppError('invalid_option', `${label}: --query may not use ${first}. ${allowedInstead}`);
}

/** Advice for a query that uses something that is not allowed. */
export const allowedInstead = 'Use functions that compute with values of the tables of the file';

/** If a file has more views than this, only the views that the query names are checked. */
const maxViews = 1000;

/** The fault of a query that is not one SELECT; `message` is empty if it is several. `position`: its index, from 0. */
interface SyntaxFault {
  readonly message: string;
  readonly position?: number;
}

/** The relations of a database that may read files. */
export interface QueryRelations {
  /** tables and views, in lower case */
  readonly relations: ReadonlySet<string>;
  /** views that this program made, in lower case: they may read files */
  readonly ownViews: ReadonlySet<string>;
}

/**
 * Returns the parts of a query, and of the views and macros of the file, that are not allowed. `names`: absent if the database can read no
 * file, so that a name of a file finds nothing.
 */
export async function forbiddenParts(
  read: Read,
  query: string,
  names?: QueryRelations,
): Promise<{ readonly parts: readonly string[] } | SyntaxFault> {
  const tree = await treeOf(read, query);
  if ('message' in tree) return tree;
  const faults = new Set(faultsIn(tree.statement, names));
  const views = await read<{ name: string; sql: string }>(
    `SELECT view_name AS name, sql FROM duckdb_views() WHERE NOT internal`,
  );
  const used = query.toLowerCase();
  for (const { name, sql } of views) {
    if (names?.ownViews.has(name.toLowerCase()) === true) continue;
    const [, select] =
      /^\s*create\s+(?:or\s+replace\s+)?(?:temp\w*\s+)?view\s.*?\sas\s+(.*?);?\s*$/is.exec(sql) ?? [];
    if (!used.includes(name.toLowerCase()) && views.length > maxViews) continue;
    const viewTree = await treeOf(read, select ?? '');
    if ('message' in viewTree) return viewTree;
    for (const fault of faultsIn(viewTree.statement, names)) faults.add(`${fault} (in the view ${name})`);
  }
  const macros = await read<{ name: string }>(
    `SELECT DISTINCT function_name AS name FROM duckdb_functions() WHERE NOT internal`,
  );
  for (const { name } of macros)
    if (allowedFunctions.has(name.toLowerCase()) || allowedTableFunctions.has(name.toLowerCase()))
      faults.add(`the macro ${name} of the file, which has the name of a function`);
  return { parts: [...faults] };
}

async function treeOf(read: Read, query: string): Promise<{ readonly statement: unknown } | SyntaxFault> {
  const [row] = await read<{ tree: string }>(`SELECT json_serialize_sql(${standardLiteral(query)}) AS tree`);
  const parsed = JSON.parse(row!.tree) as {
    readonly error: boolean;
    readonly error_message?: string;
    readonly position?: string;
    readonly statements?: readonly unknown[];
  };
  if (!parsed.error && parsed.statements?.length === 1) return { statement: parsed.statements[0] };
  const position = Number(parsed.position);
  return {
    message: parsed.error_message ?? '',
    ...(parsed.position === undefined || !Number.isInteger(position) ? {} : { position }),
  };
}

/** Returns whether DuckDB could read a file if no table has that name. */
function mayNameFile(name: string): boolean {
  return /[./\\:*?[\]]/.test(name);
}

function faultsIn(statement: unknown, names?: QueryRelations): string[] {
  const faults: string[] = [];
  const rest: unknown[] = [statement];
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const node = next as Readonly<Record<string, unknown>>;
    const { type, function_name: name, function: called } = node;
    if (type === 'TABLE_FUNCTION' && typeof called === 'object' && called !== null) {
      const { function_name: table, children } = called as Readonly<Record<string, unknown>>;
      if (!allowedTableFunctions.has(String(table).toLowerCase()))
        faults.push(`the table function ${String(table)}`);
      rest.push(...((children as unknown[] | undefined) ?? []));
      for (const [member, value] of Object.entries(node)) if (member !== 'function') rest.push(value);
      continue;
    }
    if (typeof name === 'string' && !allowedFunctions.has(name.toLowerCase()))
      faults.push(`the function ${name}`);
    if (type === 'SHOW_REF') faults.push('SHOW or DESCRIBE');
    if (type === 'BASE_TABLE') {
      const { table_name: table, schema_name: schema, catalog_name: catalog } = node;
      const isOwn =
        /^(?:information_schema|pg_catalog)$/i.test(String(schema)) ||
        /^(?:system|temp)$/i.test(String(catalog)) ||
        ownCatalogues.test(String(table));
      if (isOwn) faults.push(`the catalogue table ${String(table)}`);
      else if (
        names !== undefined &&
        !names.relations.has(String(table).toLowerCase()) &&
        mayNameFile(String(table))
      )
        faults.push(`the file ${String(table)}`);
    }
    for (const value of Object.values(node)) if (typeof value === 'object') rest.push(value);
  }
  return faults;
}

/**
 * Functions that queries of users may call: they compute with the values of a row, or of several rows. Functions are left out that read
 * files, settings, sessions, catalogues or SQL text, that wait, or that change anything.
 */
const names = `
abs acos acosh add age aggregate any_value apply approx_count_distinct approx_quantile approx_top_k arbitrary
arg_max arg_max_null arg_max_nulls_last arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg
array_aggr array_aggregate array_append array_apply array_cat array_concat array_contains
array_cosine_distance array_cosine_similarity array_cross_product array_distance array_distinct
array_dot_product array_extract array_filter array_grade_up array_has array_has_all array_has_any
array_indexof array_inner_product array_intersect array_length array_negative_dot_product
array_negative_inner_product array_pop_back array_pop_front array_position array_prepend array_push_back
array_push_front array_reduce array_resize array_reverse array_reverse_sort array_select array_slice
array_sort array_to_json array_to_string array_transform array_unique array_value array_where array_zip ascii
asin asinh atan atan2 atanh avg bar base64 bin bit_and bit_count bit_length bit_or bit_position bit_xor
bitstring bitstring_agg bool_and bool_or cardinality cbrt ceil ceiling century char_length character_length
chr coalesce concat concat_ws contains corr cos cosh cot count count_if count_star countif covar_pop
covar_samp cume_dist current_date current_localtime current_localtimestamp damerau_levenshtein date_add
date_diff date_part date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek
dayofyear days_in_month decade decode degrees dense_rank divide editdist3 element_at encode ends_with entropy
enum_first enum_last enum_range enum_range_boundary epoch epoch_ms epoch_ns epoch_us era even exp factorial
favg fdiv fill filter first first_value flatten floor fmod format format_bytes formatreadabledecimalsize
formatreadablesize from_base64 from_binary from_hex from_json from_json_strict fsum gamma gcd gen_random_uuid
generate_series geomean geometric_mean get_bit get_current_time get_current_timestamp grade_up greatest
greatest_common_divisor group_concat hamming hash hex histogram histogram_exact hour ilike_escape instr
isfinite isinf isnan isodow isoyear jaccard jaro_similarity jaro_winkler_similarity json json_array
json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text
json_extract_string json_group_array json_group_object json_group_structure json_keys json_merge_patch
json_object json_pretty json_quote json_structure json_transform json_transform_strict json_type json_valid
json_value julian kahan_sum kurtosis kurtosis_pop lag last last_day last_value lcase lcm lead least
least_common_multiple left left_grapheme len length length_grapheme levenshtein lgamma like_escape list
list_aggr list_aggregate list_any_value list_append list_apply list_approx_count_distinct list_avg
list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or list_cat list_concat list_contains
list_cosine_distance list_cosine_similarity list_count list_distance list_distinct list_dot_product
list_element list_entropy list_extract list_filter list_first list_grade_up list_has list_has_all list_has_any
list_histogram list_indexof list_inner_product list_intersect list_kurtosis list_kurtosis_pop list_last
list_mad list_max list_median list_min list_mode list_negative_dot_product list_negative_inner_product
list_pack list_position list_prepend list_product list_reduce list_resize list_reverse list_reverse_sort
list_select list_sem list_skewness list_slice list_sort list_stddev_pop list_stddev_samp list_string_agg
list_sum list_transform list_unique list_value list_var_pop list_var_samp list_where list_zip listagg ln log
log10 log2 lower lpad ltrim mad make_date make_time make_timestamp make_timestamp_ms make_timestamp_ns
make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries map_extract
map_extract_value map_from_entries map_keys map_values max max_by md5 md5_number mean median microsecond
millennium millisecond min min_by minute mismatches mod mode month monthname multiply nanosecond nextafter
nfc_normalize not_ilike_escape not_like_escape now nth_value ntile nullif octet_length ord
parse_formatted_bytes percent_rank pi position pow power prefix printf product quantile quantile_cont
quantile_disc quarter radians random range rank rank_dense reduce regexp_escape regexp_extract
regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array regr_avgx regr_avgy
regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy repeat replace reservoir_quantile
reverse right right_grapheme round round_even roundbankers row row_number row_to_json rpad rtrim second sem
set_bit sha1 sha256 sign signbit sin sinh skewness split split_part sqrt starts_with stddev stddev_pop
stddev_samp str_split str_split_regex strftime string_agg string_split string_split_regex string_to_array
strip_accents strlen strpos strptime struct_concat struct_contains struct_extract struct_extract_at struct_has
struct_indexof struct_insert struct_keys struct_pack struct_position struct_update struct_values substr
substring substring_grapheme subtract suffix sum sum_no_overflow sumkahan tan tanh time_bucket timezone
timezone_hour timezone_minute to_base to_base64 to_binary to_centuries to_days to_decades to_hex to_hours
to_json to_microseconds to_millennia to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp
to_weeks to_years today transaction_timestamp translate trim trunc try_strptime typeof ucase unbin unhex
unicode union_extract union_tag union_value unnest upper url_decode url_encode uuid uuid_extract_timestamp
uuid_extract_version uuidv4 uuidv7 var_pop var_samp variance wavg week weekday weekofyear xor year yearweek
`;

const operators = [
  '!__postfix',
  '!~~',
  '!~~*',
  '%',
  '&',
  '&&',
  '*',
  '**',
  '+',
  '-',
  '->>',
  '/',
  '//',
  '<->',
  '<<',
  '<=>',
  '<@',
  '>>',
  '@',
  '@>',
  '^',
  '^@',
  '|',
  '||',
  '~',
  '~~',
  '~~*',
  '~~~',
];

/** Functions that make rows of their arguments. */
const ofRows = ['generate_series', 'json_each', 'json_tree', 'range', 'repeat_row', 'unnest'];

/** In lower case. */
const allowedFunctions: ReadonlySet<string> = new Set([...names.trim().split(/\s+/), ...operators]);

/** In lower case. */
const allowedTableFunctions: ReadonlySet<string> = new Set(ofRows);
