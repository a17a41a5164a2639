/** Finds the external references of a document in one folder or archive: by catalogues there, or by their relative locations. */
import { posix } from 'node:path';
import { InputError } from '../../../engine/diagnostics.ts';
import type { ExternalPart, ExternalReference } from '../../../engine/xml/dtd/external/reference.ts';
import { parseXmlTree } from '../../../engine/xml/tree.ts';
import {
  createXmlCatalogs,
  isCatalog,
  type XmlCatalogFile,
  type XmlCatalogs,
} from '../../../engine/xsd/read/oasis-catalog.ts';
import { mayBeCatalog } from '../xsd-catalogs.ts';

/** Called for each external reference of a document that is not read. */
export type OnRefused = (document: string, name: string, why: string) => void;

const isElsewhere = 'it lies elsewhere: only what lies in the folder or archive of the input is read';
export const leadsOut = 'it leads out of the folder or archive of the input, beyond which nothing is read';
export const isAbsent = 'there is no such file in the folder or archive of the input';

function notFetched(address: string): string {
  return `only the document was fetched from ${address}, and no file beside it: give a folder or an archive that holds both`;
}

type Found = Uint8Array | { readonly refused: string };

/** Files of a folder or an archive, by paths within it, which have '/' between their parts. */
export interface PartPlace {
  bytes(path: string): Found;
  /** names of the files in a folder, which is '' or a path */
  files(folder: string): readonly string[];
}

/** Paths of references, the same for every place. */
export class PartResolver {
  readonly #place: PartPlace;
  readonly #onRead: (path: string) => void;
  readonly #onRefused: OnRefused;
  readonly #found = new Map<string, ExternalPart | { readonly refused: string }>();
  readonly #parts = new Map<string, ExternalPart | { readonly refused: string }>();
  readonly #catalogs = new Map<string, XmlCatalogs>();

  constructor(place: PartPlace, onRead: (path: string) => void, onRefused: OnRefused) {
    this.#place = place;
    this.#onRead = onRead;
    this.#onRefused = onRefused;
  }

  /** `document`: its path in the place; `address`: the address that it was fetched from, without its neighbours there. */
  read(
    document: string,
    reference: ExternalReference,
    address?: string,
  ): ExternalPart | { readonly refused: string } {
    const { publicId, systemId, base } = reference;
    const folder = folderOf(base ?? document);
    const key = JSON.stringify([folderOf(document), folder, systemId, publicId]);
    let found = this.#found.get(key);
    if (found === undefined) {
      found = this.#resolve(folderOf(document), folder, reference);
      if (address !== undefined && 'refused' in found && found.refused === isAbsent)
        found = { refused: notFetched(address) };
      this.#found.set(key, found);
      if ('refused' in found) this.#onRefused(document, systemId ?? publicId ?? '', found.refused);
    }
    return found;
  }

  /** Forgets which parts were missing: more of the place is known now. */
  forget(): void {
    for (const known of [this.#found, this.#parts])
      for (const [key, one] of known) if ('refused' in one) known.delete(key);
    this.#catalogs.clear();
  }

  #resolve(
    documentFolder: string,
    folder: string,
    { publicId, systemId }: ExternalReference,
  ): ExternalPart | { readonly refused: string } {
    const catalogs = this.#catalogsFor(documentFolder);
    const mapped =
      (systemId === null ? null : catalogs.location(systemId)) ??
      (publicId === null ? null : catalogs.location(publicId));
    if (mapped !== null)
      return mapped.path === null
        ? { refused: `the catalogue ${mapped.catalog} leads to ${mapped.uri}; ${isElsewhere}` }
        : this.#part(mapped.path);
    if (systemId === null) return { refused: 'no catalogue beside the document knows its public identifier' };
    const location = systemId.trim().replace(/#.*$/s, '').replaceAll('\\', '/');
    if (/^(?:[a-z][a-z0-9+.-]*:|\/)/i.test(location)) return { refused: isElsewhere };
    const path = posix.normalize(posix.join(folder, decoded(location)));
    return path === '..' || path.startsWith('../') ? { refused: leadsOut } : this.#part(path);
  }

  #part(path: string): ExternalPart | { readonly refused: string } {
    let part = this.#parts.get(path);
    if (part === undefined) {
      const found = this.#place.bytes(path);
      if (!('refused' in found)) this.#onRead(path);
      part = 'refused' in found ? found : { bytes: found, base: path };
      this.#parts.set(path, part);
    }
    return part;
  }

  /**
   * Returns the catalogues in the folder of a document and in its parent folders up to the root of the input, and those that they name.
   */
  #catalogsFor(folder: string): XmlCatalogs {
    let catalogs = this.#catalogs.get(folder);
    if (catalogs !== undefined) return catalogs;
    const parsed = new Map<string, XmlCatalogFile>();
    const add = (path: string): void => {
      if (parsed.has(path)) return;
      const bytes = this.#place.bytes(path);
      const root = 'refused' in bytes ? null : catalogRoot(bytes);
      if (root !== null) parsed.set(path, { name: path, root });
    };
    for (let at = folder; ; at = folderOf(at)) {
      for (const name of this.#place.files(at)) if (mayBeCatalog(name)) add(posix.join(at, name));
      if (at === '') break;
    }
    for (let known = -1; known < parsed.size;) {
      known = parsed.size;
      for (const path of createXmlCatalogs([...parsed.values()]).further) add(path);
    }
    catalogs = createXmlCatalogs([...parsed.values()]);
    this.#catalogs.set(folder, catalogs);
    return catalogs;
  }
}

const catalogMark = Buffer.from('urn:oasis:names:tc:entity:xmlns:xml:catalog');

function catalogRoot(bytes: Uint8Array): XmlCatalogFile['root'] | null {
  // documents beside it are not parsed as trees
  if (!Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 8192)).includes(catalogMark))
    return null;
  try {
    const root = parseXmlTree(bytes);
    return isCatalog(root) ? root : null;
  } catch (error) {
    if (error instanceof InputError) return null;
    throw error;
  }
}

export function folderOf(path: string): string {
  const at = path.lastIndexOf('/');
  return at < 0 ? '' : path.slice(0, at);
}

function decoded(uri: string): string {
  try {
    return decodeURIComponent(uri);
  } catch {
    return uri;
  }
}
