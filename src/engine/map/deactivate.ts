/**
 * Leaves inactive content out of a relational model: its columns and tables are removed, and the plan says which content is ignored there,
 * so that it is counted and never mistaken for content that the schema does not declare.
 */
import type {
  Column,
  IdentityRule,
  IgnoredParts,
  MappingEntry,
  PlanEdge,
  PlanNode,
  RelationalModel,
  Table,
} from '../model/relational-model.ts';
import { keyHolders, type KeyHolder } from '../model/keys.ts';
import type { SourceModel } from '../model/source-model.ts';
import { rowColumnsOf, rowTables, type RowColumn } from '../model/wide-rows.ts';
import { hasOffsetBehind } from '../model/zones.ts';
import { chooseRoots } from './chosen-roots.ts';
import { lineIdentity } from './mappings.ts';
import { createPathPrinter, type PathPrinter, namespacesOf } from './names/paths.ts';
import { NameHistory, recordedMeanings, withFormerNames } from './names/history.ts';

/** The number of paths walked after which visited places are not walked again: the most lines that a map has. */
const maxSteps = 50_000;

/**
 * Leaves out the places of inactive lines. `inactive`: identities of lines. A place that several paths lead to is left out once all of them
 * are inactive. Returns the model itself if nothing is left out.
 */
export function leaveOutInactive(
  source: SourceModel,
  model: RelationalModel,
  inactive: ReadonlySet<string>,
): RelationalModel {
  if (inactive.size === 0) return model;
  const roots = chooseRoots(
    source,
    model.roots.map((root) => root.name),
  );
  const ignored = new PlanWalk(
    model,
    createPathPrinter({ ...source, namespaces: model.namespaces }, roots),
    inactive,
  ).walk();
  if (ignored.size === 0) return model;
  const kept = new Pruning(model, ignored, inactive).prune();
  // elements that are activated later get their names back; until then no other element uses those names
  return withFormerNames(kept, new NameHistory(model, recordedMeanings(model, namespacesOf(model))));
}

interface Lines {
  /** lines of the map at a path and below it, and how many of them are active */
  readonly listed: number;
  readonly active: number;
}

/** Finds the places of the plan whose lines are all inactive: `node/kind/index`. */
class PlanWalk {
  readonly #model: RelationalModel;
  readonly #paths: PathPrinter;
  readonly #inactive: ReadonlySet<string>;
  readonly #listed: ReadonlySet<string>;
  /** keyed by place: whether at least one path to it is active */
  readonly #activeAt = new Map<string, boolean>();
  readonly #visited = new Set<number>();
  #steps = 0;

  constructor(model: RelationalModel, paths: PathPrinter, inactive: ReadonlySet<string>) {
    this.#model = model;
    this.#paths = paths;
    this.#inactive = inactive;
    this.#listed = new Set(model.mappings.map(lineIdentity));
  }

  walk(): ReadonlySet<string> {
    for (const root of this.#model.roots) this.#visit(root, this.#paths.child('', root.name), []);
    return new Set([...this.#activeAt].flatMap(([slot, active]) => (active ? [] : [slot])));
  }

  #visit(edge: PlanEdge, xpath: string, ancestors: readonly number[]): Lines {
    const node = this.#model.nodes[edge.node]!;
    this.#steps += 1;
    let lines = this.#line('element', 'element', xpath);
    if (node.textColumn >= 0 && lines.listed > 0 && !node.opensRow && node.presenceColumn < 0)
      lines = noLines;
    const own = lines;
    if (this.#visited.has(edge.node) && this.#steps > maxSteps) return own;
    this.#visited.add(edge.node);
    const recursive = ancestors.includes(edge.node);
    lines = sum(lines, this.#content(edge.node, xpath, [...ancestors, edge.node], recursive));
    for (const typeEdge of node.typeEdges) {
      if (ancestors.includes(typeEdge.node)) continue;
      const path = [...ancestors, edge.node, typeEdge.node];
      lines = sum(lines, this.#content(typeEdge.node, xpath, path, recursive));
    }
    // without a row or column of its own, the element has no place for content below it
    return own.listed > 0 && own.active === 0 ? { listed: lines.listed, active: 0 } : lines;
  }

  #content(index: number, xpath: string, ancestors: readonly number[], recursive: boolean): Lines {
    const node = this.#model.nodes[index]!;
    let all = noLines;
    const note = (slot: string, lines: Lines): void => {
      if (lines.listed > 0) this.#note(`${index}/${slot}`, lines.active > 0);
      all = sum(all, lines);
    };
    if (node.textColumn >= 0) {
      const text = this.#line('text', '', xpath);
      note('text', text.listed > 0 || node.opensRow ? text : this.#line('element', '', xpath));
    }
    if (node.textTable >= 0) note('mixed', this.#line('mixed', '', xpath));
    if (node.wildcardTable >= 0) note('any', this.#line('any', 'any', xpath));
    if (node.anyAttributeColumn >= 0) note('anyAttribute', this.#line('any', 'anyAttribute', xpath));
    for (const [at, { name }] of node.attributes.entries()) {
      note(`attribute/${at}`, this.#line('attribute', '', this.#paths.attribute(xpath, name)));
    }
    for (const [at, child] of node.edges.entries()) {
      if (this.#model.nodes[child.node]!.opensRow && recursive) continue;
      note(`edge/${at}`, this.#visit(child, this.#paths.child(xpath, child.name), ancestors));
    }
    return all;
  }

  #line(nodeType: MappingEntry['nodeType'], sourceType: string, xpath: string): Lines {
    const identity = lineIdentity({ nodeType, sourceType, xpath });
    if (!this.#listed.has(identity)) return noLines;
    return { listed: 1, active: this.#inactive.has(identity) ? 0 : 1 };
  }

  #note(slot: string, active: boolean): void {
    this.#activeAt.set(slot, active || (this.#activeAt.get(slot) ?? false));
  }
}

const noLines: Lines = { listed: 0, active: 0 };

function sum(a: Lines, b: Lines): Lines {
  return { listed: a.listed + b.listed, active: a.active + b.active };
}

/** Writes a copy of the model without the ignored places, with all indexes recomputed. */
class Pruning {
  readonly #model: RelationalModel;
  readonly #ignored: ReadonlySet<string>;
  readonly #inactive: ReadonlySet<string>;
  /** old index -> new index; removed objects are left out */
  readonly #nodes = new Map<number, number>();
  readonly #tables = new Map<number, number>();
  readonly #columns: Map<number, number>[] = [];
  /** keyed by table: the holders of keys of its rows */
  readonly #holders: ReadonlyMap<number, readonly KeyHolder[]>;
  /** by table: the tables and positions of the columns of its rows */
  readonly #rows: (table: number) => readonly RowColumn[];
  /** keyed by table: the new positions in the row, by old column index as the plan counts columns */
  #rowPositions: readonly ReadonlyMap<number, number>[] = [];

  constructor(model: RelationalModel, ignored: ReadonlySet<string>, inactive: ReadonlySet<string>) {
    this.#model = model;
    this.#rows = rowColumnsOf(model);
    this.#holders = keyHolders(model);
    this.#ignored = ignored;
    this.#inactive = inactive;
  }

  prune(): RelationalModel {
    const model = this.#model;
    const kept = this.#reachableNodes();
    const used = model.tables.map(() => new Set<number>());
    for (const index of kept) this.#markColumns(index, used);
    for (const [table, columns] of used.entries()) {
      if (columns.size > 0) this.#tables.set(table, this.#tables.size);
    }
    for (const [at, table] of model.tables.entries()) {
      const columns = table.columns.flatMap((column, c) =>
        keepsAlways(table, column) || used[at]!.has(c) ? [c] : [],
      );
      this.#columns.push(new Map(columns.map((c, position) => [c, position])));
    }
    this.#rowPositions = this.#settledRows();
    for (const index of [...kept].toSorted((a, b) => a - b)) this.#nodes.set(index, this.#nodes.size);
    return {
      ...model,
      tables: [...this.#tables.keys()].map((table) => this.#table(table)),
      nodes: [...this.#nodes.keys()].map((index) => this.#node(index)),
      roots: model.roots.map((edge) => this.#edge(edge, null)),
      mappings: model.mappings.map((entry) => this.#mapping(entry)),
      ...(model.identityRules === undefined
        ? {}
        : { identityRules: model.identityRules.map((rule) => this.#identityRule(rule)) }),
    };
  }

  #settledRows(): ReadonlyMap<number, number>[] {
    return this.#model.tables.map((_, first) => {
      const positions = new Map<number, number>();
      let before = 0;
      let offset = 0;
      for (const table of rowTables(this.#model, first)) {
        const columns = this.#tables.has(table) ? this.#columns[table]! : new Map<number, number>();
        for (const [from, to] of columns) positions.set(before + from, offset + to);
        before += this.#model.tables[table]!.columns.length;
        offset += columns.size;
      }
      return positions;
    });
  }

  #isIgnored(node: number, slot: string): boolean {
    return this.#ignored.has(`${node}/${slot}`);
  }

  #keptEdges(index: number): PlanEdge[] {
    return this.#model.nodes[index]!.edges.filter((_, at) => !this.#isIgnored(index, `edge/${at}`));
  }

  #reachableNodes(): ReadonlySet<number> {
    const reached = new Set<number>();
    const waiting = this.#model.roots.map((root) => root.node);
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (reached.has(index)) continue;
      reached.add(index);
      for (const edge of this.#keptEdges(index)) {
        waiting.push(edge.node);
        if (edge.head !== undefined) waiting.push(edge.head.node);
      }
      for (const typeEdge of this.#model.nodes[index]!.typeEdges) waiting.push(typeEdge.node);
    }
    return reached;
  }

  /** Marks columns. Every table of a kept node has at least one column marked, and with it the table. */
  #markColumns(index: number, used: readonly Set<number>[]): void {
    const node = this.#model.nodes[index]!;
    const mark = (table: number, column: number): void => {
      if (table < 0 || column < 0) return;
      const { table: part, at } = this.#rows(table)[column]!;
      used[part]!.add(at);
      if (hasOffsetBehind(this.#model.tables[part]!.columns, at)) used[part]!.add(at + 1);
    };
    mark(node.table, 0);
    mark(node.table, this.#isIgnored(index, 'text') ? -1 : node.textColumn);
    mark(node.table, this.#isIgnored(index, 'anyAttribute') ? -1 : node.anyAttributeColumn);
    for (const column of structureColumns) mark(node.table, node[column]);
    for (const [at, { column }] of node.attributes.entries()) {
      if (!this.#isIgnored(index, `attribute/${at}`)) mark(node.table, column);
    }
    if (!this.#isIgnored(index, 'mixed')) mark(node.textTable, 0);
    if (!this.#isIgnored(index, 'any')) mark(node.wildcardTable, 0);
    for (const edge of this.#keptEdges(index)) {
      mark(this.#model.nodes[edge.node]!.table, edge.parentKeyColumn);
      if (edge.childKeyColumn !== undefined) mark(node.table, edge.childKeyColumn);
      if (edge.head !== undefined) mark(this.#model.nodes[edge.head.node]!.table, edge.head.parentKeyColumn);
    }
    for (const { node: target, parentKeyColumn } of node.typeEdges) {
      mark(this.#model.nodes[target]!.table, parentKeyColumn);
    }
  }

  #table(index: number): Table {
    const table = this.#model.tables[index]!;
    const columns = this.#columns[index]!;
    return {
      ...table,
      columns: [...columns.keys()].map((at) => {
        const column = table.columns[at]!;
        return column.references === null
          ? column
          : { ...column, references: this.#tables.get(column.references) ?? null };
      }),
      ...(table.continues === undefined ? {} : { continues: this.#tables.get(table.continues)! }),
      uniqueKeys: table.uniqueKeys.flatMap((key) => {
        const kept = key.columns.flatMap((column) => columns.get(column) ?? []);
        return kept.length === key.columns.length ? [{ ...key, columns: kept }] : [];
      }),
    };
  }

  /** `table`: the table of the row at the start of the edge. */
  #edge(edge: PlanEdge, table: number | null): PlanEdge {
    const { head, childKeyColumn } = edge;
    return {
      ...edge,
      node: this.#nodes.get(edge.node)!,
      parentKeyColumn: this.#column(this.#model.nodes[edge.node]!.table, edge.parentKeyColumn),
      ...(childKeyColumn === undefined || table === null
        ? {}
        : { childKeyColumn: this.#column(table, childKeyColumn) }),
      ...(head === undefined
        ? {}
        : {
            head: {
              node: this.#nodes.get(head.node)!,
              parentKeyColumn: this.#column(this.#model.nodes[head.node]!.table, head.parentKeyColumn),
            },
          }),
    };
  }

  #column(table: number, column: number): number {
    return column < 0 ? -1 : (this.#rowPositions[table]!.get(column) ?? -1);
  }

  #node(index: number): PlanNode {
    const node = this.#model.nodes[index]!;
    const own = (column: number): number => this.#column(node.table, column);
    const without = (slot: string, value: number): number => (this.#isIgnored(index, slot) ? -1 : value);
    const structure = Object.fromEntries(structureColumns.map((column) => [column, own(node[column])]));
    const ignored = this.#ignoredParts(index, node);
    return {
      ...node,
      ...structure,
      table: this.#tables.get(node.table)!,
      textColumn: own(without('text', node.textColumn)),
      attributes: node.attributes
        .filter((_, at) => !this.#isIgnored(index, `attribute/${at}`))
        .map(({ name, column }) => ({ name, column: own(column) })),
      edges: this.#keptEdges(index).map((edge) => this.#edge(edge, node.table)),
      textTable: this.#tables.get(without('mixed', node.textTable)) ?? -1,
      wildcardTable: this.#tables.get(without('any', node.wildcardTable)) ?? -1,
      anyAttributeColumn: own(without('anyAttribute', node.anyAttributeColumn)),
      typeEdges: node.typeEdges.map((edge) => ({
        ...edge,
        node: this.#nodes.get(edge.node)!,
        parentKeyColumn: this.#column(this.#model.nodes[edge.node]!.table, edge.parentKeyColumn),
      })),
      ...(ignored === null ? {} : { ignored }),
    };
  }

  #ignoredParts(index: number, node: PlanNode): IgnoredParts | null {
    const parts: IgnoredParts = {
      elements: node.edges.filter((_, at) => this.#isIgnored(index, `edge/${at}`)).map(({ name }) => name),
      attributes: node.attributes
        .filter((_, at) => this.#isIgnored(index, `attribute/${at}`))
        .map(({ name }) => name),
      text: this.#isIgnored(index, 'text') || this.#isIgnored(index, 'mixed'),
      anyElement: this.#isIgnored(index, 'any'),
      anyAttribute: this.#isIgnored(index, 'anyAttribute'),
    };
    const any = parts.elements.length + parts.attributes.length > 0;
    return any || parts.text || parts.anyElement || parts.anyAttribute ? parts : null;
  }

  #mapping(entry: MappingEntry): MappingEntry {
    const inactive = this.#inactive.has(lineIdentity(entry));
    const table = this.#tables.get(entry.table);
    const column = entry.column === null ? null : this.#columns[entry.table]!.get(entry.column);
    const active = inactive ? { active: false as const } : {};
    if (table !== undefined && column !== undefined) return { ...entry, table, column, ...active };
    return { ...entry, table: this.#nearestTable(entry.table), column: null, active: false };
  }

  /** Keeps the rule, because documents still have the content that it concerns, with the tables and columns that stay. */
  #identityRule(rule: IdentityRule): IdentityRule {
    return {
      ...rule,
      nodes: rule.nodes.flatMap((node) => this.#nodes.get(node) ?? []),
      tables: rule.tables.flatMap((key) => {
        const table = this.#tables.get(key.table);
        const columns = key.columns.flatMap((column) => this.#columns[key.table]!.get(column) ?? []);
        return table === undefined || columns.length < key.columns.length ? [] : [{ table, columns }];
      }),
    };
  }

  /** Returns the table whose rows the left-out content would refer to. */
  #nearestTable(table: number): number {
    const seen = new Set<number>();
    for (let at: number | null = table; at !== null && !seen.has(at);) {
      const kept = this.#tables.get(at);
      if (kept !== undefined) return kept;
      seen.add(at);
      const above: Column | undefined = this.#model.tables[at]!.columns.find(
        ({ role, references }) => role !== 'child_key' && references !== null,
      );
      at = above?.references ?? this.#holders.get(at)?.[0]?.table ?? null;
    }
    return 0;
  }
}

const structureColumns = [
  'presenceColumn',
  'nilColumn',
  'elementNameColumn',
  'typeNameColumn',
  'foldedPositionColumn',
] as const satisfies readonly (keyof PlanNode)[];

/** Keeps the row's own columns, and all columns of a content table, which has only one use. */
function keepsAlways(table: Table, column: Table['columns'][number]): boolean {
  return table.kind !== 'element' || ['row_key', 'document', 'position', 'extra'].includes(column.role);
}
