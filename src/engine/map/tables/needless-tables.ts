/** Finds tables that would only link others: their content can as well be read in the row that it belongs to. */
import { type ColumnDraft, type Drawing, type TableDraft, hangsFromHead } from './model-builder.ts';
import type { SourceModel } from '../../model/source-model.ts';
import { isUrType } from './type-graph.ts';

/** the most columns that such a table may add to a row, and that the row may then have */
const maxColumns = 24;
const maxColumnsOfRow = 240;
/** the most elements in one row: they may be nested, and a drawing descends through all of them in one step */
const maxElementsOfRow = 400;
/** the most tables that keys of one table may refer to after folding: more are worse than one table in between */
const maxParents = 8;

/** The elements whose rows are in one table. */
interface Uses {
  /** keys of the uses, which link a row with that of its child */
  readonly keys: Set<ColumnDraft>;
  /** rows that have such a child */
  readonly holders: Set<TableDraft>;
  /** places in the form that `Drawing.placeOf` returns */
  readonly places: Set<string>;
  /** some uses need it to be a table */
  isNeeded: boolean;
}

/**
 * Returns the places of children that occur at most once and should be folded: the child's table has the rows of no other place and only
 * keys as columns, so that tables below it can refer to the row above it without another table or many more keys.
 */
export function needlessPlaces(drawing: Drawing): string[] {
  const uses = usesOf(drawing);
  const below = tablesBelow(drawing);
  const widths = new Map(drawing.tables.map((table) => [table, table.columns.length]));
  const rows = new FoldedRows(drawing);
  const places: string[] = [];
  // tables below come later in the list, and may be folded together with the table that holds them
  for (const table of drawing.tables.toReversed()) {
    const used = uses.get(table);
    if (used === undefined || used.isNeeded || table.holdsRoots || table.kind !== 'element') continue;
    const own = widths.get(table)! - table.columns.filter(({ role }) => ofRows.has(role)).length;
    const hanging = below.get(table) ?? new Set();
    const isNeedless =
      used.keys.size === 1
        ? own <= maxColumns
        : own === 0 && [...hanging].every((child) => mayHang(child, table, used, below));
    const fits = [...used.holders].every((holder) => widths.get(holder)! + own <= maxColumnsOfRow);
    if (!isNeedless || !fits || !rows.fold(table, used.holders)) continue;
    places.push(...used.places);
    for (const holder of used.holders) {
      widths.set(holder, widths.get(holder)! + own);
      below.set(holder, new Set([...(below.get(holder) ?? []), ...hanging]));
    }
  }
  return places;
}

/** Counts the elements in each row. */
class FoldedRows {
  readonly #rowOf = new Map<TableDraft, TableDraft>();
  readonly #counts = new Map<TableDraft, number>();

  constructor({ nodes }: Drawing) {
    for (const { table } of nodes) this.#counts.set(table, this.#count(table) + 1);
  }

  /** Folds a table, and returns true; returns false if a row would have too many elements. */
  fold(table: TableDraft, holders: ReadonlySet<TableDraft>): boolean {
    const own = this.#count(table);
    const rows = new Set([...holders].map((holder) => this.#row(holder)));
    if ([...rows].some((row) => this.#count(row) + own > maxElementsOfRow)) return false;
    for (const row of rows) this.#counts.set(row, this.#count(row) + own);
    const [row] = rows;
    if (row !== undefined) this.#rowOf.set(table, row);
    return true;
  }

  #count(row: TableDraft): number {
    return this.#counts.get(row) ?? 0;
  }

  #row(table: TableDraft): TableDraft {
    let row = table;
    for (let next = this.#rowOf.get(row); next !== undefined; next = this.#rowOf.get(row)) row = next;
    return row;
  }
}

const ofRows: ReadonlySet<ColumnDraft['role']> = new Set(['row_key', 'document', 'parent_key', 'position']);

/**
 * Tests whether a child table may refer to the rows above instead. If it has a place of its own, there is then one such table for each of
 * these rows' tables. The number of tables does not grow if the table above is removed.
 */
function mayHang(
  child: TableDraft,
  above: TableDraft,
  { keys, holders }: Uses,
  below: ReadonlyMap<TableDraft, ReadonlySet<TableDraft>>,
): boolean {
  if ('under' in child.origin) return keys.size === 2 && below.get(above)!.size === 1 && !below.has(child);
  const parents = new Set(child.columns.flatMap(({ parent }) => (parent === null ? [] : [parent])));
  for (const holder of holders) parents.add(holder);
  return parents.size - 1 <= maxParents;
}

function usesOf({ nodes, placeOf }: Drawing): ReadonlyMap<TableDraft, Uses> {
  const uses = new Map<TableDraft, Uses>();
  const usesIn = (table: TableDraft): Uses => {
    let known = uses.get(table);
    if (known === undefined) {
      known = { keys: new Set(), holders: new Set(), places: new Set(), isNeeded: false };
      uses.set(table, known);
    }
    return known;
  };
  for (const { table, type, edges, typeEdges } of nodes) {
    for (const { name, node, parentKey, childKey, maxOccurs, substitution, head } of edges) {
      if (!node.opensRow) continue;
      const used = usesIn(node.table);
      const key = childKey ?? parentKey;
      used.isNeeded ||= maxOccurs !== 1 || substitution || node.elementName !== null || head !== null;
      used.isNeeded ||= key === null || node.typeEdges.length > 0 || node.textTable !== null;
      if (head !== null) usesIn(head.node.table).isNeeded = true;
      if (key !== null) used.keys.add(key);
      used.holders.add(table);
      const place = placeOf(type, name);
      if (place === null) used.isNeeded = true;
      else used.places.add(place);
    }
    for (const { node, parentKey } of typeEdges) if (parentKey !== null) usesIn(node.table).isNeeded = true;
  }
  return uses;
}

function tablesBelow({ tables }: Drawing): Map<TableDraft, Set<TableDraft>> {
  const below = new Map<TableDraft, Set<TableDraft>>();
  for (const table of tables)
    for (const { parent } of table.columns) {
      if (parent === null) continue;
      const hanging = below.get(parent) ?? new Set();
      below.set(parent, hanging.add(table));
    }
  return below;
}

// Finds tables that refer to very many others, or that hold elements with no type in common, and that have no tables below them: each place
// gets a table of its own instead.

/** the most tables that the keys of one table refer to: with more, a reader can no longer see how they belong together */
const maxParentsOfLeaf = 16;

/** Returns the first paths of such tables. A table with rows below it stays one table, because the tables below would multiply as well. */
export function crowdedLeaves({ tables }: Drawing, { types }: SourceModel): string[] {
  const inner = new Set<TableDraft>();
  for (const table of tables)
    for (const { role, parent } of table.columns) {
      if (parent !== null) inner.add(parent);
      if (role === 'child_key') inner.add(table);
    }
  return tables.flatMap((table) => {
    const { origin } = table;
    if (inner.has(table) || !('declared' in origin)) return [];
    const keys = table.columns.filter(({ role }) => role === 'parent_key');
    const parents = new Set(keys.map(({ parent }) => parent));
    const hangs = keys.some(({ via }) => via[0] === hangsFromHead);
    const hasNoType = [...table.openers].some(({ type }) => isUrType(types[type]!));
    return (parents.size > maxParentsOfLeaf || hasNoType) && !hangs ? origin.declared.slice(0, 1) : [];
  });
}
