/** The DDL of a relational model in one dialect (docs/decisions/model/dialects.md). */
import { byteLength, stableHash, truncateToBytes } from '../map/names/identifiers.ts';
import { commentLine } from './comment-text.ts';
import { qualified, type Dialect, type InlineComments } from './dialect.ts';
import { type SideTableDefinition, codesTable, sideTableDefinitions } from '../model/side-tables.ts';
import {
  physicalSideTable,
  type PhysicalForeignKey,
  type PhysicalTable,
  physicalTables,
  modelName,
  physicalName,
} from './physical-model.ts';
import { atOnce, type Steps } from '../in-slices.ts';
import type { RelationalModel } from '../model/relational-model.ts';
import type { EnumeratedValues } from '../metadata/enumerations.ts';
import { codeChecks, codeInserts, modelCodes } from './code-lists.ts';
import { dialectOf, type DialectName } from './dialects/every-dialect.ts';
import { peekElement } from '../model/packed/reader.ts';
import { withListTables } from './list-tables.ts';

// The statements for one physical table, without terminators.

interface CreateTableOptions {
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
function wholeTable(dialect: Dialect, table: PhysicalTable, options: CreateTableOptions): string[] {
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
  const maxBytes = ({ comment }: { comment: string }): number =>
    Math.min(comment.length, maxLength ?? Infinity) * 3;
  if (columns.reduce((sum, column) => sum + maxBytes(column), names) <= maxTableBytes) return maxLength;
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

// The whole DDL, in the order in which a database can execute it.

export interface DdlOptions {
  /** postgresql */
  readonly dialect?: DialectName;
  /** created unless it exists, and written before every name; absent: names have no schema */
  readonly sqlSchema?: string;
  /** indexes of the tables to write; keys to other tables are omitted (default: all) */
  readonly tables?: ReadonlySet<number>;
  /** indexes in addition to primary and unique keys (default: keys) */
  readonly indexes?: IndexChoice;
  /** enumerated values to store (default: none) */
  readonly codes?: DdlCodes;
}

/** `_codes` with its rows, and with `check` also checks of columns, which are written for PostgreSQL. */
export interface DdlCodes {
  readonly choice: 'table' | 'check';
  /** by indexes of table and column */
  readonly valuesAt: (table: number, column: number) => EnumeratedValues | null;
}

/** Returns CREATE TABLE for every table, parents before children, including the side tables. Ends with a line end. */
export function renderDdl(model: RelationalModel, options: DdlOptions = {}): string {
  return atOnce(ddlParagraphs(model, options)).join('');
}

/** `renderDdl` in pieces; a step for each table. */
export function* ddlParagraphs(model: RelationalModel, options: DdlOptions = {}): Steps<readonly string[]> {
  // decode lazy tables step by step here, because later all tables are read in one step
  for (const table of model.tables) if (table.columns.length > 0) yield;
  const dialect = dialectOf(options.dialect ?? 'postgresql');
  const all: string[] = [];
  const steps = ddlInOrder(model, dialect, options);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) {
      all.push(...step.value);
      break;
    }
    all.push(step.value);
    yield;
  }
  return all.map((paragraph, at) => (at + 1 < all.length ? `${paragraph}\n\n` : `${paragraph}\n`));
}

export interface OrderedDdlOptions extends DdlOptions {
  /** for scripts that may run when the tables exist */
  readonly ifNotExists?: boolean;
  /** true: the returned paragraphs add all foreign keys, not only those of circular references, if the dialect can add them later */
  readonly foreignKeysLast?: boolean;
  /** the table `_codes` is among them */
  readonly hasCodes?: boolean;
}

/**
 * Yields the paragraphs that create the tables with their primary and unique keys one by one, without buffering. Returns the paragraphs
 * with foreign keys between tables and the indexes for these, which are best run after the rows are loaded.
 */
export function* ddlInOrder(
  model: RelationalModel,
  dialect: Dialect,
  options: OrderedDdlOptions,
): Generator<string, readonly string[], void> {
  const sqlSchema = options.sqlSchema ?? null;
  const { primaryKeys, foreignKeys, indexes, keyIndexes: keyIndexKind } = dialect.capabilities;
  const choice = keyIndexKind === 'none' ? 'none' : (options.indexes ?? 'keys');
  const indexName = createIndexNames(dialect, model);
  const { model: drawn, lists } = withListTables(model, dialect);
  const ownerOf = new Map(lists.map(({ table, owner }) => [table, owner]));
  const wanted = (index: number): boolean =>
    index === -1 || options.tables === undefined || options.tables.has(ownerOf.get(index) ?? index);
  const isInline = (forward: boolean): boolean =>
    foreignKeys !== 'none' &&
    (foreignKeys === 'inline' || !(forward || (foreignKeys === 'alter' && options.foreignKeysLast === true)));
  const after: string[] = [];
  const last: string[] = [];
  const schema = sqlSchema === null ? null : dialect.createSchema(sqlSchema);
  if (schema !== null) yield `${schema};`;
  const paragraph = (
    table: PhysicalTable,
    ifNotExists: boolean,
    inline: PhysicalTable['foreignKeys'],
  ): string =>
    wholeTable(dialect, table, { sqlSchema, ifNotExists, foreignKeys: inline })
      .map((statement) => `${statement};`)
      .join('\n');
  const { documents, ...others } = sideTableDefinitions;
  yield paragraph(physicalSideTable(documents, dialect, model), true, []);
  const physical = physicalTables(drawn, dialect, model);
  for (const index of physical.keys()) {
    if (!wanted(index)) continue;
    const table = peekElement(physical, index);
    const keys = table.foreignKeys.filter((key) => wanted(key.parent));
    const notes = [...table.notes];
    if (!primaryKeys && table.primaryKey.length > 0)
      notes.push(`primary key of ${table.name}: ${table.primaryKey.join(', ')}`);
    for (const key of keys.filter(({ forward }) => !isInline(forward))) {
      if (foreignKeys === 'none')
        notes.push(`${key.column} refers to ${key.parentTable} (${key.parentColumn})`);
      else if (foreignKeys === 'alter') after.push(`${addForeignKey(dialect, sqlSchema, table, key)};`);
      else notes.push(`${key.column} refers to ${key.parentTable} (${key.parentColumn}), which comes later`);
    }
    const inline = keys.filter(({ forward }) => isInline(forward));
    const text = [...notes.map(note), paragraph(table, options.ifNotExists ?? false, inline)].join('\n');
    const indexed = keyIndexes(drawn, index, { ...table, foreignKeys: keys }, choice).map((key) => {
      const name = indexName(table.name, key.column);
      const ifNotExists = (options.ifNotExists ?? false) && indexes === 'if-not-exists';
      return `${keyIndexStatement(dialect, sqlSchema, table.name, key, { name, ifNotExists })};`;
    });
    if (indexed.length > 0) last.push(indexed.join('\n'));
    yield text;
  }
  for (const definition of [
    ...Object.values(others),
    ...(options.hasCodes === true || options.codes !== undefined ? [codesTable] : []),
  ])
    yield paragraph(physicalSideTable(definition, dialect, model), true, []);
  if (options.codes !== undefined) {
    const { choice, valuesAt } = options.codes;
    const codes = modelCodes(model, valuesAt, wanted);
    last.push(codeInserts(dialect, sqlSchema, codes).join('\n'));
    if (choice === 'check' && dialect.checksCodes === true)
      last.push(codeChecks(sqlSchema, model, physical, codes).join('\n'));
    else if (choice === 'check')
      last.push(note('CHECK constraints for codes are written only for PostgreSQL.'));
  }
  return [...after, ...last.filter((text) => text !== '')];
}

function note(text: string): string {
  return `-- ${text.replaceAll(/[\s\p{Cc}]+/gu, ' ')}`;
}

// The indexes that queries and deletions need in addition to the keys: from a row to the rows below it, and from an id to its row.

/** `keys`: foreign keys and documents. `all`: also the ids, keys and references of the XSD. */
export type IndexChoice = 'none' | 'keys' | 'all';

/** One column of one table. */
export interface KeyIndex {
  readonly column: string;
  /** rows without a value are left out: most rows of a shared type's table have but one of its parents */
  readonly isPartial: boolean;
  /** values ascend with the rows, because documents are loaded one after the other */
  readonly isClustered: boolean;
}

const idTypes: ReadonlySet<string | null> = new Set(['ID', 'IDREF']);

/**
 * Returns the indexes for table `index` of the model, in the order of its columns. A column that a primary or unique key begins with is
 * already indexed. `table`: the same table in the database.
 */
export function keyIndexes(
  model: RelationalModel,
  index: number,
  table: PhysicalTable,
  choice: IndexChoice,
): KeyIndex[] {
  if (choice === 'none') return [];
  const wanted = new Set(table.foreignKeys.map(({ column }) => column));
  if (choice === 'all') for (const column of referenceColumns(model, index, table)) wanted.add(column);
  const at = model.tables[index]!.columns.findIndex(({ role }) => role === 'document');
  const document = table.columns[at]?.name;
  const isClustered = document !== undefined && !wanted.has(document);
  if (isClustered) wanted.add(document);
  wanted.delete(table.primaryKey[0] ?? '');
  for (const { columns } of table.uniqueKeys) wanted.delete(columns[0]!);
  return table.columns
    .filter(({ name }) => wanted.has(name))
    .map(({ name, nullable }) => ({
      column: name,
      isPartial: nullable,
      isClustered: isClustered && name === document,
    }));
}

function referenceColumns(model: RelationalModel, index: number, table: PhysicalTable): string[] {
  const ids = model.tables[index]!.columns.flatMap(({ sourceType, type }, at) =>
    idTypes.has(sourceType) && type.list !== true ? [at] : [],
  );
  const fields = (model.identityRules ?? []).flatMap(({ tables }) =>
    tables.filter((selected) => selected.table === index).flatMap(({ columns }) => columns.slice(0, 1)),
  );
  return [...ids, ...fields].map((at) => table.columns[at]!.name);
}

/** CREATE INDEX without terminator; without `name` the database gives one (PostgreSQL). */
export function keyIndexStatement(
  dialect: Dialect,
  sqlSchema: string | null,
  table: string,
  { column, isPartial, isClustered }: KeyIndex,
  { name, ifNotExists = false }: { readonly name?: string; readonly ifNotExists?: boolean } = {},
): string {
  const quoted = dialect.quote(column);
  const called = name === undefined ? '' : `${ifNotExists ? 'IF NOT EXISTS ' : ''}${dialect.quote(name)} `;
  const where =
    isPartial && dialect.capabilities.keyIndexes === 'partial' ? ` WHERE ${quoted} IS NOT NULL` : '';
  const isByRange = isClustered && dialect.capabilities.blockRangeIndexes === true;
  const [using, settings] = isByRange ? ['USING brin ', ' WITH (pages_per_range = 32)'] : ['', ''];
  return `CREATE INDEX ${called}ON ${qualified(dialect, { sqlSchema, table })} ${using}(${quoted})${settings}${where}`;
}

/** Gives names to indexes of one database, each once, no longer than those of the model. */
export function createIndexNames(
  dialect: Dialect,
  model: Pick<RelationalModel, 'nameMaxLength'>,
): (table: string, column: string) => string {
  const taken = new Set<string>();
  return (table, column) => {
    for (let count = 0; ; count += 1) {
      const name = modelName(
        model,
        physicalName(dialect, `${table}_${column}_idx${count === 0 ? '' : count}`),
      );
      if (taken.has(name.toLowerCase())) continue;
      taken.add(name.toLowerCase());
      return name;
    }
  };
}
