/** OASIS XML Catalogs among and beside the files of an XSD set. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InputError } from '../engine/diagnostics.ts';
import { createNameTable } from '../engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../engine/xml/tokenizer/portable.ts';
import { parseXmlTree } from '../engine/xml/tree.ts';
import {
  catalogNamespace,
  createXmlCatalogs,
  type XmlCatalogFile,
  type XmlCatalogs,
} from '../engine/xsd/read/oasis-catalog.ts';

/** A document whose root element comes later does not count as a catalog. */
const maxProlog = 1024 * 1024;

/** Returns whether a file with that name may be a catalog; its root element decides. */
export function mayBeCatalog(name: string): boolean {
  return /\.(?:xml|cat)$|(?:^|[\\/])catalog$/i.test(name);
}

/** The bytes of a catalog; null for any other file, of which no more is read than its first element takes. */
export async function readCatalog(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const names = createNameTable();
  let root: number | null = null;
  const tokenizer = createXmlTokenizer({
    names,
    onBatch: (batch) => {
      if (root === null && batch.count > 0) root = batch.events[1]!;
    },
  });
  const held: Uint8Array[] = [];
  let bytes = 0;
  const isCatalog = (id: number): boolean =>
    names.localName(id) === 'catalog' && names.namespaceUri(id) === catalogNamespace;
  for await (const chunk of chunks) {
    held.push(chunk.slice());
    bytes += chunk.length;
    if (root === null && !read(() => tokenizer.write(chunk)) && root === null) return null;
    if (root === null ? bytes > maxProlog : !isCatalog(root)) return null;
  }
  // a small document may report its fault at its end only
  if (root === null) read(() => tokenizer.end());
  return root !== null && isCatalog(root) ? new Uint8Array(Buffer.concat(held)) : null;
}

/** Returns whether it is well-formed so far: the compiler checks the text after the first element. */
function read(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

export interface FoundCatalogs {
  readonly catalogs: XmlCatalogs;
  /** content by absolute path */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

/**
 * Finds the catalogs in some folders, and those that they name, as far as `follow` allows. Paths in their answers are absolute, without
 * the first slash.
 */
export async function findCatalogs(
  folders: Iterable<string>,
  paths: readonly string[],
  follow: (path: string) => Promise<string | null>,
): Promise<FoundCatalogs> {
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const parsed: XmlCatalogFile[] = [];
  const add = async (path: string): Promise<void> => {
    if (files.has(path)) return;
    const allowed = await follow(path);
    const bytes = allowed === null ? null : await readCatalog(createReadStream(allowed)).catch(() => null);
    if (bytes === null) return;
    files.set(path, bytes);
    try {
      parsed.push({ name: path.slice(1), root: parseXmlTree(bytes, { fileName: path }) });
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
    }
  };
  for (const path of paths) await add(path);
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries)
      if (entry.isFile() && mayBeCatalog(entry.name)) await add(join(folder, entry.name));
  }
  for (let known = -1; known < parsed.length;) {
    known = parsed.length;
    for (const path of createXmlCatalogs(parsed).further) await add(resolve('/', path));
  }
  return { catalogs: createXmlCatalogs(parsed), files };
}

/** Returns the absolute path of the file that a location, or a namespace without one, is mapped to, or null if there is no mapping. */
export function mappedFile(
  { catalogs }: FoundCatalogs,
  { location, namespace }: { readonly location: string | null; readonly namespace: string | null },
): string | null {
  const answer =
    (location === null ? null : catalogs.location(location)) ??
    (namespace === null ? null : catalogs.namespace(namespace));
  return answer === null || answer.path === null ? null : resolve('/', answer.path);
}

/** Folders in which catalogs are looked for: those of the files themselves. */
export function foldersOf(paths: Iterable<string>): Set<string> {
  return new Set([...paths].map((path) => dirname(path)));
}
