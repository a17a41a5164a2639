/** The entries of `_unmapped` that hang from one row, by the folded element that contains them. */
import { pathSteps } from '../model/name-labels.ts';
import type { UnmappedRow } from './rows/document-rows.ts';

export interface KeptItem {
  readonly position: number;
  readonly kind: 'element' | 'text';
  readonly content: string;
}

/** The unmapped content that was kept of one element. */
export interface KeptElement {
  /** label of the name -> value */
  readonly attributes: [label: string, value: string][];
  /** URIs by prefix that its content uses */
  readonly namespaces: Map<string, string>;
  /** child elements and text, by position */
  readonly items: KeptItem[];
  /** label of a folded child whose position does not follow from the order of the model -> its position */
  readonly positions: Map<string, number>;
}

/** Indexed by labels below the row's element, each with a slash before it; '' for the row's element itself. */
export type KeptElements = ReadonlyMap<string, KeptElement>;

/** `depth`: steps of the path to the row's own element, the root's included. */
export function indexKeptContent(rows: readonly UnmappedRow[], depth: number): KeptElements {
  const kept = new Map<string, KeptElement>();
  for (const { position, xpath, kind, content } of rows) {
    const steps = pathSteps(xpath).slice(depth);
    const own = kind === 'text' ? undefined : steps.pop();
    const element = elementAt(kept, steps);
    const prefix = kind === 'attribute' ? /^@xmlns:(.+)$/.exec(own ?? '')?.[1] : undefined;
    if (prefix !== undefined) element.namespaces.set(prefix, content ?? '');
    else if (kind === 'attribute') element.attributes.push([(own ?? '').slice(1), content ?? '']);
    else if (kind === 'place') element.positions.set(own ?? '', position);
    else element.items.push({ position, kind: kind === 'text' ? 'text' : 'element', content: content ?? '' });
  }
  for (const { items } of kept.values()) items.sort((a, b) => a.position - b.position);
  return kept;
}

/** The element at these steps; those on the way get an entry too, so that each shows its element is there. */
function elementAt(kept: Map<string, KeptElement>, steps: readonly string[]): KeptElement {
  let path = '';
  for (let at = 0; ; at += 1) {
    let element = kept.get(path);
    if (element === undefined)
      kept.set(path, (element = { attributes: [], namespaces: new Map(), items: [], positions: new Map() }));
    if (at === steps.length) return element;
    path += `/${steps[at]!}`;
  }
}
