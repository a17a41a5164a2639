/** Chooses the words that distinguish namespaces in names: their prefixes, or the end of their URIs. */
import type { Drawing, TableDraft } from '../../tables/model-builder.ts';
import type { Identifiers } from '../identifiers.ts';

/** The word for a namespace, and whether it goes before or after a name. */
export interface NamespaceWord {
  readonly word: string;
  readonly isPrefix: boolean;
}

/**
 * Returns, for tables that would have the same name, the words for the namespaces of their elements. The map is empty if such words do not
 * help.
 */
export type NamespaceTeller = (alike: readonly TableDraft[]) => ReadonlyMap<TableDraft, NamespaceWord>;

/** `namespaces`: URIs by prefix. The namespace that all documents start with gets no word. */
export function createNamespaceTeller(
  { roots }: Pick<Drawing, 'roots'>,
  namespaces: Readonly<Record<string, string>>,
  identifiers: Identifiers,
): NamespaceTeller {
  const prefixes = new Map(Object.entries(namespaces).map(([prefix, uri]) => [uri, prefix]));
  const starts = new Set(roots.map(({ name }) => name.namespaceUri));
  const unsaid = starts.size === 1 ? [...starts][0] : null;
  return (alike) => {
    const opened = alike.flatMap((table) => {
      const uri = namespaceOf(table);
      return uri === null || uri === '' ? [] : [{ table, uri }];
    });
    const uris = [...new Set(opened.map(({ uri }) => uri))].toSorted();
    const words = uris.length < 2 ? null : namespaceWords(uris, prefixes, identifiers);
    if (words === null) return new Map();
    return new Map(
      opened.filter(({ uri }) => uri !== unsaid).map(({ table, uri }) => [table, words.get(uri)!]),
    );
  };
}

/** Returns the namespace of the elements that open rows of the table, or null if they have several. */
function namespaceOf({ openers }: TableDraft): string | null {
  const uris = new Set([...openers].map(({ name }) => name.namespaceUri));
  const [only] = uris;
  return uris.size === 1 ? only! : null;
}

/** in characters; a longer word would dominate the name */
const longest = 16;
const mostParts = 5;

/**
 * Returns words that distinguish namespaces, by URI: their prefixes, if an author chose each one; otherwise the parts that their URIs do
 * not share, such as `03` and `09` of `…:pain.001.001.03` and `…:pain.001.001.09`. Returns null if neither are short and different.
 */
export function namespaceWords(
  uris: readonly string[],
  prefixes: ReadonlyMap<string, string>,
  identifiers: Identifiers,
): ReadonlyMap<string, NamespaceWord> | null {
  const given = uris.map((uri) => prefixes.get(uri) ?? '');
  // prefixes that a program numbered (`ns1`) say nothing
  const arePrefixes = given.every((prefix) => prefix !== '' && !/^ns\d*$/i.test(prefix));
  const words = (arePrefixes ? given : distinctParts(uris)).map((word) => identifiers(word));
  const areTold = new Set(words.map((word) => word.toLowerCase())).size === uris.length;
  if (!areTold || words.some((word) => word.length > longest)) return null;
  return new Map(uris.map((uri, at) => [uri, { word: words[at]!, isPrefix: arePrefixes }]));
}

/**
 * Returns, for each URI, as many parts as distinguish it from the others, starting at the first part that they do not share. A single
 * character is not enough.
 */
function distinctParts(uris: readonly string[]): string[] {
  const all = uris.map((uri) => uri.split(/[/:#.-]+/).filter((part) => part !== ''));
  const shortest = Math.min(...all.map((parts) => parts.length));
  let start = 0;
  while (start < shortest - 1 && all.every((parts) => parts[start] === all[0]![start])) start += 1;
  for (let end = start + 1; end < start + mostParts; end += 1) {
    const words = all.map((parts) => parts.slice(start, end).join('_'));
    if (new Set(words).size < words.length) continue;
    if (words.every((word) => word.length > 1)) return words;
    // `0` and `1` of `3.0` and `3.1`
    return all.map((parts) => parts.slice(Math.max(0, start - 1), end).join('_'));
  }
  return uris.map(() => '');
}
