/** Paths that identify a type whose rows share one table, whatever paths lead to it. */
import { type SourceModel, isValueName } from '../../model/source-model.ts';
import type { UsePrinter } from './paths.ts';
import type { TableDraft } from '../tables/model-builder.ts';
import { derivedTypesOf, isLoneWrapper, variantsOf } from '../tables/type-graph.ts';
import type { Identifiers } from './identifiers.ts';

export interface DeclaredPaths {
  /** `/(type Party)`; for a type without a name, the declarations of its elements: `/(type Party)/address`, `/(element note)` */
  ofType(type: number): readonly string[];
}

/** `source`: `declared` after similar types became one, under the same indexes. */
export function createDeclaredPaths(
  declared: SourceModel,
  source: SourceModel,
  uses: UsePrinter,
): DeclaredPaths {
  let declarations: Declarations | null = null;
  const ofElement = (element: number): string => {
    const steps: string[] = [];
    const above = new Set<number>();
    for (let at = element; ;) {
      const { name, global } = declared.elements[at]!;
      if (global) return `/(element ${uses.element(name)})${steps.toReversed().join('')}`;
      steps.push(`/${uses.element(name)}`);
      const owner = declarations!.owners.get(at);
      const ownerName = owner === undefined ? null : declared.types[owner]!.name;
      if (ownerName !== null) return `/(type ${uses.element(ownerName)})${steps.toReversed().join('')}`;
      const declares = owner === undefined ? undefined : declarations!.declarers.get(owner)?.[0];
      if (declares === undefined || above.has(owner!)) return `/(element)${steps.toReversed().join('')}`;
      above.add(owner!);
      at = declares;
    }
  };
  return {
    ofType(type) {
      const { name } = source.types[type]!;
      if (name !== null) return [`/(type ${uses.element(name)})`];
      declarations ??= findDeclarations(declared, source);
      const elements = declarations.elements.get(type) ?? [];
      return [...new Set(elements.map(ofElement))];
    },
  };
}

interface Declarations {
  /** keyed by type of `source`: its elements */
  readonly elements: ReadonlyMap<number, readonly number[]>;
  /** keyed by type of `declared`: the same */
  readonly declarers: ReadonlyMap<number, readonly number[]>;
  /** keyed by element: the first type of `declared` that holds it */
  readonly owners: ReadonlyMap<number, number>;
}

function findDeclarations(declared: SourceModel, source: SourceModel): Declarations {
  const owners = new Map<number, number>();
  for (const [type, { children }] of declared.types.entries())
    for (const { element } of children) if (!owners.has(element)) owners.set(element, type);
  return { elements: byType(source), declarers: byType(declared), owners };
}

function byType({ elements }: SourceModel): Map<number, number[]> {
  return Map.groupBy(elements.keys(), (element) => elements[element]!.type);
}

// Lists what a schema declares for a row, whether or not documents have it: a short name in a pruned model could be confused with it.

/** after more elements than these, names are not shortened */
const maxVisited = 50_000;

/**
 * Returns the steps of names that columns of the table would have if all of it were drawn, and that have the same last step as one of
 * `drawn`, up to the number of steps of these. Computed on the first call. null: there are too many to compare a short name with.
 */
export function unobservedSteps(
  declared: SourceModel,
  { openers }: TableDraft,
  drawn: readonly (readonly string[])[],
  identifiers: Identifiers,
): () => readonly (readonly string[])[] | null {
  let known: readonly (readonly string[])[] | null | undefined;
  return () => {
    if (known !== undefined) return known;
    const maxSteps = Math.max(0, ...drawn.map(({ length }) => length));
    const ways = declaredWays(declared, new Set([...openers].map(({ type }) => type)), maxSteps, identifiers);
    if (ways === null) return (known = null);
    const met = new Set(drawn.map((steps) => steps.join('/')));
    const ends = new Set(drawn.map((steps) => steps.at(-1)!));
    // `position`, `present`, `buyer_key`: names of columns that describe an element but do not hold its content
    const words = ends.difference(new Set(ways.map((way) => way.at(-1)!)));
    return (known = [...ways, ...[...words].flatMap((word) => waysEndedBy(ways, word))].filter(
      (way) => ends.has(way.at(-1)!) && !met.has(way.join('/')),
    ));
  };
}

/**
 * Returns the ways to elements that occur at most once, as all elements before them on the way do, and to attributes of these and of the
 * row's own element. `types`: indexes of the types that elements of the row may have. Returns null if there are too many ways.
 */
function declaredWays(
  model: SourceModel,
  types: Iterable<number>,
  maxSteps: number,
  identifiers: Identifiers,
): (readonly string[])[] | null {
  const ways: (readonly string[])[] = [];
  const above = new Set<number>();
  let visited = 0;
  for (const type of types) if (!visit(type, [])) return null;
  return ways;

  function visit(type: number, steps: readonly string[]): boolean {
    if (type < 0 || above.has(type)) return true;
    visited += 1;
    above.add(type);
    const isAll = [type, ...derivedTypesOf(model, type)].every((actual) => note(actual, steps));
    above.delete(type);
    return isAll && visited <= maxVisited;
  }

  function note(type: number, steps: readonly string[]): boolean {
    if (steps.length >= maxSteps) return true;
    const { attributes, children } = model.types[type]!;
    for (const { name } of attributes)
      if (!isValueName(name)) ways.push([...steps, identifiers(name.localName)]);
    const isSaid = steps.length > 0 || !isLoneWrapper(model, type);
    return children.every(({ element, maxOccurs }) => {
      if (maxOccurs !== 1) return true;
      const within = isSaid ? [...steps, identifiers(model.elements[element]!.name.localName)] : steps;
      if (within.length > 0) ways.push(within);
      return variantsOf(model, element).every((variant) =>
        visit(model.elements[variant.element]!.type, within),
      );
    });
  }
}

/**
 * Returns ways that end with a word: `buyer` `party_key` is the key of the row of `buyer` `party`; a word that names no element applies to
 * any of them.
 */
function waysEndedBy(ways: readonly (readonly string[])[], word: string): (readonly string[])[] {
  const own = ways.filter((way) => word.startsWith(`${way.at(-1)!}_`));
  return own.length > 0 ? own.map((way) => [...way.slice(0, -1), word]) : ways.map((way) => [...way, word]);
}
