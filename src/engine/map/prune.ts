/**
 * `--prune`: an XSD allows far more than anybody sends. What statistics of documents never met is left out of the model;
 * should it occur later, it is kept as unmapped content.
 */
import type { DocumentStatistics } from '../infer/statistics.ts';
import { clarkName, type SourceModel } from '../model/source-model.ts';
import { actualTypesOf, variantsOf } from './tables/type-graph.ts';

/** The same elements and types (by index) with the children, attributes, members and derivations that occurred. */
export function pruneSourceModel(source: SourceModel, statistics: DocumentStatistics): SourceModel {
  const used = findUsed(source, statistics);
  return {
    ...source,
    elements: source.elements.map((element) => ({
      ...element,
      substitutes: element.substitutes.filter((member) => used.elements.has(member)),
    })),
    types: source.types.map((type, index) => ({
      ...type,
      attributes: type.attributes.filter(
        (attribute) => attribute.required || used.attributes.has(`${index} ${clarkName(attribute.name)}`),
      ),
      children: type.children.filter((child) => used.children.has(`${index} ${child.element}`)),
      derived: type.derived.filter((derived) => used.derived.has(derived)),
    })),
  };
}

interface Used {
  /** elements that stood somewhere */
  readonly elements: ReadonlySet<number>;
  /** `type element` of children, `type name` of attributes that occurred */
  readonly children: ReadonlySet<string>;
  readonly attributes: ReadonlySet<string>;
  /** types that hold something only they have, and so were named by xsi:type */
  readonly derived: ReadonlySet<number>;
}

/** Walks the paths that occurred beside the types they may have had. */
function findUsed(source: SourceModel, statistics: DocumentStatistics): Used {
  const elements = new Set<number>();
  const children = new Set<string>();
  const attributes = new Set<string>();
  const derived = new Set<number>();
  const visited = new Set<string>();
  const open: { readonly node: number; readonly element: number }[] = [];
  const byName = new Map(
    source.elements
      .entries()
      .filter(([, element]) => element.global)
      .map(([index, element]) => [clarkName(element.name), index]),
  );
  for (const root of statistics.roots) {
    const element = byName.get(clarkName(statistics.elements[root]!));
    if (element !== undefined) open.push({ node: root, element });
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, element } = next;
    if (visited.has(`${node} ${element}`)) continue;
    visited.add(`${node} ${element}`);
    elements.add(element);
    const met = statistics.elements[node]!;
    const names = new Map(
      met.children.map((child) => [clarkName(statistics.elements[child.element]!), child.element]),
    );
    const typed = met.attributes.some(
      ({ localName, namespaceUri }) => localName === 'type' && namespaceUri.endsWith('XMLSchema-instance'),
    );
    const types = actualTypesOf(source, element);
    for (const type of typed ? types : types.slice(0, 1)) {
      if (type !== source.elements[element]!.type) derived.add(type);
      for (const attribute of met.attributes) attributes.add(`${type} ${clarkName(attribute)}`);
      for (const child of source.types[type]!.children) {
        for (const variant of variantsOf(source, child.element)) {
          const childNode = names.get(clarkName(source.elements[variant.element]!.name));
          if (childNode === undefined) continue;
          children.add(`${type} ${child.element}`);
          open.push({ node: childNode, element: variant.element });
        }
      }
    }
  }
  return { elements, children, attributes, derived };
}
