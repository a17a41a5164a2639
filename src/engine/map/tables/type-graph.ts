/** The facts about a source model that the mapper needs before it draws tables: recursion, sizes, number of uses. */
import type { SourceChild, SourceModel, SourceType } from '../../model/source-model.ts';

/** One way to fill a child's place: the declared element, or a member of its substitution group. */
export interface Variant {
  readonly element: number;
  readonly substitution: boolean;
}

/** Returns the elements that may substitute `element` (XSD Part 1 §3.3.6), the declared one first unless it is abstract. */
export function variantsOf(model: SourceModel, element: number): Variant[] {
  const declared = model.elements[element]!;
  const variants: Variant[] = declared.abstract ? [] : [{ element, substitution: false }];
  for (const member of declared.substitutes) {
    if (member !== element) variants.push({ element: member, substitution: true });
  }
  return variants;
}

/**
 * Returns the types that xsi:type may name in place of `type` and that add columns of their own. Derivations of simple types hold the same
 * text. All types derive from the ur-type, and its wildcard accepts their content.
 */
export function derivedTypesOf(model: SourceModel, type: number): readonly number[] {
  const { complex, derived } = model.types[type]!;
  return complex && !isUrType(model.types[type]!) ? derived : [];
}

/** Tests for the type of elements for which the schema declares none. */
export function isUrType({ name }: SourceType): boolean {
  return name?.localName === 'anyType' && name.namespaceUri === 'http://www.w3.org/2001/XMLSchema';
}

/** Returns the declared type and every type that xsi:type may name instead. */
export function actualTypesOf(model: SourceModel, element: number): number[] {
  const { type } = model.elements[element]!;
  return [type, ...derivedTypesOf(model, type)];
}

/** Tests for content that is declared as mixed but has nothing to mix text with, and so is text (JUnit's error and failure). */
export function isTextAlone({ content, children, anyElement, derived }: SourceType): boolean {
  return content === 'mixed' && children.length === 0 && anyElement === null && derived.length === 0;
}

/** Tests for a type without content and attributes: such an element says only that it is there. */
export function isBare(type: SourceType): boolean {
  return (
    type.complex &&
    type.content !== 'simple' &&
    type.content !== 'mixed' &&
    type.attributes.length === 0 &&
    type.children.length === 0 &&
    type.anyElement === null &&
    type.anyAttribute === null &&
    type.derived.length === 0
  );
}

/** Returns whether elements of the type always hold one element, which holds elements itself, and nothing else. */
export function isLoneWrapper({ types, elements, inferred }: SourceModel, parent: number): boolean {
  const { content, attributes, children, anyElement, anyAttribute, derived } = types[parent]!;
  const [child] = children;
  if (inferred === true || content !== 'elements' || child === undefined || children.length > 1) return false;
  if (child.minOccurs !== 1 || child.maxOccurs !== 1) return false;
  if (attributes.length > 0 || derived.length > 0 || anyElement !== null || anyAttribute !== null)
    return false;
  const { type, nillable, substitutes } = elements[child.element]!;
  const within = types[type]!;
  return (
    !nillable && substitutes.length === 0 && within.content === 'elements' && within.derived.length === 0
  );
}

/** Returns, per type: 1 if it can contain itself through children that are `folded`; default: children that occur at most once. */
export function endlessTypes(
  model: SourceModel,
  { reachable, childTypes }: TypeGraph,
  folded = (_: number, { maxOccurs }: SourceChild): boolean => maxOccurs !== null && maxOccurs <= 1,
): Uint8Array {
  const known: (readonly number[] | undefined)[] = [];
  const following = (type: number): readonly number[] =>
    (known[type] ??= distinctTypes(
      model.types[type]!.children.filter((child) => folded(type, child)),
      childTypes,
    ));
  return stronglyConnected(model.types.length, reachable, following).recursive;
}

function distinctTypes(
  children: readonly SourceChild[],
  childTypes: TypeGraph['childTypes'],
): readonly number[] {
  const distinct = new Set<number>();
  for (const { element } of children) for (const type of childTypes(element)) distinct.add(type);
  return [...distinct];
}

/** Returns whether every element that may substitute the child has a simple type, or one that is read as a value. */
export function isSimpleChild(model: SourceModel, element: number, valueTypes: ReadonlySet<number>): boolean {
  return variantsOf(model, element).every((variant) => {
    const { type } = model.elements[variant.element]!;
    return !model.types[type]!.complex || valueTypes.has(type);
  });
}

export interface TypeGraph {
  /** per type: it can contain itself */
  readonly recursive: Uint8Array;
  /** element paths below the roots when every path is written out (recursive types once); may be huge */
  readonly expandedPaths: number;
  /** per type: how often the types reached have a child that may have it */
  readonly uses: Int32Array;
  /** types in the order in which they are first reached from the roots */
  readonly reachable: readonly number[];
  /** types of all variants and derivations that a child can have */
  childTypes(element: number): readonly number[];
}

export function analyseTypes(model: SourceModel, roots: readonly number[]): TypeGraph {
  const childTypeCache = new Map<number, number[]>();
  const childTypes = (element: number): number[] => {
    let types = childTypeCache.get(element);
    if (types === undefined) {
      const distinct = new Set<number>();
      for (const variant of variantsOf(model, element)) {
        for (const type of actualTypesOf(model, variant.element)) distinct.add(type);
      }
      types = [...distinct];
      childTypeCache.set(element, types);
    }
    return types;
  };
  const successorCache: (readonly number[] | undefined)[] = [];
  const successors = (type: number): readonly number[] =>
    (successorCache[type] ??= distinctTypes(model.types[type]!.children, childTypes));
  const rootTypes = new Set<number>();
  for (const root of roots) for (const type of actualTypesOf(model, root)) rootTypes.add(type);

  const { recursive, finished } = stronglyConnected(model.types.length, [...rootTypes], successors);
  const uses = new Int32Array(model.types.length);
  const paths = new Float64Array(model.types.length);
  for (const type of finished) {
    let below = 1;
    for (const child of model.types[type]!.children) {
      for (const childType of childTypes(child.element)) {
        uses[childType]! += 1;
        below += recursive[childType] === 1 ? 1 : paths[childType]!;
      }
    }
    paths[type] = Math.min(below, Number.MAX_SAFE_INTEGER);
  }
  let expandedPaths = 0;
  for (const type of finished)
    if (recursive[type] === 1 || rootTypes.has(type)) expandedPaths += paths[type]!;
  return { recursive, expandedPaths, uses, reachable: finished.toReversed(), childTypes };
}

/**
 * Computes Tarjan's strongly connected components, without recursion on the call stack. `finished` lists every type reached, each after the
 * types it leads to (except in cycles).
 */
export function stronglyConnected(
  size: number,
  roots: readonly number[],
  successors: (type: number) => readonly number[],
): { recursive: Uint8Array; finished: number[] } {
  const recursive = new Uint8Array(size);
  const index = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const onStack = new Uint8Array(size);
  const component: number[] = [];
  const finished: number[] = [];
  let counter = 0;
  for (const root of roots) {
    if (index[root] !== -1) continue;
    const frames: { type: number; next: number }[] = [];
    const enter = (type: number): void => {
      index[type] = low[type] = counter++;
      component.push(type);
      onStack[type] = 1;
      frames.push({ type, next: 0 });
    };
    enter(root);
    while (frames.length > 0) {
      const frame = frames[frames.length - 1]!;
      const following = successors(frame.type);
      if (frame.next < following.length) {
        const next = following[frame.next++]!;
        if (next === frame.type) recursive[next] = 1;
        if (index[next] === -1) enter(next);
        else if (onStack[next] === 1) low[frame.type] = Math.min(low[frame.type]!, index[next]!);
        continue;
      }
      frames.pop();
      finished.push(frame.type);
      const parent = frames[frames.length - 1];
      if (parent !== undefined) low[parent.type] = Math.min(low[parent.type]!, low[frame.type]!);
      if (low[frame.type] !== index[frame.type]) continue;
      const start = component.lastIndexOf(frame.type);
      const members = component.splice(start);
      for (const member of members) {
        onStack[member] = 0;
        if (members.length > 1) recursive[member] = 1;
      }
    }
  }
  return { recursive, finished };
}

/** The number of places of each type and of each element, if types share tables. */
export interface Places {
  readonly types: Float64Array;
  readonly elements: Float64Array;
}

export const noPlaces: Places = { types: new Float64Array(0), elements: new Float64Array(0) };

const maxPlaces = 1e9;

/** `isCopied`: whether the content of a child of a type exists once more for each place of the type. */
export function countPlaces(
  model: SourceModel,
  graph: TypeGraph,
  roots: readonly number[],
  isCopied: (type: number, child: SourceChild) => boolean,
): Places {
  const types = new Float64Array(model.types.length);
  const elements = new Float64Array(model.elements.length);
  // each root is a place: two of the same type (SUMO's routes and route-alternatives) would double all content below, and so would a
  // root that may have the type of the other by xsi:type
  for (const root of roots) for (const type of actualTypesOf(model, root)) types[type]! += 1;
  // parents come before children except in cycles, which share tables anyway
  for (const type of graph.reachable)
    for (const child of model.types[type]!.children) {
      const copies = isCopied(type, child) ? Math.max(1, types[type]!) : 1;
      elements[child.element] = Math.min(elements[child.element]! + copies, maxPlaces);
      for (const childType of graph.childTypes(child.element))
        types[childType] = Math.min(types[childType]! + copies, maxPlaces);
    }
  return { types, elements };
}
