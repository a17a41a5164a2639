/**
 * The mapping plan in the form that the shredder uses, with names as interned ids and resolved conversions. For a large model, only the
 * parts that documents reach are compiled.
 */
import { lazyArray, memberOf, peekMember } from '../model/packed/reader.ts';
import { factsOf } from '../model/facts.ts';
import type { Column, PlanEdge, PlanNode, RelationalModel } from '../model/relational-model.ts';
import { holdsNames } from '../model/source-model.ts';
import { keepsSpace } from '../model/white-space.ts';
import { rowColumns, type RowColumn } from '../model/wide-rows.ts';
import { hasOffsetBehind } from '../model/zones.ts';
import { itemByName } from '../xml/names/interned.ts';
import type { NameTable } from '../xml/tokens.ts';
import { conversionFor, type ValueConversion } from './conversion.ts';
import type { RowEncoder } from './row-output.ts';

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
  readonly positionColumn: number;
  readonly parentKeyColumn: number;
  readonly contentColumn: number;
  /** columns of role value or child_key that are NOT NULL */
  readonly required: Int32Array;
  readonly conversions: readonly ValueConversion[];
  /** 1: the offset from UTC of a value is written to the next column */
  readonly keepsOffset: Uint8Array;
  /** 1: values of the column are QNames, whose prefixes must be resolved in the scope of the value */
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
  /** slot that records that this folded child was seen in the row; -1: the element opens a row */
  readonly seenSlot: number;
  /** runs of text make rows or a value; false: text is a deviation */
  readonly takesText: boolean;
  /** text is a value to which white space belongs */
  readonly keepsSpace: boolean;
  /** initial value of FRAME_SPACE; -1: inherited from the parent element */
  readonly space: 0 | 1 | -1;
  /** folded, without a column of its own that shows its presence */
  readonly showsNothing: boolean;
}

export interface CompiledPlan {
  /** includes tables that continue the rows of others, but no row is opened in these */
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
  const conversionOf = sharedConversions(encoder, scalesDecimals);
  const tables = lazyArray(model.tables.length, (index): CompiledTable => {
    const row = rowColumns(model, index, (table) => peekMember(table, 'columns'));
    const columns = row.map(({ column }) => column);
    const find = (role: Column['role']): number => columns.findIndex((column) => column.role === role);
    const required = columns.flatMap(({ role, nullable }, i) =>
      (role === 'value' || role === 'child_key') && !nullable ? [i] : [],
    );
    const keepsOffset = Uint8Array.from(columns, ({ type }, at) =>
      type.kind === 'timestamptz' && hasOffsetBehind(columns, at) ? 1 : 0,
    );
    return {
      index,
      name: memberOf(model.tables, index, 'name'),
      columns,
      parts: compileParts(model, row),
      repeatedKeys: Int32Array.from(
        columns.flatMap(({ role, references }, at) =>
          role === 'row_key' && references !== null ? [at] : [],
        ),
      ),
      rowKeyColumn: find('row_key'),
      positionColumn: find('position'),
      parentKeyColumn: find('parent_key'),
      contentColumn: find('content'),
      required: Int32Array.from(required),
      conversions: columns.map((column, at) => conversionOf(column, keepsOffset[at] === 1)),
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
      space: plan.space === undefined ? -1 : plan.space === 'preserve' ? 1 : 0,
      showsNothing:
        !plan.opensRow &&
        plan.presenceColumn < 0 &&
        plan.elementNameColumn < 0 &&
        plan.foldedPositionColumn < 0,
    };
  });
  const roots = itemByName(names, model.roots);
  const edges: (((nameId: number) => PlanEdge | null) | undefined)[] = [];
  const attributes: (((nameId: number) => { column: number } | null) | undefined)[] = [];
  return {
    tables,
    nodes,
    rootEdge: roots,
    scalesDecimals,
    childEdge: (node, nameId) => (edges[node] ??= itemByName(names, model.nodes[node]!.edges))(nameId),
    attributeColumn: (node, nameId) =>
      (attributes[node] ??= itemByName(names, model.nodes[node]!.attributes))(nameId)?.column ?? -1,
  };
}

function compileParts({ tables }: RelationalModel, row: readonly RowColumn[]): CompiledPart[] {
  let end = 0;
  return [...Map.groupBy(row, ({ table }) => table)].map(([index, columns]) => {
    const start = end;
    end += columns.length;
    return { index, name: memberOf(tables, index, 'name'), start, end };
  });
}

/** Returns a function that gives the conversion of a column. Columns that convert values alike share one conversion. */
function sharedConversions(
  encoder: RowEncoder,
  scalesDecimals: boolean,
): (column: Column, keepsOffset: boolean) => ValueConversion {
  const known = new Map<string, ValueConversion>();
  return (column, keepsOffset) => {
    const { type, sourceType, keepsForm = false, writtenAs = null } = column;
    const key = JSON.stringify([type, sourceType, keepsForm, writtenAs, keepsOffset]);
    let conversion = known.get(key);
    if (conversion === undefined) {
      conversion = conversionFor(column, encoder, scalesDecimals, keepsOffset);
      known.set(key, conversion);
    }
    return conversion;
  };
}

/** Returns the part of a row that contains a column. */
export function partOf(table: CompiledTable, column: number): CompiledPart {
  return table.parts.find((part) => column < part.end)!;
}
