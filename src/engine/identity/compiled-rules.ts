/** Identity rules in the form in which documents are held against them: names as interned ids, the plan's children at hand. */
import { passes } from '../map/tables/identity-rules.ts';
import type {
  Column,
  IdentityPath,
  IdentityRule,
  NameTest,
  RelationalModel,
} from '../model/relational-model.ts';
import { isSameName, type BuiltInType, type QName } from '../model/source-model.ts';
import { rowColumnsOf } from '../model/wide-rows.ts';
import type { NameTable } from '../xml/tokens.ts';

type Test = (nameId: number) => boolean;

export interface CompiledPath {
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

interface Selection {
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
  /** a value in the form that all spellings of it have in common */
  textValue(node: number, text: string): string;
  attributeValue(node: number, nameId: number, text: string): string;
}

export function compileRules(model: RelationalModel, names: NameTable): CompiledRules {
  const { nodes, roots, identityRules = [] } = model;
  const rules = identityRules.map((rule): CompiledRule => ({
    kind: rule.kind,
    name: rule.name,
    refers: rule.refers,
    selector: rule.selector.map((path) => compilePath(path, names)),
    fields: rule.fields.map((paths) => paths.map((path) => compilePath(path, names))),
  }));
  const declared = new Map<number, number[]>();
  for (const [index, rule] of identityRules.entries()) {
    for (const node of rule.nodes) {
      const known = declared.get(node);
      if (known === undefined) declared.set(node, [index]);
      else if (!known.includes(index)) known.push(index);
    }
  }
  const idOf = ({ namespaceUri, localName }: QName): number => names.intern(namespaceUri, localName);
  const rootNodes = new Map(roots.map((edge) => [idOf(edge.name), edge.node]));
  const children: (ReadonlyMap<number, number> | undefined)[] = [];
  const selections = new Map<readonly number[], ReadonlyMap<number, readonly Selection[]>>();
  const referred = new Map<readonly number[], readonly number[]>();
  const columns = rowColumnsOf(model);
  const none: readonly number[] = [];
  return {
    rules,
    root: (nameId) => rootNodes.get(nameId) ?? -1,
    child(node, nameId) {
      if (node < 0) return -1;
      const known = (children[node] ??= new Map(
        nodes[node]!.edges.map((edge) => [idOf(edge.name), edge.node]),
      ));
      return known.get(nameId) ?? -1;
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
            if (!path.anywhere || first === undefined) return [];
            const { namespaceUri, localName } = first;
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
    textValue: (node, text) => comparable(columnAt(node, nodes[node]?.textColumn ?? -1), text),
    attributeValue(node, nameId, text) {
      const attribute = nodes[node]?.attributes.find(({ name }) => idOf(name) === nameId);
      return comparable(columnAt(node, attribute?.column ?? -1), text);
    },
  };

  function columnAt(node: number, column: number): Column | undefined {
    return column < 0 ? undefined : columns(nodes[node]!.table)[column]?.column;
  }
}

function compilePath(path: IdentityPath, names: NameTable): CompiledPath {
  return {
    anywhere: path.anywhere,
    steps: path.steps.map((test) => compileTest(test, names)),
    attribute: path.attribute === null ? null : compileTest(path.attribute, names),
  };
}

function compileTest(test: NameTest, names: NameTable): Test {
  const { namespaceUri, localName } = test;
  if (namespaceUri !== null && localName !== null) {
    const id = names.intern(namespaceUri, localName);
    return (nameId) => nameId === id;
  }
  return (nameId) =>
    passes(test, { namespaceUri: names.namespaceUri(nameId), localName: names.localName(nameId) });
}

const preserved: ReadonlySet<BuiltInType> = new Set(['string', 'anySimpleType', 'normalizedString']);

/** Values are compared, not spellings: 01 is 1, 1.50 is 1.5 (XSD Part 2 §4.2.1). */
function comparable(column: Column | undefined, text: string): string {
  if (column !== undefined && column.sourceType !== null && preserved.has(column.sourceType)) return text;
  const collapsed = text.replaceAll(/[ \t\r\n]+/g, ' ').trim();
  switch (column?.type.list === true ? 'text' : column?.type.kind) {
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric': {
      const match = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(collapsed);
      if (match === null) return collapsed;
      const [, sign, whole, fraction = ''] = match;
      const digits = `${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}`;
      return sign === '-' && digits !== '0' ? `-${digits}` : digits;
    }
    case 'boolean':
      return { 1: 'true', 0: 'false' }[collapsed] ?? collapsed;
    case 'real':
    case 'double':
      return /^[-+.\d]/.test(collapsed) ? String(Number(collapsed)) : collapsed;
    case 'timestamptz':
    case 'timestamp':
    case 'time':
      return collapsed.replace(/(?<=:\d\d)\.0+(?!\d)|(?<=\.\d*[1-9])0+(?!\d)/, '').replace(/[+-]00:00$/, 'Z');
    default:
      return collapsed;
  }
}
