/**
 * The mapping plan in the form for writing documents: the possible content of an element, and the columns that show its presence. Built
 * node by node.
 */
import { createNameLabels, xsiNamespace, type NameLabels } from '../model/name-labels.ts';
import { membersOf, peekMember } from '../model/packed/reader.ts';
import type { ColumnRole, PlanEdge, PlanNode, RelationalModel, Table } from '../model/relational-model.ts';
import { rowColumns, rowColumnsOf, type RowColumn } from '../model/wide-rows.ts';
import { utf8Of } from './rows/values.ts';
import { createOutputNamespaces, type OutputNamespaces } from './xml-output.ts';

/** A child element that has rows. */
export interface RowChild {
  /** its name as it is written, in UTF-8 */
  readonly tag: Uint8Array;
  /** the text that names the child in its row, in UTF-8 */
  readonly label: Uint8Array;
  readonly node: number;
  /** the row of the element hangs, by this column, from a row of its group's head; -1: that row is its own */
  readonly ownParentKeyColumn: number;
}

/** A way in which rows of a table are children of an element. */
export interface RowUse {
  /** column of the row that has the key of the parent's; -1: that has the key of the row, in `childKeyColumn` */
  readonly parentKeyColumn: number;
  /** column of the parent's row; -1: none */
  readonly childKeyColumn: number;
  /** for roots: columns that must have no value, because a row with a parent, or with a position in one, is not a root */
  readonly otherParents: readonly number[];
  /** column that names the child; -1 if there is only one */
  readonly elementNameColumn: number;
  /** rows with other names may have the same key, and be elsewhere in the parent's row */
  readonly byRole: boolean;
  readonly children: readonly RowChild[];
}

export interface RowGroup {
  readonly table: number;
  readonly keyColumn: number;
  readonly positionColumn: number;
  readonly uses: readonly RowUse[];
}

/** Text runs or wildcard content. */
export interface ContentTable {
  readonly table: number;
  readonly kind: 'text' | 'wildcard';
  readonly parentKeyColumn: number;
  readonly positionColumn: number;
  readonly contentColumn: number;
}

export interface FoldedChild {
  /** its name as it is written, in UTF-8 */
  readonly tag: Uint8Array;
  readonly label: string;
  readonly labelBytes: Uint8Array;
  readonly node: number;
  readonly positionColumn: number;
  readonly presenceColumn: number;
  readonly elementNameColumn: number;
}

/** Anything of this in a row shows that the folded element is there. */
export interface Evidence {
  readonly columns: readonly number[];
  readonly rows: readonly EvidentRows[];
}

export interface EvidentRows {
  readonly table: number;
  readonly parentKeyColumn: number;
  /** if rows with other names may have the same key: the column that distinguishes them, and the name in UTF-8; null: they cannot */
  readonly role: { readonly column: number; readonly label: Uint8Array } | null;
}

export interface NodeAttribute {
  /** its name as it is written, in UTF-8 */
  readonly tag: Uint8Array;
  readonly column: number;
  readonly isType: boolean;
}

export interface WritingNode {
  readonly plan: PlanNode;
  readonly attributes: readonly NodeAttribute[];
  readonly groups: readonly RowGroup[];
  readonly contents: readonly ContentTable[];
  /** in the order in which they fill the free positions */
  readonly folded: readonly FoldedChild[];
  /** no folded child has a position in a row */
  readonly isFree: boolean;
  /** columns alone contain the element's content, so that few calls are needed */
  readonly isFlat: boolean;
  /** indexed by the type's label */
  readonly types: ReadonlyMap<string, PlanNode['typeEdges'][number]>;
  /** tables whose rows may be in the element or in elements folded into it */
  readonly tables: readonly number[];
}

export interface WritingPlan {
  readonly model: RelationalModel;
  /** the columns of a table's rows as the plan counts them */
  readonly columns: (table: number) => readonly RowColumn[];
  readonly namespaces: OutputNamespaces;
  readonly labels: NameLabels;
  readonly typeAttribute: string;
  /** in UTF-8 */
  readonly nilAttribute: Uint8Array;
  /** the type that an element says it has may have its values in a row of another table */
  readonly hasHangingRows: boolean;
  /** tables of root rows; the parent key column is that of the document */
  readonly roots: readonly RowGroup[];
  node(index: number): WritingNode;
  evidence(node: number): Evidence;
}

export function createWritingPlan(model: RelationalModel): WritingPlan {
  const namespaces = createOutputNamespaces(model);
  const labels = createNameLabels(model);
  const nodes: (WritingNode | undefined)[] = [];
  const evidences: (Evidence | undefined)[] = [];
  const plan: WritingPlan = {
    model,
    columns: rowColumnsOf(model),
    namespaces,
    labels,
    typeAttribute: namespaces.nameOf({ namespaceUri: xsiNamespace, localName: 'type' }),
    nilAttribute: utf8Of(namespaces.nameOf({ namespaceUri: xsiNamespace, localName: 'nil' })),
    hasHangingRows: membersOf(model.nodes, 'typeEdges').some((typeEdges) =>
      typeEdges.some(({ parentKeyColumn }) => parentKeyColumn >= 0),
    ),
    roots: rowGroups(model, model.roots, namespaces, labels, true),
    node: (index) => (nodes[index] ??= writingNode(plan, model.nodes[index]!)),
    evidence: (index) => (evidences[index] ??= evidenceOf(plan, index)),
  };
  return plan;
}

export function roleColumn(table: Table, role: ColumnRole): number {
  let known = roleColumns.get(table);
  if (known === undefined) {
    const columns = peekMember(table, 'columns').entries();
    // the first of each role
    known = new Map([...columns].toReversed().map(([at, column]) => [column.role, at]));
    roleColumns.set(table, known);
  }
  return known.get(role) ?? -1;
}

/**
 * Caches the role columns of the tables that were asked for. Most tables of a large model have no rows, so their columns are not stored.
 */
const roleColumns = new WeakMap<Table, ReadonlyMap<ColumnRole, number>>();

function writingNode(plan: WritingPlan, node: PlanNode): WritingNode {
  const { model, namespaces, labels } = plan;
  const folded = node.edges
    .filter((edge) => edge.head === undefined && !model.nodes[edge.node]!.opensRow)
    .toSorted((a, b) => a.node - b.node)
    .map((edge): FoldedChild => {
      const child = model.nodes[edge.node]!;
      const label = labels.element(edge.name);
      return {
        tag: namespaces.bytesOf(namespaces.nameOf(edge.name)),
        label,
        labelBytes: namespaces.bytesOf(label),
        node: edge.node,
        positionColumn: child.foldedPositionColumn,
        presenceColumn: child.presenceColumn,
        elementNameColumn: child.elementNameColumn,
      };
    });
  const groups = rowGroups(model, node.edges, namespaces, labels, false);
  const contents = [
    ...contentTable(model, node.textTable, 'text'),
    ...contentTable(model, node.wildcardTable, 'wildcard'),
  ];
  const inFolded = folded.flatMap((child) => plan.evidence(child.node).rows.map(({ table }) => table));
  const tables = [
    ...new Set([
      ...groups.map((group) => group.table),
      ...contents.map((content) => content.table),
      ...inFolded,
    ]),
  ];
  const isFree = folded.every((child) => child.positionColumn < 0 && child.elementNameColumn < 0);
  return {
    plan: node,
    attributes: node.attributes
      .filter(({ column }) => column >= 0)
      .map(({ name, column }) => ({
        tag: namespaces.bytesOf(namespaces.nameOf(name)),
        column,
        isType: name.namespaceUri === xsiNamespace && name.localName === 'type',
      })),
    groups,
    contents,
    folded,
    isFree,
    isFlat: isFree && tables.length === 0 && folded.every((child) => isLeaf(model.nodes[child.node]!)),
    types: new Map(node.typeEdges.map((edge) => [labels.type(edge.name), edge])),
    tables,
  };
}

/** True if the element has only text. */
function isLeaf({ edges, textTable, wildcardTable, typeEdges }: PlanNode): boolean {
  return edges.length === 0 && textTable < 0 && wildcardTable < 0 && typeEdges.length === 0;
}

function contentTable(model: RelationalModel, index: number, kind: ContentTable['kind']): ContentTable[] {
  const table = model.tables[index];
  if (table === undefined) return [];
  return [
    {
      table: index,
      kind,
      parentKeyColumn: roleColumn(table, 'parent_key'),
      positionColumn: roleColumn(table, 'position'),
      contentColumn: roleColumn(table, 'content'),
    },
  ];
}

/** Returns the children with rows, grouped by the table whose rows are children of the parent. */
function rowGroups(
  model: RelationalModel,
  edges: readonly PlanEdge[],
  namespaces: OutputNamespaces,
  labels: NameLabels,
  areRoots: boolean,
): RowGroup[] {
  const groups = new Map<number, RowUse[]>();
  for (const edge of edges) {
    const own = model.nodes[edge.node]!;
    const standing = edge.head === undefined ? own : model.nodes[edge.head.node]!;
    if (!standing.opensRow) continue;
    const uses = groups.get(standing.table) ?? [];
    groups.set(standing.table, uses);
    const parentKeyColumn = areRoots
      ? roleColumn(model.tables[standing.table]!, 'document')
      : (edge.head?.parentKeyColumn ?? edge.parentKeyColumn);
    const child: RowChild = {
      tag: namespaces.bytesOf(namespaces.nameOf(edge.name)),
      label: namespaces.bytesOf(edge.role ?? labels.element(edge.name)),
      node: edge.node,
      ownParentKeyColumn: edge.head === undefined ? -1 : edge.parentKeyColumn,
    };
    const { elementNameColumn } = standing;
    const { childKeyColumn = -1 } = edge;
    const known = uses.find(
      (use) =>
        use.parentKeyColumn === parentKeyColumn &&
        use.childKeyColumn === childKeyColumn &&
        use.elementNameColumn === elementNameColumn,
    );
    const otherParents = areRoots ? placesInParents(model, standing.table) : [];
    const byRole = edge.role !== undefined;
    if (known === undefined)
      uses.push({
        parentKeyColumn,
        childKeyColumn,
        otherParents,
        elementNameColumn,
        byRole,
        children: [child],
      });
    else (known.children as RowChild[]).push(child);
  }
  return [...groups].map(([table, uses]) => ({
    table,
    keyColumn: roleColumn(model.tables[table]!, 'row_key'),
    positionColumn: roleColumn(model.tables[table]!, 'position'),
    uses,
  }));
}

/** Returns the indexes of the parent keys and positions in the row, which includes the tables that continue it. */
function placesInParents(model: RelationalModel, table: number): number[] {
  return rowColumns(model, table).flatMap(({ column: { role } }, at) =>
    role === 'parent_key' || role === 'position' ? [at] : [],
  );
}

/** Columns and child rows of a folded element and of all that is folded into it. */
function evidenceOf(plan: WritingPlan, index: number): Evidence {
  const node = plan.model.nodes[index]!;
  const columns = [
    node.textColumn,
    node.presenceColumn,
    node.nilColumn,
    node.elementNameColumn,
    node.typeNameColumn,
    node.foldedPositionColumn,
    node.anyAttributeColumn,
    ...node.attributes.map(({ column }) => column),
  ].filter((column) => column >= 0);
  const rows: EvidentRows[] = [];
  for (const table of [node.textTable, node.wildcardTable]) {
    if (table >= 0)
      rows.push({
        table,
        parentKeyColumn: roleColumn(plan.model.tables[table]!, 'parent_key'),
        role: null,
      });
  }
  for (const edge of node.edges) {
    const standing = plan.model.nodes[edge.head?.node ?? edge.node]!;
    if (edge.childKeyColumn !== undefined) {
      columns.push(edge.childKeyColumn);
      // its rows are to be open
      rows.push({ table: standing.table, parentKeyColumn: -1, role: null });
    } else if (standing.opensRow) {
      rows.push({
        table: standing.table,
        parentKeyColumn: edge.head?.parentKeyColumn ?? edge.parentKeyColumn,
        role:
          edge.role === undefined
            ? null
            : { column: standing.elementNameColumn, label: plan.namespaces.bytesOf(edge.role) },
      });
    }
    if (standing.opensRow) continue;
    const inner = plan.evidence(edge.node);
    columns.push(...inner.columns);
    rows.push(...inner.rows);
  }
  // an xsi:type shows its own presence; the content of its type need not be checked, but its rows must be opened
  for (const { node: alternative, parentKeyColumn } of node.typeEdges) {
    if (parentKeyColumn < 0) rows.push(...plan.evidence(alternative).rows);
  }
  return { columns: [...new Set(columns)], rows };
}
