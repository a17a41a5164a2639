/** Writes one view in SQL: its columns, the joins of its tables, and its comment. */
import {
  structureWord,
  byteLength,
  identifierOf,
  joinedSteps,
  type NamingOptions,
  type StepChooser,
} from '../map/names/identifiers.ts';
import type { MeantIds, MeantIdsOf, RelationalModel, Column } from '../model/relational-model.ts';
import { sideTableDefinitions } from '../model/side-tables.ts';
import { rowColumns, type RowColumn } from '../model/wide-rows.ts';
import { commentLine } from '../sql/comment-text.ts';
import { qualified, type Dialect } from '../sql/dialect.ts';
import { modelName, physicalName } from '../sql/physical-model.ts';
import type { JoinedTexts, ViewColumn, ViewContent } from './entity-columns.ts';
import { rowAboveOf, type JoinedRows, selectedIds } from './joined-rows.ts';
import { createStepChooser } from '../map/names/distinctive-steps.ts';
import { hasOffsetBehind } from '../model/zones.ts';

interface CreateViewOptions {
  readonly dialect: Dialect;
  readonly sqlSchema: string | null;
  /** name of the view */
  readonly name: string;
  /** the table's columns that the model does not have, as named in the database */
  readonly further: readonly string[];
  /** ids of the model */
  readonly meantIds: MeantIdsOf;
  /** true if the column's table exists */
  readonly isPresent: (place: Pick<MeantIds, 'table' | 'column'>) => boolean;
}

export interface CreatedView {
  readonly name: string;
  /** describes a row of the view */
  readonly comment: string;
  /** the SELECT statement of the view */
  readonly query: string;
  /** without terminator; the second one, if there is one, puts the comment on it */
  readonly statements: readonly string[];
}

export function createView(
  model: RelationalModel,
  content: ViewContent,
  { dialect, sqlSchema, name, further, meantIds, isPresent }: CreateViewOptions,
): CreatedView {
  const nameMode = model.options?.nameMode ?? 'l';
  const quoted = (text: string): string => dialect.quote(physicalName(dialect, text));
  const relation = (table: string): string =>
    qualified(dialect, { sqlSchema, table: physicalName(dialect, table) });
  const tableName = (table: number): string => model.tables[table]!.name;
  const keyOf = (table: number): string =>
    model.tables[table]!.columns.find(({ role }) => role === 'row_key')!.name;
  const columnAt = (table: number, at: number): RowColumn => rowColumns(model, table)[at]!;

  const names = columnNames(content, {
    nameMode,
    longest: Math.min(model.nameMaxLength, dialect.identifierMaxBytes),
    tableName,
  });
  const aliases = new Map<JoinedRows | null, string>([[null, 'e']]);
  const continued = new Map<string, string>();
  const joins: string[] = [];
  const selected: string[] = [];
  const taken = new Set<string>();
  const meant = meantRows(model, { dialect, sqlSchema });

  const limited = (text: string): string => physicalName(dialect, modelName(model, text));
  const isFree = (name: string): boolean => !taken.has(name.toLowerCase());
  function nameColumn(wanted: string): string {
    let found = limited(wanted);
    for (let number = 2; !isFree(found); number += 1) found = limited(`${wanted}_${number}`);
    taken.add(found.toLowerCase());
    return found;
  }

  function select(expression: string, wanted: string): void {
    selected.push(`${expression} AS ${dialect.quote(nameColumn(wanted))}`);
  }

  /** The alias of these rows; they are joined when they are asked for first. */
  function aliasOf(rows: JoinedRows | null): string {
    const known = aliases.get(rows);
    if (known !== undefined || rows === null) return known ?? 'e';
    const to = aliasOf(rows.to);
    const alias = `${rows.isAbove ? 'p' : 'c'}${aliases.size}`;
    aliases.set(rows, alias);
    const { isAbove, isHeld, keyColumn } = rows;
    const from = rows.to?.table ?? content.table;
    const table = relation(tableName(rows.table));
    if (isHeld) {
      const [holder, held] = isAbove ? [rows.table, from] : [from, rows.table];
      const heldKey = columnAt(holder, keyColumn);
      const condition = isAbove
        ? `${alias}.${quoted(heldKey.column.name)} = ${to}.${quoted(keyOf(held))}`
        : `${alias}.${quoted(keyOf(held))} = ${expressionOf(rows.to, heldKey)}`;
      joins.push(`LEFT JOIN ${table} ${alias} ON ${condition}`);
      return alias;
    }
    const [below, aboveTable] = isAbove ? [from, rows.table] : [rows.table, from];
    const key = quoted(columnAt(below, keyColumn).column.name);
    const above = quoted(keyOf(aboveTable));
    if (isAbove) joins.push(`LEFT JOIN ${table} ${alias} ON ${alias}.${above} = ${to}.${key}`);
    else {
      // documents may repeat an element that the schema allows only once: the first one is used, so that no row is duplicated
      const own = quoted(keyOf(rows.table));
      const earlier = `SELECT 1 FROM ${table} o WHERE o.${key} = f.${key} AND o.${own} < f.${own}${inRole(rows, 'o')}`;
      const first = `SELECT f.* FROM ${table} f WHERE f.${key} IS NOT NULL${inRole(rows, 'f')} AND NOT EXISTS (${earlier})`;
      joins.push(`LEFT JOIN (${first}) ${alias} ON ${alias}.${key} = ${to}.${above}`);
    }
    return alias;
  }

  /** Returns an additional condition if rows of other roles have the same key. */
  function inRole({ table, role }: Pick<JoinedRows, 'table' | 'role'>, alias: string | null): string {
    if (role === null) return '';
    const name = quoted(columnAt(table, role.column).column.name);
    return ` AND ${alias === null ? '' : `${alias}.`}${name} = ${dialect.literal(role.value)}`;
  }

  function expressionOf(of: JoinedRows | null, { table, column }: RowColumn): string {
    const alias = aliasOf(of);
    const first = of?.table ?? content.table;
    if (table === first) return `${alias}.${quoted(column.name)}`;
    const which = `${alias} ${table}`;
    let further = continued.get(which);
    if (further === undefined) {
      further = `w${continued.size + 1}`;
      continued.set(which, further);
      joins.push(
        `LEFT JOIN ${relation(tableName(table))} ${further} ON ${further}.${quoted(keyOf(table))} = ${alias}.${quoted(keyOf(first))}`,
      );
    }
    return `${further}.${quoted(column.name)}`;
  }

  const { documents } = sideTableDefinitions;
  const fileKey = model.tables[content.table]!.columns.find(({ role }) => role === 'document')?.name;
  const documentKey = fileKey === undefined ? null : `${aliasOf(null)}.${quoted(fileKey)}`;
  const hasTold = content.columns.some(({ of }) => rowAboveOf(of) !== null);
  if (documentKey !== null) {
    joins.push(
      `LEFT JOIN ${relation(documents.name)} d ON d.${quoted(documents.primaryKey[0]!)} = ${documentKey}`,
    );
    select(documentKey, fileKey!);
    select(
      `d.${quoted('name')}`,
      `${structureWord('document', nameMode)}_${structureWord('name', nameMode)}`,
    );
  }
  // the names of the rows' own columns take precedence over all others
  const own = content.columns.filter(({ of, signedBy }) => of === null && signedBy === undefined);
  const ownNames = new Map(own.map((column) => [column, nameColumn(column.place.column.name)]));
  for (const above of content.keyed) {
    const key = keyOf(above.table);
    select(`${aliasOf(above)}.${quoted(key)}`, key);
  }
  const key = keyOf(content.table);
  const keyColumn = `e.${quoted(key)} AS ${dialect.quote(nameColumn(key))}`;
  let isKeyTold = false;
  for (const column of content.columns) {
    if (!isKeyTold && rowAboveOf(column.of) === null) {
      selected.push(keyColumn);
      isKeyTold = true;
    }
    if (column.place.column.type.list === true && !dialect.capabilities.arrays) continue;
    const expression = expressionOf(column.of, column.place);
    const ownName = ownNames.get(column);
    if (column.signedBy !== undefined) {
      const { of, place, values } = column.signedBy;
      const [credit, debit] = values.map((value) => dialect.literal(value));
      select(
        `CASE ${expressionOf(of, place)} WHEN ${credit} THEN ${expression} WHEN ${debit} THEN -${expression} END`,
        names.ofColumn(column, `_${structureWord('signed', nameMode)}`),
      );
    } else if (ownName === undefined) select(expression, names.ofColumn(column));
    else selected.push(`${expression} AS ${dialect.quote(ownName)}`);
    const behind = { ...localOf(column, expression), ...meantRow(column, expression) };
    for (const [of, told] of Object.entries(behind)) {
      const end = `_${structureWord(of, nameMode)}`;
      select(told, ownName === undefined ? names.ofColumn(column, end) : `${ownName}${end}`);
    }
  }
  if (!isKeyTold) selected.push(keyColumn);
  for (const [at, text] of content.texts.entries()) {
    const joined = textJoin(text, `t${at + 1}`);
    if (joined === null) continue;
    joins.push(joined);
    select(`t${at + 1}.${dialect.quote('joined')}`, names.ofTexts(text, isFree));
  }

  for (const column of further) select(`e.${dialect.quote(column)}`, column);

  /** Returns the time as written in the document, if the instant and its offset are present. */
  function localOf({ of, place }: ViewColumn, instant: string): { readonly local?: string } {
    const { table, at } = place;
    const { columns } = model.tables[table]!;
    if (!tellsLocalTime(columns, at) || !isPresent({ table, column: at + 1 })) return {};
    const offset = expressionOf(of, { table, at: at + 1, column: columns[at + 1]! });
    // a NULL offset means UTC
    return { local: dialect.localTime(instant, `coalesce(${offset}, 0)`) };
  }

  /** Returns the row that a reference means: its key, and its table if several are possible. */
  function meantRow(of: ViewColumn, expression: string): { readonly table?: string; readonly key?: string } {
    const { table, column } = of.place;
    const isOne = column.sourceType === 'IDREF' && column.type.list !== true;
    if (of.signedBy !== undefined || !isOne || documentKey === null) return {};
    const ids = meantIds(model.tables[table]!, column);
    const there = ids.filter(isPresent);
    if (ids.length === 1) {
      const key = there.length === 1 ? meantKey(there[0]!, expression, documentKey) : null;
      return key === null ? {} : { key };
    }
    if (there.length === 0 || !content.followed.has(of)) return {};
    const row = meant.joined(there, [documentKey, expression]);
    if (row === null) return {};
    joins.push(row.join);
    return { table: row.table, key: row.key };
  }

  /** Returns null if rows of that table do not have their document's key. */
  function meantKey(ids: MeantIds, expression: string, ofDocument: string): string | null {
    const { name: meantTable, columns } = model.tables[ids.table]!;
    const document = columns.find(({ role }) => role === 'document');
    if (document === undefined) return null;
    // documents may have an id twice
    return `(SELECT min(r.${quoted(keyOf(ids.table))}) FROM ${relation(meantTable)} r WHERE r.${quoted(document.name)} = ${ofDocument} AND r.${quoted(columns[ids.column]!.name)} = ${expression})`;
  }

  /** Returns the texts of all rows with the same key as one text, or null if the dialect cannot join them in order. */
  function textJoin(texts: JoinedTexts, alias: string): string | null {
    const { of, table, keyColumn: column, place } = texts;
    const position = model.tables[table]!.columns.find(({ role }) => role === 'position');
    const order = quoted((position ?? { name: keyOf(table) }).name);
    const expression = dialect.joinedText({
      text: quoted(place.column.name),
      order,
      length: place.column.type.length ?? null,
    });
    if (expression === null) return null;
    const parent = aliasOf(of);
    const foreign = quoted(columnAt(table, column).column.name);
    const from = relation(tableName(table));
    const rows = dialect.orderedRows?.(from, order) ?? from;
    const grouped = `SELECT ${foreign}, ${expression} AS ${dialect.quote('joined')} FROM ${rows} WHERE ${foreign} IS NOT NULL${inRole(texts, null)} GROUP BY ${foreign}`;
    return `LEFT JOIN (${grouped}) ${alias} ON ${alias}.${foreign} = ${parent}.${quoted(keyOf(of?.table ?? content.table))}`;
  }

  const { xpath, documentation } = model.tables[content.table]!;
  const repeated = hasTold
    ? ` Values of the rows above (${content.above.map(({ table }) => tableName(table)).join(', ')}) are repeated in each row below them: do not sum them up.`
    : '';
  const said = documentation === undefined ? '' : ` ${documentation}`;
  const comment = `One row for each row of ${tableName(content.table)} (${xpath}).${repeated}${said}`;
  const view = { sqlSchema, table: name };
  const end = dialect.outerJoinEnd === undefined || joins.length === 0 ? [] : [dialect.outerJoinEnd];
  const query = `${meant.clause}SELECT\n  ${selected.join(',\n  ')}\nFROM ${relation(tableName(content.table))} e\n${[...joins, ...end].join('\n')}`;
  const create = `CREATE VIEW ${qualified(dialect, view)} AS\n${query}`;
  return { name, comment, query, statements: [create, ...commentStatement(dialect, view, comment)] };
}

/** Returns the statement that comments on a view, if the database supports such comments. */
export function commentStatement(
  dialect: Dialect,
  view: { readonly sqlSchema: string | null; readonly table: string },
  comment: string,
): readonly string[] {
  const { comments } = dialect;
  if (comments.kind === 'inline') return [];
  const text = commentLine(comment, comments.maxLength);
  return [comments.table(view, text).replace(/^COMMENT ON TABLE /, `COMMENT ON ${dialect.viewComments} `)];
}

// Names the columns of a view, by as many steps of the path to each as distinguish them.

/** the path to repeating texts needs at least this many steps to describe them */
const fewestStepsToTexts = 2;

interface ColumnNamesOptions {
  readonly nameMode: NamingOptions['nameMode'];
  /** bytes of a name */
  readonly longest: number;
  readonly tableName: (table: number) => string;
}

interface ColumnNames {
  /** `end`: words that are appended to the name of the column */
  ofColumn(column: ViewColumn, end?: string): string;
  /** `isFree`: no other column has the name */
  ofTexts(texts: JoinedTexts, isFree: (name: string) => boolean): string;
}

/** Returns the names of a view's columns. Names that cannot be shortened further may exceed the maximum length. */
function columnNames(
  content: ViewContent,
  { nameMode, longest, tableName }: ColumnNamesOptions,
): ColumnNames {
  const word = (text: string): string => identifierOf(text, nameMode);
  const shortened = shortSteps(content);
  const toTexts = new Map(content.texts.map((texts) => [texts, stepsToTexts(texts, shortened)]));

  /** The table's name is that of the row above that the column is of, if it is of one. */
  function wordsOf({ of, place, steps }: ViewColumn): WordsOfName {
    if (of === null) return { table: '', words: [place.column.name] };
    const above = rowAboveOf(of);
    const table = above === null ? '' : tableName(above.table);
    // a column of the row above itself has its name already
    if (of === above) {
      const name = withoutPrefix(place.column.name, table);
      return { table, words: [name], steps: steps.map(word) };
    }
    const front = shortened.get(of) ?? of.steps;
    return {
      table,
      words: [...front, ...steps.slice(of.steps.length)].map(word).filter((one) => one !== ''),
    };
  }

  const choosers = new Map<string, StepChooser>();
  function fitting({ table, words, steps = words }: WordsOfName, end: string): string {
    const bytes = longest - byteLength(end) - (table === '' ? 0 : byteLength(table) + 1);
    const start = table === '' ? [] : [table];
    const whole = words.join('_');
    if (byteLength(whole) <= bytes) return [...start, whole].join('_') + end;
    let chooser = choosers.get(table);
    if (chooser === undefined) {
      const alike = content.columns.map(wordsOf).filter((other) => other.table === table);
      chooser = createStepChooser({ paths: () => alike.map((other) => other.steps ?? other.words) });
      choosers.set(table, chooser);
    }
    const apart = chooser.tellApart(steps, bytes, { fewest: 2, last: 1 });
    const told = byteLength(joinedSteps(apart)) <= bytes ? apart : chooser.shorten(steps, bytes);
    return [...start, joinedSteps(told)].join('_') + end;
  }

  return {
    ofColumn: (column, end = '') => fitting(wordsOf(column), end),
    ofTexts(texts, isFree) {
      const steps = toTexts.get(texts)!;
      const above = rowAboveOf(texts.of);
      const start = above === null ? [] : [tableName(above.table)];
      const others = [...toTexts.values()].filter((other) => other !== steps);
      let length = Math.min(fewestStepsToTexts, steps.length);
      const said = (): string => joinedSteps([...start, ...steps.slice(-length).map(word)]);
      const isTold = (): boolean =>
        isFree(said()) && !others.some((other) => endsAlike(other, steps, length));
      while (length < steps.length && !isTold()) length += 1;
      return isFree(said()) ? said() : [...start, ...steps.slice(-length).map(word)].join('_');
    },
  };
}

interface WordsOfName {
  /** words of the row above that has the column; empty: the column is of the row itself, or hangs from it */
  readonly table: string;
  readonly words: readonly string[];
  /** if a column already has the name: steps that may shorten it */
  readonly steps?: readonly string[];
}

function withoutPrefix(name: string, prefix: string): string {
  return name.toLowerCase().startsWith(`${prefix.toLowerCase()}_`) ? name.slice(prefix.length + 1) : name;
}

function stepsToTexts(
  { of, steps }: JoinedTexts,
  shortened: ReadonlyMap<JoinedRows, readonly string[]>,
): readonly string[] {
  return of === null ? steps : [...(shortened.get(of) ?? []), ...steps.slice(of.steps.length)];
}

/**
 * Returns the last steps to joined rows, as many as distinguish them from others that are joined to the same row. If the rows hang from
 * rows that several others share, the steps to those come first: `seller_address`.
 */
function shortSteps({ columns, texts }: ViewContent): ReadonlyMap<JoinedRows, readonly string[]> {
  const all = new Set([...columns, ...texts].flatMap(({ of }) => (of === null || of.isAbove ? [] : [of])));
  const lengths = new Map<JoinedRows, number>();
  const lengthOf = (rows: JoinedRows): number => {
    const known = lengths.get(rows);
    if (known !== undefined) return known;
    const { steps, to, isOfShared } = rows;
    let length = isOfShared && to !== null ? lengthOf(to) + steps.length - to.steps.length : 1;
    const others = [...all].filter(
      (one) => one !== rows && rowAboveOf(one) === rowAboveOf(rows) && !startsWith(one.steps, steps),
    );
    while (length < steps.length && others.some((one) => endsAlike(one.steps, steps, length))) length += 1;
    lengths.set(rows, length);
    return length;
  };
  return new Map([...all].map((rows) => [rows, rows.steps.slice(-lengthOf(rows))]));
}

function startsWith(steps: readonly string[], start: readonly string[]): boolean {
  return start.every((step, at) => steps[at] === step);
}

/** True if the last `length` steps are equal. */
function endsAlike(steps: readonly string[], others: readonly string[], length: number): boolean {
  return startsWith(steps.toReversed(), others.slice(-length).toReversed());
}

// Finds the rows that references of a view mean if several tables have ids: the table and the key of each.

interface MeantRow {
  /** joined to the rows of the view, one to each of them */
  readonly join: string;
  /** expressions: NULL if the document has no such id */
  readonly table: string;
  readonly key: string;
}

interface MeantRows {
  /** `expressions`: the document's key, and the reference. Returns null if no rows with these ids have their document's key. */
  joined(
    ids: readonly MeantIds[],
    expressions: readonly [documentKey: string, reference: string],
  ): MeantRow | null;
  /** the clause before the SELECT of the view: the ids that its references may mean; empty if none were requested */
  readonly clause: string;
}

/** Documents may have an id twice: the first of its rows counts, by table and key, so that no row of the view is there twice. */
function meantRows(
  model: RelationalModel,
  { dialect, sqlSchema }: { readonly dialect: Dialect; readonly sqlSchema: string | null },
): MeantRows {
  const taken = new Set(model.tables.map(({ name }) => physicalName(dialect, name).toLowerCase()));
  const named = new Map<string, { readonly name: string; readonly text: string }>();
  let joins = 0;

  function freeName(wanted: string): string {
    let name = physicalName(dialect, wanted);
    while (taken.has(name.toLowerCase())) name += '_';
    taken.add(name.toLowerCase());
    return dialect.quote(name);
  }

  return {
    get clause() {
      return named.size === 0 ? '' : `WITH ${[...named.values()].map(({ text }) => text).join(',\n')}\n`;
    },
    joined(ids, [documentKey, reference]) {
      const { columns, union } = selectedIds(model, ids, { dialect, sqlSchema });
      if (union === '') return null;
      const { documentKey: document, id, tableName, rowKey } = columns;
      // looked up in the indexes of ids for each row, and only if the column is selected; other databases sort the ids once
      const isLookedUp = dialect.looksUpIds === true;
      let known = named.get(union);
      if (known === undefined) {
        const name = freeName('ids_meant');
        const rank = dialect.quote(physicalName(dialect, 'place'));
        const sorted = `SELECT i.*, row_number() OVER (PARTITION BY ${document}, ${id} ORDER BY ${tableName}, ${rowKey}) AS ${rank} FROM (\n${union}\n) i WHERE ${id} IS NOT NULL`;
        const text = isLookedUp
          ? `${name} AS NOT MATERIALIZED (\n${union}\n)`
          : `${name} AS (SELECT * FROM (${sorted}) r WHERE ${rank} = 1)`;
        known = { name, text };
        named.set(union, known);
      }
      joins += 1;
      const alias = `r${joins}`;
      const first = (of: string): string =>
        `(array_agg(i.${of} ORDER BY i.${tableName}, i.${rowKey}))[1] AS ${of}`;
      return {
        join: isLookedUp
          ? `LEFT JOIN LATERAL (SELECT ${first(tableName)}, ${first(rowKey)} FROM ${known.name} i WHERE i.${document} = ${documentKey} AND i.${id} = ${reference}) ${alias} ON true`
          : `LEFT JOIN ${known.name} ${alias} ON ${alias}.${document} = ${documentKey} AND ${alias}.${id} = ${reference}`,
        table: `${alias}.${tableName}`,
        key: `${alias}.${rowKey}`,
      };
    },
  };
}

// Local times of instants (docs/decisions/model/offsets-of-times.md).

/** True if column `at` of a table has instants, and the next column their offsets from local time in minutes. */
function tellsLocalTime(columns: readonly Column[], at: number): boolean {
  const { kind, list } = columns[at]!.type;
  return kind === 'timestamptz' && list !== true && hasOffsetBehind(columns, at);
}
