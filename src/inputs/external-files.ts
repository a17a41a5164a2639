/** Files that documents refer to and that lie beside them: external DTD subsets and entities. */
import { closeSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { InputError } from '../engine/diagnostics.ts';
import type { ExternalParts, ExternalPart, ExternalReference } from '../engine/xml/dtd/document-type.ts';
import { createXmlTokenizer } from '../engine/xml/tokenizer/portable.ts';
import { AppError } from '../errors.ts';
import { type ArchiveKind, defaultArchiveLimits, type ArchiveLimits } from './archives/kinds.ts';
import { archiveMembers } from './archives/members.ts';
import { namedFiles } from './document-names.ts';
import { keyOfSource, oneByOne, type DocumentBytes } from './members.ts';
import { openSmallFile, type Links } from './open-file.ts';
import { parseXmlTree } from '../engine/xml/tree.ts';
import {
  createXmlCatalogs,
  isCatalog,
  type XmlCatalogFile,
  type XmlCatalogs,
} from '../engine/xsd/read/oasis-catalog.ts';
import { mayBeCatalog } from './xsd-catalogs.ts';

// Resolves external references of documents: their DTD, and external entities. A part is read only if it is in the folder or archive of
// the input, or if a catalogue there leads to it; never from anywhere else.

/** limit for one part; the tokenizer limits all of them together */
const maxBytes = 64 * 1024 * 1024;

/** The place of a document that is a file. */
export interface DocumentFile {
  readonly path: string;
  /** the folder beyond which nothing that the document refers to is read */
  readonly root: string;
  /** the address that it was fetched from, without its neighbours there */
  readonly address?: string;
}

/** External parts for the documents of one set of inputs. Parts that were read for one document are cached for the next. */
export class ExternalFiles {
  readonly #links: Links;
  readonly #limits: ArchiveLimits;
  readonly #onRefused: OnRefused;
  readonly #folders = new Map<string, PartResolver>();
  readonly #archives = new Map<string, ArchiveParts>();
  readonly #read = new Set<string>();

  constructor(
    links: Links,
    limits: ArchiveLimits = defaultArchiveLimits,
    onRefused: OnRefused = () => undefined,
  ) {
    this.#links = links;
    this.#limits = limits;
    this.#onRefused = onRefused;
  }

  /** Whether a document was read with it: see `keyOfSource`. */
  isRead(key: string): boolean {
    return this.#read.has(key);
  }

  /** Returns the external parts of a document that is a file. */
  ofFile({ path, root, address }: DocumentFile): ExternalParts {
    const document = relative(root, path).split(sep).join('/');
    return {
      read: (reference) => {
        let resolver = this.#folders.get(root);
        if (resolver === undefined) {
          const onRead = (at: string): void => void this.#read.add(keyOfSource(join(root, at), null));
          resolver = new PartResolver(folderPlace(root, this.#links), onRead, this.#onRefused);
          this.#folders.set(root, resolver);
        }
        return resolver.read(document, reference, address);
      },
    };
  }

  ofArchive(path: string, kind: Exclude<ArchiveKind, 'gz'>): ArchiveParts {
    let archive = this.#archives.get(path);
    if (archive === undefined) {
      const onRead = (at: string): void => void this.#read.add(keyOfSource(path, at));
      archive = new ArchiveParts(path, kind, this.#links, this.#limits, {
        onRead,
        onRefused: this.#onRefused,
      });
      this.#archives.set(path, archive);
    }
    return archive;
  }
}

/** Returns the folder that bounds the references of a document, which has the name `name` within an input. */
export function rootOf(path: string, name: string): string {
  const own = sep + name.split('/').join(sep);
  return path.endsWith(own) && path.length > own.length ? path.slice(0, -own.length) : dirname(path);
}

function folderPlace(root: string, links: Links): PartPlace {
  let real: string | null = null;
  return {
    bytes(path) {
      const file = join(root, path);
      try {
        real ??= realpathSync(root);
        const target = realpathSync(file);
        if (!target.startsWith(real === sep ? sep : real + sep)) return { refused: leadsOut };
        if (links === 'refuse' && target !== file) return { refused: `it is a link: ${leadsOut}` };
        const facts = statSync(target);
        if (!facts.isFile()) return { refused: isAbsent };
        if (facts.size > maxBytes) return { refused: `it is larger than ${maxBytes} bytes` };
        const descriptor = openSmallFile(target, 'refuse');
        try {
          return readFileSync(descriptor);
        } finally {
          closeSync(descriptor);
        }
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (error instanceof AppError) return { refused: error.message };
        if (code === 'ENOENT' || code === 'ENOTDIR') return { refused: isAbsent };
        if (code === 'EACCES' || code === 'EPERM') return { refused: 'this user may not read it' };
        if (code === 'ELOOP' || code === 'ENAMETOOLONG') return { refused: isAbsent };
        throw error;
      }
    },
    files(folder) {
      try {
        return readdirSync(join(root, folder), { withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map(({ name }) => name)
          .toSorted();
      } catch {
        return [];
      }
    },
  };
}

/** number of bytes of a document in an archive that are searched for its document type declaration */
const prologBytes = 256 * 1024;
/** passes over an archive for one document, which has as many parts within parts */
const maxPasses = 12;

/** External parts in an archive. They are read before a document that names them, as members are read in their order. */
class ArchiveParts {
  readonly #archive: string;
  readonly #kind: Exclude<ArchiveKind, 'gz'>;
  readonly #links: Links;
  readonly #limits: ArchiveLimits;
  readonly #resolver: PartResolver;
  readonly #bytes = new Map<string, Uint8Array>();
  #names: readonly string[] | null = null;
  #wanted = new Set<string>();

  constructor(
    archive: string,
    kind: Exclude<ArchiveKind, 'gz'>,
    links: Links,
    limits: ArchiveLimits,
    { onRead, onRefused }: { readonly onRead: (path: string) => void; readonly onRefused: OnRefused },
  ) {
    this.#archive = archive;
    this.#kind = kind;
    this.#links = links;
    this.#limits = limits;
    const place: PartPlace = {
      bytes: (path) => {
        const known = this.#bytes.get(path);
        if (known !== undefined) return known;
        if (this.#names === null || this.#names.includes(path)) this.#wanted.add(path);
        return { refused: isAbsent };
      },
      files: (folder) =>
        (this.#names ?? []).filter((name) => folderOf(name) === folder).map((name) => posix.basename(name)),
    };
    // a refusal for an incomplete document is not a fault
    this.#resolver = new PartResolver(place, onRead, (document, name, why) => {
      if (this.#wanted.size === 0 && this.#names !== null) onRefused(document, name, why);
    });
  }

  /** Returns the external parts of a member, whose content must be read through `prepared`. */
  of(member: string): ExternalParts {
    return {
      read: (reference) => this.#resolver.read(member, reference),
      declared: (reference) => void this.#resolver.read(member, reference),
    };
  }

  /** Returns the content of a member, after its external references have been read. */
  prepared(member: string, content: DocumentBytes): DocumentBytes {
    if (Symbol.asyncIterator in content) return this.#preparedStream(member, content);
    const [head] = content;
    if (head === undefined || !namesParts(head)) return content;
    return this.#preparedStream(member, oneByOne(content));
  }

  async *#preparedStream(member: string, content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
    let isFirst = true;
    for await (const chunk of content) {
      if (isFirst && namesParts(chunk)) {
        // the reader of the archive may reuse the bytes for another member
        const kept = new Uint8Array(chunk);
        await this.#prepare(member, kept);
        isFirst = false;
        yield kept;
        continue;
      }
      isFirst = false;
      yield chunk;
    }
  }

  async #prepare(member: string, head: Uint8Array): Promise<void> {
    for (let pass = 0; pass < maxPasses; pass += 1) {
      this.#wanted = new Set();
      this.#look(member, head);
      if (this.#names !== null && this.#wanted.size === 0) return;
      await this.#load();
      this.#resolver.forget();
      this.#wanted = new Set();
    }
  }

  /** Reads up to the root element, to find missing parts. */
  #look(member: string, head: Uint8Array): void {
    const seen = { root: false };
    const tokenizer = createXmlTokenizer({
      external: this.of(member),
      onBatch: ({ count }) => (seen.root ||= count > 0),
    });
    try {
      const most = Math.min(head.length, prologBytes);
      for (let at = 0; at < most && !seen.root; at += 4096)
        tokenizer.write(head.subarray(at, Math.min(at + 4096, most)));
      if (!seen.root) tokenizer.end();
    } catch (error) {
      // it is reported when the document is read
      if (!(error instanceof InputError)) throw error;
    }
  }

  async #load(): Promise<void> {
    const names: string[] = [];
    const test = namedFiles((name) => {
      names.push(name);
      return this.#wanted.has(name) || (this.#names === null && (mayBeCatalogName(name) || isDtdName(name)));
    });
    for await (const group of archiveMembers(this.#archive, this.#kind, test, this.#limits, this.#links))
      for (const member of group) {
        const chunks: Uint8Array[] = [];
        let bytes = 0;
        for await (const chunk of oneByOne(member.chunks())) {
          chunks.push(chunk);
          bytes += chunk.length;
          if (bytes > maxBytes) break;
        }
        if (bytes <= maxBytes) this.#bytes.set(member.name, Buffer.concat(chunks));
      }
    this.#names = names;
  }
}

function isDtdName(name: string): boolean {
  return /\.(?:dtd|ent|mod|pen|elt)$/i.test(name);
}

function mayBeCatalogName(name: string): boolean {
  return /\.cat$|(?:^|\/)[^/]*catalog[^/]*(?:\.xml)?$/i.test(name);
}

/** Whether a document may refer to parts outside of it, by its first bytes. */
export function namesParts(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, prologBytes));
  const isWide = head[0] === 0 || head[1] === 0 || head[0] === 0xfe || head[0] === 0xff;
  // Node 26.10 never returns from a search for UTF-16 in bytes at an odd address, and it knows no big-endian UTF-16
  const text = isWide ? bytes.toString('latin1').replaceAll('\0', '') : bytes;
  return text.includes('<!DOCTYPE') && (text.includes('SYSTEM') || text.includes('PUBLIC'));
}

// Finds the external references of a document in one folder or archive: by catalogues there, or by their relative locations.

/** Called for each external reference of a document that is not read. */
export type OnRefused = (document: string, name: string, why: string) => void;

const isElsewhere = 'it is outside the folder or archive of the input: only files inside are read';
const leadsOut = 'it points outside the folder or archive of the input: only files inside are read';
const isAbsent = 'there is no such file in the folder or archive of the input';

function notFetched(address: string): string {
  return `only the document was fetched from ${address}, and no file beside it: give a folder or an archive that holds both`;
}

type Found = Uint8Array | { readonly refused: string };

/** Files of a folder or an archive, by paths within it, which have '/' between their parts. */
interface PartPlace {
  bytes(path: string): Found;
  /** names of the files in a folder, which is '' or a path */
  files(folder: string): readonly string[];
}

/** Paths of references, the same for every place. */
class PartResolver {
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

function folderOf(path: string): string {
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
