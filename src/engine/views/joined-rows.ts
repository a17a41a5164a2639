/** Rows that a view joins: those above the rows it is of, and those that hang from them once. */
import { keyHolders } from '../model/keys.ts';
import type { RelationalModel, PlanEdge, PlanNode, MeantIds } from '../model/relational-model.ts';
import { rowColumnsOf, type RowColumn } from '../model/wide-rows.ts';
import { isValueName } from '../model/source-model.ts';
import { structureWord } from '../map/names/identifiers.ts';
import { qualified, type Dialect } from '../sql/dialect.ts';
import { physicalName } from '../sql/physical-model.ts';

/** `names`: texts that name rows which several others also refer to */
export const maxJoins = { hanging: 30, above: 12, names: 12 } as const;
const deepestJoin = 4;
/** the factor by which a row must have more values than another to be the other's purpose */
const muchMore = 2;

/** Rows that are joined to others: rows above them, or rows that hang from them. */
export interface JoinedRows {
  /** null: the rows of the view itself */
  readonly to: JoinedRows | null;
  readonly table: number;
  /** column of the row below with the key of the row above; if `isHeld`, column of the row above with the key of the row below */
  readonly keyColumn: number;
  readonly isHeld: boolean;
  readonly role: RoleOfRows | null;
  readonly isAbove: boolean;
  /** local names from the row that the view is of, or from the row above it */
  readonly steps: readonly string[];
  /** the row that `steps` start at always has the first step */
  readonly firstRequired: boolean;
  /** they hang from rows that several other rows share */
  readonly isOfShared: boolean;
  /** they, or the rows that they hang from, are shared: apart from their names, they have no weight for the rows of the view */
  readonly isAside: boolean;
}

export interface ModelInUse {
  /** tables that there are */
  readonly has: (table: number) => boolean;
  /** columns that these have, by indexes of table and column */
  readonly hasColumn: (table: number, column: number) => boolean;
}

/** A value of a row that there is a column for. */
export interface PlacedValue {
  readonly value: RowValue;
  readonly place: RowColumn;
}

export interface RowsOfModel {
  content(table: number): RowContent;
  columnsOf(table: number): readonly RowColumn[];
  isPresent(place: RowColumn): boolean;
  valuesOf(table: number): readonly PlacedValue[];
  /** True if the table has rows of several other tables, or of several places in one. */
  isShared(table: number): boolean;
  /**
   * Returns the table of the only row that a row of the table wraps: that row has many more columns, more repeating rows hang from it,
   * and it is not an alternative to another one. Rows without values may be between the two. Returns null if there is none.
   */
  wrappedBy(table: number): number | null;
  /** Returns the rows that hang from those of the table and that these wrap, and the rows that those in turn wrap. */
  wrappedRows(table: number, hanging: readonly JoinedRows[]): readonly JoinedRows[];
  /** Returns the rows above, nearest first, as long as the rows are below rows of only one table. */
  rowsAbove(table: number): readonly JoinedRows[];
  /** Rows that hang from those of the table, each at most once; those nearest to them first. `of`: that row above, null: the row that the view is of. */
  hangingOnce(
    table: number,
    of: JoinedRows | null,
    most: number,
    wanted: (rows: HangingRows) => boolean,
  ): readonly JoinedRows[];
}

export function rowsOfModel(model: RelationalModel, { has, hasColumn }: ModelInUse): RowsOfModel {
  const all = rowContents(model);
  const columnsOf = rowColumnsOf(model);
  const holders = keyHolders(model);
  const contents = new Map<number, RowContent>();
  const values = new Map<number, readonly PlacedValue[]>();

  function isPresent(place: RowColumn | undefined): place is RowColumn {
    return place !== undefined && has(place.table) && hasColumn(place.table, place.at);
  }

  function content(table: number): RowContent {
    let known = contents.get(table);
    if (known === undefined) {
      const { values: said, hanging } = all(table);
      known = {
        values: said,
        hanging: hanging.filter(
          ({ table: below, keyColumn, isHeld, role }) =>
            isPresent(columnsOf(isHeld ? table : below)[keyColumn]) &&
            (role === null || columnsOf(below)[role.column]?.table === below),
        ),
      };
      contents.set(table, known);
    }
    return known;
  }

  function valuesOf(table: number): readonly PlacedValue[] {
    let known = values.get(table);
    if (known === undefined) {
      known = content(table).values.flatMap((value) => {
        const place = columnsOf(table)[value.column];
        return isPresent(place) && place.column.role === 'value' ? [{ value, place }] : [];
      });
      values.set(table, known);
    }
    return known;
  }

  const keys = new Map<number, readonly KeyAbove[]>();

  /** Returns the keys to rows above: the keys that rows of the table have, and the keys to them in other tables. */
  function keysAbove(table: number): readonly KeyAbove[] {
    const known = keys.get(table);
    if (known !== undefined) return known;
    const own = columnsOf(table).flatMap(({ column: { role, references } }, at): KeyAbove[] =>
      role === 'parent_key' && references !== null ? [{ at, parent: references, isHeld: false }] : [],
    );
    const held = (holders.get(table) ?? []).map((holder): KeyAbove => {
      const parent = model.tables[holder.table]!.continues ?? holder.table;
      const at = columnsOf(parent).findIndex(
        (place) => place.table === holder.table && place.at === holder.column,
      );
      return { at, parent, isHeld: true };
    });
    keys.set(table, [...own, ...held]);
    return keys.get(table)!;
  }

  function isShared(table: number): boolean {
    return keysAbove(table).length > 1;
  }

  function saysMuchMore(table: number, than: number): boolean {
    return content(table).values.length > content(than).values.length * muchMore;
  }

  function saysNothing(table: number): boolean {
    return content(table).values.length === 0 && !isShared(table);
  }

  function wraps(table: number, other: number): boolean {
    return (
      !isShared(other) &&
      saysMuchMore(other, table) &&
      repeatingBelow(content(other)) > repeatingBelow(content(table))
    );
  }

  function wrappedBy(table: number): number | null {
    const open = [table];
    const found = new Set<number>();
    for (const at of open)
      for (const { single, table: other } of content(at).hanging) {
        if (!single || !has(other) || open.includes(other)) continue;
        if (wraps(table, other)) found.add(other);
        else if (saysNothing(other)) open.push(other);
      }
    const [one] = found;
    return found.size === 1 ? one! : null;
  }

  /** True for rows that hang from shared rows and therefore have little weight, unless the shared rows exist only for them. */
  function isFromShared(from: JoinedRows, table: number): boolean {
    return from.isAside || (isShared(from.table) && !saysMuchMore(table, from.table));
  }

  return {
    content,
    columnsOf,
    isPresent,
    valuesOf,
    isShared,
    wrappedBy,

    wrappedRows(table, hanging) {
      const wrapped: JoinedRows[] = [];
      let next = wrappedBy(table);
      for (const rows of hanging) {
        if (rows.table !== next) continue;
        wrapped.push(rows);
        next = wrappedBy(next);
      }
      return wrapped;
    },

    rowsAbove(table) {
      const found: JoinedRows[] = [];
      const seen = new Set([table]);
      let to: JoinedRows | null = null;
      while (found.length < maxJoins.above) {
        const below: number = to?.table ?? table;
        const keys = keysAbove(below);
        const [key] = keys;
        if (keys.length !== 1 || key === undefined || seen.has(key.parent) || !has(key.parent)) break;
        const { at: keyColumn, parent, isHeld } = key;
        const place = columnsOf(isHeld ? parent : below)[keyColumn];
        // the key in a table that continues the rows above would repeat these
        if (!isPresent(place) || (isHeld && place.table !== parent)) break;
        seen.add(parent);
        const steps: string[] = [];
        to = {
          to,
          table: parent,
          keyColumn,
          isHeld,
          role: null,
          isAbove: true,
          steps,
          firstRequired: true,
          isOfShared: false,
          isAside: false,
        };
        found.push(to);
      }
      return found;
    },

    hangingOnce(table, of, most, wanted) {
      const found: JoinedRows[] = [];
      let level: Level[] = [{ table, rows: of, steps: [] }];
      for (let depth = 0; depth < deepestJoin && level.length > 0; depth += 1) {
        const next: Level[] = [];
        for (const from of level)
          for (const rows of content(from.table).hanging) {
            if (!rows.single || rows.table === table || !has(rows.table) || found.length >= most) continue;
            if (from.rows === of && !wanted(rows)) continue;
            const isAside = of === null && from.rows !== of && isFromShared(from.rows!, rows.table);
            if (isAside && from.rows!.isAside) continue;
            const isOnTheWay = saysNothing(rows.table);
            if (isOnTheWay && isBelow(from.rows, rows.table)) continue;
            const steps = [...from.steps, ...rows.steps];
            const joined: JoinedRows = {
              to: from.rows,
              table: rows.table,
              keyColumn: rows.keyColumn,
              isHeld: rows.isHeld,
              role: rows.role,
              isAbove: false,
              steps,
              firstRequired: from.rows === of ? rows.firstRequired : from.rows!.firstRequired,
              isOfShared: from.rows !== of && isShared(from.table),
              isAside,
            };
            found.push(joined);
            // rows without values are on the way: the rows that hang from them count as equally near
            (isOnTheWay ? level : next).push({ table: rows.table, rows: joined, steps });
          }
        level = next;
      }
      return found;
    },
  };
}

interface KeyAbove {
  readonly at: number;
  readonly parent: number;
  /** a column of the row above */
  readonly isHeld: boolean;
}

/** Rows at the same number of joins, from which others hang. */
interface Level {
  readonly table: number;
  readonly rows: JoinedRows | null;
  readonly steps: readonly string[];
}

/** The row above that the rows belong to; null: the row that the view is of. */
export function rowAboveOf(of: JoinedRows | null): JoinedRows | null {
  let at = of;
  while (at !== null && !at.isAbove) at = at.to;
  return at;
}

function isBelow(of: JoinedRows | null, table: number): boolean {
  let at = of;
  while (at !== null && at.table !== table) at = at.to;
  return at !== null;
}

function repeatingBelow({ hanging }: RowContent): number {
  return hanging.filter(({ single }) => !single).length;
}

// Finds the content of a table's row: its values by their path within the row, and the rows of other tables by the key that leads to
// them.

/** A value column of a row. */
export interface RowValue {
  /** column of the row, continuations counted through */
  readonly column: number;
  /** local names from the row's element down to the holder of the value; empty: the element's own text */
  readonly steps: readonly string[];
  readonly isAttribute: boolean;
  /** the attribute of an element that has text, so that it says something about that */
  readonly qualifies: boolean;
  /** every row has the first step, according to the source */
  readonly firstRequired: boolean;
}

/** Rows of another table at one place below a row. */
interface HangingRows {
  readonly table: number;
  /** column of these rows with the key of the row above; if `isHeld`, column of the row above with the key of these */
  readonly keyColumn: number;
  readonly isHeld: boolean;
  readonly role: RoleOfRows | null;
  /** a row has one of them at most */
  readonly single: boolean;
  readonly steps: readonly string[];
  readonly firstRequired: boolean;
}

/** Identifies the rows if rows of other roles have the same key: the value of one of their columns (PlanEdge.role). */
export interface RoleOfRows {
  readonly column: number;
  readonly value: string;
}

export interface RowContent {
  readonly values: readonly RowValue[];
  readonly hanging: readonly HangingRows[];
}

/** Returns the identity of the rows of one place among those below a row. */
function keyOf({ table, keyColumn, isHeld, role }: HangingRows): string {
  return `${table} ${keyColumn} ${isHeld} ${role?.value ?? ''}`;
}

const nothing: RowContent = { values: [], hanging: [] };

/** Returns a function that gives the content of a table's row. Each table is computed on first use. */
function rowContents(model: RelationalModel): (table: number) => RowContent {
  const openers = Map.groupBy(
    model.nodes.filter(({ opensRow }) => opensRow),
    ({ table }) => table,
  );
  const members = membersOfHeads(model);
  const known = new Map<number, RowContent>();
  return (table) => {
    let content = known.get(table);
    if (content === undefined) {
      content = united([
        ...(openers.get(table) ?? []).map((node) => contentOf(model, node)),
        members.get(table) ?? nothing,
      ]);
      known.set(table, content);
    }
    return content;
  };
}

interface Place {
  readonly node: PlanNode;
  readonly steps: readonly string[];
  readonly firstRequired: boolean;
}

/** Returns the content of the rows that one kind of element makes, including the elements folded into them. */
function contentOf({ nodes }: RelationalModel, opener: PlanNode): RowContent {
  const values: RowValue[] = [];
  const hanging = new Map<string, HangingRows>();
  const hang = (
    edge: Pick<PlanEdge, 'node' | 'parentKeyColumn' | 'childKeyColumn' | 'maxOccurs' | 'role'>,
    steps: readonly string[],
    firstRequired: boolean,
  ): void => {
    const { table, elementNameColumn } = nodes[edge.node]!;
    const { parentKeyColumn, childKeyColumn, maxOccurs } = edge;
    const role = edge.role === undefined ? null : { column: elementNameColumn, value: edge.role };
    const isHeld = childKeyColumn !== undefined;
    const keyColumn = childKeyColumn ?? parentKeyColumn;
    const single = maxOccurs === 1;
    const rows: HangingRows = { table, keyColumn, isHeld, role, single, steps, firstRequired };
    const before = hanging.get(keyOf(rows));
    hanging.set(keyOf(rows), before === undefined ? rows : { ...before, single: isHeld });
  };
  const pending: Place[] = [{ node: opener, steps: [], firstRequired: true }];
  const seen = new Set<PlanNode>();
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { node, steps, firstRequired } = place;
    if (seen.has(node)) continue;
    seen.add(node);
    const { textColumn } = node;
    if (textColumn >= 0)
      values.push({ column: textColumn, steps, isAttribute: false, qualifies: false, firstRequired });
    for (const { name, column } of node.attributes) {
      if (column < 0) continue;
      const qualifies = textColumn >= 0;
      const isValue = !qualifies && isValueName(name);
      const own = isValue ? steps : [...steps, name.localName];
      values.push({ column, steps: own, isAttribute: !isValue, qualifies, firstRequired });
    }
    const folded: Place[] = [];
    for (const edge of node.edges) {
      const below = [...steps, edge.name.localName];
      const isRequired = steps.length === 0 ? edge.minOccurs > 0 : firstRequired;
      const child = nodes[edge.node]!;
      const { head } = edge;
      if (head !== undefined) hang({ ...edge, ...head }, below, isRequired);
      else if (child.opensRow) hang(edge, below, isRequired);
      else folded.push({ node: child, steps: below, firstRequired: isRequired });
      for (const type of head === undefined ? child.typeEdges : []) {
        if (type.parentKeyColumn >= 0) hang({ ...type, maxOccurs: edge.maxOccurs }, below, isRequired);
        else if (!nodes[type.node]!.opensRow)
          folded.push({ node: nodes[type.node]!, steps: below, firstRequired: isRequired });
      }
    }
    pending.push(...folded.toReversed());
  }
  return { values, hanging: [...hanging.values()] };
}

/** Wide substitution groups: the row of the member hangs from that of the group's head, one to one. */
function membersOfHeads({ nodes }: RelationalModel): ReadonlyMap<number, RowContent> {
  const found = new Map<number, Map<string, HangingRows>>();
  for (const { edges } of nodes)
    for (const { head, node, parentKeyColumn, name } of edges) {
      if (head === undefined) continue;
      const { table } = nodes[head.node]!;
      const own = found.get(table) ?? new Map<string, HangingRows>();
      found.set(table, own);
      const member = nodes[node]!.table;
      own.set(`${member} ${parentKeyColumn}`, {
        table: member,
        keyColumn: parentKeyColumn,
        isHeld: false,
        role: null,
        single: true,
        steps: [name.localName],
        firstRequired: false,
      });
    }
  return new Map([...found].map(([table, rows]) => [table, { values: [], hanging: [...rows.values()] }]));
}

/** Combines the content of several kinds of elements in one table. A child is single only if it is single in all of them. */
function united(contents: readonly RowContent[]): RowContent {
  if (contents.length === 1) return contents[0]!;
  const values = new Map<number, RowValue>();
  const hanging = new Map<string, HangingRows>();
  for (const content of contents) {
    for (const value of content.values) if (!values.has(value.column)) values.set(value.column, value);
    for (const rows of content.hanging) {
      const key = keyOf(rows);
      const before = hanging.get(key);
      hanging.set(key, before === undefined ? rows : { ...before, single: before.single && rows.single });
    }
  }
  return { values: [...values.values()], hanging: [...hanging.values()] };
}

// The ids that documents have, selected from all tables that have some.

/** SQLite allows at most 500 SELECTs in one UNION. */
const maxInOneUnion = 400;

interface SelectedIds {
  /** names of the selected columns, quoted */
  readonly columns: { readonly [of in 'documentKey' | 'id' | 'tableName' | 'rowKey']: string };
  /** one SELECT for each column of ids, put together; an id may be NULL */
  readonly union: string;
}

/** Returns a query for the document, the table and the row key of each id. */
export function selectedIds(
  model: RelationalModel,
  ids: readonly MeantIds[],
  { dialect, sqlSchema }: { readonly dialect: Dialect; readonly sqlSchema: string | null },
): SelectedIds {
  const mode = model.options?.nameMode ?? 'l';
  const quoted = (name: string): string => dialect.quote(physicalName(dialect, name));
  // PostgreSQL uses no index for a union whose texts have several types
  const asText = (expression: string): string =>
    dialect.looksUpIds === true ? `CAST(${expression} AS text)` : expression;
  const [documentKey, id, tableName, rowKey] = ['document_key', 'id', 'table_name', 'row_key'].map((name) =>
    dialect.quote(physicalName(dialect, structureWord(name, mode))),
  ) as [string, string, string, string];
  const selects = ids.flatMap(({ table: index, column }) => {
    const table = model.tables[index]!;
    const key = table.columns.find(({ role }) => role === 'row_key');
    const document = table.columns.find(({ role }) => role === 'document');
    if (key === undefined || document === undefined) return [];
    const relation = qualified(dialect, { sqlSchema, table: physicalName(dialect, table.name) });
    const told = dialect.literal(physicalName(dialect, model.tables[table.continues ?? index]!.name));
    return [
      `SELECT ${quoted(document.name)} AS ${documentKey}, ${asText(quoted(table.columns[column]!.name))} AS ${id}, ${asText(told)} AS ${tableName}, ` +
        `${quoted(key.name)} AS ${rowKey} FROM ${relation}`,
    ];
  });
  return { columns: { documentKey, id, tableName, rowKey }, union: unionOf(selects) };
}

function unionOf(selects: readonly string[]): string {
  if (selects.length <= maxInOneUnion) return selects.join('\nUNION ALL\n');
  const parts: string[] = [];
  for (let at = 0; at < selects.length; at += maxInOneUnion)
    parts.push(
      `SELECT * FROM (\n${selects.slice(at, at + maxInOneUnion).join('\nUNION ALL\n')}\n) part${parts.length + 1}`,
    );
  return parts.join('\nUNION ALL\n');
}
