/**
 * Compiles identity rules for comparison with documents: names become interned ids, paths lead to nodes of the plan, and values are put
 * into a form in which they can be compared. Counts the rules that documents broke.
 */
import type {
  Column,
  IdentityPath,
  IdentityRule,
  NameTest,
  PlanEdge,
  RelationalModel,
} from '../model/relational-model.ts';
import { type BuiltInType, isSameName, type QName, clarkName } from '../model/source-model.ts';
import type { ByteBuffer } from '../shred/byte-buffer.ts';
import { utf8Text } from '../xml/utf8.ts';
import { passes } from '../map/tables/identity-rules.ts';
import { peekMember, lazyArray } from '../model/packed/reader.ts';
import { rowColumns } from '../model/wide-rows.ts';
import { itemByName } from '../xml/names/interned.ts';
import type { NameTable, TextLocation } from '../xml/tokens.ts';

// The form in which values of fields are compared: all spellings of a value have the same form (XSD Part 2 §4.2.1).

const utf8 = new TextEncoder();

/** every spelling is a different value */
const AS_WRITTEN = 0;
/** white space is collapsed */
const COLLAPSED = 1;
/** numbers: digits alone, without a zero before them, are compared as they are */
const DIGITS = 2;
const OTHERS = 3;

/** a double does not print longer numbers in full */
const maxDigits = 15;

/** The form in which the values of a field are compared. */
export interface ComparedAs {
  /** undefined: the value has no column */
  readonly column: Column | undefined;
  readonly form: number;
}

const preserved: ReadonlySet<BuiltInType> = new Set(['string', 'anySimpleType', 'normalizedString']);

function comparedAs(column: Column | undefined): ComparedAs {
  return { column, form: formOf(column) };
}

function formOf(column: Column | undefined): number {
  if (column?.sourceType != null && preserved.has(column.sourceType)) return AS_WRITTEN;
  if (column?.type.list === true) return COLLAPSED;
  switch (column?.type.kind) {
    case 'smallint':
    case 'integer':
    case 'bigint':
    case 'numeric':
    case 'real':
    case 'double':
      return DIGITS;
    case 'boolean':
    case 'timestamptz':
    case 'timestamp':
    case 'time':
      return OTHERS;
    default:
      return COLLAPSED;
  }
}

/** Appends the value that `source` has from `start` to `end`, in UTF-8, as it is compared. */
export function pushCompared(
  { column, form }: ComparedAs,
  source: Uint8Array,
  start: number,
  end: number,
  out: ByteBuffer,
): void {
  if (
    form === AS_WRITTEN ||
    (form === COLLAPSED && isCollapsed(source, start, end)) ||
    (form === DIGITS && isPlainNumber(source, start, end))
  ) {
    out.push(source, start, end);
    return;
  }
  const value = utf8.encode(comparable(column, utf8Text(source.subarray(start, end))));
  out.push(value, 0, value.length);
}

/** True if the text is certainly collapsed. Text that begins or ends with characters other than ASCII is checked as a string. */
function isCollapsed(source: Uint8Array, start: number, end: number): boolean {
  if (start === end) return true;
  if (source[start]! >= 0x80 || source[end - 1]! >= 0x80) return false;
  let before = 0x20;
  for (let at = start; at < end; at += 1) {
    const byte = source[at]!;
    if (byte <= 0x20 && (byte !== 0x20 || before === 0x20)) return false;
    before = byte;
  }
  return before !== 0x20;
}

function isPlainNumber(source: Uint8Array, start: number, end: number): boolean {
  const length = end - start;
  if (length === 0 || length > maxDigits || (length > 1 && source[start] === 0x30)) return false;
  for (let at = start; at < end; at += 1) if (source[at]! < 0x30 || source[at]! > 0x39) return false;
  return true;
}

/** Values are compared, not spellings: 01 is 1, 1.50 is 1.5. */
function comparable(column: Column | undefined, text: string): string {
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

// Rules with the names of their paths as ids.

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
    const known = (compared[table] ??= rowColumns(model, table, (part) => peekMember(part, 'columns')).map(
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

// Counts of the identity rules that documents broke. The first fault of each rule is reported.

export interface BrokenRule {
  readonly name: string;
  readonly kind: 'key' | 'unique' | 'keyref';
  /** a value occurred twice; a field of a key was missing, or occurred more than once; a reference had no target */
  readonly fault: 'repeated' | 'incomplete' | 'dangling';
  count: number;
  /** the first fault: its values, and the end of its element */
  readonly sample: string;
  readonly document: string;
  readonly line: number;
  readonly column: number;
}

export type Place = Pick<TextLocation, 'line' | 'column'>;

export class BrokenRules {
  readonly list: BrokenRule[] = [];
  /** name of the present document */
  document = '';
  readonly #rules: readonly CompiledRule[];
  readonly #known = new Map<string, BrokenRule>();

  constructor(rules: readonly CompiledRule[]) {
    this.#rules = rules;
  }

  /** True if the fault of the rule has not been reported. Only the first one is reported. */
  isNew(rule: number, fault: BrokenRule['fault']): boolean {
    return !this.#known.has(`${rule}/${fault}`);
  }

  /** `first`: returns the values and their place; called for the first fault only. */
  note(
    rule: number,
    fault: BrokenRule['fault'],
    first: () => { readonly values: readonly string[]; readonly place: Place },
    count = 1,
  ): void {
    const identity = `${rule}/${fault}`;
    const known = this.#known.get(identity);
    if (known !== undefined) {
      known.count += count;
      return;
    }
    const { name, kind } = this.#rules[rule]!;
    const { values, place } = first();
    const { line, column } = place;
    const sample = values.join(', ').slice(0, 200);
    const { document } = this;
    const entry = { name: clarkName(name), kind, fault, count, sample, document, line, column };
    this.#known.set(identity, entry);
    this.list.push(entry);
  }
}
