/** Members of files, one after the other: what each file is, is told when it is opened. */
import { closeSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError } from '../../errors.ts';
import type { RemoteFile, RemotePlace } from '../../runtime/remote/read-place.ts';
import { archiveKind, archiveKindOf, headBytes, type ArchiveKind } from './archives/kinds.ts';
import type { ArchiveLimits } from './archives/limits.ts';
import { archiveMembers, gunzipped } from './archives/members.ts';
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
import type { DocumentBytes, InputMember } from './members.ts';

/** A file that an input led to. */
export interface ListedFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  /** what its name says that it is */
  readonly named: ArchiveKind | null;
  /** null: it is none; undefined: nobody has looked yet */
  archive: ArchiveKind | null | undefined;
  /** nothing lies at the path: it is there that its bytes are */
  readonly elsewhere?: Spooled | RemoteFile;
}

export interface Walk {
  /** chooses members of archives by name */
  readonly accept: (name: string) => boolean;
  readonly limits: ArchiveLimits;
  readonly links: Links;
  /** told of each archive within an archive, which is not read */
  readonly onNested?: ((name: string) => void) | undefined;
  /** of the files that stay where they lie */
  readonly places?: readonly RemotePlace[] | undefined;
}

/** small files that are looked at without a turn for others */
export const filesAtOnce = 16;

/** `bytes`: its size */
export function listedFile(path: string, name: string, bytes: number): ListedFile {
  const named = archiveKind(name);
  // a .gz may hold a tar archive, and a file of any name be an archive
  return { path, name, bytes, named, archive: named === 'gz' ? undefined : (named ?? undefined) };
}

/** A document that lies in another file, or not on this machine. */
export function fileElsewhere(path: string, name: string, elsewhere: Spooled | RemoteFile): ListedFile {
  return { path, name, bytes: elsewhere.bytes, named: archiveKind(name), archive: null, elsewhere };
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
  { accept, limits, links, onNested, places = [] }: Walk,
  small: SmallFiles,
): AsyncIterable<InputMember> {
  const ahead = new ReadAhead(files, places);
  for (const [at, file] of files.entries()) {
    // between small files, events of sockets and timers are handled
    if (at % filesAtOnce === filesAtOnce - 1) await nextTurn();
    const { elsewhere } = file;
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
        chunks: (fleeting) => [small.spooled(file.path, elsewhere, fleeting)],
      };
      continue;
    }
    if (file.archive === undefined) file.archive = small.archiveKind(file) ?? file.named;
    const { path, name, bytes, archive } = file;
    if (archive === null) {
      yield {
        name,
        path,
        diskBytes: bytes,
        source: { file: path, member: 0, packed: false, direct: true },
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
        source: { file: path, member: 0, packed: true, direct: true },
        chunks: () => gunzipped(inputFileChunks(path, links), name, limits),
      };
    } else {
      let member = 0;
      for await (const group of archiveMembers(path, archive, accept, limits, links, onNested)) {
        for (const packed of group) {
          yield {
            name: packed.name,
            path: `${name}/${packed.name}`,
            diskBytes: member === 0 ? bytes : 0,
            source: { file: path, member, packed: true, direct: archive !== 'tgz' },
            chunks: packed.chunks,
            ...(packed.carried === undefined ? {} : { carried: packed.carried }),
          };
          member += 1;
        }
      }
    }
  }
}

/** Of the file that others lie in, so much is read at a time, and kept as often: they lie there about in their order. */
const blockBytes = 256 * 1024;
const blocks = 2;

/** A part of that file: `length` bytes from `number * blockBytes` on. */
interface SpoolBlock {
  readonly number: number;
  readonly buffer: Uint8Array;
  readonly length: number;
}

/** One buffer for all small files: one is read before the next is asked for. */
class SmallFiles {
  readonly #links: Links;
  /** of files that are not small */
  readonly #reading = new ReadBuffers();
  #buffer: Uint8Array | null = null;
  /** the file that is in the buffer, whole */
  #held: ListedFile | null = null;
  #length = 0;
  /** the file that others lie in, open */
  #spool: { readonly file: string; readonly descriptor: number } | null = null;
  /** of it, the one that was read last at the end */
  #blocks: SpoolBlock[] = [];

  constructor(links: Links) {
    this.#links = links;
  }

  /** What a file is by its first bytes. A small one is read whole for it, and at hand for who reads it now. */
  archiveKind(file: ListedFile): ArchiveKind | null {
    if (this.#hold(file)) return archiveKindOf(this.#buffer!.subarray(0, this.#length));
    const head = new Uint8Array(headBytes);
    return archiveKindOf(head.subarray(0, readHead(file.path, this.#links, head)));
  }

  chunks(file: ListedFile): DocumentBytes {
    const isHeld = this.#held === file || this.#hold(file);
    // of a file that changes while it waits, what is read last counts
    this.#held = null;
    if (isHeld) return [this.#buffer!.subarray(0, this.#length)];
    return fleetingFileChunks(file.path, this.#links, undefined, this.#reading);
  }

  /** `fleeting`: valid until the next is read. AppError `unprocessable_input` where it is not there any more. */
  spooled(path: string, { file, from, bytes }: Spooled, fleeting?: 'fleeting'): Uint8Array {
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

  /** Bytes of the file that others lie in, until another is read. Null: they lie in two blocks, or are not there. */
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
