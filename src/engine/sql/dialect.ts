/** Defines a SQL dialect, as far as the engine writes it: one plain object per database (docs/decisions/model/dialects.md). */
import type { ColumnType } from '../model/relational-model.ts';

/** A table with its schema. Names are unquoted. */
export interface QualifiedTable {
  readonly sqlSchema: string | null;
  readonly table: string;
}

/** Comments as separate statements (texts are passed unquoted, statements have no terminator). */
export interface CommentStatements {
  readonly kind: 'statement';
  /** longest comment, in characters; null: no limit that matters */
  readonly maxLength: number | null;
  table(table: QualifiedTable, text: string): string;
  column(table: QualifiedTable, column: string, text: string): string;
}

/** Comments inside CREATE TABLE. */
export interface InlineComments {
  readonly kind: 'inline';
  readonly maxLength: number | null;
  /** the most UTF-8 bytes of the names and comments of a table's columns together; absent: unlimited */
  readonly maxTableBytes?: number;
  /** follows the closing parenthesis */
  table(text: string): string;
  /** follows the column's type and NOT NULL */
  column(text: string): string;
}

export interface DialectCapabilities {
  /** keys and indexes that a table may have, each foreign key among them; absent: no bound */
  readonly maxKeys?: number;
  /** a foreign key without a name gets that of its table and a number, even if the result is too long */
  readonly numbersForeignKeys?: true;
  /** true: a list of values is an array; false: its items are rows of a separate table (`src/engine/sql/list-tables.ts`) */
  readonly arrays: boolean;
  /** an array column distinguishes NULL from an empty array */
  readonly nullArrays: boolean;
  /** an array column may be NOT NULL */
  readonly arraysNotNull: boolean;
  readonly createIfNotExists: boolean;
  /**
   * `alter`: ALTER TABLE can add one, so tables may refer to later ones. `inline`: only inside CREATE TABLE, also to tables that come
   * later. `inline-backward`: only inside CREATE TABLE, only to earlier tables and to itself. `none`: not supported.
   */
  readonly foreignKeys: 'alter' | 'inline' | 'inline-backward' | 'none';
  /** CREATE TABLE may have a PRIMARY KEY */
  readonly primaryKeys: boolean;
  /** keys can be checked at the end of a transaction; used if tables refer to each other in a circle */
  readonly deferrable: boolean;
  /** follows every PRIMARY KEY and FOREIGN KEY if keys are not enforced */
  readonly notEnforced: string;
  /** `constraint`, a unique index that leaves NULLs out, or none at all */
  readonly uniqueKeys: 'constraint' | 'filtered-index' | 'none';
  /** CREATE INDEX, with IF NOT EXISTS or without it; or inside CREATE TABLE */
  readonly indexes: 'if-not-exists' | 'plain' | 'inline' | 'none';
  /** whether foreign keys need a separate index: `partial` omits rows without a value; `none`: the database has its own */
  readonly keyIndexes: 'partial' | 'whole' | 'none';
  /** a small index by ranges of a table's pages, for columns whose values ascend with the rows */
  readonly blockRangeIndexes?: true;
  /** longest text column that a key can have, in characters; null: any */
  readonly keyTextMaxLength: number | null;
  /** the most bytes of all bounded text columns of a row, at 4 a character; null: unlimited */
  readonly boundedTextMaxBytes: number | null;
  /** the capacity of a row, beyond which its bounded text loses its bounds; null: no limit */
  readonly inRow: { readonly maxBytes: number; bytesOf(type: ColumnType): number } | null;
}

/** Texts of several rows that become one. `text` and `order`: columns, quoted. */
export interface JoinedText {
  readonly text: string;
  readonly order: string;
  /** characters that a text has at most; null: any number */
  readonly length: number | null;
}

export interface Dialect {
  /** name in options and file names */
  readonly name: string;
  /** name for people */
  readonly title: string;
  readonly identifierMaxBytes: number;
  /** most columns of a table; null: no limit that matters. Models are drawn below all of these (src/engine/map/tables/wide-rows.ts) */
  readonly maxColumns: number | null;
  /** characters that a name cannot have even when quoted; null: any */
  readonly refusedCharacters: RegExp | null;
  readonly capabilities: DialectCapabilities;
  readonly comments: CommentStatements | InlineComments;
  quote(identifier: string): string;
  /** A string literal. */
  literal(text: string): string;
  /** Returns the SQL type. Lists only occur if `capabilities.arrays` is true. */
  typeName(type: ColumnType): string;
  /** Returns the mark that follows the type of a column, with a space before it. */
  nullMark(column: { readonly nullable: boolean; readonly type: string }): string;
  /** Returns the text that follows the closing parenthesis of CREATE TABLE. `primaryKey`: quoted columns. */
  tableOptions(primaryKey: readonly string[]): string;
  /**
   * Names that the database reserves for its own columns, quoted or not, in lower case. No model has such a column, whatever its target,
   * because one schema serves several targets.
   */
  readonly reservedColumns: readonly string[];
  /** prefixes of such names */
  readonly reservedPrefixes?: readonly string[];
  /** most rows of one INSERT */
  readonly rowsPerInsert: number;
  /** the word in COMMENT ON before the name of a view */
  readonly viewComments: 'VIEW' | 'TABLE';
  /** Follows the query of a view with outer joins. Absent: nothing. */
  readonly outerJoinEnd?: string;
  /** CHECK constraints with the codes of a column are written */
  readonly checksCodes?: true;
  /** true: referenced rows are looked up one by one in the index of ids; otherwise the ids of all documents are sorted once */
  readonly looksUpIds?: true;
  /** Returns the local time of an instant as a date and time without a zone. `minutes`: how far it is ahead of UTC, never NULL. */
  localTime(instant: string, minutes: string): string;
  /**
   * Returns an aggregate that joins texts in their order, one per line if the dialect can write a line end. Returns null if the dialect
   * has none that supports long texts.
   */
  joinedText(joined: JoinedText): string | null;
  /** Returns the rows of a table in an order, for aggregates that cannot say it. Absent: the table. */
  orderedRows?(table: string, order: string): string;
  /**
   * Returns the statement that creates the SQL schema unless it exists, without terminator, or null if the dialect has no such statement.
   */
  createSchema(sqlSchema: string): string | null;
}

/** `schema.table`, quoted. */
export function qualified(dialect: Dialect, { sqlSchema, table }: QualifiedTable): string {
  const name = dialect.quote(table);
  return sqlSchema === null ? name : `${dialect.quote(sqlSchema)}.${name}`;
}

/** Standard SQL: in double quotes, a double quote doubled. */
export function doubleQuoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}

/** Quotes with backticks, and doubles backticks in the name. */
export function backquoted(identifier: string): string {
  return `\`${identifier.replaceAll('`', '``')}\``;
}

/** Standard SQL: in single quotes, a single quote doubled. */
export function standardLiteral(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** For databases that interpret a backslash in a literal as an escape, possibly only in some mode. */
export function backslashLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** For databases that join adjacent literals: the quote is escaped by a backslash. */
export function backslashQuoteLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** COMMENT ON, as PostgreSQL and Oracle have it. */
export function commentOn(
  quote: Dialect['quote'],
  literal: Dialect['literal'],
  maxLength: number | null,
): CommentStatements {
  const name = ({ sqlSchema, table }: QualifiedTable): string =>
    sqlSchema === null ? quote(table) : `${quote(sqlSchema)}.${quote(table)}`;
  return {
    kind: 'statement',
    maxLength,
    table: (table, text) => `COMMENT ON TABLE ${name(table)} IS ${literal(text)}`,
    column: (table, column, text) => `COMMENT ON COLUMN ${name(table)}.${quote(column)} IS ${literal(text)}`,
  };
}

/**
 * Returns an exact decimal type with a limit. A number without bounds of its own gets `unbounded`. A number that exceeds the database's
 * decimals is stored as text, without loss.
 */
export function decimalType(
  type: ColumnType,
  limits: { name: string; maxPrecision: number; maxScale: number; unbounded: string; asText: string },
): string {
  const { precision, scale = 0 } = type;
  if (precision === undefined) return limits.unbounded;
  if (precision > limits.maxPrecision || scale > limits.maxScale) return limits.asText;
  return `${limits.name}(${precision},${scale})`;
}
