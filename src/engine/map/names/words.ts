/** Chooses the words that distinguish namespaces in names: their prefixes, or the end of their URIs. */
import type { Drawing, TableDraft, ColumnDraft } from '../tables/model-builder.ts';
import { type Identifiers, byteLength, joinedSteps } from './identifiers.ts';

/** The word for a namespace, and whether it goes before or after a name. */
export interface NamespaceWord {
  readonly word: string;
  readonly isPrefix: boolean;
}

/**
 * Returns, for tables that would have the same name, the words for the namespaces of their elements. The map is empty if such words do not
 * help.
 */
export type NamespaceWordChooser = (alike: readonly TableDraft[]) => ReadonlyMap<TableDraft, NamespaceWord>;

/** `namespaces`: URIs by prefix. The namespace that all documents start with gets no word. */
export function createNamespaceWordChooser(
  { roots }: Pick<Drawing, 'roots'>,
  namespaces: Readonly<Record<string, string>>,
  identifiers: Identifiers,
): NamespaceWordChooser {
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
const maxParts = 5;

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
  for (let end = start + 1; end < start + maxParts; end += 1) {
    const words = all.map((parts) => parts.slice(start, end).join('_'));
    if (new Set(words).size < words.length) continue;
    if (words.every((word) => word.length > 1)) return words;
    // `0` and `1` of `3.0` and `3.1`
    return all.map((parts) => parts.slice(Math.max(0, start - 1), end).join('_'));
  }
  return uris.map(() => '');
}

// Prefixes in names of columns distinguish elements of a row that have the same name in several namespaces.

/**
 * Returns the words of a column's name, from the row's element inwards: the name of each element or attribute, with the prefix of its
 * namespace before it if the rows have another of that name (`linux-def:object`, `unix-def:object`). The root's namespace has no prefix.
 */
export function createNameParts(columns: readonly ColumnDraft[]): (column: ColumnDraft) => readonly string[] {
  const prefixes = new Map(columns.map((column) => [column, prefixesOf(column)]));
  // keyed by the way to it: the prefixes of its steps with the same name
  const alike = new Map<string, Set<string>>();
  for (const [column, own] of prefixes)
    for (const [at, prefix] of own.entries()) {
      const way = wayTo(column, at);
      const known = alike.get(way);
      if (known === undefined) alike.set(way, new Set([prefix]));
      else known.add(prefix);
    }
  return (column) => {
    const own = prefixes.get(column)!;
    return column.nameParts.map((part, at) => {
      const prefix = own[at] ?? '';
      return prefix === '' || alike.get(wayTo(column, at))!.size < 2 ? part : `${prefix}_${part}`;
    });
  };
}

/** Returns the way to a step. An attribute is marked, because it may have the name of an element of the same row. */
function wayTo({ nameParts, steps }: ColumnDraft, at: number): string {
  const isAttribute = at === nameParts.length - 1 && steps.slice(steps.lastIndexOf('/') + 1).startsWith('@');
  return `${nameParts.slice(0, at + 1).join('/')}${isAttribute ? '@' : ''}`;
}

/**
 * Returns the prefix of each word that is the name of a step. There may be more steps than words, because wrappers are not named, and more
 * words than steps: `present`.
 */
function prefixesOf({ nameParts, steps }: ColumnDraft): string[] {
  const found: string[] = [];
  for (const step of steps.split('/')) {
    const [, prefix = '', local] = /^@?(?:([^:{}]*):|\{[^}]*\})?([^:{}]+)$/.exec(step) ?? [];
    if (local !== undefined && local === nameParts[found.length]) found.push(prefix);
  }
  return found;
}

// Words that one step of a name ends and the next begins with: `status_code`, `code` is `status_code`.

type Steps = readonly string[];

/**
 * Shortens names of the table's columns, given by their steps: words are said once if no other column could have that name, drawn or not
 * (`unmet`; null: unknown). Names that are longer than `maxBytes` even so say all steps.
 */
export function createWordsSaidOnce(
  drawn: readonly Steps[],
  unmet: () => readonly Steps[] | null,
  maxBytes: number,
): (steps: Steps) => string {
  let known: KnownNames | undefined;
  return (steps) => {
    const words = steps.join('_');
    const once = joinedSteps(steps);
    if (once === words || byteLength(once) > maxBytes) return words;
    known ??= namesOf(drawn, unmet());
    const isSure =
      known.uses.get(once.toLowerCase()) === 1 && !isChoice(steps) && !hasTwin(steps, known.siblings);
    return isSure ? once : words;
  };
}

interface KnownNames {
  /** how many columns could have each name */
  readonly uses: ReadonlyMap<string, number>;
  /** keyed by the steps before: last steps */
  readonly siblings: ReadonlyMap<string, readonly string[]>;
}

function namesOf(drawn: readonly Steps[], unmet: readonly Steps[] | null): KnownNames {
  const uses = new Map<string, number>();
  const all = unmet === null ? [] : [...drawn, ...unmet];
  for (const steps of all)
    for (const name of new Set([steps.join('_').toLowerCase(), joinedSteps(steps).toLowerCase()]))
      uses.set(name, (uses.get(name) ?? 0) + 1);
  const byParent = Map.groupBy(all, (steps) => steps.slice(0, -1).join('/'));
  const siblings = new Map(
    [...byParent].map(([parent, group]) => [parent, group.map((steps) => steps.at(-1)!)] as const),
  );
  return { uses, siblings };
}

/** Tests for a choice: in `cd_or_prtry`, `prtry`, the repeated word says which alternative it is. */
function isChoice(steps: Steps): boolean {
  return steps.slice(0, -1).some((step) => /_or_/i.test(step));
}

/**
 * Tests for a sibling that could have the same name: for `fr_to_dt`, `to_dt_tm`, the name `fr_to_dt_tm` could also be that of `fr_dt_tm`.
 */
function hasTwin(steps: Steps, siblings: KnownNames['siblings']): boolean {
  const before = steps.slice(0, -1);
  const last = steps.at(-1)!;
  const added = joinedSteps(steps).slice(joinedSteps(before).length);
  return (
    added !== '' &&
    added !== `_${last}` &&
    siblings.get(before.join('/'))!.some((other) => other !== last && `_${other}`.endsWith(added))
  );
}
