/**
 * Converts identity constraints of the XSD to rules of the relational model: the nodes of the plan that declare each, and the tables and
 * columns that it concerns. A constraint whose fields are columns of the row that its selector finds is a natural key of that table, within
 * the declaring element. A keyref then is a reference from table to table.
 */
import type {
  IdentityPath,
  IdentityRule,
  NameTest,
  PlanEdge,
  RelationalModel,
} from '../../model/relational-model.ts';
import {
  clarkName,
  type IdentityConstraint,
  type QName,
  type SourceModel,
} from '../../model/source-model.ts';
import { rowColumnsOf, type RowColumn } from '../../model/wide-rows.ts';

type Plan = Pick<RelationalModel, 'tables' | 'nodes'>;

export function listIdentityRules(source: SourceModel, plan: Plan): IdentityRule[] {
  const nodesOf = Map.groupBy(plan.nodes.keys(), (index) => plan.nodes[index]!.sourceElement);
  const declared = new Map<string, { readonly constraint: IdentityConstraint; readonly nodes: number[] }>();
  for (const [element, { identityConstraints }] of source.elements.entries()) {
    const nodes = nodesOf.get(element);
    if (nodes === undefined) continue;
    for (const constraint of identityConstraints) {
      const key = clarkName(constraint.name);
      const known = declared.get(key);
      if (known === undefined) declared.set(key, { constraint, nodes: [...nodes] });
      else known.nodes.push(...nodes);
    }
  }
  const indexes = new Map([...declared.keys()].map((key, index) => [key, index]));
  const search = new PlanSearch(plan);
  return [...declared.values()].map(({ constraint, nodes }) => {
    const selector = pathsOf(constraint.selector, constraint);
    const fields = constraint.fields.map((field) => pathsOf(field, constraint));
    const { refer } = constraint;
    return {
      kind: constraint.kind,
      name: constraint.name,
      refers: refer === undefined ? null : (indexes.get(clarkName(refer)) ?? null),
      nodes,
      selector,
      fields,
      tables: search.tablesOf(nodes, selector, fields),
    };
  });
}

/** Parses paths such as `.//p:a/b|c/@id`; the XSD compiler has checked that they are well-formed. */
function pathsOf(xpath: string, { namespaces }: IdentityConstraint): IdentityPath[] {
  return xpath.split('|').map((path) => {
    const anywhere = /^\s*\.\s*\/\//u.test(path);
    const steps: NameTest[] = [];
    let attribute: NameTest | null = null;
    for (const step of path.replace(/^\s*\.\s*\/\//u, '').split('/')) {
      const [, axis = '', test = ''] = /^\s*(@|(?:child|attribute)\s*::)?\s*(.*?)\s*$/u.exec(step) ?? [];
      if (test === '.') continue;
      const colon = test.indexOf(':');
      const local = colon < 0 ? test : test.slice(colon + 1);
      const isAttribute = axis === '@' || axis.startsWith('attribute');
      const prefix = colon < 0 ? '' : test.slice(0, colon);
      const isPlain = isAttribute && colon < 0;
      const nameTest: NameTest = {
        namespaceUri: test === '*' ? null : isPlain ? '' : (namespaces[prefix] ?? ''),
        localName: local === '*' ? null : local,
      };
      if (isAttribute) attribute = nameTest;
      else steps.push(nameTest);
    }
    return { anywhere, steps, attribute };
  });
}

export function passes(test: NameTest, name: QName): boolean {
  return (
    (test.namespaceUri === null || test.namespaceUri === name.namespaceUri) &&
    (test.localName === null || test.localName === name.localName)
  );
}

/** Follows paths through the plan. */
class PlanSearch {
  readonly #plan: Plan;
  readonly #rows: (table: number) => readonly RowColumn[];
  /** keyed by node: the edges below it at any depth, by local name of the child */
  readonly #below = new Map<number, ReadonlyMap<string, readonly PlanEdge[]>>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#rows = rowColumnsOf(plan);
  }

  tablesOf(
    nodes: readonly number[],
    selector: readonly IdentityPath[],
    fields: readonly (readonly IdentityPath[])[],
  ): IdentityRule['tables'] {
    const found = new Map<string, IdentityRule['tables'][number]>();
    const selected = new Set(nodes.flatMap((node) => selector.flatMap((path) => this.#follow(node, path))));
    for (const node of selected) {
      const columns = fields.map((paths) => this.#column(node, paths));
      const [first] = columns;
      if (first === undefined || columns.some((column) => column?.table !== first?.table)) continue;
      const key = { table: first!.table, columns: columns.map((column) => column!.at) };
      found.set(JSON.stringify(key), key);
    }
    return [...found.values()];
  }

  #follow(from: number, { anywhere, steps }: IdentityPath): number[] {
    let nodes = [from];
    for (const [at, test] of steps.entries()) {
      const edges = nodes.flatMap((node) =>
        at === 0 && anywhere ? this.#anywhere(node, test) : this.#edges(node),
      );
      nodes = [...new Set(edges.filter(({ name }) => passes(test, name)).map((edge) => edge.node))];
    }
    return nodes;
  }

  /** Returns the children of the element, for all types that xsi:type may give it. */
  #edges(node: number): readonly PlanEdge[] {
    const { edges, typeEdges } = this.#plan.nodes[node]!;
    if (typeEdges.length === 0) return edges;
    return [...edges, ...typeEdges.flatMap((typeEdge) => this.#plan.nodes[typeEdge.node]!.edges)];
  }

  #anywhere(node: number, test: NameTest): readonly PlanEdge[] {
    let below = this.#below.get(node);
    if (below === undefined) {
      const seen = new Set([node]);
      const edges: PlanEdge[] = [];
      for (const next of seen) {
        for (const edge of this.#edges(next)) {
          edges.push(edge);
          seen.add(edge.node);
        }
      }
      below = Map.groupBy(edges, ({ name }) => name.localName);
      this.#below.set(node, below);
    }
    return test.localName === null ? [...below.values()].flat() : (below.get(test.localName) ?? []);
  }

  /**
   * Returns the one column of a field in the selected element's row; undefined if there is none, if it is in another row, or if there are
   * several.
   */
  #column(node: number, paths: readonly IdentityPath[]): RowColumn | undefined {
    const found = new Set<RowColumn>();
    for (const path of paths) {
      if (path.anywhere) return undefined;
      for (const end of this.#follow(node, path)) {
        for (const { plan, column } of this.#columnsAt(end, path.attribute)) {
          if (column < 0) continue;
          if (path.steps.length > 0 && plan.opensRow) return undefined;
          found.add(this.#rows(plan.table)[column]!);
        }
      }
    }
    return found.size === 1 ? [...found][0] : undefined;
  }

  #columnsAt(
    node: number,
    attribute: NameTest | null,
  ): { readonly plan: Plan['nodes'][number]; readonly column: number }[] {
    const { typeEdges } = this.#plan.nodes[node]!;
    const plans = [node, ...typeEdges.map((edge) => edge.node)].map((index) => this.#plan.nodes[index]!);
    return plans.flatMap((plan) =>
      attribute === null
        ? [{ plan, column: plan.textColumn }]
        : plan.attributes
            .filter(({ name }) => passes(attribute, name))
            .map(({ column }) => ({ plan, column })),
    );
  }
}
