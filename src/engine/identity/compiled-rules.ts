/** Identity rules in the form in which documents are held against them: names as interned ids, the plan's children at hand. */
import { passes } from '../map/tables/identity-rules.ts';
import { lookedAt } from '../model/packed/reader.ts';
import type {
  IdentityPath,
  IdentityRule,
  NameTest,
  PlanEdge,
  RelationalModel,
} from '../model/relational-model.ts';
import { isSameName, type QName } from '../model/source-model.ts';
import { rowColumns } from '../model/wide-rows.ts';
import { itemByName } from '../xml/names/interned.ts';
import type { NameTable } from '../xml/tokens.ts';
import { lazyArray } from '../model/packed/lazy-array.ts';
import { comparedAs, type ComparedAs } from './compared-values.ts';

export interface Test {
  /** id of the only name that passes; -1 if there is no single one */
  readonly id: number;
  passes(nameId: number): boolean;
}

export interface CompiledPath {
  /** unique among the rules */
  readonly id: number;
  readonly anywhere: boolean;
  readonly steps: readonly Test[];
  readonly attribute: Test | null;
}

export interface CompiledRule {
  readonly kind: IdentityRule['kind'];
  readonly name: QName;
  readonly refers: number | null;
  readonly selector: readonly CompiledPath[];
  readonly fields: readonly (readonly CompiledPath[])[];
}

export interface Selection {
  readonly rule: number;
  readonly path: CompiledPath;
}

/** Nodes are those of the plan; -1: content that the plan does not know. */
export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  root(nameId: number): number;
  child(node: number, nameId: number): number;
  /** the node that xsi:type puts in the place of another */
  typed(node: number, type: QName): number;
  /** rules that the element of that node declares */
  rulesOf(node: number): readonly number[];
  /** selectors of these rules that begin with `.//`, by the id of their first name; -1: of any name */
  anywhere(rules: readonly number[]): ReadonlyMap<number, readonly Selection[]>;
  /** keys that keyrefs among these rules refer to */
  referredFrom(rules: readonly number[]): readonly number[];
  /** form in which the text of an element of that node is compared */
  text(node: number): ComparedAs;
  attribute(node: number, nameId: number): ComparedAs;
}

export function compileRules(model: RelationalModel, names: NameTable): CompiledRules {
  const { nodes, roots, identityRules = [] } = model;
  let paths = 0;
  const compile = (path: IdentityPath): CompiledPath => compilePath(path, paths++, names);
  // documents use few of the hundreds of rules
  const rules = lazyArray(identityRules.length, (index): CompiledRule => {
    const rule = identityRules[index]!;
    let fields: CompiledRule['fields'] | undefined;
    return {
      kind: rule.kind,
      name: rule.name,
      refers: rule.refers,
      selector: rule.selector.map(compile),
      get fields() {
        return (fields ??= rule.fields.map((alternatives) => alternatives.map(compile)));
      },
    };
  });
  const declared = new Map<number, number[]>();
  for (const [index, rule] of identityRules.entries()) {
    for (const node of rule.nodes) {
      const known = declared.get(node);
      if (known === undefined) declared.set(node, [index]);
      else if (!known.includes(index)) known.push(index);
    }
  }
  const idOf = ({ namespaceUri, localName }: QName): number => names.intern(namespaceUri, localName);
  const rootEdge = itemByName(names, roots);
  const children: (((nameId: number) => PlanEdge | null) | undefined)[] = [];
  const selections = new Map<readonly number[], ReadonlyMap<number, readonly Selection[]>>();
  const referred = new Map<readonly number[], readonly number[]>();
  /** indexed by table */
  const compared: (readonly ComparedAs[] | undefined)[] = [];
  const none: readonly number[] = [];
  return {
    rules,
    root: (nameId) => rootEdge(nameId)?.node ?? -1,
    child(node, nameId) {
      if (node < 0) return -1;
      return (children[node] ??= itemByName(names, nodes[node]!.edges))(nameId)?.node ?? -1;
    },
    typed(node, type) {
      const edge = nodes[node]?.typeEdges.find(({ name }) => isSameName(name, type));
      return edge?.node ?? node;
    },
    rulesOf: (node) => declared.get(node) ?? none,
    anywhere(of) {
      let known = selections.get(of);
      if (known === undefined) {
        const all = of.flatMap((rule) =>
          identityRules[rule]!.selector.flatMap((path, at) => {
            const [first] = path.steps;
            if (!path.anywhere) return [];
            const { namespaceUri = null, localName = null } = first ?? {};
            const exact = namespaceUri !== null && localName !== null;
            const id = exact ? names.intern(namespaceUri, localName) : -1;
            return [{ id, rule, path: rules[rule]!.selector[at]! }];
          }),
        );
        selections.set(of, (known = Map.groupBy(all, ({ id }) => id)));
      }
      return known;
    },
    referredFrom(of) {
      let known = referred.get(of);
      if (known === undefined) {
        known = [...new Set(of.flatMap((rule) => rules[rule]!.refers ?? []))];
        referred.set(of, known);
      }
      return known;
    },
    text: (node) => valueAt(node, nodes[node]?.textColumn ?? -1),
    attribute(node, nameId) {
      const attribute = nodes[node]?.attributes.find(({ name }) => idOf(name) === nameId);
      return valueAt(node, attribute?.column ?? -1);
    },
  };

  function valueAt(node: number, column: number): ComparedAs {
    if (column < 0) return comparedAs(undefined);
    const { table } = nodes[node]!;
    const known = (compared[table] ??= rowColumns(model, table, (part) => lookedAt(part, 'columns')).map(
      (one) => comparedAs(one.column),
    ));
    return known[column] ?? comparedAs(undefined);
  }
}

function compilePath(path: IdentityPath, id: number, names: NameTable): CompiledPath {
  return {
    id,
    anywhere: path.anywhere,
    steps: path.steps.map((test) => compileTest(test, names)),
    attribute: path.attribute === null ? null : compileTest(path.attribute, names),
  };
}

function compileTest(test: NameTest, names: NameTable): Test {
  const { namespaceUri, localName } = test;
  if (namespaceUri !== null && localName !== null) {
    const id = names.intern(namespaceUri, localName);
    return { id, passes: (nameId) => nameId === id };
  }
  return {
    id: -1,
    passes: (nameId) =>
      passes(test, { namespaceUri: names.namespaceUri(nameId), localName: names.localName(nameId) }),
  };
}
