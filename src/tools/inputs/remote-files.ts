/** Files that stay at their place, in a bucket or on the web: their readers, here or on an executor, request the bytes there. */
import { AppError } from '../../errors.ts';
import type { RemoteFile, RemotePlace } from '../../runtime/remote/read-place.ts';
import { archiveKindOf, headBytes, type ArchiveKind } from './archives/kinds.ts';
import type { ArchiveLimits } from './archives/limits.ts';
import { gunzipped } from './archives/members.ts';
import type { InputMember, MemberSource } from './members.ts';
import { smallFileBytes, type FileSection } from './open-file.ts';

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
export function remoteMember(
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
      `${name}: is an archive by its content (${kind}), and not by its name: call it so`,
    );
  if (named || kind === 'gz') yield* gunzipped(all, name, limits);
  else yield* all;
}

/** small files that are asked for at the same time: most of their time is that of the way there and back */
const aheadFiles = 32;

/** Reads small files in their order: reading one also requests those after it. */
export class ReadAhead {
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
