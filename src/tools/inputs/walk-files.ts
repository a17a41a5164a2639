/** Members of files, one after the other: what each file is, is told when it is opened. */
import { stat } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { archiveKind, archiveKindOf, headBytes, type ArchiveKind } from './archives/kinds.ts';
import type { ArchiveLimits } from './archives/limits.ts';
import { archiveMembers, gunzipped } from './archives/members.ts';
import {
  fleetingFileChunks,
  inputFileChunks,
  readHead,
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
}

export interface Walk {
  /** chooses members of archives by name */
  readonly accept: (name: string) => boolean;
  readonly limits: ArchiveLimits;
  readonly links: Links;
  /** told of each archive within an archive, which is not read */
  readonly onNested?: ((name: string) => void) | undefined;
}

/** small files that are looked at without a turn for others */
export const filesAtOnce = 16;

/** `bytes`: its size */
export function listedFile(path: string, name: string, bytes: number): ListedFile {
  const named = archiveKind(name);
  // a .gz may hold a tar archive, and a file of any name be an archive
  return { path, name, bytes, named, archive: named === 'gz' ? undefined : (named ?? undefined) };
}

export async function* walkFiles(files: readonly ListedFile[], walk: Walk): AsyncIterable<InputMember> {
  const { accept, limits, links, onNested } = walk;
  const small = new SmallFiles(links);
  for (const [at, file] of files.entries()) {
    // between small files, events of sockets and timers are handled
    if (at % filesAtOnce === filesAtOnce - 1) await nextTurn();
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
            source: { file: path, member, packed: true, direct: archive === 'zip' },
            chunks: packed.chunks,
            ...(packed.carried === undefined ? {} : { carried: packed.carried }),
          };
          member += 1;
        }
      }
    }
  }
}

/** One buffer for all small files: one is read before the next is asked for. */
class SmallFiles {
  readonly #links: Links;
  #buffer: Uint8Array | null = null;
  /** the file that is in the buffer, whole */
  #held: ListedFile | null = null;
  #length = 0;

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
    return isHeld ? [this.#buffer!.subarray(0, this.#length)] : fleetingFileChunks(file.path, this.#links);
  }

  #hold(file: ListedFile): boolean {
    this.#held = null;
    if (file.bytes > smallFileBytes) return false;
    // one more than is needed: so its end is seen
    this.#buffer ??= new Uint8Array(smallFileBytes + 1);
    const length = readSmallFile(file.path, this.#links, this.#buffer, file.bytes);
    if (length === null) return false;
    this.#held = file;
    this.#length = length;
    return true;
  }
}
