/**
 * Finds the content of a table's row: its values by their path within the row, and the rows of other tables by the key that leads to
 * them.
 */
import { isValueName } from '../model/source-model.ts';
import type { PlanEdge, PlanNode, RelationalModel } from '../model/relational-model.ts';

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
export interface HangingRows {
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
export function rowContents(model: RelationalModel): (table: number) => RowContent {
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
