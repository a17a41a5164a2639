/**
 * The content that documents had in children that occur at most once (`--prune`). A type that may hold rows makes its parent's rows wide
 * wherever it is used, but documents have those rows at few of its places. At places where they had none, the child is read in its parent's
 * row.
 */
import type { DocumentStatistics, ElementStatistics } from '../../infer/statistics.ts';
import { xsiNamespace } from '../../model/name-labels.ts';
import { clarkName, type SourceChild, type SourceModel } from '../../model/source-model.ts';
import { actualTypesOf, derivedTypesOf, isTextAlone, variantsOf } from './type-graph.ts';

/** The content found in a child, over all elements of its parent's type. */
export interface ObservedChild {
  /** its content needs a row in addition to the parent's */
  readonly makesRows: boolean;
  /** the number of columns that it adds to its parent's row */
  readonly columns: number;
  /** it is declared as mixed content and held only text */
  readonly isText: boolean;
  /** indexes of the child elements that documents had; a declared element counts if members of its substitution group occurred instead */
  readonly children: ReadonlySet<number>;
}

interface Occurrence {
  readonly met: ElementStatistics;
  readonly element: number;
}

/** Decides how a child that occurs at most once is drawn. */
export interface ChildKinds {
  isValue(element: number): boolean;
  isFolded(type: number, child: SourceChild): boolean;
}

const unknownChild: ObservedChild = {
  makesRows: true,
  columns: Infinity,
  isText: false,
  children: new Set(),
};

export class ObservedChildren {
  readonly #model: SourceModel;
  /** keyed by `type element` */
  readonly #occurrences = new Map<string, Occurrence[]>();
  readonly #known = new Map<string, ObservedChild>();

  constructor(model: SourceModel, statistics: DocumentStatistics) {
    this.#model = model;
    this.#collect(statistics);
  }

  at(type: number, child: SourceChild, kinds: ChildKinds): ObservedChild {
    const key = `${type} ${child.element}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    // while the answer is not known, it is no reason to fold the parent
    this.#known.set(key, unknownChild);
    const found = this.#read(this.#occurrences.get(key) ?? [], kinds);
    this.#known.set(key, found);
    return found;
  }

  #read(occurrences: readonly Occurrence[], kinds: ChildKinds): ObservedChild {
    const { elements, types } = this.#model;
    if (occurrences.length === 0) return unknownChild;
    const columns = new Set<string>();
    const held = new Set<number>();
    let wide = 0;
    let isText = true;
    for (const { met, element } of occurrences) {
      const { type, name } = elements[element]!;
      const definition = types[type]!;
      if (isTyped(met) && derivedTypesOf(this.#model, type).length > 0) return unknownChild;
      const isMixed = definition.content === 'mixed' && !isTextAlone(definition);
      isText &&= isMixed && met.children.length === 0;
      if (isMixed && met.children.length > 0) return unknownChild;
      const own = clarkName(name);
      if (definition.content === 'simple' || definition.content === 'mixed') columns.add(own);
      for (const attribute of met.attributes) columns.add(`${own} @${clarkName(attribute)}`);
      const children = new Map(
        definition.children.flatMap((child) =>
          variantsOf(this.#model, child.element).map((variant) => [
            clarkName(elements[variant.element]!.name),
            child,
          ]),
        ),
      );
      for (const { element: at } of met.children) {
        const child = children.get(this.#nameOf(at));
        if (child === undefined || child.maxOccurs === null || child.maxOccurs > 1) return unknownChild;
        held.add(child.element);
        const identity = `${own} ${child.element}`;
        if (columns.has(identity)) continue;
        columns.add(identity);
        if (kinds.isValue(child.element)) continue;
        if (!kinds.isFolded(type, child)) return unknownChild;
        const below = this.at(type, child, kinds);
        if (below.makesRows) return unknownChild;
        wide += below.columns;
      }
    }
    return { makesRows: false, columns: Math.max(1, columns.size + wide), isText, children: held };
  }

  #statistics: DocumentStatistics['elements'] = [];

  #nameOf(at: number): string {
    return clarkName(this.#statistics[at]!);
  }

  #collect({ elements: statistics, roots }: DocumentStatistics): void {
    this.#statistics = statistics;
    const { elements, types } = this.#model;
    const byName = new Map(
      elements.flatMap((element, at) => (element.global ? [[clarkName(element.name), at] as const] : [])),
    );
    const open: { readonly node: number; readonly element: number }[] = [];
    const visited = new Set<string>();
    const visit = (node: number, element: number): void => {
      const key = `${node} ${element}`;
      if (visited.has(key)) return;
      visited.add(key);
      open.push({ node, element });
    };
    for (const root of roots) {
      const element = byName.get(this.#nameOf(root));
      if (element !== undefined) visit(root, element);
    }
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const met = statistics[next.node]!;
      const below = new Map(met.children.map(({ element }) => [this.#nameOf(element), element]));
      const actual = actualTypesOf(this.#model, next.element);
      for (const type of isTyped(met) ? actual : actual.slice(0, 1)) {
        for (const child of types[type]!.children) {
          for (const variant of variantsOf(this.#model, child.element)) {
            const node = below.get(clarkName(elements[variant.element]!.name));
            if (node === undefined) continue;
            const key = `${type} ${child.element}`;
            const list = this.#occurrences.get(key) ?? [];
            this.#occurrences.set(key, list);
            list.push({ met: statistics[node]!, element: variant.element });
            visit(node, variant.element);
          }
        }
      }
    }
  }
}

function isTyped({ attributes }: ElementStatistics): boolean {
  return attributes.some(
    ({ localName, namespaceUri }) => localName === 'type' && namespaceUri === xsiNamespace,
  );
}
