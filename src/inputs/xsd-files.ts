/** The files of an XSD set: all of a folder or archive, or one file and its references. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, posix, relative, resolve, sep } from 'node:path';
import { InputError } from '../engine/diagnostics.ts';
import type { EngineLimits } from '../engine/limits.ts';
import type { CompileOptions } from '../engine/xsd/compile-set.ts';
import { AppError } from '../errors.ts';
import type { ToolRequest } from '../service/jobs/request/tool-request.ts';
import { fixedLimits } from '../config/limits.ts';
import type { NewOriginFile } from '../ports/stores/catalog.ts';
import { defaultArchiveLimits, type ArchiveLimits } from './archives/kinds.ts';
import { openInputs } from './list-files.ts';
import type { Links } from './open-file.ts';
import { findCatalogs, foldersOf, mappedFile, mayBeCatalog, readCatalog } from './xsd-catalogs.ts';
import { keyOfSource, sourceKey, type InputMember } from './members.ts';
import { describesOthers, documentStart } from '../engine/xsd/read/document.ts';
import { includingSchema, isWsdl, wsdlParts } from '../engine/xsd/read/standalone-set.ts';
import { createNameTable } from '../engine/xml/names/interned.ts';
import { readBatchText } from '../engine/xml/kernel/tape.ts';
import { createFastXmlTokenizer, createTokenizerKernels } from '../engine/xml/tokenizer/fast.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_START,
  RECORD_INTS,
  type NameTable,
  type TokenBatch,
} from '../engine/xml/tokens.ts';

export interface XsdSetFiles {
  readonly files: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }[];
  readonly records: readonly NewOriginFile[];
  /** names of the files the set is entered by; undefined: those no other file leads to */
  readonly entries: readonly string[] | undefined;
  readonly bytes: number;
  /** the inputs that it was read from */
  readonly sources: ReadonlySet<string>;
}

/** Returns the inputs that hold XSDs, according to their names. */
export async function holdingXsds(
  inputs: readonly string[],
  limits: ArchiveLimits,
  links: Links,
): Promise<readonly string[]> {
  const holding: string[] = [];
  for (const input of inputs)
    if (input !== '-' && (await holdsXsd(input, limits, links))) holding.push(input);
  return holding;
}

async function holdsXsd(input: string, limits: ArchiveLimits, links: Links): Promise<boolean> {
  try {
    const set = await openInputs([input], isXsd, limits, links);
    for await (const { name } of set.members()) if (isXsd(name)) return true;
    return false;
  } catch (error) {
    // unreadable inputs are reported when the documents are read
    if (error instanceof AppError || error instanceof InputError) return false;
    throw error;
  }
}

/** Returns the options for compiling a set. Jobs and the API use the same options, because both cache results under one fingerprint. */
export function compileOptions(
  { entries }: Pick<XsdSetFiles, 'entries'>,
  { missing }: Pick<ToolRequest, 'missing'>,
  limits: EngineLimits,
): CompileOptions {
  return { missing, limits, ...(entries === undefined ? {} : { entries }) };
}

const isXsd = (name: string): boolean => /\.xsd$/i.test(name);
const isWsdlName = (name: string): boolean => /\.wsdl$/i.test(name);

function tooLarge(file: string): InputError {
  const message = `the files of the XSD set have more than ${fixedLimits.xsdSetBytes} bytes together`;
  return new InputError({ code: 'xsd_size_limit', severity: 'error', message, file });
}

/** Path of a file of this machine that a reference may lead to; null: it is not there, or must not be read. */
export type Follow = (path: string) => Promise<string | null>;

/** Follows all references, for a person's own runs. */
export const followAnywhere: Follow = (path) => Promise.resolve(path);

/** The members of a session that resolve paths of requests. */
interface PathsOfRequests {
  readonly byHand: boolean;
  resolvePath(path: string, mustExist: boolean): Promise<string>;
}

/** Under a worker, references lead as far as the paths of requests do. */
export function followOf({ byHand, resolvePath }: PathsOfRequests): Follow {
  if (byHand) return followAnywhere;
  return async (path) => {
    try {
      const found = await resolvePath(path, true);
      return found.startsWith('object:') ? null : found;
    } catch (error) {
      if (error instanceof AppError && faultsOfPaths.has(error.code)) return null;
      throw error;
    }
  };
}

const faultsOfPaths: ReadonlySet<string> = new Set(['path_not_allowed', 'input_not_found', 'invalid_option']);

export interface ReadingSet {
  /** follows references of files that are named singly; null: only the given files are read */
  readonly follow: Follow | null;
  readonly links: Links;
  readonly limits?: ArchiveLimits;
  /** the inputs are documents, too: files of other names are none of the set's */
  readonly among?: boolean;
  /** `--entry`: names of the files that the set is entered by; absent: those that no other one leads to */
  readonly entry?: readonly string[] | undefined;
}

interface SetMember {
  readonly name: string;
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** AppError `input_not_found`: there is no XSD in it; `invalid_option`: `--entry` names no file of it. */
export async function readXsdSet(inputs: readonly string[], reading: ReadingSet): Promise<XsdSetFiles> {
  const { follow, links, limits = defaultArchiveLimits, among = false, entry } = reading;
  const candidates = new Set<string>();
  const accept = (name: string): boolean => {
    if (isXsd(name) || (!among && isWsdlName(name))) return true;
    if (mayBeCatalog(name)) candidates.add(name.replaceAll('\\', '/'));
    return mayBeCatalog(name);
  };
  const set = await openInputs(inputs, accept, limits, links);
  let held = 0;
  const sources = new Set<string>();
  const members: SetMember[] = [];
  const catalogs: SetMember[] = [];
  let areFiles = inputs.every((input) => input !== '-' && isFile(input));
  try {
    for await (const member of set.members()) {
      const { name, path } = member;
      if (among && !isXsd(name) && !candidates.has(name)) continue;
      const bytes = candidates.has(name)
        ? await readCatalog(member.chunks())
        : await readMember(member, fixedLimits.xsdSetBytes - held);
      held += bytes?.length ?? 0;
      if (held > fixedLimits.xsdSetBytes) throw tooLarge(name);
      if (bytes === null) continue;
      const isMap = candidates.has(name) || isCatalogFile(bytes);
      (isMap ? catalogs : members).push({ name, path, bytes });
      areFiles &&= member.source.file === path;
      sources.add(sourceKey(member));
    }
  } finally {
    await set.dispose();
  }
  if (members.length === 0 && (candidates.size > 0 || catalogs.length > 0))
    throw new AppError('input_not_found', `${inputs.join(', ')}: there is no XSD file (*.xsd) in it`);
  const followed =
    follow === null || !areFiles || members.length === 0
      ? null
      : await followReferences(members, catalogs, follow);
  // uploads are in folders of their own, whose names say nothing
  if (followed === null || (links === 'refuse' && followed.read.length === members.length)) {
    const files = [...unpackedWsdls(members), ...catalogs];
    requireSchemas(files.length - catalogs.length, members);
    const all = differentlyNamed(files, links === 'follow');
    return described(all, entry === undefined ? undefined : entriesNamed(all, entry), sources);
  }
  const { files: all, given, read } = followed;
  requireSchemas(given.length, members);
  for (const path of read) sources.add(keyOfSource(path, null));
  const paths = [...all.keys()];
  const top = commonFolder(paths);
  const nameOf = (path: string): string => relative(top, path).split(sep).join('/');
  const files = paths.map((path) => ({ name: nameOf(path), bytes: all.get(path)! }));
  return described(files, entry === undefined ? given.map(nameOf) : entriesNamed(files, entry), sources);
}

function isFile(input: string): boolean {
  return statSync(input, { throwIfNoEntry: false })?.isFile() === true;
}

function isCatalogFile(bytes: Uint8Array): boolean {
  const start = documentStart(bytes.subarray(0, 64 * 1024));
  return (
    start.kind === 'document' &&
    start.root !== null &&
    describesOthers(start.root) === 'an OASIS XML catalogue'
  );
}

/** AppError `unprocessable_input`: there are WSDLs alone, and no schema in them. */
function requireSchemas(schemas: number, members: readonly SetMember[]): void {
  if (schemas > 0 || members.length === 0) return;
  const [{ name }] = members as readonly [SetMember];
  throw new AppError(
    'unprocessable_input',
    `${name}: this WSDL has no xs:schema in its types, and does not import one`,
  );
}

/** Replaces WSDLs by the schemas in them. */
function unpackedWsdls(members: readonly SetMember[]): SetMember[] {
  return members.flatMap((member) => {
    if (!isWsdl(member.bytes)) return [member];
    return schemasOf(member).schemas.map(({ path, bytes }) => ({
      name: `${member.name}${path.slice(member.path.length)}`,
      path,
      bytes,
    }));
  });
}

/** Returns the suffix that names the schema at index `at` of a WSDL. */
function endOf(at: number): string {
  return `-${at + 1}.xsd`;
}

/** Returns the schemas of a WSDL, each with a name of its own beside the WSDL, so that relative references resolve. */
function schemasOf({ name, path, bytes }: SetMember): {
  readonly schemas: readonly Omit<SetMember, 'name'>[];
  readonly locations: readonly string[];
} {
  const { schemas, together, locations } = wsdlParts(bytes, name);
  const base = path.slice(path.lastIndexOf('/') + 1);
  return {
    schemas: [
      ...schemas.map((content, at) => ({ path: `${path}${endOf(at)}`, bytes: content })),
      ...together.map(({ namespace, members }, at) => ({
        path: `${path}-all-${at + 1}.xsd`,
        bytes: includingSchema(
          namespace,
          members.map((member) => `${base}${endOf(member)}`),
        ),
      })),
    ],
    locations,
  };
}

/** number of files that are named if `--entry` names none */
const namedCandidates = 10;

/** Files by their names, or by the end of these; AppError `invalid_option`. */
function entriesNamed(files: readonly { readonly name: string }[], wanted: readonly string[]): string[] {
  return wanted.map((text) => {
    const path = posix.normalize(text.replaceAll('\\', '/')).replace(/^\.\//, '');
    const exact = files.filter(({ name }) => name === path);
    const found = exact.length > 0 ? exact : files.filter(({ name }) => isEndOf(name, path));
    if (found.length === 1) return found[0]!.name;
    const candidates = (found.length > 0 ? found : files)
      .map(({ name }) => name)
      .filter((name) => isXsd(name) || found.length > 0)
      .toSorted((a, b) => a.split('/').length - b.split('/').length || (a < b ? -1 : 1));
    const more = candidates.length - namedCandidates;
    const list = `${candidates.slice(0, namedCandidates).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    throw new AppError(
      'invalid_option',
      found.length > 1
        ? `--entry ${text}: several files of the set have this name: ${list}`
        : `--entry ${text}: is not a file of the set, which has ${list}`,
    );
  });
}

/** Whether one of them is the end of the other, at a folder. */
function isEndOf(name: string, path: string): boolean {
  return name.endsWith(`/${path}`) || path.endsWith(`/${name}`);
}

async function readMember(member: InputMember, room: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of member.chunks()) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > room) throw tooLarge(member.name);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/**
 * Removes duplicates by name, because references identify files by their names. Of two identical files with one name, one is left out;
 * if they differ, the reference is ambiguous.
 */
function differentlyNamed<
  T extends { readonly name: string; readonly path: string; readonly bytes: Uint8Array },
>(members: readonly T[], withPaths: boolean): readonly T[] {
  const byName = new Map<string, T>();
  for (const member of members) {
    const name = posix.normalize(member.name);
    const other = byName.get(name);
    if (other === undefined) byName.set(name, member);
    else if (Buffer.compare(other.bytes, member.bytes) !== 0) {
      const paths = new Set([other.path, member.path]);
      const where = withPaths && paths.size > 1 ? ` (${[...paths].join(' and ')})` : '';
      const message = `two files of the XSD set have this name, and different content${where}: keep one, or give both in folders of different names, as one archive or the folder above them`;
      throw new InputError({ code: 'xsd_name_twice', severity: 'error', message, file: member.name });
    }
  }
  return [...byName.values()];
}

interface FollowedFiles {
  /** content by absolute path */
  readonly files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
  /** paths of the schemas that were given, or that a WSDL which was given leads to */
  readonly given: readonly string[];
  /** paths of all that was read */
  readonly read: readonly string[];
}

/** Returns the files that references lead to: relative ones, and those that catalogs map, either given or beside the files. */
async function followReferences(
  members: readonly SetMember[],
  given: readonly SetMember[],
  follow: Follow,
): Promise<FollowedFiles> {
  const all = new Map<string, Uint8Array<ArrayBuffer>>();
  const read = new Set(members.map(({ path }) => path));
  const entries: string[] = [];
  const referencesIn = createReferenceReader();
  const pending: { readonly path: string; readonly reference: SetReference; readonly isWsdl: boolean }[] = [];
  let bytes = 0;
  const take = (member: SetMember, isEntry: boolean): void => {
    bytes += member.bytes.length;
    if (bytes > fixedLimits.xsdSetBytes) throw tooLarge(member.name);
    const { path } = member;
    if (!isWsdl(member.bytes)) {
      all.set(path, member.bytes);
      if (isEntry) entries.push(path);
      for (const reference of referencesIn(member.bytes)) pending.push({ path, reference, isWsdl: false });
      return;
    }
    const { schemas, locations } = schemasOf(member);
    for (const location of locations)
      pending.push({ path, reference: { location, namespace: null }, isWsdl: isEntry });
    for (const schema of schemas) take({ ...schema, name: member.name }, isEntry);
  };
  const reach = async (path: string, isEntry: boolean): Promise<boolean> => {
    if (read.has(path)) return true;
    const allowed = await follow(path);
    const content = allowed === null ? null : await readFile(allowed).catch(() => null);
    // the compiler reports what is missing, with its place
    if (content === null) return false;
    read.add(path);
    take({ name: posix.basename(path), path, bytes: new Uint8Array(content) }, isEntry);
    return true;
  };
  for (const member of members) take(member, true);
  const unmapped = new Set<(typeof pending)[number]>();
  let catalogs: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = new Map(
    given.map(({ path, bytes: content }) => [path, content]),
  );
  while (pending.length > 0) {
    for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
      const { location } = one.reference;
      const isFound =
        isRelativeLocation(location) && (await reach(resolve(dirname(one.path), location), one.isWsdl));
      if (!isFound) unmapped.add(one);
    }
    if (unmapped.size === 0) break;
    // documents that a catalog leads to have references of their own
    const folders = foldersOf([...all.keys(), ...given.map(({ path }) => path)]);
    const found = await findCatalogs(
      folders,
      given.map(({ path }) => path),
      follow,
    );
    for (const one of unmapped) {
      const target = mappedFile(found, one.reference);
      if (target === null || !(await reach(target, one.isWsdl))) continue;
      unmapped.delete(one);
      catalogs = new Map([...catalogs, ...found.files]);
    }
  }
  return { files: new Map([...all, ...catalogs]), given: entries, read: [...read, ...catalogs.keys()] };
}

function commonFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0]!);
  while (!paths.every((path) => path.startsWith(folder === sep ? sep : folder + sep)))
    folder = dirname(folder);
  return folder;
}

function described(
  files: readonly { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }[],
  entries: readonly string[] | undefined,
  sources: ReadonlySet<string>,
): XsdSetFiles {
  return {
    sources,
    files: files.map(({ name, bytes }) => ({ name, bytes })),
    records: files.map(({ name, bytes }) => ({
      name,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      content: bytes,
      ...(entries === undefined ? {} : { entry: entries.includes(name) }),
    })),
    entries,
    bytes: files.reduce((sum, { bytes }) => sum + bytes.length, 0),
  };
}

// Finds the references of schema documents. Reading stops after the last reference.

export interface SetReference {
  readonly location: string | null;
  /** the namespace that an import names */
  readonly namespace: string | null;
}

/** A reference to a file beside the one that has it, not an address or a path of the whole machine. */
export function isRelativeLocation(location: string | null): location is string {
  return location !== null && !/^(?:[A-Za-z][A-Za-z0-9+.-]*:|[/\\])/.test(location);
}

const xsNamespace = 'http://www.w3.org/2001/XMLSchema';
const kinds: ReadonlySet<string> = new Set(['include', 'import', 'redefine', 'override']);
/** Start tags of these names, and entities, whose text may hold some. */
const mayRefer = /<(?:[^ \t\r\n/<>:]+:)?(?:include|import|redefine|override)[\s/>]|<!ENTITY/g;
/** most schema documents have all of theirs within the first of these */
const pieceBytes = 4096;

/** Returns a reader of references. It returns none for text that is not well-formed as far as it is read; the compiler reports that. */
export function createReferenceReader(): (bytes: Uint8Array<ArrayBuffer>) => readonly SetReference[] {
  const names = createNameTable();
  const kernels = createTokenizerKernels(0);
  return (bytes) => {
    const most = maxReferences(bytes);
    if (most === 0) return [];
    const reading = new ReferenceReading(names);
    const { references } = reading;
    const onBatch = (batch: TokenBatch): void => reading.take(batch);
    const tokenizer = createFastXmlTokenizer({ names, windowBytes: pieceBytes, onBatch }, kernels);
    try {
      for (let from = 0; from < bytes.length && references.length < most; from += pieceBytes)
        tokenizer.write(bytes.subarray(from, from + pieceBytes));
      tokenizer.end();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      // an error after stopping early is no fault of the document
      if (references.length < most) return [];
    }
    return references;
  };
}

/**
 * Returns an upper bound for the number of references, including apparent ones in comments and annotations. Infinity if the bytes alone
 * do not tell.
 */
function maxReferences(bytes: Uint8Array<ArrayBuffer>): number {
  // tags are written otherwise than in ASCII by two bytes or four for each character, or behind the escapes of ISO-2022-JP
  if (bytes.subarray(0, 4).some((byte) => byte === 0 || byte > 0xef) || bytes.includes(0x1b)) return Infinity;
  const found = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('latin1')
    .match(mayRefer);
  return found?.includes('<!ENTITY') ? Infinity : (found?.length ?? 0);
}

class ReferenceReading {
  readonly references: { location: string | null; namespace: string | null }[] = [];
  readonly #names: NameTable;
  #depth = 0;

  constructor(names: NameTable) {
    this.#names = names;
  }

  take(batch: TokenBatch): void {
    let isWithin = false;
    for (let record = 0; record < batch.count; record += 1) {
      const kind = batch.events[record * RECORD_INTS]! & KIND_MASK;
      const name = batch.events[record * RECORD_INTS + 1]!;
      if (kind === KIND_END) this.#depth -= 1;
      else if (kind === KIND_START) {
        this.#depth += 1;
        isWithin = this.#depth === 2 && this.#isReference(name);
        if (isWithin) this.references.push({ location: null, namespace: null });
      } else if (kind === KIND_ATTRIBUTE && isWithin) this.#note(batch, record, this.#names.localName(name));
    }
  }

  #isReference(name: number): boolean {
    return this.#names.namespaceUri(name) === xsNamespace && kinds.has(this.#names.localName(name));
  }

  #note(batch: TokenBatch, record: number, attribute: string): void {
    if (attribute !== 'schemaLocation' && attribute !== 'namespace') return;
    const which = attribute === 'namespace' ? 'namespace' : 'location';
    this.references.at(-1)![which] ??= readBatchText(batch, record).trim() || null;
  }
}
