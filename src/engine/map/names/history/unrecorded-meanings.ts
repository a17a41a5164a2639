/**
 * What the names of a model stand for that does not say so (earlier releases recorded no paths): its plan and the new drawing are
 * walked side by side. A table or column is taken for the one that the same content goes to now, where nothing else does; what is
 * not as clear as that keeps its name for itself.
 */
import type { Column, PlanNode, RelationalModel } from '../../../model/relational-model.ts';
import type { QName } from '../../../model/source-model.ts';
import { rowColumnsOf, type RowColumn } from '../../../model/wide-rows.ts';
import { useText } from '../../../model/column-uses.ts';
import {
  columnPath,
  type ColumnDraft,
  type Drawing,
  type NodeDraft,
  type TableDraft,
} from '../../tables/model-builder.ts';
import { identifierOf } from '../identifiers.ts';
import type { EarlierMeanings } from './previous.ts';
import { namespaceCounterpart, namespacesOf, type UseNamespaces } from '../use-paths.ts';

/** The paths of the drawing's tables are settled. */
export function unrecordedMeanings(
  model: RelationalModel,
  drawing: Drawing,
  later: UseNamespaces,
): EarlierMeanings {
  const pairs = new PlanPairs(model, namespaceCounterpart(namespacesOf(model), later));
  pairs.walk(drawing);
  return {
    tablePath: (table) => pairs.tableOf(table)?.usePath ?? null,
    columnUse: (table, column) => {
      const draft = pairs.tableOf(table);
      const use = draft === undefined ? undefined : pairs.columnOf(table, column, draft);
      return use === undefined ? null : useOfDraft(use, draft!);
    },
    translate: (text) => text,
  };
}

export function useOfDraft(column: ColumnDraft, table: TableDraft): string {
  const leadsTo = column.role === 'parent_key' ? column.parent : column.child;
  return useText(column.role, columnPath(column, table), leadsTo?.usePath ?? null);
}

/** Pairs of what was and what is; only those that are each other's one partner count. */
class OneToOne<A, B> {
  readonly #to = new Map<A, Set<B>>();
  readonly #from = new Map<B, Set<A>>();

  add(a: A, b: B): void {
    const [to, from] = [this.#to.get(a), this.#from.get(b)];
    if (to === undefined) this.#to.set(a, new Set([b]));
    else to.add(b);
    if (from === undefined) this.#from.set(b, new Set([a]));
    else from.add(a);
  }

  of(a: A): B | undefined {
    const [b, other] = this.#to.get(a) ?? [];
    return b === undefined || other !== undefined || this.#from.get(b)!.size > 1 ? undefined : b;
  }
}

class PlanPairs {
  readonly #model: RelationalModel;
  readonly #counterpart: (uri: string) => string;
  readonly #rowColumns: (table: number) => readonly RowColumn[];
  readonly #tables = new OneToOne<number, TableDraft>();
  readonly #columns = new OneToOne<Column, ColumnDraft>();
  readonly #met = new Map<number, Set<NodeDraft>>();
  readonly #open: (readonly [number, NodeDraft])[] = [];

  constructor(model: RelationalModel, counterpart: (uri: string) => string) {
    this.#model = model;
    this.#counterpart = counterpart;
    this.#rowColumns = rowColumnsOf(model);
  }

  walk(drawing: Drawing): void {
    this.#edges(this.#model.roots, drawing.roots);
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop())
      this.#nodes(this.#model.nodes[next[0]]!, next[1]);
  }

  /** A table for one place is not taken for one that several share, nor the other way round. */
  tableOf(table: number): TableDraft | undefined {
    const draft = this.#tables.of(table);
    if (draft === undefined) return undefined;
    const before = this.#rowColumns(table).filter(({ column }) => leadsHere(column)).length;
    const after = draft.columns.filter(leadsHere).length;
    if (before > 1 !== after > 1) return undefined;
    // one that has become a type's goes by another name than that of the one element it held
    const isOfType = after > 1 || draft.ownName === null || this.#isNamed(table, draft.ownName);
    return isOfType ? draft : undefined;
  }

  #isNamed(table: number, ownName: string): boolean {
    const name = this.#model.tables[table]!.name.toLowerCase();
    return name.includes(ownName.toLowerCase()) || name.includes(identifierOf(ownName, 'l', true));
  }

  columnOf(table: number, column: Column, draft: TableDraft): ColumnDraft | undefined {
    if (column.role === 'extra')
      return draft.columns.find(({ role, nameParts }) => role === 'extra' && nameParts[0] === column.name);
    const found = this.#columns.of(column);
    if (found === undefined || !draft.columns.includes(found) || found.role !== column.role) return undefined;
    if (column.role !== 'parent_key') return found;
    return this.tableOf(column.references!) === found.parent ? found : undefined;
  }

  #pair(node: number, draft: NodeDraft): void {
    const met = this.#met.get(node);
    if (met?.has(draft) === true) return;
    if (met === undefined) this.#met.set(node, new Set([draft]));
    else met.add(draft);
    this.#open.push([node, draft]);
  }

  #column(table: number, at: number, draft: ColumnDraft | null): void {
    if (at >= 0 && draft !== null) this.#columns.add(this.#rowColumns(table)[at]!.column, draft);
  }

  #rows(table: number, draft: TableDraft): void {
    this.#tables.add(table, draft);
    const own = draft.columns.filter(({ role }) => structure.has(role));
    for (const { column } of this.#rowColumns(table)) {
      if (!structure.has(column.role) || (column.role === 'row_key' && column.references !== null)) continue;
      const found = own.find(({ role }) => role === column.role);
      if (found !== undefined) this.#columns.add(column, found);
    }
  }

  #nodes(node: PlanNode, draft: NodeDraft): void {
    if (node.opensRow && draft.opensRow) this.#rows(node.table, draft.table);
    const slots = [
      [node.textColumn, draft.text],
      [node.presenceColumn, draft.presence],
      [node.nilColumn, draft.nil],
      [node.elementNameColumn, draft.elementName],
      [node.typeNameColumn, draft.typeName],
      [node.foldedPositionColumn, draft.foldedPosition],
      [node.anyAttributeColumn, draft.anyAttribute],
    ] as const;
    for (const [at, column] of slots) this.#column(node.table, at, column);
    const attributes = new Map(draft.attributes.map(({ name, column }) => [this.#key(name), column]));
    for (const { name, column } of node.attributes)
      this.#column(node.table, column, attributes.get(this.#earlierKey(name)) ?? null);
    this.#edges(node.edges, draft.edges);
    const types = new Map(draft.typeEdges.map((edge) => [this.#key(edge.name), edge]));
    for (const { name, node: target, parentKeyColumn } of node.typeEdges) {
      const edge = types.get(this.#earlierKey(name));
      if (edge === undefined) continue;
      this.#pair(target, edge.node);
      this.#column(this.#model.nodes[target]!.table, parentKeyColumn, edge.parentKey);
    }
    this.#runs(node.textTable, draft.textTable);
    this.#runs(node.wildcardTable, draft.wildcardTable);
  }

  #edges(edges: PlanNode['edges'], drafts: NodeDraft['edges']): void {
    const byName = new Map(drafts.map((edge) => [this.#key(edge.name), edge]));
    for (const { name, node, parentKeyColumn, head } of edges) {
      const edge = byName.get(this.#earlierKey(name));
      if (edge === undefined) continue;
      this.#pair(node, edge.node);
      this.#column(this.#model.nodes[node]!.table, parentKeyColumn, edge.parentKey);
      if (head === undefined || edge.head === null) continue;
      this.#pair(head.node, edge.head.node);
      this.#column(this.#model.nodes[head.node]!.table, head.parentKeyColumn, edge.head.parentKey);
    }
  }

  /** Tables of text runs and wildcard content have one parent key. */
  #runs(table: number, draft: TableDraft | null): void {
    if (table < 0 || draft === null) return;
    this.#rows(table, draft);
    for (const role of ['parent_key', 'content'] as const) {
      const at = this.#rowColumns(table).findIndex(({ column }) => column.role === role);
      this.#column(table, at, draft.columns.find((column) => column.role === role) ?? null);
    }
  }

  #key({ namespaceUri, localName }: QName): string {
    return `${namespaceUri}\n${localName}`;
  }

  #earlierKey({ namespaceUri, localName }: QName): string {
    return this.#key({ namespaceUri: this.#counterpart(namespaceUri), localName });
  }
}

const structure: ReadonlySet<Column['role']> = new Set(['row_key', 'document', 'position']);

function leadsHere({ role }: Pick<Column, 'role'>): boolean {
  return role === 'parent_key' || role === 'document';
}
