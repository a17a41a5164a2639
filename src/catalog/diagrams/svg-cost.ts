/**
 * Estimates what a drawing costs the program that displays it: elements that references multiply, and filters, which process every
 * pixel.
 */
import type { Steps } from '../../engine/in-slices.ts';
import type { XmlElement } from '../../engine/xml/tree.ts';

export interface CostFault {
  readonly reason: string;
  readonly element: XmlElement;
}

/** elements, those that `use`, `pattern` and their like repeat counted each time */
const mostElements = 250_000;
/** steps of filters, and elements that are filtered */
const mostFilters = 32;
/** radius of a blur, in units of the drawing */
const widestFilter = 25;

/** Why the drawing is too much; null: it is not. */
export function* drawingCost(root: XmlElement): Steps<CostFault | null> {
  const all: XmlElement[] = [];
  const byId = new Map<string, XmlElement>();
  const rest = [root];
  for (let element = rest.pop(); element !== undefined; element = rest.pop()) {
    yield;
    all.push(element);
    const id = element.attributes.find(({ name }) => name.localName === 'id')?.value;
    if (id !== undefined && !byId.has(id)) byId.set(id, element);
    for (const child of element.children) if (typeof child !== 'string') rest.push(child);
  }
  return (yield* filterFault(all)) ?? (yield* expansionFault(root, byId));
}

function* filterFault(all: readonly XmlElement[]): Steps<CostFault | null> {
  let filters = 0;
  for (const element of all) {
    yield;
    const isStep = /^fe[A-Z]/.test(element.name.localName);
    const isFiltered = element.attributes.some(
      ({ name, value }) =>
        name.localName === 'filter' || (name.localName === 'style' && /filter/i.test(value)),
    );
    if (isStep || isFiltered) filters += 1;
    if (filters > mostFilters)
      return { reason: `more than ${mostFilters} filters and filtered elements are not allowed`, element };
    const wide = element.attributes.find(
      ({ name, value }) =>
        ['stdDeviation', 'radius'].includes(name.localName) &&
        value.split(/[\s,]+/).some((number) => number !== '' && !(Number(number) <= widestFilter)),
    );
    if (isStep && wide !== undefined)
      return { reason: `${wide.name.localName} may be ${widestFilter} at most`, element };
    const inStyle = element.attributes.some(
      ({ name, value }) =>
        ['style', 'filter'].includes(name.localName) && /(?:blur|drop-shadow)\s*\(/i.test(value),
    );
    if (inStyle) return { reason: 'a filter is an element of its own, which its attribute names', element };
  }
  return null;
}

/** Counts from the leaves up, each element once, so that the count takes as long as the drawing is large. */
function* expansionFault(root: XmlElement, byId: ReadonlyMap<string, XmlElement>): Steps<CostFault | null> {
  const costs = new Map<XmlElement, number>();
  const open = new Set<XmlElement>();
  const stack: { readonly element: XmlElement; readonly parts: XmlElement[]; cost: number }[] = [];
  const enter = (element: XmlElement): void => {
    open.add(element);
    const children = element.children.filter((child) => typeof child !== 'string');
    stack.push({ element, parts: [...children, ...referencesOf(element, byId)], cost: 1 });
  };
  enter(root);
  for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
    yield;
    const next = top.parts.pop();
    if (next !== undefined) {
      if (open.has(next)) return { reason: 'a part of the drawing refers to itself', element: top.element };
      const known = costs.get(next);
      if (known === undefined) enter(next);
      else top.cost += known;
    } else {
      if (top.cost > mostElements)
        return {
          reason: `its references make more than ${mostElements} elements of it`,
          element: top.element,
        };
      costs.set(top.element, top.cost);
      open.delete(top.element);
      stack.pop();
      const above = stack.at(-1);
      if (above !== undefined) above.cost += top.cost;
    }
  }
  return null;
}

function referencesOf(element: XmlElement, byId: ReadonlyMap<string, XmlElement>): XmlElement[] {
  return element.attributes.flatMap(({ name, value }) => {
    const ids =
      name.localName === 'href'
        ? [/^\s*#(.*?)\s*$/s.exec(value)?.[1]]
        : [...value.matchAll(/url\s*\(\s*['"]?#([\w.:-]+)/gi)].map(([, id]) => id);
    return ids.flatMap((id) => byId.get(id ?? '') ?? []);
  });
}
