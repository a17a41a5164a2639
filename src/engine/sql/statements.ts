/** DDL statements for one physical table. None has a terminator. */
import { byteLength, stableHash, truncateToBytes } from '../map/names/identifiers.ts';
import { commentLine } from './comment-text.ts';
import { qualified, type Dialect, type InlineComments } from './dialect.ts';
import type { SideTableDefinition } from '../model/side-tables.ts';
import { physicalSideTable, type PhysicalForeignKey, type PhysicalTable } from './physical-model.ts';

export interface CreateTableOptions {
  readonly sqlSchema: string | null;
  readonly ifNotExists: boolean;
  /** the foreign keys to write into CREATE TABLE */
  readonly foreignKeys: readonly PhysicalForeignKey[];
}

export function createTable(dialect: Dialect, table: PhysicalTable, options: CreateTableOptions): string {
  const { comments, capabilities } = dialect;
  const inline = comments.kind === 'inline' ? comments : null;
  const limit = inline === null ? null : inlineCommentLimit(inline, table);
  const lines = table.columns.map(({ name, sqlType, nullable, comment }) => {
    const line = `${dialect.quote(name)} ${sqlType}${dialect.nullMark({ nullable, type: sqlType })}`;
    return inline === null ? line : `${line} ${inline.column(commentLine(comment, limit))}`;
  });
  if (table.primaryKey.length > 0 && capabilities.primaryKeys)
    lines.push(`PRIMARY KEY (${quotedNames(dialect, table.primaryKey)})${capabilities.notEnforced}`);
  for (const key of table.uniqueKeys) {
    if (capabilities.uniqueKeys === 'filtered-index' && key.nullable.length > 0) continue;
    lines.push(`CONSTRAINT ${dialect.quote(key.name)} UNIQUE (${quotedNames(dialect, key.columns)})`);
  }
  if (capabilities.indexes === 'inline' && table.index.length > 0)
    lines.push(`INDEX ${dialect.quote(table.indexName)} (${quotedNames(dialect, table.index)})`);
  for (const key of options.foreignKeys) lines.push(foreignKeyClause(dialect, options.sqlSchema, table, key));
  const ifNotExists = options.ifNotExists && capabilities.createIfNotExists ? 'IF NOT EXISTS ' : '';
  const comment = inline === null ? '' : ` ${inline.table(commentLine(table.comment, inline.maxLength))}`;
  const name = qualified(dialect, { sqlSchema: options.sqlSchema, table: table.name });
  return `CREATE TABLE ${ifNotExists}${name} (\n  ${lines.join(',\n  ')}\n)${dialect.tableOptions(table.primaryKey.map(dialect.quote))}${comment}`;
}

/** A table with its indexes and comments. */
export function wholeTable(dialect: Dialect, table: PhysicalTable, options: CreateTableOptions): string[] {
  const { sqlSchema, ifNotExists } = options;
  const maySkip = ifNotExists && dialect.capabilities.indexes === 'if-not-exists';
  return [
    createTable(dialect, table, options),
    ...indexStatements(dialect, sqlSchema, table, maySkip),
    ...commentStatements(dialect, sqlSchema, table),
  ];
}

/** Returns the statements that create a side table. */
export function sideTable(
  dialect: Dialect,
  definition: SideTableDefinition,
  { sqlSchema = null, ifNotExists = false }: Partial<Omit<CreateTableOptions, 'foreignKeys'>> = {},
): string[] {
  const table = physicalSideTable(definition, dialect);
  return wholeTable(dialect, table, { sqlSchema, ifNotExists, foreignKeys: [] });
}

export function addForeignKey(
  dialect: Dialect,
  sqlSchema: string | null,
  table: PhysicalTable,
  key: PhysicalForeignKey,
): string {
  const name = qualified(dialect, { sqlSchema, table: table.name });
  return `ALTER TABLE ${name} ADD ${foreignKeyClause(dialect, sqlSchema, table, key)}`;
}

/** Returns the comments that are separate statements; none if CREATE TABLE has them. */
export function commentStatements(
  dialect: Dialect,
  sqlSchema: string | null,
  table: PhysicalTable,
): string[] {
  const { comments } = dialect;
  if (comments.kind === 'inline') return [];
  const qualifiedTable = { sqlSchema, table: table.name };
  return [
    comments.table(qualifiedTable, commentLine(table.comment, comments.maxLength)),
    ...table.columns.map(({ name, comment }) =>
      comments.column(qualifiedTable, name, commentLine(comment, comments.maxLength)),
    ),
  ];
}

/** Returns the indexes in addition to the keys, and unique keys that are indexes; none that CREATE TABLE has. */
export function indexStatements(
  dialect: Dialect,
  sqlSchema: string | null,
  table: PhysicalTable,
  ifNotExists = false,
): string[] {
  const qualifiedName = qualified(dialect, { sqlSchema, table: table.name });
  const statements: string[] = [];
  if (dialect.capabilities.uniqueKeys === 'filtered-index') {
    for (const key of table.uniqueKeys) {
      if (key.nullable.length === 0) continue;
      const filter = key.nullable.map((column) => `${dialect.quote(column)} IS NOT NULL`).join(' AND ');
      statements.push(
        `CREATE UNIQUE INDEX ${dialect.quote(key.name)} ON ${qualifiedName} (${quotedNames(dialect, key.columns)}) WHERE ${filter}`,
      );
    }
  }
  if (table.index.length > 0 && dialect.capabilities.indexes !== 'inline') {
    const name = dialect.quote(table.indexName);
    statements.push(
      `CREATE INDEX ${ifNotExists ? 'IF NOT EXISTS ' : ''}${name} ON ${qualifiedName} (${quotedNames(dialect, table.index)})`,
    );
  }
  return statements;
}

function foreignKeyClause(
  dialect: Dialect,
  sqlSchema: string | null,
  { name: table }: Pick<PhysicalTable, 'name'>,
  key: PhysicalForeignKey,
): string {
  const { deferrable, notEnforced } = dialect.capabilities;
  const parent = qualified(dialect, { sqlSchema, table: key.parentTable });
  // in a circle of references neither table can be filled first
  const check = key.forward && deferrable ? ' DEFERRABLE INITIALLY DEFERRED' : '';
  const name = foreignKeyName(dialect, table, key.column);
  const named = name === null ? '' : `CONSTRAINT ${dialect.quote(name)} `;
  return `${named}FOREIGN KEY (${dialect.quote(key.column)}) REFERENCES ${parent} (${dialect.quote(key.parentColumn)})${check}${notEnforced}`;
}

/** Returns a name for a foreign key if the database's default, made of the table's name and a number, would be too long; otherwise null. */
function foreignKeyName(
  { identifierMaxBytes, capabilities }: Dialect,
  table: string,
  column: string,
): string | null {
  const longestNumber = '_ibfk_999'.length;
  if (!capabilities.numbersForeignKeys || byteLength(table) + longestNumber <= identifierMaxBytes)
    return null;
  const end = `_fk_${stableHash(`${table}.${column}`)}`;
  return truncateToBytes(table, identifierMaxBytes - end.length) + end;
}

function quotedNames(dialect: Dialect, names: readonly string[]): string {
  return names.map((name) => dialect.quote(name)).join(', ');
}

/**
 * Returns the most characters of a column comment. If the comments of a wide table need too much room together, the longest are
 * truncated.
 */
export function inlineCommentLimit(
  { maxLength, maxTableBytes }: InlineComments,
  { columns }: Pick<PhysicalTable, 'columns'>,
): number | null {
  if (maxTableBytes === undefined) return maxLength;
  const bytesPerField = 18;
  const names = columns.reduce((sum, { name }) => sum + byteLength(name) + bytesPerField, 0);
  // a character of UTF-16 is three bytes at most
  const mostBytes = ({ comment }: { comment: string }): number =>
    Math.min(comment.length, maxLength ?? Infinity) * 3;
  if (columns.reduce((sum, column) => sum + mostBytes(column), names) <= maxTableBytes) return maxLength;
  const comments = columns.map(({ comment }) => commentLine(comment, maxLength));
  const longest = Math.max(...comments.map(({ length }) => length), 0);
  const fits = (limit: number): boolean =>
    comments.reduce((sum, text) => sum + byteLength(commentLine(text, limit)), names) <= maxTableBytes;
  if (fits(longest)) return maxLength;
  // the greatest limit that fits
  let [low, high] = [1, longest];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
