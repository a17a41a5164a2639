/** The search: MiniSearch over the sections of the site, in the browser. */
import MiniSearch from 'minisearch';

export interface SearchEntry {
  /** of the section, from the root of the site */
  readonly address: string;
  /** of the page */
  readonly title: string;
  /** '' if the section begins the page */
  readonly heading: string;
  readonly text: string;
}

export type Search = (words: string) => SearchEntry[];

export function createSearch(entries: readonly SearchEntry[]): Search {
  const index = new MiniSearch<SearchEntry & { readonly id: number }>({
    fields: ['title', 'heading', 'text'],
    searchOptions: {
      // pages of tables are long, and found by the words of one row
      bm25: { k: 1.2, b: 0.3, d: 0.5 },
      boost: { title: 4, heading: 3 },
      combineWith: 'AND',
      prefix: true,
      // the beginning of a page before its sections
      boostDocument: (id) => (entries[id as number]!.heading === '' ? 1.6 : 1),
      fuzzy: (term) => (term.length > 4 ? 0.15 : false),
    },
  });
  index.addAll(entries.map((entry, id) => ({ ...entry, id })));
  return (words) => index.search(words).map(({ id }) => entries[id as number]!);
}

/** The part of a text around the first of the words. */
export function excerptOf(text: string, words: string, length = 140): string {
  const lower = text.toLowerCase();
  const places = words
    .toLowerCase()
    .split(/\s+/)
    .map((word) => lower.indexOf(word))
    .filter((place) => place >= 0);
  const at = Math.max(0, Math.min(...places, text.length) - 40);
  const begin = places.length === 0 ? 0 : at === 0 ? 0 : lower.indexOf(' ', at) + 1;
  const excerpt = text.slice(begin, begin + length);
  return `${begin > 0 ? '… ' : ''}${excerpt}${begin + length < text.length ? ' …' : ''}`;
}
