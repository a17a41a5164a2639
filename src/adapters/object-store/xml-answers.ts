/** Parses the XML responses of object stores. */
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files.ts';

export function* objectsIn(text: string): Generator<StoredObject> {
  for (const entry of elementsIn(text, 'Contents')) {
    yield {
      key: elementIn(entry, 'Key') ?? '',
      bytes: Number(elementIn(entry, 'Size')),
      modified: Date.parse(elementIn(entry, 'LastModified') ?? ''),
      version: elementIn(entry, 'ETag') ?? '',
    };
  }
}

/**
 * Yields the blobs in a list of an Azure container, without those that represent folders: accounts with real folders have them, and
 * Hadoop writes them.
 */
export function* blobsIn(text: string): Generator<StoredObject> {
  for (const entry of elementsIn(text, 'Blob')) {
    if (standsForFolder(entry)) continue;
    const key = elementIn(entry, 'Name') ?? '';
    yield {
      // names that XML cannot hold
      key: /<Name\s+Encoded="true"/.test(entry) ? decodeURIComponent(key) : key,
      bytes: Number(elementIn(entry, 'Content-Length')),
      modified: Date.parse(elementIn(entry, 'Last-Modified') ?? ''),
      // a list leaves out the quotes that headers have
      version: `"${(elementIn(entry, 'Etag') ?? '').replaceAll('"', '')}"`,
    };
  }
}

function standsForFolder(blob: string): boolean {
  return elementIn(blob, 'ResourceType') === 'directory' || /<hdi_isfolder>true</i.test(blob);
}

/**
 * Returns the marker that requests the next page of a list, or null if this page is the last. `before`: the marker of this page.
 * AppError `service_unavailable` if the text is not a complete list, or if the list never ends: files would be missing if it were
 * accepted.
 */
export function nextPage(text: string, kind: 's3' | 'az', before: string | null): string | null {
  const [root, name] =
    kind === 's3' ? ['ListBucketResult', 'NextContinuationToken'] : ['EnumerationResults', 'NextMarker'];
  if (!text.trimEnd().endsWith(`</${root}>`))
    throw noList('answers a list with something else, or with a part of one');
  const next = elementIn(text, name!) || null;
  const goesOn = kind === 's3' ? elementIn(text, 'IsTruncated') : null;
  // a store that leaves the one word out says by the other that there is more
  if (kind === 's3' && goesOn !== 'true' && (goesOn !== null || next === null)) return null;
  if (kind === 's3' && next === null) throw noList('says that its list goes on, and not where');
  if (next !== null && next === before) throw noList('answers the same page of its list again and again');
  return next;
}

function noList(what: string): AppError {
  return new AppError(
    'service_unavailable',
    `the store ${what}: look at its endpoint, and at what stands before it`,
  );
}

/** Returns the text of the first element with that name: the answers of a store are flat, in a known form. */
export function elementIn(text: string, name: string): string | null {
  const begin = `<${name}`;
  for (let at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
    const next = text[at + begin.length];
    if (next !== '>' && !/\s/.test(next ?? '')) continue;
    const from = text.indexOf('>', at) + 1;
    const to = text.indexOf('<', from);
    if (from > 0 && to >= 0 && text.startsWith(`</${name}>`, to)) return unescaped(text.slice(from, to));
  }
  return null;
}

/** Yields the content of each element with that name. Such elements are never nested. */
function* elementsIn(text: string, name: string): Generator<string> {
  const [begin, end] = [`<${name}>`, `</${name}>`];
  for (let at = text.indexOf(begin); at >= 0;) {
    const to = text.indexOf(end, at);
    if (to < 0) return;
    yield text.slice(at + begin.length, to);
    at = text.indexOf(begin, to);
  }
}

/** Returns the code in an error document, or null if there is none or it is not a plain word: some servers repeat the request there. */
export function faultCode(text: string): string | null {
  const code = elementIn(text, 'Code');
  return code !== null && /^[\w.-]{1,64}$/.test(code) ? code : null;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (!text.includes('&')) return text;
  // an ETag of each object has two
  const unquoted = text.replaceAll('&quot;', '"');
  if (!unquoted.includes('&')) return unquoted;
  return unquoted.replaceAll(
    /&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi,
    (whole, hex?: string, decimal?: string, name = '') => {
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return entities[name as string] ?? whole;
    },
  );
}
