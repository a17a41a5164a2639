/** Describes the places of a table's rows in documents, beyond the first path that names the table. */
import { keyHolders, isRoleColumn } from '../model/keys.ts';
import { withoutMarks } from '../model/column-uses.ts';
import {
  meantIdsOf,
  type MeantIdsOf,
  type Column,
  type PlanNode,
  type RelationalModel,
  type Table,
} from '../model/relational-model.ts';
import { peekElements } from '../model/packed/reader.ts';
import { tableIndexes } from '../model/packed/models.ts';
import { rowColumns } from '../model/wide-rows.ts';

/** further places of a shared table that its own comment names, and that of each of its columns */
const maxPlaces = { table: 8, column: 2 } as const;
/** further elements that a comment names */
const maxElements = 4;

export interface PlacesOfRows {
  /**
   * Returns the places of a table's rows other than its first path: the other elements that are rows of it, each by its first path; the
   * other members of a substitution group that have the same child; and, if a table above is itself shared, a note that it has other
   * places, too.
   */
  further(table: Table, of: keyof typeof maxPlaces): readonly string[];
  /**
   * Returns the other elements that a column has values of, beside that of its path. This happens if rows of several elements, such as
   * the members of a substitution group, are in one table, and values of one name are in one column.
   */
  furtherElements(table: Table, column: Column): readonly string[];
  /** Returns the ids that a reference means, if they can be of one table only. */
  readonly meantIds: MeantIdsOf;
}

/** Returns the places of the model's rows. Caches the result for each table, because all tables below ask for it. */
export function placesOfRows(model: RelationalModel): PlacesOfRows {
  let inRowsAbove: ReadonlyMap<Table, readonly UseOfRows[]> | null = null;
  const usesOf = (table: Table): readonly UseOfRows[] => {
    const first = firstOfRow(model, table);
    return [...ownUses(model, first), ...((inRowsAbove ??= heldUses(model)).get(first) ?? [])];
  };
  const indexOf = ({ name }: Table): number => tableIndexes(model).get(name)!;
  const elementsOf = new Map<Table, ReadonlyMap<Column, ReadonlySet<string>>>();
  const otherUses = new Map<Table, readonly string[]>();
  const sharedAbove = new Map<Table, Table | null>();

  /** Returns the first paths of a table's uses, except that of its own first path. */
  function otherUsesOf(table: Table): readonly string[] {
    const known = otherUses.get(table);
    if (known !== undefined) return known;
    const first = firstOfRow(model, table);
    // the first path determines what a table represents, even if the path has a member of a group in place of its head
    const uses = usesOf(table)
      .filter(({ path }) => path !== first.path)
      .map(({ path, parent }) => `${parent.xpath}${withoutMarks(path.slice(parent.path.length))}`);
    const found = [...new Set(uses)].filter((path) => path !== first.xpath);
    otherUses.set(table, found);
    return found;
  }

  /** Returns the nearest table above that has several uses, or null if there is none. */
  function sharedAboveOf(table: Table): Table | null {
    const climbed = new Set<Table>();
    let at: Table | undefined = firstOfRow(model, table);
    let found: Table | null = null;
    while (at !== undefined && !climbed.has(at)) {
      const known = sharedAbove.get(at);
      if (known !== undefined) {
        found = known;
        break;
      }
      climbed.add(at);
      const parents: Table[] = usesOf(at).map(({ parent }) => parent);
      found = parents.find((parent) => !climbed.has(parent) && otherUsesOf(parent).length > 0) ?? null;
      if (found !== null) break;
      // if a parent has several uses, they are found above; otherwise all keys lead to one parent
      at = parents.find((parent) => !climbed.has(parent));
      if (at !== undefined) at = firstOfRow(model, at);
    }
    for (const below of climbed) sharedAbove.set(below, found);
    return found;
  }

  return {
    meantIds: meantIdsOf(model),
    further(table, of) {
      const places = otherUsesOf(table);
      const shown = places.slice(0, maxPlaces[of]);
      const below = of === 'table' ? '' : 'below ';
      const more = places.length - shown.length;
      const rest = more > 0 ? ` and ${more} more` : '';
      const further = shown.length === 0 ? [] : [`also ${below}${shown.join(', ')}${rest}`];
      if (of === 'table') {
        const first = firstOfRow(model, table);
        const parents = nodesOfTables(model).parents.get(indexOf(first)) ?? [];
        const members = membersOf(model, first, parents);
        if (members.size > 0) further.push(`also of ${listedElements([...members])}`);
      }
      const above = sharedAboveOf(table);
      return above === null ? further : [...further, `also below other places of ${above.name}`];
    },
    furtherElements(table, column) {
      if (column.xpath === null) return [];
      const first = firstOfRow(model, table);
      let ofColumns = elementsOf.get(first);
      if (ofColumns === undefined) {
        const index = indexOf(first);
        ofColumns = elementsByColumn(model, index, nodesOfTables(model).opening.get(index) ?? []);
        elementsOf.set(first, ofColumns);
      }
      const elements = ofColumns.get(column);
      if (elements === undefined) return [];
      const own = column.xpath.split('/')[first.xpath.split('/').length - 1];
      const others = [...elements].filter((name) => name !== own?.replace(/^.*:/, ''));
      return others.length === 0 ? [] : [`also of ${listedElements(others)}`];
    },
  };
}

function listedElements(names: readonly string[]): string {
  const more = names.length - maxElements;
  return `${names.slice(0, maxElements).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/**
 * If the rows of a table are the same child of several members of a substitution group, returns the members' local names except that of
 * the table's first path; otherwise an empty set. `table`: the first table of the rows.
 */
function membersOf(model: RelationalModel, table: Table, parents: readonly string[]): ReadonlySet<string> {
  const found = new Set<string>();
  if (parents.length === 0 || !ownUses(model, table).some(({ path }) => path === table.path)) return found;
  const member = table.xpath.split('/').at(-2)!.replace(/^.*:/, '');
  for (const parent of parents) if (parent !== member) found.add(parent);
  return found;
}

/**
 * Returns the local names of the elements whose rows fill a column of a table, if the table has a column that names the element of a row.
 * `table`: the index of the first table of the rows; `nodes`: the nodes that open rows there.
 */
function elementsByColumn(
  model: RelationalModel,
  table: number,
  nodes: readonly number[],
): ReadonlyMap<Column, ReadonlySet<string>> {
  const found = new Map<Column, Set<string>>();
  const isNamed = model.tables[table]!.columns.some(
    (column) => column.role === 'element_name' && !isRoleColumn(column),
  );
  if (!isNamed) return found;
  const columns = rowColumns(model, table);
  const note = (node: PlanNode, element: string, folded: ReadonlySet<number>): void => {
    for (const at of [node.textColumn, ...node.attributes.map(({ column }) => column)]) {
      const column = columns[at]?.column;
      if (column === undefined) continue;
      const known = found.get(column);
      if (known === undefined) found.set(column, new Set([element]));
      else known.add(element);
    }
    for (const { node: at } of node.edges) {
      const child = model.nodes[at]!;
      if (!child.opensRow && child.table === node.table && !folded.has(at))
        note(child, element, new Set([...folded, at]));
    }
  };
  for (const at of nodes) {
    const node = model.nodes[at]!;
    note(node, node.name.localName, new Set());
  }
  return found;
}

/** The places of the tables' rows, collected in one pass over all nodes of a plan. */
interface NodesOfTables {
  /** keyed by table: nodes that open rows in it */
  readonly opening: ReadonlyMap<number, readonly number[]>;
  /** keyed by table: local names of the elements whose children have rows in it */
  readonly parents: ReadonlyMap<number, readonly string[]>;
}

/** keyed by the nodes of a model, which models with other columns may share */
const knownNodes = new WeakMap<RelationalModel['nodes'], NodesOfTables>();

function nodesOfTables({ nodes }: RelationalModel): NodesOfTables {
  const known = knownNodes.get(nodes);
  if (known !== undefined) return known;
  const tables = new Int32Array(nodes.length).fill(-1);
  const children: { readonly name: string; readonly nodes: readonly number[] }[] = [];
  const opening = new Map<number, number[]>();
  let index = 0;
  for (const { name, table, opensRow, edges } of peekElements(nodes)) {
    children.push({ name: name.localName, nodes: edges.map(({ node }) => node) });
    if (opensRow) {
      tables[index] = table;
      pushTo(opening, table, index);
    }
    index += 1;
  }
  const parents = new Map<number, string[]>();
  for (const { name, nodes: below } of children)
    for (const node of below) if (tables[node]! >= 0) pushTo(parents, tables[node]!, name);
  const found = { opening, parents };
  knownNodes.set(nodes, found);
  return found;
}

function pushTo<T>(lists: Map<number, T[]>, at: number, value: T): void {
  const known = lists.get(at);
  if (known === undefined) lists.set(at, [value]);
  else known.push(value);
}

interface UseOfRows {
  readonly path: string;
  readonly parent: Table;
}

/** Returns the uses by the keys that parent rows have of their children. */
function heldUses(model: RelationalModel): ReadonlyMap<Table, readonly UseOfRows[]> {
  return new Map(
    [...keyHolders(model)].map(([table, holders]) => [
      model.tables[table]!,
      holders.map((holder): UseOfRows => ({
        path: holder.path,
        parent: firstOfRow(model, model.tables[holder.table]!),
      })),
    ]),
  );
}

/** Returns the uses by the table's keys to parent rows. `table`: the first table of the rows. */
function ownUses(model: RelationalModel, table: Table): readonly UseOfRows[] {
  return table.columns.flatMap(({ role, path, references, roles }) => {
    // a row that hangs from the head of its group has the head's place
    if (role !== 'parent_key' || references === null || path.endsWith('/(head)')) return [];
    const parent = model.tables[references]!;
    return roles === undefined
      ? [{ path, parent }]
      : roles.map((one) => ({ path: `${path}/${one}`, parent }));
  });
}

/** The first of the tables that hold one row. */
function firstOfRow({ tables }: RelationalModel, table: Table): Table {
  let first = table;
  while (first.continues !== undefined) first = tables[first.continues]!;
  return first;
}
