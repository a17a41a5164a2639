/**
 * Unites types of an inferred model. Documents do not say which elements have the same type, so each path has a type of its own, but a
 * person would draw elements of one name with much the same content as one table. If types are reused (levels 2 and 3), those become one
 * type with the content of all of them, so that documents valid for any of them are valid for it.
 */
import { scientificNumber } from '../../infer/source-model.ts';
import {
  clarkName,
  type SourceAttribute,
  type SourceChild,
  type SourceElement,
  type SourceModel,
  type SourceType,
  type ValueType,
} from '../../model/source-model.ts';

/** the least share of members (attributes and children) that two types have in common, of all that either has */
const leastInCommon = 0.5;

/** Returns the same elements and types (by index), with similar types united. The same model gives the same result. */
export function uniteSimilarTypes(source: SourceModel): SourceModel {
  if (source.inferred !== true) return source;
  const classes = new TypeClasses(source).joinEquals();
  const elements: SourceElement[] = source.elements.map((element) => ({
    ...element,
    type: classes.typeOf(element.type),
  }));
  const types = [...source.types];
  for (const [type, members] of classes.groups()) {
    const united = unite(source, members);
    types[type] = united.type;
    for (const [element, nillable] of united.nillable)
      if (nillable) elements[element] = { ...elements[element]!, nillable };
  }
  return { ...source, elements, types };
}

/** The classes of types that become one: a union-find over their indexes, in which the lowest index represents its class. */
class TypeClasses {
  readonly #source: SourceModel;
  readonly #parents: Int32Array;

  constructor(source: SourceModel) {
    this.#source = source;
    this.#parents = Int32Array.from(source.types.keys());
  }

  joinEquals(): this {
    const byName = Map.groupBy(this.#source.elements, ({ name }) => clarkName(name));
    for (const elements of byName.values()) this.#joinAlike(elements);
    // a united type has one type for each of its children
    for (let again = true; again;) {
      again = false;
      for (const members of this.groups().values()) {
        const children = members.flatMap((member) => this.#source.types[member]!.children);
        const types = children.map(({ element }) => this.#source.elements[element]!);
        for (const sameName of Map.groupBy(types, ({ name }) => clarkName(name)).values()) {
          for (const { type } of sameName) again = this.#join(sameName[0]!.type, type) || again;
        }
      }
    }
    return this;
  }

  typeOf(type: number): number {
    let root = type;
    while (this.#parents[root] !== root) root = this.#parents[root]!;
    return root;
  }

  /** Classes of more than one type. */
  groups(): Map<number, number[]> {
    const all = Map.groupBy(this.#parents.keys(), (type) => this.typeOf(type));
    return new Map([...all].filter(([, members]) => members.length > 1));
  }

  /** Returns whether they were two. */
  #join(a: number, b: number): boolean {
    const [first, second] = [this.typeOf(a), this.typeOf(b)].toSorted((x, y) => x - y) as [number, number];
    this.#parents[second] = first;
    return first !== second;
  }

  /** Joins each element with the first group that it is similar to; the members of that group then count as its own. */
  #joinAlike(elements: readonly SourceElement[]): void {
    const groups: {
      readonly type: number;
      readonly members: Set<string>;
      readonly contents: Set<SourceType['content']>;
    }[] = [];
    for (const { type } of elements) {
      const members = this.#membersOf(type);
      if (members.length === 0) continue;
      const { content } = this.#source.types[type]!;
      const group = groups.find(
        (other) => isAlike(other.members, members) && !wouldMix(other.contents, content),
      );
      if (group === undefined) {
        groups.push({ type, members: new Set(members), contents: new Set([content]) });
        continue;
      }
      this.#join(group.type, type);
      group.contents.add(content);
      for (const member of members) group.members.add(member);
    }
  }

  #membersOf(type: number): string[] {
    const { attributes, children, content } = this.#source.types[type]!;
    return [
      ...attributes.map(({ name }) => `@${clarkName(name)}`),
      ...children.map(({ element }) => clarkName(this.#source.elements[element]!.name)),
      // a value is a member like others, but not the only one
      ...(content === 'simple' && attributes.length > 0 ? ['text()'] : []),
    ];
  }
}

function isAlike(group: ReadonlySet<string>, members: readonly string[]): boolean {
  const common = members.filter((member) => group.has(member)).length;
  return common / (group.size + members.length - common) >= leastInCommon;
}

/** Returns whether one type would have both values and elements although none of the united types has both. */
function wouldMix(contents: ReadonlySet<SourceType['content']>, content: SourceType['content']): boolean {
  if (contents.has('mixed')) return false;
  return (
    contents.has(content === 'simple' ? 'elements' : 'simple') && content !== 'empty' && content !== 'mixed'
  );
}

/** Returns a type with the content of all members, and for each element of their children whether it may be nil. */
function unite(
  source: SourceModel,
  members: readonly number[],
): { readonly type: SourceType; readonly nillable: ReadonlyMap<number, boolean> } {
  const types = members.map((member) => source.types[member]!);
  const [first] = types as [SourceType, ...SourceType[]];
  const contents = new Set(types.map(({ content }) => content));
  const hasChildren = types.some(({ children }) => children.length > 0);
  // elements that are always empty at some place have no text in addition to the children that they have at other places
  const hasText =
    contents.has('mixed') ||
    types.some(({ content, value }) => content === 'simple' && !(hasChildren && value?.unfilled === true));
  const content = hasChildren ? (hasText ? 'mixed' : 'elements') : hasText ? 'simple' : 'empty';
  const values = types.flatMap(({ value }) => value ?? []);
  const value = content === 'simple' && values.length > 0 ? values.reduce(widerValue) : null;
  const withoutValue = value !== null && contents.has('empty') && value.base !== 'string';
  const { children, nillable } = uniteChildren(source, types);
  return {
    type: {
      ...first,
      complex: types.some(({ complex }) => complex),
      content: content === 'simple' && value === null ? 'mixed' : content,
      value: withoutValue ? { ...value, mayBeEmpty: true } : value,
      attributes: uniteAttributes(types),
      children,
    },
    nillable,
  };
}

function uniteAttributes(types: readonly SourceType[]): SourceAttribute[] {
  const all = Map.groupBy(
    types.flatMap(({ attributes }) => attributes),
    ({ name }) => clarkName(name),
  );
  return [...all.values()].map((sameName) => ({
    ...sameName[0]!,
    type: sameName.map(({ type }) => type).reduce(widerValue),
    required: sameName.length === types.length && sameName.every(({ required }) => required),
  }));
}

function uniteChildren(
  source: SourceModel,
  types: readonly SourceType[],
): { readonly children: SourceChild[]; readonly nillable: ReadonlyMap<number, boolean> } {
  const nameOf = ({ element }: SourceChild): string => clarkName(source.elements[element]!.name);
  const all = Map.groupBy(
    types.flatMap(({ children }) => children),
    nameOf,
  );
  const { order, isSure } = commonOrder(types.map(({ children }) => children.map(nameOf)));
  const nillable = new Map<number, boolean>();
  const children = order.map((name): SourceChild => {
    const sameName = all.get(name)!;
    const [{ element }] = sameName as [SourceChild];
    nillable.set(
      element,
      sameName.some((child) => source.elements[child.element]!.nillable),
    );
    return {
      element,
      minOccurs: sameName.length < types.length ? 0 : Math.min(...sameName.map(({ minOccurs }) => minOccurs)),
      maxOccurs: sameName.every(({ maxOccurs }) => maxOccurs === 1) ? 1 : null,
      orderImplied: isSure && sameName.every(({ orderImplied }) => orderImplied),
    };
  });
  return { children, nillable };
}

/** Merges the lists into one, and says whether each list has its names in that order. */
function commonOrder(lists: readonly (readonly string[])[]): { order: string[]; isSure: boolean } {
  const order: string[] = [];
  for (const list of lists) {
    let at = 0;
    for (const name of list) {
      const known = order.indexOf(name);
      if (known < 0) order.splice(at, 0, name);
      at = (known < 0 ? at : known) + 1;
    }
  }
  const isSure = lists.every((list) => {
    const positions = list.map((name) => order.indexOf(name));
    return positions.every((position, at) => at === 0 || positions[at - 1]! < position);
  });
  return { order, isSure };
}

const wholeBases = ['int', 'long'];

/** Returns a guessed type that covers both values' types; values that a column of it would print differently are kept as written. */
function widerValue(a: ValueType, b: ValueType): ValueType {
  const mayBeEmpty = [a, b].some((type) => type.mayBeEmpty === true || type.unfilled === true);
  const wider = widerAtom(a, b);
  return mayBeEmpty && wider.base !== 'string' ? { ...wider, mayBeEmpty } : wider;
}

function widerAtom(a: ValueType, b: ValueType): ValueType {
  if (a.unfilled === true) return b;
  if (b.unfilled === true) return a;
  const sameFacets = JSON.stringify(a.facets) === JSON.stringify(b.facets);
  if (a.base === b.base && a.zone === b.zone && sameFacets) return b.offsets === true ? b : a;
  const bases = [a.base, b.base];
  if (bases.every((base) => wholeBases.includes(base))) return guessed('long');
  if (bases.every((base) => wholeBases.includes(base) || base === 'decimal')) return guessed('decimal');
  const numbers = [...wholeBases, 'decimal', scientificNumber.base];
  if (bases.every((base) => numbers.includes(base))) return scientificNumber;
  return guessed('string');
}

function guessed(base: ValueType['base']): ValueType {
  return { variety: 'atomic', base, facets: {}, guessed: true };
}
