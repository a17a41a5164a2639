/** The mapping plan in the form the shredder walks: names as interned ids, conversions at hand; of a large model, what documents reach. */
import { lazyArray } from '../model/packed/lazy-array.ts';
import { factsOf } from '../model/facts.ts';
import { everyRowNamesDocument } from '../model/key-columns.ts';
import type { Column, PlanEdge, PlanNode, RelationalModel } from '../model/relational-model.ts';
import { holdsNames } from '../model/source-model.ts';
import { keepsSpace } from '../model/white-space.ts';
import { rowColumns, rowTables } from '../model/wide-rows.ts';
import { hasOffsetBehind } from '../model/zones.ts';
import type { NameTable } from '../xml/tokens.ts';
import { conversionFor, type ValueConversion } from './values/conversion.ts';
import type { RowEncoder } from './rows/encoding.ts';

export interface CompiledTable {
  readonly index: number;
  readonly name: string;
  /** the row's columns: those of the table, then those of the tables that continue it */
  readonly columns: readonly Column[];
  /** the tables the row is written to, each with its share of `columns` */
  readonly parts: readonly CompiledPart[];
  /** columns of `parts` beyond the first that repeat the row key */
  readonly repeatedKeys: Int32Array;
  readonly rowKeyColumn: number;
  /** columns of role document take the document's key in every row, where nothing else is set */
  readonly namesDocument: boolean;
  /** where the rows of root elements alone name it: the column; -1 for none */
  readonly rootDocumentColumn: number;
  readonly positionColumn: number;
  readonly parentKeyColumn: number;
  readonly contentColumn: number;
  /** columns of role value or child_key that are NOT NULL */
  readonly required: Int32Array;
  readonly conversions: readonly ValueConversion[];
  /** 1: the offset from UTC that a value is written with goes to the column behind it */
  readonly keepsOffset: Uint8Array;
  /** 1: values of the column are QNames, whose prefixes mean something only where they stand */
  readonly holdsNames: Uint8Array;
  /** columns and marks of folded children, each with a start and an end */
  readonly slotCount: number;
}

/** One table of a row that may be wider than a table. */
export interface CompiledPart {
  readonly index: number;
  readonly name: string;
  /** the columns from `start` up to `end` */
  readonly start: number;
  readonly end: number;
}

export interface CompiledNode {
  readonly plan: PlanNode;
  readonly index: number;
  readonly table: CompiledTable;
  /** slot that says whether this folded child was seen in the row; -1 where the element opens a row */
  readonly seenSlot: number;
  /** text runs make rows or a value; else text is a deviation */
  readonly takesText: boolean;
  /** text is a value to which white space belongs */
  readonly keepsSpace: boolean;
  /** folded, without a column of its own that says it is there */
  readonly showsNothing: boolean;
}

export interface CompiledPlan {
  /** a table that continues another's rows is there, but no row is opened in it */
  readonly tables: readonly CompiledTable[];
  readonly nodes: readonly CompiledNode[];
  rootEdge(nameId: number): PlanEdge | null;
  childEdge(node: number, nameId: number): PlanEdge | null;
  /** column of an attribute; -1 when the node has none of that name */
  attributeColumn(node: number, nameId: number): number;
  /** see the settings of a walk */
  readonly scalesDecimals: boolean;
}

export function compilePlan(
  model: RelationalModel,
  names: NameTable,
  encoder: RowEncoder,
  scalesDecimals: boolean,
): CompiledPlan {
  const { marks, markCounts } = factsOf(model);
  const namesDocument = everyRowNamesDocument(model);
  const tables = lazyArray(model.tables.length, (index): CompiledTable => {
    const columns = rowColumns(model, index).map(({ column }) => column);
    const find = (role: Column['role']): number => columns.findIndex((column) => column.role === role);
    const required = columns.flatMap(({ role, nullable }, i) =>
      (role === 'value' || role === 'child_key') && !nullable ? [i] : [],
    );
    const keepsOffset = Uint8Array.from(columns, ({ type }, at) =>
      type.kind === 'timestamptz' && hasOffsetBehind(columns, at) ? 1 : 0,
    );
    return {
      index,
      name: model.tables[index]!.name,
      columns,
      parts: compileParts(model, index),
      repeatedKeys: Int32Array.from(
        columns.flatMap(({ role, references }, at) =>
          role === 'row_key' && references !== null ? [at] : [],
        ),
      ),
      rowKeyColumn: find('row_key'),
      namesDocument,
      rootDocumentColumn: namesDocument ? -1 : find('document'),
      positionColumn: find('position'),
      parentKeyColumn: find('parent_key'),
      contentColumn: find('content'),
      required: Int32Array.from(required),
      conversions: columns.map((column, at) =>
        conversionFor(column, encoder, scalesDecimals, keepsOffset[at] === 1),
      ),
      keepsOffset,
      holdsNames: Uint8Array.from(columns, ({ sourceType }) => (holdsNames(sourceType) ? 1 : 0)),
      slotCount: columns.length + markCounts[index]!,
    };
  });
  const nodes = lazyArray(model.nodes.length, (index): CompiledNode => {
    const plan = model.nodes[index]!;
    const table = tables[plan.table]!;
    return {
      plan,
      index,
      table,
      seenSlot: plan.opensRow ? -1 : table.columns.length + marks[index]!,
      takesText: plan.textColumn >= 0 || plan.textTable >= 0,
      keepsSpace:
        plan.textColumn >= 0 && (plan.content === 'mixed' || keepsSpace(table.columns[plan.textColumn]!)),
      showsNothing:
        !plan.opensRow &&
        plan.presenceColumn < 0 &&
        plan.elementNameColumn < 0 &&
        plan.foldedPositionColumn < 0,
    };
  });
  const roots = nameLookup(names, model.roots);
  const edges: (((id: number) => PlanEdge | null) | undefined)[] = [];
  const attributes: (((id: number) => { column: number } | null) | undefined)[] = [];
  return {
    tables,
    nodes,
    rootEdge: roots,
    scalesDecimals,
    childEdge: (node, nameId) => (edges[node] ??= nameLookup(names, model.nodes[node]!.edges))(nameId),
    attributeColumn: (node, nameId) =>
      (attributes[node] ??= nameLookup(names, model.nodes[node]!.attributes))(nameId)?.column ?? -1,
  };
}

function compileParts(model: RelationalModel, table: number): CompiledPart[] {
  let end = 0;
  return rowTables(model, table).map((index) => {
    const { name, columns } = model.tables[index]!;
    const start = end;
    end += columns.length;
    return { index, name, start, end };
  });
}

/** The part of a row that a column lies in. */
export function partOf(table: CompiledTable, column: number): CompiledPart {
  return table.parts.find((part) => column < part.end)!;
}

/** Lookup by interned name id; interning the wanted names once makes it one array access. */
function nameLookup<
  T extends { readonly name: { readonly namespaceUri: string; readonly localName: string } },
>(names: NameTable, items: readonly T[]): (nameId: number) => T | null {
  const byId: (T | undefined)[] = [];
  const ids = new Map<number, T>();
  for (const item of items) ids.set(names.intern(item.name.namespaceUri, item.name.localName), item);
  // a dense array while ids are small, as those of one model of usual size are
  const largest = Math.max(-1, ...ids.keys());
  if (largest > 1000 + 16 * items.length) return (nameId) => ids.get(nameId) ?? null;
  for (let id = 0; id <= largest; id += 1) byId.push(ids.get(id));
  return (nameId) => byId[nameId] ?? null;
}
