/** Types and tables of a SQLite file: existing tables, and statements that make them. */
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import { createTable } from '../../../engine/sql/ddl.ts';
import { viewMark } from '../../rows/made-views.ts';
import type { FoundColumn, FoundTable } from '../found-tables.ts';
import { foldedName, type SqliteDb } from './database.ts';

// Types, as the dialect declares them: the type that a column needs, and the text form of its values.

type Family = 'text' | 'integer' | 'numeric' | 'real' | 'other' | 'any';

/** Digits that a number of SQLite keeps exactly, apart from whole numbers of 64 bits. */
const exactDigits = 15;

/**
 * Returns the conversion that a declared type applies to values (https://www.sqlite.org/datatype3.html, "Determination Of Column
 * Affinity").
 */
function familyOf(type: string): Family {
  if (type === '' || /BLOB/i.test(type)) return 'any';
  if (/INT/i.test(type)) return 'integer';
  if (/CHAR|CLOB|TEXT/i.test(type)) return 'text';
  if (/REAL|FLOA|DOUB/i.test(type)) return 'real';
  return decimalDigits(type) === null ? 'other' : 'numeric';
}

export function isText(type: string): boolean {
  return familyOf(type) === 'text';
}

/** Returns the digits before and after the point; null for a type that is not a decimal with bounds. */
function decimalDigits(type: string): { readonly whole: number; readonly fraction: number } | null {
  const match = /^(?:NUMERIC|DECIMAL)\(\s*(\d+)\s*,\s*(\d+)\s*\)$/i.exec(type);
  return match === null ? null : { whole: Number(match[1]) - Number(match[2]), fraction: Number(match[2]) };
}

/** Returns the type that holds values of both types: the existing one, a wider one, or text. */
export function settledType(there: string, incoming: string): string {
  if (there.toUpperCase() === incoming.toUpperCase()) return there;
  const [ours, theirs] = [familyOf(there), familyOf(incoming)];
  // SQLite ignores lengths of text
  if (ours === 'text' || ours === 'any') return there;
  if (ours === theirs && (ours === 'integer' || ours === 'real')) return there;
  const [a, b] = [decimalDigits(there), decimalDigits(incoming)];
  if (a !== null && b !== null) {
    const [whole, fraction] = [Math.max(a.whole, b.whole), Math.max(a.fraction, b.fraction)];
    if (whole === a.whole && fraction === a.fraction) return there;
    return whole + fraction <= exactDigits ? `NUMERIC(${whole + fraction},${fraction})` : 'TEXT';
  }
  if (ours === 'integer' && b?.fraction === 0) return there;
  if (theirs === 'integer' && a?.fraction === 0) return incoming;
  return 'TEXT';
}

/** Returns the value of `expression`, of the declared type, in the form of XML Schema; a value that is already text stays unchanged. */
export function lexicalText(expression: string, type: string, isBoolean: boolean): string {
  const text = `CAST(${expression} AS TEXT)`;
  const stored = `typeof(${expression})`;
  if (isBoolean || /^BOOL/i.test(type))
    return `CASE ${stored} WHEN 'integer' THEN CASE ${expression} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE ${text} END ELSE ${text} END`;
  switch (familyOf(type)) {
    case 'numeric': {
      const { fraction } = decimalDigits(type)!;
      return `CASE WHEN ${stored} IN ('integer', 'real') THEN printf('%.${fraction}f', ${expression}) ELSE ${expression} END`;
    }
    case 'integer':
      return text;
    case 'text':
      return expression;
    case 'real':
      // SQLite itself writes 15 digits of a double
      return `CASE ${stored} WHEN 'real' THEN svc_text(${expression}) ELSE replace(${text}, 'Infinity', 'INF') END`;
    default:
      return `CASE ${stored} WHEN 'real' THEN svc_text(${expression}) ELSE ${text} END`;
  }
}

// The tables.

interface SqliteColumn extends FoundColumn {
  /** position in the primary key, from 1; 0: it is not part of it */
  readonly keyPlace: number;
}

export interface SqliteTable extends FoundTable {
  readonly columns: ReadonlyMap<string, SqliteColumn>;
}

export function readTables(database: Pick<SqliteDb, 'read'>): Map<string, SqliteTable> {
  const tables: Map<string, SqliteTable> = new Map();
  for (const { name, type, sql } of database.read<{ name: string; type: string; sql: string | null }>(
    `SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
  ))
    tables.set(foldedName(name), knownTable(database, name, type === 'view', sql ?? ''));
  return tables;
}

/** Returns a table whose columns are read when they are first used: a file may have thousands of tables. */
function knownTable(
  database: Pick<SqliteDb, 'read'>,
  name: string,
  isView: boolean,
  sql: string,
): SqliteTable {
  let columns: Map<string, SqliteColumn> | null = null;
  const comment = isView ? (/\/\* ([\s\S]*?) \*\//.exec(sql)?.[1] ?? null) : tableComment(sql);
  return {
    name,
    isView,
    comment,
    statement: sql,
    madeView: isView && comment?.endsWith(viewMark) === true ? { comment, statements: [sql] } : null,
    get columns() {
      if (columns !== null) return columns;
      const comments = isView ? new Map<string, string>() : columnComments(sql);
      const rows = database.read<{
        name: string;
        type: string;
        notnull: bigint;
        pk: bigint;
        dflt_value: string | null;
      }>(`SELECT name, type, "notnull", pk, dflt_value FROM pragma_table_xinfo(?) WHERE hidden <> 1`, name);
      columns = new Map(
        rows.map((row) => [
          foldedName(row.name),
          {
            name: row.name,
            type: row.type,
            notNull: row.notnull === 1n,
            keyPlace: Number(row.pk),
            hasDefault: row.dflt_value !== null,
            comment: comments.get(row.name) ?? null,
          },
        ]),
      );
      return columns;
    },
  };
}

/**
 * Returns the statement that makes a table of the model. Its unique keys are indexes, which are made after rows are inserted, because rows
 * may violate them.
 */
export function tableStatement(table: PhysicalTable): string {
  return createTable(
    sqlite,
    { ...table, comment: table.comment, columns: table.columns, uniqueKeys: [] },
    { sqlSchema: null, ifNotExists: false, foreignKeys: table.foreignKeys },
  );
}

/** The text of CREATE TABLE, which SQLite keeps unchanged: comments are read from it, and columns changed in it. */
interface TableText {
  /** columns, then constraints, each followed by its comment */
  readonly items: readonly string[];
  /** the closing parenthesis, and what follows it */
  readonly tail: string;
}

/** Returns null for a text that lists no columns. */
function readTableText(sql: string): TableText | null {
  const items: string[] = [];
  let depth = 0;
  let from = -1;
  const token =
    /"(?:[^"]|"")*"|'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^\]]*\]|\/\*[\s\S]*?(?:\*\/|$)|--[^\n]*|[(),]/g;
  for (const { 0: text, index } of sql.matchAll(token)) {
    if (text === '(') {
      depth += 1;
      if (depth === 1 && from < 0) from = index + 1;
    } else if (text === ')') {
      depth -= 1;
      if (depth > 0) continue;
      items.push(sql.slice(from, index));
      return { items, tail: sql.slice(index) };
    } else if (text === ',' && depth === 1) {
      items.push(sql.slice(from, index));
      from = index + 1;
    }
  }
  return null;
}

/** Returns the name, with its quotes, and the rest of the definition; null for a constraint of the table. */
function columnParts(
  item: string,
): { readonly head: string; readonly name: string; readonly rest: string } | null {
  const found =
    /^((?:\s|\/\*[\s\S]*?\*\/|--[^\n]*\n)*)("(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*'|[^\s"'`[(/]+)([\s\S]*)$/.exec(
      item,
    );
  if (found === null) return null;
  const [, space, written, rest] = found as unknown as [string, string, string, string];
  if (/^(?:CONSTRAINT|PRIMARY|UNIQUE|CHECK|FOREIGN)$/i.test(written)) return null;
  const quote = written[0]!;
  const name = /["'`]/.test(quote)
    ? written.slice(1, -1).replaceAll(quote + quote, quote)
    : written.replace(/^\[(.*)\]$/, '$1');
  return { head: space + written, name, rest };
}

/** Returns comments of columns, by name. */
function columnComments(sql: string): ReadonlyMap<string, string> {
  const comments = new Map<string, string>();
  for (const item of readTableText(sql)?.items ?? []) {
    const parts = columnParts(item);
    const comment = parts === null ? null : /\/\* ([\s\S]*?) \*\//.exec(withoutStrings(parts.rest));
    if (comment != null) comments.set(parts!.name, comment[1]!);
  }
  return comments;
}

/** Returns the comment of the table, which follows the list of its columns; null if there is none. */
function tableComment(sql: string): string | null {
  const tail = readTableText(sql)?.tail ?? '';
  return /\/\* ([\s\S]*?) \*\//.exec(withoutStrings(tail))?.[1] ?? null;
}

function withoutStrings(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (part) =>
    part.startsWith('/*') ? part : ' ',
  );
}

export interface ChangedColumn {
  /** absent: unchanged */
  readonly type?: string;
  readonly dropsNotNull?: boolean;
}

/** Returns the statement that makes a table called `name`, already quoted, with columns changed; null if the text cannot be parsed. */
export function changedTable(
  sql: string,
  name: string,
  changes: ReadonlyMap<string, ChangedColumn>,
): string | null {
  const text = readTableText(sql);
  if (text === null) return null;
  let changed = 0;
  const items = text.items.map((item) => {
    const parts = columnParts(item);
    const change = parts === null ? undefined : changes.get(parts.name);
    if (change === undefined) return item;
    changed += 1;
    let { rest } = parts!;
    if (change.type !== undefined)
      rest = rest.replace(
        /^\s*(?:(?!(?:CONSTRAINT|PRIMARY|NOT|NULL|UNIQUE|CHECK|DEFAULT|COLLATE|REFERENCES|GENERATED|AS)\b)[A-Za-z_]\w*\s*)*(?:\([^)]*\)\s*)?/i,
        ` ${change.type} `,
      );
    if (change.dropsNotNull === true)
      rest = rest.replace(/^([^'"/(]*(?:\([^)]*\))?[^'"/(]*?)\bNOT\s+NULL\b\s*/i, '$1');
    return parts!.head + rest;
  });
  return changed === changes.size ? `CREATE TABLE ${name} (${items.join(',')}${text.tail}` : null;
}
