/** Where elements stand in a schema, so that statistics tell elements of one name apart whose types differ. */
import { actualTypesOf, variantsOf } from '../map/tables/type-graph.ts';
import type { PlanEdge, PlanNode, RelationalModel } from '../model/relational-model.ts';
import { clarkName, type SourceModel } from '../model/source-model.ts';
import type { NameTable } from '../xml/tokens.ts';

export interface DeclaredPlace {
  /** index of the plan node of the declared type, or of the declared element; -1: the schema has no place for the element */
  readonly place: number;
  /** index of the declared type in the source model; -1: not known */
  readonly type: number;
  /** text may stand beside its child elements */
  readonly mixed: boolean;
  /** what a wildcard lets in within it is kept as XML: `outer`, the element that is kept, or `inner`, one within that */
  readonly kept?: 'outer' | 'inner';
  readonly hasWildcard?: true;
}

export const notInSchema: DeclaredPlace = { place: -1, type: -1, mixed: true };
const keptOuter: DeclaredPlace = { ...notInSchema, kept: 'outer' };
const keptInner: DeclaredPlace = { ...notInSchema, kept: 'inner' };

/** Of an element that the schema does not have within `above`. */
function undeclared({ kept, hasWildcard }: DeclaredPlace): DeclaredPlace {
  if (kept !== undefined) return keptInner;
  return hasWildcard === true ? keptOuter : notInSchema;
}

export interface DeclaredPlaces {
  /** `above`: place of the parent; null for a root element */
  of(above: DeclaredPlace | null, nameId: number): DeclaredPlace;
}

/** Where no schema is known. */
export const noDeclaredPlaces: DeclaredPlaces = { of: () => notInSchema };

/** By the plan that documents are loaded by. */
export function placesOfPlan({ roots, nodes }: RelationalModel, names: NameTable): DeclaredPlaces {
  const find = (edges: readonly PlanEdge[], key: string): DeclaredPlace | null => {
    const edge = edges.find(({ name }) => clarkName(name) === key);
    if (edge === undefined) return null;
    const variants = [edge.node, ...nodes[edge.node]!.typeEdges.map((typed) => typed.node)];
    const mixed = variants.some((node) => nodes[node]!.textTable >= 0);
    const hasWildcard = variants.some((node) => nodes[node]!.wildcardTable >= 0);
    const { sourceType: type } = nodes[edge.node]!;
    return { place: edge.node, type, mixed, ...(hasWildcard ? { hasWildcard: true as const } : {}) };
  };
  return {
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

/** By the declarations of an XSD set, before there is a plan. */
export function placesOfDeclarations(source: SourceModel, names: NameTable): DeclaredPlaces {
  const { elements, types } = source;
  const placeOf = (element: number): DeclaredPlace => {
    const actual = actualTypesOf(source, element).map((type) => types[type]!);
    const mixed = actual.some(({ content }) => content === 'mixed');
    const hasWildcard = actual.some(({ anyElement }) => anyElement !== null);
    const { type } = elements[element]!;
    return { place: element, type, mixed, ...(hasWildcard ? { hasWildcard: true as const } : {}) };
  };
  return {
    of(above, nameId) {
      const key = keyOf(names, nameId);
      const isCalled = (element: number): boolean => clarkName(elements[element]!.name) === key;
      if (above === null) {
        const root = source.roots.find(isCalled) ?? elements.findIndex((_, element) => isCalled(element));
        return root < 0 ? notInSchema : placeOf(root);
      }
      if (above.place < 0) return undeclared(above);
      for (const type of actualTypesOf(source, above.place))
        for (const { element } of types[type]!.children)
          for (const variant of variantsOf(source, element))
            if (isCalled(variant.element)) return placeOf(variant.element);
      return undeclared(above);
    },
  };
}

function keyOf(names: NameTable, nameId: number): string {
  return clarkName({ namespaceUri: names.namespaceUri(nameId), localName: names.localName(nameId) });
}
