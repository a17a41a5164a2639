/** OASIS XML Catalogs 1.1: the locations that a set gives for its documents. Only files in the set are used; nothing is fetched. */
import type { XmlElement } from '../../xml/tree.ts';

export const catalogNamespace = 'urn:oasis:names:tc:entity:xmlns:xml:catalog';
const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';

export interface XmlCatalogFile {
  /** relative POSIX path in the set */
  readonly name: string;
  /** its `catalog` element */
  readonly root: XmlElement;
}

/** One entry of a catalog. */
export interface CatalogAnswer {
  /** path in the set; null: a URL, or a place outside of the set */
  readonly path: string | null;
  /** URI as written in the entry */
  readonly uri: string;
  /** the catalogue file that has the entry */
  readonly catalog: string;
  readonly line: number;
}

export interface XmlCatalogs {
  /** Resolves a schemaLocation: by `uri` and `system` entries and their kin, a public identifier by `public` ones. */
  location(location: string): CatalogAnswer | null;
  /** Resolves a namespace that is imported: by `uri` entries and their kin. */
  namespace(namespace: string): CatalogAnswer | null;
  /** Paths in the set of further catalogs that this one names, whether the files exist or not. Locations outside of the set are omitted. */
  readonly further: readonly string[];
}

type MatchKind = 'exact' | 'start' | 'end';

interface Entry {
  readonly match: MatchKind;
  /** normalised */
  readonly text: string;
  readonly target: CatalogLocation;
  /** true: the entry rewrites the matched prefix, and the rest follows the target */
  readonly rewrites: boolean;
  readonly line: number;
}

interface Delegation {
  readonly start: string;
  readonly catalog: CatalogLocation;
}

/** Entries for identifiers of one kind. */
interface Lookup {
  readonly entries: Entry[];
  readonly delegations: Delegation[];
}

type IdentifierKind = 'uri' | 'system' | 'public';

interface Catalog {
  readonly name: string;
  readonly lookups: Readonly<Record<IdentifierKind, Lookup>>;
  readonly next: readonly CatalogLocation[];
}

/** A resolved reference. */
interface CatalogLocation {
  readonly path: string | null;
  readonly uri: string;
}

/** Elements by name: the kind of identifier, the attribute to match and how, and the attribute with the target. */
const entryElements: Readonly<
  Record<
    string,
    { readonly kind: IdentifierKind; readonly key: string; readonly match: MatchKind; readonly to: string }
  >
> = {
  uri: { kind: 'uri', key: 'name', match: 'exact', to: 'uri' },
  rewriteURI: { kind: 'uri', key: 'uriStartString', match: 'start', to: 'rewritePrefix' },
  uriSuffix: { kind: 'uri', key: 'uriSuffix', match: 'end', to: 'uri' },
  system: { kind: 'system', key: 'systemId', match: 'exact', to: 'uri' },
  rewriteSystem: { kind: 'system', key: 'systemIdStartString', match: 'start', to: 'rewritePrefix' },
  systemSuffix: { kind: 'system', key: 'systemIdSuffix', match: 'end', to: 'uri' },
  public: { kind: 'public', key: 'publicId', match: 'exact', to: 'uri' },
};

const delegations: Readonly<Record<string, { readonly kind: IdentifierKind; readonly key: string }>> = {
  delegateURI: { kind: 'uri', key: 'uriStartString' },
  delegateSystem: { kind: 'system', key: 'systemIdStartString' },
  delegatePublic: { kind: 'public', key: 'publicIdStartString' },
};

export function isCatalog({ name }: XmlElement): boolean {
  return name.localName === 'catalog' && name.namespaceUri === catalogNamespace;
}

/**
 * Creates the look-up over all catalogs of a set. A catalog that another names is asked in that place; the others in the order of their
 * depth and name.
 */
export function createXmlCatalogs(files: readonly XmlCatalogFile[]): XmlCatalogs {
  const catalogs = new Map(files.map((file) => [file.name, readCatalog(file)]));
  const named = new Set([...catalogs.values()].flatMap(locationsOfCatalogs));
  const ordered = [...catalogs.values()].toSorted(
    (a, b) => depthOf(a.name) - depthOf(b.name) || (a.name < b.name ? -1 : 1),
  );
  const first: Catalog[] = [];
  const reached = new Set<string>();
  // if catalogs refer to each other in a cycle, the first one is asked
  for (const isFree of [true, false]) {
    for (const catalog of ordered) {
      if (reached.has(catalog.name) || (isFree && named.has(catalog.name))) continue;
      first.push(catalog);
      const below = new Set([catalog.name]);
      for (const name of below) for (const other of locationsOfCatalogs(catalogs.get(name))) below.add(other);
      for (const name of below) reached.add(name);
    }
  }
  const at = (locations: readonly CatalogLocation[]): Catalog[] =>
    locations.flatMap(({ path }) => (path === null ? [] : (catalogs.get(path) ?? [])));

  /** `null`: no entry; the catalogs of a delegation have the last word. */
  const ask = (kind: IdentifierKind, text: string, from: readonly Catalog[]): CatalogAnswer | null => {
    const pending = from.toReversed();
    const asked = new Set<Catalog>();
    for (let catalog = pending.pop(); catalog !== undefined; catalog = pending.pop()) {
      // catalogs may refer to each other
      if (asked.has(catalog)) continue;
      asked.add(catalog);
      const { entries, delegations: delegated } = catalog.lookups[kind];
      const entry = bestOf(entries, text);
      if (entry !== null) return answerOf(catalog, entry, text);
      const chosen = delegated
        .filter(({ start }) => text.startsWith(start))
        .toSorted((a, b) => b.start.length - a.start.length);
      if (chosen.length > 0) pending.length = 0;
      pending.push(...at(chosen.length > 0 ? chosen.map((one) => one.catalog) : catalog.next).toReversed());
    }
    return null;
  };

  return {
    location(location) {
      const publicId = unwrapped(location);
      if (publicId !== null) return ask('public', publicId, first) ?? ask('uri', normalised(location), first);
      const text = normalised(location);
      return (
        ask('system', text, first) ?? ask('uri', text, first) ?? ask('public', collapsed(location), first)
      );
    },
    namespace(namespace) {
      const publicId = unwrapped(namespace);
      return (
        (publicId === null ? null : ask('public', publicId, first)) ??
        ask('uri', normalised(namespace), first)
      );
    },
    further: [...named],
  };
}

function locationsOfCatalogs(catalog: Catalog | undefined): string[] {
  if (catalog === undefined) return [];
  const { lookups, next } = catalog;
  const delegated = Object.values(lookups).flatMap((lookup) =>
    lookup.delegations.map(({ catalog }) => catalog),
  );
  return [...next, ...delegated].flatMap(({ path }) => path ?? []);
}

/** An exact match before the longest start before the longest end; of two alike the first. */
function bestOf(entries: readonly Entry[], text: string): Entry | null {
  for (const kind of ['exact', 'start', 'end'] as const) {
    let best: Entry | null = null;
    for (const entry of entries) {
      if (entry.match !== kind || !matches(entry, text)) continue;
      if (best === null || entry.text.length > best.text.length) best = entry;
    }
    if (best !== null) return best;
  }
  return null;
}

function matches({ match, text: wanted }: Entry, text: string): boolean {
  if (match === 'exact') return text === wanted;
  return match === 'start' ? text.startsWith(wanted) : text.endsWith(wanted);
}

function answerOf(
  { name }: Catalog,
  { target, rewrites, text: start, line }: Entry,
  text: string,
): CatalogAnswer {
  const rest = rewrites ? text.slice(start.length) : '';
  const located = rest === '' ? target : locationOf(target, rest);
  return { ...located, catalog: name, line };
}

/** Returns the result of a rewrite: the prefix with the rest after it. The rest may have `..` steps. */
function locationOf({ path, uri }: CatalogLocation, rest: string): CatalogLocation {
  const whole = `${uri}${rest}`;
  return { path: path === null ? null : climbed(`${path}${decoded(rest)}`.split('/')), uri: whole };
}

function emptyLookup(): Lookup {
  return { entries: [], delegations: [] };
}

function readCatalog({ name, root }: XmlCatalogFile): Catalog {
  const lookups = { uri: emptyLookup(), system: emptyLookup(), public: emptyLookup() };
  const next: CatalogLocation[] = [];
  // the entries of a group are read at the position of the group
  const pending: { readonly node: XmlElement; readonly base: string }[] = [{ node: root, base: name }];
  for (let item = pending.pop(); item !== undefined; item = pending.pop()) {
    const { node } = item;
    const base = baseOf(node, item.base);
    const of = (attribute: string): string => attributeOf(node, attribute) ?? '';
    const kind = node.name.namespaceUri === catalogNamespace ? node.name.localName : '';
    if (kind === 'catalog' || kind === 'group') {
      const children = node.children.filter((child) => typeof child !== 'string');
      pending.push(...children.toReversed().map((child) => ({ node: child, base })));
    } else if (kind === 'nextCatalog') next.push(resolved(base, of('catalog')));
    else if (Object.hasOwn(delegations, kind)) {
      const { kind: identifiers, key } = delegations[kind]!;
      const start = identifiers === 'public' ? collapsed(of(key)) : normalised(of(key));
      if (start !== '')
        lookups[identifiers].delegations.push({ start, catalog: resolved(base, of('catalog')) });
    } else if (Object.hasOwn(entryElements, kind)) {
      const { kind: identifiers, key, match, to } = entryElements[kind]!;
      const text = identifiers === 'public' ? publicText(of(key)) : normalised(of(key));
      if (text === '') continue;
      const target = resolved(base, of(to));
      lookups[identifiers].entries.push({
        match,
        text,
        target,
        rewrites: match === 'start',
        line: node.line,
      });
    }
  }
  return { name, lookups, next };
}

function baseOf(node: XmlElement, outer: string): string {
  const base = node.attributes.find(
    ({ name }) => name.localName === 'base' && name.namespaceUri === xmlNamespace,
  );
  if (base === undefined) return outer;
  const { path, uri } = resolved(outer, base.value);
  return path === null ? uri : path;
}

function attributeOf(node: XmlElement, localName: string): string | undefined {
  return node.attributes
    .find(({ name }) => name.localName === localName && name.namespaceUri === '')
    ?.value.trim();
}

const scheme = /^[a-z][a-z0-9+.-]*:/i;

/** A reference seen from a path in the set, or from a URL; it keeps the slash that it ends with. */
function resolved(base: string, reference: string): CatalogLocation {
  const uri = normalised(reference.replace(/#.*$/s, ''));
  if (scheme.test(uri)) return { path: null, uri };
  if (scheme.test(base)) return { path: null, uri: URL.canParse(uri, base) ? new URL(uri, base).href : uri };
  if (uri.startsWith('/')) return { path: null, uri };
  const folder = base.slice(0, base.lastIndexOf('/') + 1);
  return { path: climbed(`${folder}${decoded(uri)}`.split('/')), uri };
}

/** Returns null if the path leaves the set. */
function climbed(segments: readonly string[]): string | null {
  const path: string[] = [];
  for (const segment of segments.slice(0, -1)) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') path.push(segment);
    else if (path.pop() === undefined) return null;
  }
  const last = segments.at(-1)!;
  if (last === '..') return path.pop() === undefined ? null : path.join('/');
  return [...path, last === '.' ? '' : last].join('/');
}

function depthOf(name: string): number {
  return name.split('/').length;
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}

/** Normalises a reference for comparison: characters that are not allowed in one are percent-encoded (XML Catalogs 1.1, 6.3). */
function normalised(reference: string): string {
  return reference
    .trim()
    .replaceAll('\\', '/')
    .replace(/[^\u0021-\u007e]|["<>^`{|}]/gu, (character) => encodeURIComponent(character));
}

function collapsed(publicId: string): string {
  return publicId.trim().replaceAll(/[ \t\r\n]+/g, ' ');
}

function publicText(publicId: string): string {
  return unwrapped(publicId) ?? collapsed(publicId);
}

/** Returns the public identifier that a URN of RFC 3151 denotes, or null for all other URNs. */
function unwrapped(urn: string): string | null {
  const [, text] = /^urn:publicid:(.*)$/is.exec(urn.trim()) ?? [];
  if (text === undefined) return null;
  const signs: Readonly<Record<string, string>> = { '+': ' ', ':': '//', ';': '::' };
  const plain = text.replace(
    /[+:;]|%(?:2B|3A|2F|3B|27|3F|23|25)/gi,
    (sign) => signs[sign] ?? decodeURIComponent(sign),
  );
  return collapsed(plain);
}
