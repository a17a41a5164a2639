/**
 * Reads tables of one SQL schema of PostgreSQL for people. The server analyses a statement before it runs: every table, function and
 * operator that the analysed tree refers to must be allowed, so names, quotes and comments cannot hide anything. The statement then runs in
 * a transaction that only reads, under a role that owns no SQL schemas except those of the organisation.
 */
import postgres from 'postgres';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { fixedLimits } from '../../../config/limits.ts';
import { AppError } from '../../../errors.ts';
import { hasOwnPrefix } from '../../../engine/model/side-tables.ts';
import type { Sql } from '../../../postgres/connect.ts';
import type { AnswerColumn, AnswerValue, OpenedTarget, ReadRows } from '../../../ports/target-reader.ts';
import {
  floatValue,
  noSuchTable,
  rowKeyOf,
  statementFault,
  tooSlow,
  wholeValue,
} from '../../rows/answers.ts';
import { connectTarget, targetFault, type TargetAddress } from './connection.ts';

export interface ReadOnlyPostgresOptions extends Omit<TargetAddress, 'setRole'> {
  readonly label: string;
  readonly sqlSchema: string;
  /** the role under which statements run; the login may have more rights */
  readonly role: string;
  /** called with the process of the session on the server */
  readonly onSession?: (pid: number) => void;
}

/** Longest message of the server: a row. */
const longestRowBytes = 32 * 1024 * 1024;

/** Opens the SQL schema. AppError `not_found` if it does not exist; otherwise as `targetFault`. */
export async function openReadOnlyPostgres(options: ReadOnlyPostgresOptions): Promise<OpenedTarget> {
  const { label, sqlSchema, onSession } = options;
  const sql = connectTarget({ ...options, longestMessageBytes: longestRowBytes }, { single: true });
  try {
    const [session] = await sql.unsafe<{ pid: number; super: boolean }[]>(
      `SELECT pg_catalog.pg_backend_pid() AS pid, r.rolsuper AS super FROM pg_catalog.pg_roles r WHERE r.rolname = current_user`,
    );
    onSession?.(session!.pid);
    const [schema] = await sql.unsafe<{ oid: number }[]>(
      `SELECT oid::int8 FROM pg_catalog.pg_namespace WHERE nspname = ${standardLiteral(sqlSchema)}`,
    );
    if (schema === undefined) throw new AppError('not_found', `${label}: there is no such target`);
    return new ReadOnlySchema(new Session(sql, options, session!.super), String(schema.oid), sqlSchema);
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw targetFault(error, label);
  }
}

/** Settings that decide the texts of values, and limits. */
const settings: Readonly<Record<string, string>> = {
  statement_timeout: `${fixedLimits.queryMs}`,
  lock_timeout: `${fixedLimits.queryMs / 2}`,
  idle_in_transaction_session_timeout: `${fixedLimits.queryMs * 2}`,
  client_connection_check_interval: '1000',
  datestyle: 'ISO, YMD',
  timezone: 'UTC',
  intervalstyle: 'iso_8601',
  extra_float_digits: '1',
  bytea_output: 'hex',
  xmloption: 'content',
  standard_conforming_strings: 'on',
  jit: 'off',
  work_mem: '32MB',
  max_parallel_workers_per_gather: '0',
};

/** A statement that the server refused, with the text that was sent. */
class StatementError extends Error {
  readonly fault: postgres.PostgresError;
  readonly sent: string;

  constructor(fault: postgres.PostgresError, sent: string) {
    super(fault.message, { cause: fault });
    this.fault = fault;
    this.sent = sent;
  }
}

class Session {
  readonly label: string;
  readonly #sql: Sql;
  readonly #settings: readonly (readonly [name: string, value: string])[];

  /** `isSuper`: whether the login may set limits that other users cannot set */
  constructor(sql: Sql, { label, sqlSchema, role }: ReadOnlyPostgresOptions, isSuper: boolean) {
    this.#sql = sql;
    this.label = label;
    this.#settings = Object.entries({
      ...settings,
      ...(isSuper ? { temp_file_limit: `${fixedLimits.querySpillBytes / 1024}kB` } : {}),
      search_path: `${doubleQuoted(sqlSchema)}, pg_temp`,
      // the last one: the role may set less than the login
      role,
    });
  }

  /** Begins a transaction under the role. Settings end with it, so that no other session of a pooler could lack them. */
  async begin(mode: string): Promise<void> {
    await this.ask(`BEGIN ${mode}`);
    const all = this.#settings.map(
      ([name, value]) =>
        `pg_catalog.set_config(${standardLiteral(name)}, ${standardLiteral(value)}, true) AS ${doubleQuoted(name)}`,
    );
    await this.ask(`SELECT ${all.join(', ')}`);
  }

  /** Runs one statement: the extended protocol accepts only one. */
  ask<T extends object>(statement: string): Promise<readonly T[]> {
    return this.#sent(
      statement,
      () => this.#sql.unsafe<T[]>(statement, [], { simple: false } as object) as Promise<readonly T[]>,
    );
  }

  /** Rows as lists of texts. */
  askValues(statement: string): Promise<readonly (readonly (string | null)[])[]> {
    return this.#sent(
      statement,
      () =>
        this.#sql.unsafe(statement, [], { simple: false } as object).values() as unknown as Promise<
          readonly (readonly (string | null)[])[]
        >,
    );
  }

  /** Returns the names of the columns of a statement, which the server analyses and does not run. */
  async describe(statement: string): Promise<readonly string[]> {
    const { columns } = await this.#sent(
      statement,
      () => this.#sql.unsafe(statement, [], { simple: false } as object).describe() as Promise<Described>,
    );
    return columns.map(({ name }) => name);
  }

  async close(): Promise<void> {
    await this.#sql.end({ timeout: 0 });
  }

  async #sent<T>(statement: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof postgres.PostgresError) throw new StatementError(error, statement);
      throw targetFault(error, this.label);
    }
  }
}

interface Described {
  readonly columns: readonly { readonly name: string }[];
}

interface TypedColumn extends AnswerColumn {
  /** object id of its type; for a list that of its items */
  readonly valueType: string;
  readonly isList: boolean;
}

class ReadOnlySchema implements OpenedTarget {
  readonly #session: Session;
  /** object id */
  readonly #schema: string;
  readonly #name: string;

  constructor(session: Session, schema: string, name: string) {
    this.#session = session;
    this.#schema = schema;
    this.#name = name;
  }

  async page({ table, page, size }: Parameters<OpenedTarget['page']>[0]): ReturnType<OpenedTarget['page']> {
    const session = this.#session;
    const asked = '';
    try {
      await session.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const columns = hasOwnPrefix(table) ? [] : await this.#columnsOf(table);
      if (columns.length === 0) throw noSuchTable(table, await this.#tables());
      const keys = columns.filter(({ keyPlace }) => keyPlace !== null);
      const key = rowKeyOf(
        table,
        columns.map(({ name }) => name),
      );
      const ordering =
        key === null ? (keys.length > 0 ? keys : columns) : columns.filter(({ name }) => name === key);
      const order = ordering
        .toSorted((a, b) => (a.keyPlace ?? 0) - (b.keyPlace ?? 0))
        .map(({ name, typeId }) =>
          unorderedTypes.has(typeId) ? `${doubleQuoted(name)}::text` : doubleQuoted(name),
        );
      const from = `${doubleQuoted(this.#name)}.${doubleQuoted(table)}`;
      const [count] = await session.ask<{ total: string }>(`SELECT count(*)::text AS total FROM ${from}`);
      const slice = `SELECT * FROM ${from} ORDER BY ${order.join(', ')} LIMIT ${size} OFFSET ${page * size}`;
      const rows = this.#rows(slice, columns);
      return { ...(await started(rows, asked, session.label)), total: Number(count!.total) };
    } catch (error) {
      throw readFault(error, asked, session.label);
    }
  }

  async query(sql: string): Promise<ReadRows> {
    const session = this.#session;
    const statement = sql.trim().replace(/;+$/, '');
    try {
      await session.begin('');
      // its own message is clearer than that of the derived table
      await session.describe(statement);
      const names = await session.describe(`SELECT * ${derived(statement)}`);
      const columns = await this.#checkedColumns(statement, names, sql);
      await session.ask('ROLLBACK');
      await session.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY');
      return await started(this.#rows(statement, columns), sql, session.label);
    } catch (error) {
      throw readFault(error, sql, session.label);
    }
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  async #tables(): Promise<readonly string[]> {
    const rows = await this.#session.ask<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = ${this.#schema} AND relkind IN ('r', 'p', 'v', 'm')`,
    );
    return rows.map(({ name }) => name).filter((name) => !hasOwnPrefix(name));
  }

  async #columnsOf(
    table: string,
  ): Promise<(TypedColumn & { readonly typeId: string; readonly keyPlace: number | null })[]> {
    const rows = await this.#session.ask<DescribedColumn & { readonly key_place: number | null }>(
      `SELECT ${describedColumn}, array_position(i.indkey::int2[], a.attnum) AS key_place
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
         LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
        WHERE c.relnamespace = ${this.#schema} AND c.relkind IN ('r', 'p', 'v', 'm') AND c.relname = ${standardLiteral(table)}
          AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
    );
    return rows.map((row) => ({ ...typedColumn(row), typeId: row.type_id, keyPlace: row.key_place }));
  }

  /**
   * Lets the server analyse the statement as a view, of which the transaction keeps nothing, and returns its columns. AppError
   * `invalid_body` if it refers to something that is not allowed.
   */
  async #checkedColumns(
    statement: string,
    names: readonly string[],
    sql: string,
  ): Promise<readonly TypedColumn[]> {
    const session = this.#session;
    await session.ask(`CREATE TEMPORARY VIEW svc_checked AS SELECT * ${derived(statement, names.length)}`);
    const described = await session.ask<DescribedColumn>(
      `SELECT ${describedColumn} FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = 'pg_temp.svc_checked'::regclass AND a.attnum > 0 ORDER BY a.attnum`,
    );
    const [analysed] = await session.ask<{ tree: string; view: string }>(
      `SELECT ev_action::text AS tree, ev_class::oid::text AS view FROM pg_rewrite WHERE ev_class = 'pg_temp.svc_checked'::regclass`,
    );
    const fault = await this.#forbidden(analysed!.tree, analysed!.view);
    if (fault !== null)
      throw statementFault(
        `the statement may not use ${fault}. It may read the tables and views of ${session.label}, and use functions that compute with their values`,
        sql,
      );
    return described.map((row, at) => ({ ...typedColumn(row), name: names[at]! }));
  }

  /** Returns the first part of an analysed statement that is not allowed, or null. `view`: object id of the view that has the tree. */
  async #forbidden(tree: string, view: string): Promise<string | null> {
    // Names that the caller chose can only add matches: then too much is refused, and never too little.
    const ids = (fields: string): string =>
      [
        0,
        ...new Set([...tree.matchAll(new RegExp(String.raw`:(?:${fields}) (\d+)`, 'g'))].map(([, id]) => id)),
      ].join(', ');
    const lists = [...tree.matchAll(/:(?:opnos|opfamilies) \(o ([\d ]+)\)/g)].flatMap(([, all]) =>
      all!.split(' '),
    );
    if (/:commandType [^1]/.test(tree)) return 'a statement that changes rows';
    if (/\{(?:NEXTVALUEEXPR|CURRENTOFEXPR)\b/.test(tree)) return 'a sequence or a cursor';
    if (/\{SQLVALUEFUNCTION :op (?:9|1\d)\b/.test(tree))
      return 'names of users, roles, databases or SQL schemas';
    if (namesOfObjects.test(tree)) return 'a type that names objects of the catalogue';
    const [row] = await this.#session.ask<{ fault: string | null }>(
      `SELECT coalesce(
         (SELECT 'the table ' || n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE c.oid IN (${ids('relid')}) AND c.oid <> ${view}
             AND NOT (c.relnamespace = ${this.#schema} AND c.relkind IN ('r', 'p', 'v', 'm') AND c.relname !~* '^_svc(_|$)') LIMIT 1),
         (SELECT 'the function ' || p.proname FROM pg_proc p
           WHERE p.oid IN (${ids('funcid|aggfnoid|winfnoid')})
             AND NOT (p.pronamespace = 'pg_catalog'::regnamespace
                      AND (p.prokind IN ('a', 'w') OR p.provolatile = 'i' OR p.proname IN (${[...stableFunctions].map(standardLiteral).join(', ')})))
           LIMIT 1),
         (SELECT 'the method of sampling ' || p.proname FROM pg_proc p
           WHERE p.oid IN (${ids('tsmhandler')}) AND p.pronamespace <> 'pg_catalog'::regnamespace LIMIT 1),
         (SELECT 'the operator ' || o.oprname FROM pg_operator o
           WHERE o.oid IN (${[ids('opno|sortop|eqop'), ...lists].join(', ')}) AND o.oprnamespace <> 'pg_catalog'::regnamespace LIMIT 1)
       ) AS fault`,
    );
    return row!.fault;
  }

  /** The rows of a statement, through a cursor in the transaction that has begun. */
  #rows(statement: string, columns: readonly TypedColumn[]): ReadRows {
    const session = this.#session;
    const expressions = columns.map(({ isList }, at) =>
      isList ? `to_json(c${at}::text[])::text` : `c${at}::text`,
    );
    return {
      columns: columns.map(({ name, type }) => ({ name, type })),
      rows: (async function* () {
        await session.ask(
          `DECLARE svc_rows NO SCROLL CURSOR FOR SELECT ${expressions.join(', ')} ${derived(statement, columns.length)}`,
        );
        for (let count = 8; ;) {
          const rows = await session.askValues(`FETCH ${count} FROM svc_rows`);
          for (const row of rows) yield row.map((text, at) => cellOf(text, columns[at]!));
          if (rows.length < count) return;
          const bytes = rows.flat().reduce((sum, cell) => sum + (cell?.length ?? 0), 0);
          count = Math.max(1, Math.min(512, count * 4, Math.floor((fetchBytes * count) / (bytes + 1))));
        }
      })(),
    };
  }
}

/** the size of a fetch, unless a row is larger */
const fetchBytes = 2 * 1024 * 1024;

/** The statement as a derived table: only a query can be one. The line break ends a comment. */
function derived(statement: string, columnCount?: number): string {
  const names = Array.from({ length: columnCount ?? 0 }, (_, at) => `c${at}`);
  return `FROM (${statement}\n) AS svc_rows${names.length === 0 ? '' : `(${names.join(', ')})`}`;
}

interface DescribedColumn {
  readonly name: string;
  readonly type: string;
  readonly type_id: string;
  readonly item_id: string;
  readonly is_list: boolean;
}

const describedColumn = `a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type, t.oid::text AS type_id,
  t.typelem::text AS item_id, t.typcategory = 'A' AND t.typelem <> 0 AS is_list`;

function typedColumn({ name, type, type_id, item_id, is_list }: DescribedColumn): TypedColumn {
  return { name, type, isList: is_list, valueType: is_list ? item_id : type_id };
}

/** Types without an order: json, xml, point. */
const unorderedTypes: ReadonlySet<string> = new Set(['114', '142', '600']);

/** Object ids of the types regproc, regclass, regtype, regrole and their like, and of lists of them. */
const namesOfObjects =
  /:(?:consttype|resulttype|vartype|funcresulttype|opresulttype|aggtype|wintype|coltype|element_typeid|array_typeid|paramtype|type) (?:24|1008|220[2-9]|221[01]|3734|3735|3769|3770|4089|4090|4096|4097|4191|4192)\b/;

/** Functions of PostgreSQL that compute with their arguments, or with the time, and are not immutable. */
const stableFunctions: ReadonlySet<string> = new Set(
  `age array_to_json array_to_string clock_timestamp concat concat_ws date date_add date_bin date_part
date_subtract date_trunc extract format gen_random_uuid generate_series interval json_build_array
json_build_object json_object json_populate_record json_populate_recordset json_to_record json_to_recordset
jsonb_build_array jsonb_build_object jsonb_path_exists_tz jsonb_path_match_tz jsonb_path_query_array_tz
jsonb_path_query_first_tz jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset jsonb_to_record
jsonb_to_recordset make_timestamptz now overlaps quote_literal quote_nullable random row_to_json
statement_timestamp string_to_array text time timeofday timestamp timestamptz timetz timezone to_char to_date
to_json to_jsonb to_number to_timestamp to_tsvector to_tsquery plainto_tsquery phraseto_tsquery
websearch_to_tsquery transaction_timestamp ts_headline uuidv4 uuidv7 xml xml_is_well_formed
xml_is_well_formed_content xml_is_well_formed_document`.split(/\s+/),
);

function cellOf(text: string | null, { valueType, isList }: TypedColumn): AnswerValue {
  if (text === null) return null;
  return isList ? itemsOf(JSON.parse(text), valueType) : valueOf(text, valueType);
}

function itemsOf(items: unknown, type: string): AnswerValue {
  if (Array.isArray(items)) return items.map((item) => itemsOf(item, type));
  return items === null ? null : valueOf(String(items), type);
}

/** `type`: object ids of types (pg_type.dat). */
function valueOf(text: string, type: string): AnswerValue {
  switch (type) {
    case '16':
      return text === 'true' || text === 't';
    case '20':
    case '21':
    case '23':
    case '26':
      return wholeValue(BigInt(text));
    case '700':
    case '701':
      return floatValue(Number(text));
    case '17':
      return Buffer.from(text.slice(2), 'hex').toString('base64');
    case '1114':
      return text.replace(' ', 'T');
    case '1184':
      return text
        .replace(' ', 'T')
        .replace(/\+00$/, 'Z')
        .replace(/\+00(?= BC$)/, 'Z');
    default:
      return text;
  }
}

/** Reads the first row, so that a wrong statement fails before its columns are answered. */
async function started({ columns, rows }: ReadRows, sql: string, label: string): Promise<ReadRows> {
  const iterator = rows[Symbol.asyncIterator]();
  const first = await iterator.next();
  return {
    columns,
    rows: (async function* () {
      try {
        for (let next = first; next.done !== true; next = await iterator.next()) yield next.value;
      } catch (error) {
        throw readFault(error, sql, label);
      }
    })(),
  };
}

/** Returns the error of a statement: with the server's message, place and hint if the statement is at fault. */
function readFault(error: unknown, sql: string, label: string): unknown {
  if (!(error instanceof StatementError)) return targetFault(error, label);
  const { fault, sent } = error;
  const { code = '', hint, message } = fault;
  if (code === '57014') return tooSlow();
  if (code === '53200' || code === '53400' || code === '54000')
    return new AppError(
      'unprocessable_input',
      `the statement needs more memory or disk than it is allowed: read fewer rows or columns, or shorter values`,
      { cause: error },
    );
  if (sql === '') return targetFault(fault, label);
  const begin = sent.indexOf(sql.trim().replace(/;+$/, ''));
  const given = Number(fault.position) - 1 - begin + sql.indexOf(sql.trim());
  const position = begin >= 0 && given >= 0 && given <= sql.length ? given : undefined;
  // whether another SQL schema has the name is no concern of the caller
  const isElsewhere =
    code === '42501' ||
    code === '3F000' ||
    (/^(?:42P01|42704|42883)$/.test(code) && /^\w+ "?[^ (]*\./.test(message));
  if (isElsewhere)
    return statementFault(
      `${label} has no table, type or function of that name, and the statement may not read any other object`,
      sql,
      { position },
    );
  if (/^(?:0A|21|22|25|2B|42|54|P0|XX001)/.test(code))
    return statementFault(message, sql, { position, hint });
  return targetFault(fault, label);
}
