/** Yields the members of files, one after the other. The type of each file is determined when it is opened. */
import { closeSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../errors.ts';
import type { RemoteFile, RemotePlace } from '../../runtime/remote/read-place.ts';
import { archiveKind, archiveKindOf, headBytes, unpackedHead, type ArchiveKind } from './archives/kinds.ts';
import type { ArchiveLimits } from './archives/limits.ts';
import { lookAtMember, lookedBytes } from './archives/looked-member.ts';
import { archiveMembers, gunzipped, type OnPassedOver } from './archives/members.ts';
import { ExternalFiles, rootOf, type DocumentFile } from './external/files.ts';
import type { MemberTest } from './document-names.ts';
import type { Spooled } from './file-spool.ts';
import { ReadAhead, remoteMember } from './remote-files.ts';
import {
  fleetingFileChunks,
  inputFileChunks,
  openSmallFile,
  readHead,
  ReadBuffers,
  readSmallFile,
  smallFileBytes,
  type Links,
} from './open-file.ts';
import { keyOfSource, type DocumentBytes, type InputMember } from './members.ts';

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
          const looked = packed.look ? await lookAtMember(packed, test) : null;
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

/** A part of that file: `length` bytes from `number * blockBytes` on. */
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
        file.passedOver = `is an archive by its content (${kind}), and not by its name: call it so`;
      return;
    }
    const isFound = file.trust === 'found';
    const content =
      kind === 'gz'
        ? unpackedHead(head.subarray(0, headBytes))
        : isFound
          ? head.subarray(0, headBytes)
          : this.#head(file, lookedBytes);
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
    if (read < bytes) throw new AppError('unprocessable_input', `${path}: what was fetched of it is gone`);
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
