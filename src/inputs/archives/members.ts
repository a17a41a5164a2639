/**
 * Members of .zip, .tar and .tgz archives and of .gz files, within limits of expansion (docs/decisions/service/limits.md). The readers
 * are imported lazily, when there is an archive.
 */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { InputError } from '../../engine/diagnostics.ts';
import { hasHiddenCharacters, withoutHiddenCharacters } from '../../engine/hidden-characters.ts';
import { oneByOne, type CarriedValues, type DocumentBytes, type InputMember } from '../members.ts';
import { fleetingFileChunks, inputFileChunks, openInputFile, type Links } from '../open-file.ts';
import { isHidden, type MemberTest } from '../document-names.ts';
import {
  archiveKind,
  type ArchiveKind,
  broken,
  brokenMember,
  Expansion,
  unpackingFault,
  type ArchiveLimits,
} from './kinds.ts';
import type { ArchiveMember, PackedMember } from './packed-member.ts';
import type { TarHeader, TarEntry, TarReader } from './tar.ts';

const gunzipBytes = 256 * 1024;

/** The content of a gzip stream; `name` is for messages. */
export function gunzipped(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  limits: ArchiveLimits,
): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip({ chunkSize: gunzipBytes });
  const source = Readable.from(chunks, { objectMode: false });
  let packed = 0;
  source.on('data', (chunk: Uint8Array) => (packed += chunk.length));
  source.on('error', (error) => gunzip.destroy(error));
  // closes the file if the consumer stops early
  gunzip.on('close', () => source.destroy());
  source.pipe(gunzip);
  return new Expansion(limits).guarded(gunzip, name, () => packed);
}

/** Limit for names: the longest path of Linux. A name appears in logs, records and tables. */
const longestName = 4096;
const longestShown = 200;

function isSafeName(name: string): boolean {
  return (
    !name.startsWith('/') &&
    !/^[A-Za-z]:/.test(name) &&
    !(name.includes('..') && name.split(/[/\\]/).includes('..'))
  );
}

/** A member and the facts known about it before its content is read. */
interface ChosenMember extends ArchiveMember {
  /** its first bytes decide whether it is accepted */
  readonly look: boolean;
  /** its content is packed once more, by gzip */
  readonly isPacked?: boolean;
  /** the first bytes of its content, if `chunks` fails for another reason */
  readonly head?: () => DocumentBytes;
}

/** Called for each member that is passed over, with the reason; `member`: its name in its archive. */
export type OnPassedOver = (name: string, why: string, member?: string) => void;

/**
 * Yields members in groups: each must be read before the next is requested. A member that cannot be read is included: its `chunks`
 * throws an InputError with the reason.
 */
export async function* archiveMembers(
  path: string,
  kind: Exclude<ArchiveKind, 'gz'>,
  test: MemberTest,
  limits: ArchiveLimits,
  links: Links = 'follow',
  onPassedOver: OnPassedOver = () => undefined,
): AsyncIterable<Iterable<ChosenMember>> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const groups =
    kind === 'zip'
      ? zipMembers(path, name, limits, links)
      : tarMembers(path, name, kind === 'tgz', limits, links);
  // counts what packed members expand to, all together, as a multiple of the archive
  const unpacked = new Expansion(limits);
  let count = 0;
  function* chosen(members: Iterable<PackedMember>): Iterable<ChosenMember> {
    for (const member of untilFault(members)) {
      if (member instanceof InputError) {
        yield faultyMember(member);
        return;
      }
      count += 1;
      if (count > limits.maxMembers) throw broken(name, `has more than ${limits.maxMembers} members`);
      const plain = member.name.replace(/\.gz$/i, '');
      if (isHidden(plain)) continue;
      const verdict = test.byName(plain);
      if (verdict === 'hide') continue;
      if (verdict === 'skip' || (verdict === 'look' && archiveKind(plain) !== null)) {
        const why = verdict === 'skip' ? passedOverByName : nestedArchive;
        onPassedOver(`${name}/${shownName(member.name)}`, why, plain);
        continue;
      }
      const fault = faultOf(member);
      if (fault !== null) {
        // a name alone does not make it a document
        const isLooked = verdict === 'look' && member.oddity === null;
        const error = brokenMember(`${name}/${shownName(member.name)}`, fault);
        const chunks = (): never => {
          throw error;
        };
        const head = isLooked ? { head: () => contentOf(member, plain) } : {};
        yield { name: shownName(plain), chunks, look: isLooked, ...head };
        continue;
      }
      const { carried } = member;
      yield {
        name: plain,
        look: verdict === 'look',
        isPacked: plain !== member.name,
        chunks: (fleeting) => contentOf(member, plain, fleeting),
        ...(carried === undefined ? {} : { carried }),
      };
    }
  }
  function contentOf(member: PackedMember, plain: string, fleeting?: 'fleeting'): DocumentBytes {
    if (plain === member.name) return member.chunks(fleeting);
    const inner = gunzipped(oneByOne(member.chunks()), `${name}/${member.name}`, limits);
    return unpacked.guarded(inner, `${name}/${plain}`, () => member.packedBytes());
  }
  function faultyMember(error: InputError): ChosenMember {
    const chunks = (): never => {
      throw error;
    };
    return { name, chunks, look: false };
  }
  let fault: InputError | null = null;
  /** The members up to a fault of the archive, which comes last. */
  function* untilFault(members: Iterable<PackedMember>): Iterable<PackedMember | InputError> {
    try {
      yield* members;
    } catch (error) {
      yield (fault = faultOfArchive(error));
    }
  }
  try {
    for await (const group of groups) {
      yield chosen(group);
      if (fault !== null) return;
    }
  } catch (error) {
    yield [faultyMember(faultOfArchive(error))];
  }
}

/** Returns the fault of a damaged archive, of which nothing further can be read. Throws any other error, which ends the run. */
function faultOfArchive(error: unknown): InputError {
  if (error instanceof InputError && error.diagnostic.code === 'archive_broken') return error;
  throw error;
}

const nestedArchive =
  'is an archive within an archive, which is not read; unpack the outer one and give its folder';
export const passedOverByName = 'is an XSD, not a document';

/** Returns the reason why a member cannot be read, or null if none is known yet. */
function faultOf({ name, oddity }: PackedMember): string | null {
  // left out, its content would be missing without a word
  if (oddity !== null) return `is ${oddity}, which is not read from an archive`;
  if (name.length > longestName) return `has a name that is longer than ${longestName} characters`;
  if (hasHiddenCharacters(name)) return 'has a name with characters that cannot be seen; rename it';
  return isSafeName(name) ? null : 'has a name that leaves the archive';
}

/** A name for messages and records, of a length that they take; characters that cannot be seen are escaped. */
function shownName(name: string): string {
  const shown = withoutHiddenCharacters(name.slice(0, longestShown));
  return name.length <= longestShown ? shown : `${shown}…`;
}

async function* zipMembers(
  path: string,
  name: string,
  limits: ArchiveLimits,
  links: Links,
): AsyncIterable<Iterable<PackedMember>> {
  const zip = await import('./zip.ts');
  const file = await openInputFile(path, links);
  try {
    yield* zip.zipMembers(file, name, new Expansion(limits));
  } finally {
    await file.close();
  }
}

async function* tarMembers(
  path: string,
  name: string,
  zipped: boolean,
  limits: ArchiveLimits,
  links: Links,
): AsyncIterable<Iterable<PackedMember>> {
  const { TarReader } = await import('./tar.ts');
  const expansion = new Expansion(limits);
  let packed = 0;
  const packedBytes = (): number => packed;
  async function* counted(): AsyncIterable<Uint8Array> {
    // a stream may keep the chunks that it was given for a while
    for await (const chunk of zipped ? inputFileChunks(path, links) : fleetingFileChunks(path, links)) {
      packed += chunk.length;
      yield chunk;
    }
  }
  // members that nobody reads are unpacked too: the expansion of the whole gzip stream has a limit of its own
  const reader = new TarReader(zipped ? gunzipped(counted(), name, limits) : counted());
  function* present(): Iterable<PackedMember> {
    for (;;) {
      const entry = nextEntry(reader, name);
      if (entry === null) return;
      if (entry.header.flag !== '5') yield tarMember(entry, reader, name, expansion, packedBytes);
    }
  }
  try {
    for (let goesOn = true; goesOn;) {
      yield present();
      goesOn = await reader.fill().catch((error: unknown) => {
        throw unpackingFault(error, name);
      });
    }
  } finally {
    await reader.close();
  }
}

function nextEntry(reader: TarReader, archive: string): TarEntry | null {
  try {
    return reader.next();
  } catch (error) {
    throw unpackingFault(error, archive);
  }
}

function tarMember(
  { header, whole }: TarEntry,
  reader: TarReader,
  archive: string,
  expansion: Expansion,
  packedBytes: () => number,
): PackedMember {
  return {
    name: header.name.startsWith('./') ? header.name.slice(2) : header.name,
    carried: carriedBy(header),
    packedBytes,
    oddity: tarOddity(header),
    chunks: (fleeting) => {
      const label = `${archive}/${header.name}`;
      if (whole === null) {
        const contents = fleeting === undefined ? kept(reader.contents()) : reader.contents();
        return expansion.guarded(contents, label, packedBytes);
      }
      expansion.add(whole.length, packedBytes(), label);
      return [fleeting === undefined ? new Uint8Array(whole) : whole];
    },
  };
}

async function* kept(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}

/**
 * Record of a pax header that holds the other columns of a row as JSON. A tar of anybody may have it: it fills columns of a `--from`
 * alone.
 */
export const carriedRecord = 'SVC.carried';

function carriedBy({ pax }: TarHeader): CarriedValues | undefined {
  const text = pax?.[carriedRecord];
  return text === undefined ? undefined : (JSON.parse(text) as CarriedValues);
}

/** POSIX pax, "ustar Interchange Format": type flags; GNU tar, "Storing Sparse Files": by a type of their own or by records. */
function tarOddity({ flag, pax }: TarHeader): string | null {
  if (flag === '1') return 'a hard link';
  if (flag === '2') return 'a symbolic link';
  for (const key in pax) if (key.startsWith('GNU.sparse.')) return 'a sparse file';
  return flag === '0' || flag === '7' ? null : 'not a regular file';
}

// A member of an archive whose first bytes decide whether it is a document: its reader gets them again.

/** number of bytes to inspect of a file whose name does not tell its type: comments may precede the first tag */
export const inspectedBytes = 64 * 1024;

interface LookedMember {
  readonly chunks: InputMember['chunks'];
  /** ends the reading that was begun, if nobody continued it */
  close(): Promise<void>;
}

const nothing = (): Promise<void> => Promise.resolve();

/** Inspects a member by its first bytes, which its reader gets again. */
export async function inspectMember(
  packed: ChosenMember,
  test: MemberTest,
): Promise<LookedMember | { readonly passedOver: string }> {
  let begun: DocumentBytes;
  try {
    begun = packed.head === undefined ? packed.chunks('fleeting') : packed.head();
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // the fault is reported when the member is read
    return { chunks: packed.chunks, close: nothing };
  }
  if (!(Symbol.asyncIterator in begun)) {
    const why = test.byContent(packed.name, Buffer.concat(begun));
    return why === null ? { chunks: packed.chunks, close: nothing } : { passedOver: why };
  }
  const rest = begun[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  let failed: { readonly error: InputError } | null = null;
  try {
    while (head.length < inspectedBytes) {
      const { done, value } = await rest.next();
      if (done === true) break;
      head = Buffer.concat([head, value]);
    }
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // no byte is available that shows the type
    if (packed.isPacked === true && head.length === 0) return { passedOver: error.diagnostic.message };
    failed = { error };
  }
  const end = async (): Promise<void> => void (await rest.return?.());
  const why = failed === null ? test.byContent(packed.name, head) : null;
  if (why !== null) {
    await end();
    return { passedOver: why };
  }
  let isTaken = false;
  async function* whole(): AsyncIterable<Uint8Array> {
    yield head;
    if (failed !== null) throw failed.error;
    yield* { [Symbol.asyncIterator]: () => rest };
  }
  return {
    chunks(fleeting) {
      if (isTaken || packed.head !== undefined) return packed.chunks(fleeting);
      isTaken = true;
      return fleeting === undefined ? copies(whole()) : whole();
    },
    close: () => (isTaken ? nothing() : end()),
  };
}

async function* copies(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) yield new Uint8Array(chunk);
}
