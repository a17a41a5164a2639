/**
 * The places of elements in a schema, so that statistics distinguish elements of the same name with different types. Elements that are
 * renamed by `xsi:type`, and the order of siblings, are recorded in the same statistics.
 */
import { xsiNamespace } from '../model/name-labels.ts';
import { clarkName, type QName, type SourceModel } from '../model/source-model.ts';
import { NamespaceScope } from '../shred/namespace-scope.ts';
import { rangeText } from '../shred/xml-capture.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TokenBatch,
} from '../xml/tokens.ts';
import { actualTypesOf, derivedTypesOf, variantsOf } from '../map/tables/type-graph.ts';
import type { PlanEdge, PlanNode, RelationalModel } from '../model/relational-model.ts';

// The order of siblings: the children that preceded a child, as bits by ordinal.

/**
 * Notes the siblings that preceded the child of this ordinal in this element, in addition to those of earlier elements, and then notes
 * the child as seen.
 */
export function noteOrder(precededBy: number[], seen: Int32Array, words: number, ordinal: number): void {
  while (precededBy.length < words) precededBy.push(0);
  for (let word = 0; word < words && word < seen.length; word += 1) precededBy[word]! |= seen[word]!;
  seen[ordinal >>> 5]! |= 1 << (ordinal & 31);
}

/**
 * Returns the ordinals below `count` in the form of statistics: ascending; for three or more consecutive ones the first, and the last as
 * a negative number. Otherwise an element of thousands of children would have millions of them.
 */
export function packOrdinals(count: number, has: (ordinal: number) => boolean): number[] {
  const packed: number[] = [];
  for (let first = 0; first < count; first += 1) {
    if (!has(first)) continue;
    let last = first;
    while (last + 1 < count && has(last + 1)) last += 1;
    packed.push(first);
    if (last > first) packed.push(last === first + 1 ? last : -last);
    first = last;
  }
  return packed;
}

/** `packOrdinals` of the bits that are set. */
export function packBits(words: readonly number[]): number[] {
  return packOrdinals(words.length * 32, (ordinal) => (words[ordinal >>> 5]! & (1 << (ordinal & 31))) !== 0);
}

/** True if any of the ordinals passes the test. Tests them in ascending order. */
export function someOrdinal(packed: readonly number[], test: (ordinal: number) => boolean): boolean {
  for (const [at, ordinal] of packed.entries()) {
    if (ordinal >= 0) {
      if (test(ordinal)) return true;
      continue;
    }
    for (let next = packed[at - 1]! + 1; next <= -ordinal; next += 1) if (test(next)) return true;
  }
  return false;
}

export function unpackOrdinals(packed: readonly number[]): number[] {
  const ordinals: number[] = [];
  someOrdinal(packed, (ordinal) => ordinals.push(ordinal) === 0);
  return ordinals;
}

// Separate statistics for elements whose type is named by xsi:type. The collector counts a document a second time, with another name for
// such an element: its local name, a space, and the expanded name of the type. No local name contains a space.

interface NameByType {
  /** the element's own name */
  readonly name: QName;
  /** expanded name of the type that xsi:type names; null: the declared type, or one that is not counted by itself */
  readonly type: string | null;
}

/** Parses the name that an element has in statistics by type. */
export function nameByType({ namespaceUri, localName }: QName): NameByType {
  const space = localName.indexOf(' ');
  if (space < 0) return { name: { namespaceUri, localName }, type: null };
  return {
    name: { namespaceUri, localName: localName.slice(0, space) },
    type: localName.slice(space + 1),
  };
}

/** Renames elements in the batches of a document by their xsi:type. */
export class ElementsByType {
  /** some element has been renamed */
  hasRenamed = false;
  readonly #names: NameTable;
  readonly #types: ReadonlySet<string>;
  readonly #xsiType: number;
  readonly #scope = new NamespaceScope();
  /** sizes of the scope around the open elements, outermost first */
  readonly #sizes: number[] = [];

  /** `types`: expanded names of the types whose elements are counted separately */
  constructor(names: NameTable, types: ReadonlySet<string>) {
    this.#names = names;
    this.#types = types;
    this.#xsiType = names.intern(xsiNamespace, 'type');
  }

  /** `inherited`: namespaces declared around a document that is a part of a larger one */
  beginDocument(inherited?: ReadonlyMap<string, string>): void {
    this.#sizes.length = 0;
    this.#scope.leave(0);
    for (const [prefix, uri] of inherited ?? []) this.#scope.declare(prefix, uri);
  }

  /** Returns the batch itself if no element of it is renamed. */
  rename(batch: TokenBatch): TokenBatch {
    const { events, count } = batch;
    let renamed: Int32Array | null = null;
    let start = 0;
    for (let record = 0; record < count; record += 1) {
      const at = record * RECORD_INTS;
      switch (events[at]! & KIND_MASK) {
        case KIND_START:
          this.#sizes.push(this.#scope.size);
          start = at;
          break;
        case KIND_END:
          this.#scope.leave(this.#sizes.pop() ?? 0);
          break;
        case KIND_NAMESPACE:
          this.#scope.declare(this.#names.localName(events[at + 1]!), rangeText(batch, record));
          break;
        case KIND_ATTRIBUTE: {
          if (events[at + 1] !== this.#xsiType) break;
          const nameId = this.#renamed(events[start + 1]!, rangeText(batch, record));
          if (nameId < 0) break;
          renamed ??= events.slice(0, count * RECORD_INTS);
          renamed[start + 1] = nameId;
          break;
        }
      }
    }
    if (renamed === null) return batch;
    this.hasRenamed = true;
    return { ...batch, events: renamed };
  }

  /** -1: the type is not counted by itself. */
  #renamed(nameId: number, written: string): number {
    const type = this.#scope.resolve(written.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''));
    if (type === null || !this.#types.has(clarkName(type))) return -1;
    const localName = `${this.#names.localName(nameId)} ${clarkName(type)}`;
    return this.#names.intern(this.#names.namespaceUri(nameId), localName);
  }
}

// The places of elements, and attributes that only a wildcard allows.

export interface DeclaredPlace {
  /** index of the plan node of the declared type, or of the declared element; -1: the schema has no place for the element */
  readonly place: number;
  /**
   * Elements of one name are the same thing at all places with the same value: the type, the declared type and the head of the
   * substitution group that the element is a member of or, for a plan, the first node that puts values in the same places; -1: unknown
   */
  readonly type: number;
  /** text may be beside its child elements */
  readonly mixed: boolean;
  /** content that a wildcard allows is kept as XML: `outer` is the element that is kept, `inner` an element within it */
  readonly kept?: 'outer' | 'inner';
  readonly hasWildcard?: true;
  /** name ids of the attributes that the schema declares, if a wildcard allows others; absent: no others are allowed */
  readonly attributes?: ReadonlySet<number>;
}

export const notInSchema: DeclaredPlace = { place: -1, type: -1, mixed: true };
const keptOuter: DeclaredPlace = { ...notInSchema, kept: 'outer' };
const keptInner: DeclaredPlace = { ...notInSchema, kept: 'inner' };

/** True if only a wildcard allows the attribute. */
export function isOtherAttribute({ attributes }: DeclaredPlace, nameId: number): boolean {
  return attributes !== undefined && !attributes.has(nameId);
}

/** Returns the place of an element that the schema does not have within `above`. */
function undeclared({ kept, hasWildcard }: DeclaredPlace): DeclaredPlace {
  if (kept !== undefined) return keptInner;
  return hasWildcard === true ? keptOuter : notInSchema;
}

export interface DeclaredPlaces {
  /** expanded names of types that xsi:type may name and whose elements have columns or tables of their own */
  readonly types: ReadonlySet<string>;
  /** `above`: place of the parent; null for a root element */
  of(above: DeclaredPlace | null, nameId: number): DeclaredPlace;
}

/** The places if no schema is known. */
export const noDeclaredPlaces: DeclaredPlaces = { types: new Set(), of: () => notInSchema };

/** Returns the places of the plan by which documents are loaded. */
export function placesOfPlan(model: RelationalModel, names: NameTable): DeclaredPlaces {
  const { roots, nodes } = model;
  const classes = new NodeClasses(nodes);
  const find = (edges: readonly PlanEdge[], { name: key, type: typeName }: Key): DeclaredPlace | null => {
    const edge = edges.find(({ name }) => clarkName(name) === key);
    if (edge === undefined) return null;
    const { typeEdges } = nodes[edge.node]!;
    const typed = typeEdges.find(({ name }) => clarkName(name) === typeName);
    const place = typed?.node ?? edge.node;
    const variants = typed === undefined ? [place, ...typeEdges.map(({ node }) => node)] : [place];
    const mixed = variants.some((node) => nodes[node]!.textTable >= 0);
    const hasWildcard = variants.some((node) => nodes[node]!.wildcardTable >= 0);
    return {
      place,
      type: classes.of(place, edge.head?.node ?? -1),
      mixed,
      ...(hasWildcard ? { hasWildcard: true as const } : {}),
      ...attributesOf(variants),
    };
  };
  const attributesOf = (variants: readonly number[]): Pick<DeclaredPlace, 'attributes'> => {
    if (variants.every((node) => nodes[node]!.anyAttributeColumn < 0)) return {};
    return {
      attributes: attributeIds(
        variants.flatMap((node) => nodes[node]!.attributes),
        names,
      ),
    };
  };
  return {
    types: typesApart(model),
    of(above, nameId) {
      const key = keyOf(names, nameId);
      if (above === null) return find(roots, key) ?? notInSchema;
      const declared: PlanNode | undefined = nodes[above.place];
      if (declared === undefined) return undeclared(above);
      for (const node of [declared, ...declared.typeEdges.map((edge) => nodes[edge.node]!)]) {
        const found = find(node.edges, key);
        if (found !== null) return found;
      }
      return undeclared(above);
    },
  };
}

/** Name ids of declared attributes, and of those that every element may have. */
function attributeIds(declared: readonly { readonly name: QName }[], names: NameTable): ReadonlySet<number> {
  const ofXsi = ['type', 'nil', 'schemaLocation', 'noNamespaceSchemaLocation'];
  return new Set([
    ...declared.map(({ name }) => names.intern(name.namespaceUri, name.localName)),
    ...ofXsi.map((name) => names.intern(xsiNamespace, name)),
  ]);
}

/** Returns the places by the declarations of an XSD set, before there is a plan. */
export function placesOfDeclarations(source: SourceModel, names: NameTable): DeclaredPlaces {
  const { elements, types } = source;
  const isNamed = (type: number, typeName: string | null): boolean => {
    const { name } = types[type]!;
    return name !== null && clarkName(name) === typeName;
  };
  /** `head`: the head of the substitution group by which the parent has the element; its tables may be others. -1: no such group */
  const placeOf = (element: number, typeName: string | null, head: number): DeclaredPlace => {
    const declared = actualTypesOf(source, element);
    const type = declared.slice(1).find((derived) => isNamed(derived, typeName)) ?? declared[0]!;
    const actual = (type === declared[0] ? declared : [type]).map((one) => types[one]!);
    const mixed = actual.some(({ content }) => content === 'mixed');
    const hasWildcard = actual.some(({ anyElement }) => anyElement !== null);
    const hasOthers = actual.some(({ anyAttribute }) => anyAttribute !== null);
    // an element of a derived type has its rows where those of its declared type are
    const declaredType = type === declared[0] ? 0 : declared[0]! + 1;
    return {
      place: element,
      type: type + types.length * (declaredType + (types.length + 1) * (head + 1)),
      mixed,
      ...(hasWildcard ? { hasWildcard: true as const } : {}),
      ...(hasOthers
        ? {
            attributes: attributeIds(
              actual.flatMap(({ attributes }) => attributes),
              names,
            ),
          }
        : {}),
    };
  };
  return {
    types: derivedTypeNames(source),
    of(above, nameId) {
      const { name, type: typeName } = keyOf(names, nameId);
      const isCalled = (element: number): boolean => clarkName(elements[element]!.name) === name;
      if (above === null) {
        const root = source.roots.find(isCalled) ?? elements.findIndex((_, element) => isCalled(element));
        return root < 0 ? notInSchema : placeOf(root, typeName, -1);
      }
      if (above.place < 0) return undeclared(above);
      for (const type of new Set([above.type % types.length, ...actualTypesOf(source, above.place)]))
        for (const { element } of types[type]!.children) {
          const variants = variantsOf(source, element);
          const found = variants.find((variant) => isCalled(variant.element));
          const head = variants.some(({ substitution }) => substitution) ? element : -1;
          if (found !== undefined) return placeOf(found.element, typeName, head);
        }
      return undeclared(above);
    },
  };
}

/** Expanded names of an element and of the type that its xsi:type names. */
interface Key {
  readonly name: string;
  readonly type: string | null;
}

function keyOf(names: NameTable, nameId: number): Key {
  const { name, type } = nameByType({
    namespaceUri: names.namespaceUri(nameId),
    localName: names.localName(nameId),
  });
  return { name: clarkName(name), type };
}

const apartInModel = new WeakMap<RelationalModel, ReadonlySet<string>>();

/**
 * Returns the types that xsi:type may name and whose elements have other columns or tables for the same names than elements of another
 * type at the same place.
 */
export function typesApart(model: RelationalModel): ReadonlySet<string> {
  const known = apartInModel.get(model);
  if (known !== undefined) return known;
  const types = new Set<string>();
  const comparison = new PlanComparison(model.nodes);
  for (const node of model.nodes) {
    if (node.typeEdges.length === 0) continue;
    const variants = [node, ...node.typeEdges.map((edge) => model.nodes[edge.node]!)];
    if (comparison.haveSamePlaces(variants)) continue;
    for (const { name } of node.typeEdges) types.add(clarkName(name));
  }
  apartInModel.set(model, types);
  return types;
}

/** Classes of plan nodes of one type that put all values in the same places and are below the same kind of head. */
class NodeClasses {
  readonly #nodes: readonly PlanNode[];
  readonly #comparison: PlanComparison;
  readonly #classes = new Map<number, number>();
  /** the first node of each class, by the type of its elements */
  readonly #first = new Map<number, number[]>();

  constructor(nodes: readonly PlanNode[]) {
    this.#nodes = nodes;
    this.#comparison = new PlanComparison(nodes);
  }

  /** `head`: the node of the head whose row precedes that of the element; -1: none */
  of(node: number, head: number): number {
    return this.#classOf(node) * (this.#nodes.length + 1) + head + 1;
  }

  #classOf(node: number): number {
    const known = this.#classes.get(node);
    if (known !== undefined) return known;
    const { sourceType } = this.#nodes[node]!;
    const first = this.#first.get(sourceType) ?? [];
    this.#first.set(sourceType, first);
    const alike = first.find((one) => this.#comparison.areAlike(this.#nodes[one]!, this.#nodes[node]!));
    if (alike === undefined) first.push(node);
    this.#classes.set(node, alike ?? node);
    return alike ?? node;
  }
}

/** Compares the places in which plan nodes put values. */
class PlanComparison {
  readonly #nodes: readonly PlanNode[];
  /** pairs of nodes that put values in the same places */
  #alike = new Set<number>();

  constructor(nodes: readonly PlanNode[]) {
    this.#nodes = nodes;
  }

  /**
   * True if the attributes, text and children that several of the nodes have go to the same columns and tables, regardless of the node
   * that reads them.
   */
  haveSamePlaces(variants: readonly PlanNode[]): boolean {
    return this.#compare(variants, false);
  }

  /** Tests the same for two nodes, neither of which may have anything that the other does not. */
  areAlike(a: PlanNode, b: PlanNode): boolean {
    return this.#compare([a, b], true);
  }

  #compare(variants: readonly PlanNode[], isStrict: boolean): boolean {
    const before = new Set(this.#alike);
    let isAlike = haveSameColumns(variants, isStrict);
    const open = isAlike ? this.#childrenToCompare(variants) : [];
    for (let pair = open.pop(); pair !== undefined && isAlike; pair = open.pop()) {
      isAlike = haveSameColumns(pair, true);
      open.push(...this.#childrenToCompare(pair));
    }
    if (!isAlike) this.#alike = before;
    return isAlike;
  }

  /** Pairs of children that have one name and have not been compared. */
  #childrenToCompare(nodes: readonly PlanNode[]): [PlanNode, PlanNode][] {
    const first = new Map<string, number>();
    const pairs: [PlanNode, PlanNode][] = [];
    for (const { name, node } of nodes.flatMap(({ edges }) => edges)) {
      const other = first.get(clarkName(name)) ?? node;
      first.set(clarkName(name), other);
      const pair = Math.min(other, node) * this.#nodes.length + Math.max(other, node);
      if (other === node || this.#alike.has(pair)) continue;
      this.#alike.add(pair);
      pairs.push([this.#nodes[other]!, this.#nodes[node]!]);
    }
    return pairs;
  }
}

/** `isStrict`: each of the nodes has all that another one has. */
function haveSameColumns(nodes: readonly PlanNode[], isStrict: boolean): boolean {
  const places = new Map<string, number>();
  return nodes.every((node, at) => {
    const own = placesOf(node);
    const hasOthers = at > 0 && own.some(([part]) => !places.has(part));
    if (isStrict && (hasOthers || own.length < places.size)) return false;
    if (own.some(([part, place]) => (places.get(part) ?? place) !== place)) return false;
    for (const [part, place] of own) places.set(part, place);
    return true;
  });
}

/** Returns the table and the columns of a node, by content, and the names of its children, whose places are not compared here. */
function placesOf(node: PlanNode): (readonly [part: string, place: number])[] {
  const { table, attributes, edges, typeEdges } = node;
  const others = [
    ['presence', node.presenceColumn],
    // a column, or rows of another table
    ['text', node.textTable >= 0 ? -2 - node.textTable : node.textColumn],
    ['wildcard', node.wildcardTable],
    ['attribute wildcard', node.anyAttributeColumn],
  ] as const;
  return [
    ['table', table],
    ...attributes.map(({ name, column }) => [`@${clarkName(name)}`, column] as const),
    ...others.filter(([, place]) => place !== -1),
    ...edges.map(({ name, head }) => [`child ${clarkName(name)}`, head?.node ?? -1] as const),
    ...typeEdges.map(({ name }) => [`type ${clarkName(name)}`, 0] as const),
  ];
}

function derivedTypeNames(source: SourceModel): ReadonlySet<string> {
  const derived = new Set(source.types.flatMap((_, type) => derivedTypesOf(source, type)));
  const names = Array.from(derived, (type) => source.types[type]!.name);
  return new Set(names.flatMap((name) => (name === null ? [] : [clarkName(name)])));
}
