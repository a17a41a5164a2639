/** The entries of `_unmapped` that hang from one row, by the folded element they stand in. */
import { pathSteps } from '../model/name-labels.ts';
import type { UnmappedRow } from './document-rows.ts';

export interface KeptItem {
  readonly position: number;
  readonly kind: 'element' | 'text';
  readonly content: string;
}

/** What was kept of one element. */
export interface KeptPlace {
  /** label of the name -> value */
  readonly attributes: [label: string, value: string][];
  /** child elements and text, by position */
  readonly items: KeptItem[];
  /** label of a folded child whose place the order of the model does not tell -> its position */
  readonly places: Map<string, number>;
}

/** By labels below the row's element, each with a slash before it; '' for the row's element itself. */
export type KeptPlaces = ReadonlyMap<string, KeptPlace>;

/** `depth`: steps of the path to the row's own element, the root's included. */
export function indexKeptContent(rows: readonly UnmappedRow[], depth: number): KeptPlaces {
  const kept = new Map<string, KeptPlace>();
  for (const { position, xpath, kind, content } of rows) {
    const steps = pathSteps(xpath).slice(depth);
    const own = kind === 'text' ? undefined : steps.pop();
    const place = placeAt(kept, steps);
    if (kind === 'attribute') place.attributes.push([(own ?? '').slice(1), content ?? '']);
    else if (kind === 'place') place.places.set(own ?? '', position);
    else place.items.push({ position, kind: kind === 'text' ? 'text' : 'element', content: content ?? '' });
  }
  for (const { items } of kept.values()) items.sort((a, b) => a.position - b.position);
  return kept;
}

/** The place of these steps; those on the way get one too, so that each shows its element is there. */
function placeAt(kept: Map<string, KeptPlace>, steps: readonly string[]): KeptPlace {
  let path = '';
  for (let at = 0; ; at += 1) {
    let place = kept.get(path);
    if (place === undefined) kept.set(path, (place = { attributes: [], items: [], places: new Map() }));
    if (at === steps.length) return place;
    path += `/${steps[at]!}`;
  }
}
