/** Yields the members of files, one after the other. The type of each file is determined when it is opened. */
import { closeSync, readSync } from 'node:fs';
import { stat, opendir } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../errors.ts';
import type { RemoteFile, RemotePlace } from './remote/read-place.ts';
import {
  archiveKind,
  archiveKindOf,
  headBytes,
  unpackedHead,
  type ArchiveKind,
  type ArchiveLimits,
} from './archives/kinds.ts';
import {
  inspectMember,
  inspectedBytes,
  archiveMembers,
  gunzipped,
  type OnPassedOver,
} from './archives/members.ts';
import { ExternalFiles, rootOf, type DocumentFile } from './external-files.ts';
import type { MemberTest } from './document-names.ts';
import type { Spooled } from './file-spool.ts';
import {
  fleetingFileChunks,
  inputFileChunks,
  openSmallFile,
  readHead,
  ReadBuffers,
  readSmallFile,
  smallFileBytes,
  type Links,
  type FileSection,
  inputFault,
} from './open-file.ts';
import { keyOfSource, type DocumentBytes, type InputMember, type MemberSource } from './members.ts';
import { join, posix } from 'node:path';
import {
  patternStart,
  patternStep,
  type EntryKind,
  type PathPattern,
  type PatternState,
} from '../service/files/path-pattern.ts';
import { fixedLimits } from '../config/limits.ts';

/** A file that an input led to. */
export interface ListedFile extends DocumentFile {
  readonly name: string;
  readonly bytes: number;
  /** archive kind according to its name */
  readonly named: ArchiveKind | null;
  /**
   * `look`: its first bytes decide whether it is a document; `found`: accepted because of its name, unless they contradict it; `given`:
   * accepted, because it was named directly
   */
  readonly trust: 'look' | 'found' | 'given';
  /** why it is passed over; null: it is not; undefined: nobody has looked yet */
  passedOver?: string | null;
  /** null: not an archive; undefined: not inspected yet */
  archive: ArchiveKind | null | undefined;
  /** set if no file exists at the path: the place of its bytes */
  readonly elsewhere?: Spooled | RemoteFile;
}

export interface Walk {
  /** chooses files by their content, and members of archives */
  readonly test: MemberTest;
  readonly limits: ArchiveLimits;
  readonly links: Links;
  /** called for each file and member that is passed over, on every walk */
  readonly onPassedOver?: ((name: string, why: string, key: string) => void) | undefined;
  /** files that are never documents, because they are in use for another purpose: see `keyOfSource` */
  readonly except?: ReadonlySet<string> | undefined;
  /** resolves external references of documents; absent: this walk creates a resolver */
  readonly external?: ExternalFiles | undefined;
  /** places of the files that are not copied */
  readonly places?: readonly RemotePlace[] | undefined;
}

/** size of an empty gzip file that stores a file name */
const emptyGzipBytes = 280;

/** small files that are looked at without a turn for others */
export const filesAtOnce = 16;

/** `bytes`: its size */
export function listedFile(
  path: string,
  name: string,
  bytes: number,
  trust: ListedFile['trust'] = 'given',
  root: string = rootOf(path, name),
): ListedFile {
  const named = archiveKind(name);
  // a .gz may hold a tar archive, and a file of any name be an archive
  return {
    path,
    name,
    bytes,
    named,
    trust,
    root,
    archive: named === 'gz' ? undefined : (named ?? undefined),
  };
}

/** Returns a document that is stored in another file, or not on this machine. */
export function fileElsewhere(path: string, name: string, elsewhere: Spooled | RemoteFile): ListedFile {
  return {
    path,
    name,
    bytes: elsewhere.bytes,
    named: archiveKind(name),
    trust: 'given',
    root: rootOf(path, name),
    archive: null,
    elsewhere,
  };
}

export async function* walkFiles(files: readonly ListedFile[], walk: Walk): AsyncIterable<InputMember> {
  const { links } = walk;
  const small = new SmallFiles(links);
  try {
    yield* membersOf(files, walk, small);
  } finally {
    small.close();
  }
}

async function* membersOf(
  files: readonly ListedFile[],
  {
    test,
    limits,
    links,
    onPassedOver = () => undefined,
    except,
    external = new ExternalFiles(links, limits),
    places = [],
  }: Walk,
  small: SmallFiles,
): AsyncIterable<InputMember> {
  const ahead = new ReadAhead(files, places);
  for (const [at, file] of files.entries()) {
    // between small files, events of sockets and timers are handled
    if (at % filesAtOnce === filesAtOnce - 1) await nextTurn();
    const { elsewhere } = file;
    if (except?.has(keyOfSource(file.path, null)) === true) continue;
    if (elsewhere !== undefined && 'place' in elsewhere) {
      yield remoteMember(file, elsewhere, {
        limits,
        place: places[elsewhere.place]!,
        whole: () => ahead.read(at),
      });
      continue;
    }
    if (elsewhere !== undefined) {
      yield {
        name: file.name,
        path: file.path,
        diskBytes: file.bytes,
        source: { file: elsewhere.file, member: 0, packed: false, direct: true, elsewhere },
        chunks: (fleeting) => small.spooledChunks(file.path, elsewhere, fleeting),
        external: external.ofFile(file),
        ...(elsewhere.start === undefined ? {} : { start: elsewhere.start }),
        ...(elsewhere.encoding === undefined ? {} : { encoding: elsewhere.encoding }),
        ...(elsewhere.carried === undefined ? {} : { carried: elsewhere.carried }),
      };
      continue;
    }
    if (file.archive === undefined) small.look(file, test);
    const { path, name, bytes, archive } = file;
    if (file.passedOver != null) {
      onPassedOver(name, file.passedOver, keyOfSource(path, null));
      continue;
    }
    if (archive == null) {
      yield {
        name,
        path,
        diskBytes: bytes,
        source: { file: path, member: 0, packed: false, direct: true, root: file.root },
        external: external.ofFile(file),
        chunks: (fleeting) => (fleeting === undefined ? inputFileChunks(path, links) : small.chunks(file)),
        parts: {
          bytes: (range) => fleetingFileChunks(path, links, range),
          modified: async () => (await stat(path)).mtimeMs,
        },
      };
    } else if (archive === 'gz') {
      yield {
        name: name.replace(/\.gz$/i, ''),
        path,
        diskBytes: bytes,
        source: { file: path, member: 0, packed: true, direct: true, root: file.root },
        external: external.ofFile(file),
        chunks: () => gunzipped(inputFileChunks(path, links), name, limits),
      };
    } else {
      let member = 0;
      const parts = external.ofArchive(path, archive);
      const told: OnPassedOver = (label, why, name = '') => {
        const key = keyOfSource(path, name);
        if (except?.has(key) !== true) onPassedOver(label, why, key);
      };
      for await (const group of archiveMembers(path, archive, test, limits, links, told)) {
        for (const packed of group) {
          if (except?.has(keyOfSource(path, packed.name)) === true) {
            member += 1;
            continue;
          }
          const looked = packed.look ? await inspectMember(packed, test) : null;
          if (looked !== null && 'passedOver' in looked) {
            onPassedOver(`${name}/${packed.name}`, looked.passedOver, keyOfSource(path, packed.name));
            continue;
          }
          yield {
            name: packed.name,
            path: `${name}/${packed.name}`,
            diskBytes: member === 0 ? bytes : 0,
            source: { file: path, member, packed: true, direct: archive !== 'tgz' },
            external: parts.of(packed.name),
            chunks: (fleeting) => parts.prepared(packed.name, (looked ?? packed).chunks(fleeting)),
            ...(packed.carried === undefined ? {} : { carried: packed.carried }),
          };
          member += 1;
          await looked?.close();
        }
      }
    }
  }
}

/** Size and number of the blocks that are cached of the spool file: documents are stored in it roughly in the order of reading. */
const blockBytes = 256 * 1024;
const blocks = 2;

/** A cached block of the spool file: `length` bytes from `number * blockBytes` on. */
interface SpoolBlock {
  readonly number: number;
  readonly buffer: Uint8Array;
  readonly length: number;
}

async function* copied(chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) yield chunk.slice();
}

/** One buffer for all small files: one is read before the next is requested. */
class SmallFiles {
  readonly #links: Links;
  /** buffers for files that are not small */
  readonly #reading = new ReadBuffers();
  #buffer: Uint8Array | null = null;
  /** the file that is in the buffer, whole */
  #held: ListedFile | null = null;
  #length = 0;
  /** the spool file, open */
  #spool: { readonly file: string; readonly descriptor: number } | null = null;
  /** cached blocks of the spool file, the most recently read last */
  #blocks: SpoolBlock[] = [];

  constructor(links: Links) {
    this.#links = links;
  }

  /** Detects the type of a file by its first bytes. A small file is read whole, and cached for its reader. */
  look(file: ListedFile, test: MemberTest): void {
    const head = this.#head(file, headBytes);
    const kind = archiveKindOf(head);
    file.archive = kind ?? file.named;
    file.passedOver = null;
    if (file.trust === 'given') return;
    if (file.trust === 'look' && kind !== null && kind !== 'gz') {
      if (kind !== 'tgz' || file.named === null)
        file.passedOver = `its content is an archive (${kind}), but its name has no such extension: rename it`;
      return;
    }
    const isFound = file.trust === 'found';
    const content =
      kind === 'gz'
        ? unpackedHead(head.subarray(0, headBytes))
        : isFound
          ? head.subarray(0, headBytes)
          : this.#head(file, inspectedBytes);
    // a file that cannot be unpacked is reported when it is read
    if (kind === 'gz' && content.length === 0 && head.length > emptyGzipBytes) return;
    file.passedOver = isFound
      ? test.contradicts(content)
      : test.byContent(file.name.replace(/\.gz$/i, ''), content);
  }

  /** The first bytes of a file, as many as are wanted, or more. */
  #head(file: ListedFile, wanted: number): Uint8Array {
    if (this.#held === file || this.#hold(file)) return this.#buffer!.subarray(0, this.#length);
    const head = new Uint8Array(wanted);
    return head.subarray(0, readHead(file.path, this.#links, head));
  }

  chunks(file: ListedFile): DocumentBytes {
    const isHeld = this.#held === file || this.#hold(file);
    // if a file changes while it waits, the last reading counts
    this.#held = null;
    if (isHeld) return [this.#buffer!.subarray(0, this.#length)];
    return fleetingFileChunks(file.path, this.#links, undefined, this.#reading);
  }

  spooledChunks(path: string, spooled: Spooled, fleeting?: 'fleeting'): DocumentBytes {
    const { file, from, bytes } = spooled;
    if (bytes <= smallFileBytes) return [this.#spooled(path, spooled, fleeting)];
    const chunks = fleetingFileChunks(file, this.#links, { from, to: from + bytes }, this.#reading);
    return fleeting === undefined ? copied(chunks) : chunks;
  }

  /** `fleeting`: valid until the next read. AppError `unprocessable_input` if the file no longer exists. */
  #spooled(path: string, { file, from, bytes }: Spooled, fleeting?: 'fleeting'): Uint8Array {
    if (this.#spool?.file !== file) {
      this.close();
      this.#spool = { file, descriptor: openSmallFile(file, this.#links) };
    }
    this.#held = null;
    const found = this.#inBlock(this.#spool!.descriptor, from, bytes);
    if (found !== null) return fleeting === undefined ? found.slice() : found;
    const buffer = fleeting === undefined ? new Uint8Array(bytes) : this.#room();
    const read = readSync(this.#spool!.descriptor, buffer, 0, bytes, from);
    if (read < bytes) throw new AppError('unprocessable_input', `${path}: its downloaded copy was removed`);
    return buffer.subarray(0, bytes);
  }

  close(): void {
    if (this.#spool !== null) closeSync(this.#spool.descriptor);
    this.#spool = null;
    this.#blocks = [];
  }

  /**
   * Returns bytes of the spool file from a cached block, valid until another block is read. Returns null if they span two blocks, or do
   * not exist.
   */
  #inBlock(descriptor: number, from: number, bytes: number): Uint8Array | null {
    const number = Math.floor(from / blockBytes);
    const start = from - number * blockBytes;
    if (start + bytes > blockBytes) return null;
    let block = this.#blocks.find((one) => one.number === number);
    if (block === undefined) {
      const older = this.#blocks.length < blocks ? undefined : this.#blocks.shift();
      const buffer = older?.buffer ?? new Uint8Array(blockBytes);
      const length = readSync(descriptor, buffer, 0, blockBytes, number * blockBytes);
      block = { number, buffer, length };
      this.#blocks.push(block);
    } else if (block !== this.#blocks.at(-1)) this.#blocks.reverse();
    return start + bytes <= block.length ? block.buffer.subarray(start, start + bytes) : null;
  }

  #room(): Uint8Array {
    // one more than is needed: so its end is seen
    return (this.#buffer ??= new Uint8Array(smallFileBytes + 1));
  }

  #hold(file: ListedFile): boolean {
    this.#held = null;
    if (file.bytes > smallFileBytes) return false;
    const length = readSmallFile(file.path, this.#links, this.#room(), file.bytes);
    if (length === null) return false;
    this.#held = file;
    this.#length = length;
    return true;
  }
}

// Files that stay at their place, in a bucket or on the web: their readers, here or on an executor, request the bytes there.

/** A file that stays at its place, described as in `ListedFile`. */
interface StayingFile extends Pick<MemberSource, 'elsewhere'> {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  /** archive kind according to its name */
  readonly named: ArchiveKind | null;
}

interface RemoteReading {
  readonly limits: ArchiveLimits;
  readonly place: RemotePlace;
  /** reads all bytes as stored */
  readonly whole: () => AsyncIterable<Uint8Array>;
}

/** The document that a file is, or holds packed. */
function remoteMember(
  { path, name, bytes, named }: StayingFile,
  elsewhere: RemoteFile,
  { limits, place, whole }: RemoteReading,
): InputMember {
  const packed = named === 'gz';
  return {
    name: packed ? name.replace(/\.gz$/i, '') : name,
    path,
    diskBytes: bytes,
    source: { file: path, member: 0, packed, direct: true, elsewhere },
    chunks: () => unpacked(whole(), packed, name, limits),
    ...(packed
      ? {}
      : {
          parts: {
            bytes: (range: FileSection) => place.bytes(elsewhere, range),
            // another version is never read: each answer says which it is of
            modified: async () => 0,
          },
        }),
  };
}

/**
 * Unpacks gzip content whatever the file's name. AppError `unprocessable_input`: the file is an archive, whose members have not been
 * counted.
 */
async function* unpacked(
  bytes: AsyncIterable<Uint8Array>,
  named: boolean,
  name: string,
  limits: ArchiveLimits,
): AsyncIterable<Uint8Array> {
  const chunks = bytes[Symbol.asyncIterator]();
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < headBytes) {
    const { done, value } = await chunks.next();
    if (done === true) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  const all = (async function* () {
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  })();
  const kind = archiveKindOf(head);
  if (kind !== null && kind !== 'gz')
    throw new AppError(
      'unprocessable_input',
      `${name}: its content is an archive (${kind}), but its name has no such extension: rename it`,
    );
  if (named || kind === 'gz') yield* gunzipped(all, name, limits);
  else yield* all;
}

/** small files that are asked for at the same time: most of their time is that of the way there and back */
const aheadFiles = 32;

/** Reads small files in their order: reading one also requests those after it. */
class ReadAhead {
  readonly #files: readonly StayingFile[];
  readonly #places: readonly RemotePlace[];
  /** requested files by number, until they are read */
  readonly #asked = new Map<number, Promise<readonly Uint8Array[]>>();

  constructor(files: readonly StayingFile[], places: readonly RemotePlace[]) {
    this.#files = files;
    this.#places = places;
  }

  /** Reads all bytes of a file that stays at its place. */
  async *read(at: number): AsyncIterable<Uint8Array> {
    for (let next = at; next < Math.min(at + aheadFiles, this.#files.length); next += 1) {
      const { bytes, elsewhere } = this.#files[next]!;
      if (
        elsewhere === undefined ||
        !('place' in elsewhere) ||
        bytes > smallFileBytes ||
        this.#asked.has(next)
      )
        continue;
      const asked = Array.fromAsync(this.#bytes(elsewhere));
      // the fault is handled by the reader of the file
      asked.catch(() => undefined);
      this.#asked.set(next, asked);
    }
    const asked = this.#asked.get(at);
    this.#asked.delete(at);
    yield* asked === undefined ? this.#bytes(this.#files[at]!.elsewhere as RemoteFile) : await asked;
  }

  #bytes(file: RemoteFile): AsyncIterable<Uint8Array> {
    return this.#places[file.place]!.bytes(file, { from: 0, to: file.bytes });
  }
}

// Finds the files and folders of this machine that match a pattern.

type Kind = 'file' | 'folder' | null;

/**
 * Yields files and folders that match, relative to `directory`, in the order of their names. Links are followed if a segment names
 * them, but not by `**`; `kindOfLink` returns the kind of a link's target, and throws if the link must not be followed. AppError
 * `unprocessable_input` if there are too many entries to inspect.
 */
export async function* matchingFiles(
  pattern: PathPattern,
  directory: string,
  kindOfLink: (relativePath: string) => Promise<Kind> = (path) => kindOf(join(directory, path)),
): AsyncIterable<string> {
  const budget = createLookBudget();
  const waiting: { readonly folder: string; readonly state: PatternState }[] = [
    { folder: '', state: patternStart(pattern) },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { folder, state } = next;
    const below: typeof waiting = [];
    for (const { name, kind: entryKind } of await entriesOf(join(directory, folder), budget)) {
      const path = posix.join(folder, name);
      const isLink = entryKind === 'link';
      const met = (kind: EntryKind) => patternStep(pattern, state, name, kind);
      if (entryKind === null || (isLink && !met('file').matches && met('link').below.size === 0)) continue;
      const kind = isLink ? await kindOfLink(path) : entryKind;
      if (kind === null) continue;
      const step = met(isLink && kind === 'folder' ? 'link' : kind);
      if (step.matches) yield path;
      else if (step.below.size > 0) below.push({ folder: path, state: step.below });
    }
    waiting.push(...below.toReversed());
  }
}

/** Counts the entries that a pattern made us inspect. */
export function createLookBudget(): () => void {
  let looked = 0;
  return () => {
    looked += 1;
    if (looked <= fixedLimits.patternEntries) return;
    throw new AppError(
      'unprocessable_input',
      `the pattern would search more than ${fixedLimits.patternEntries} files: begin it with a more specific folder`,
    );
  };
}

interface Entry {
  readonly name: string;
  readonly kind: Kind | 'link';
}

async function entriesOf(path: string, budget: () => void): Promise<Entry[]> {
  const entries: Entry[] = [];
  try {
    for await (const entry of await opendir(path, { bufferSize: 1024 })) {
      budget();
      entries.push({
        name: entry.name,
        kind: entry.isSymbolicLink()
          ? 'link'
          : entry.isDirectory()
            ? 'folder'
            : entry.isFile()
              ? 'file'
              : null,
      });
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw inputFault(error, path);
  }
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns null if there is neither a file nor a folder. */
export async function kindOf(path: string): Promise<Kind> {
  const facts = await stat(path).catch(() => null);
  if (facts?.isFile()) return 'file';
  return facts?.isDirectory() ? 'folder' : null;
}
