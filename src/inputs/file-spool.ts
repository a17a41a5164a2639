/**
 * Files that are not separate files on this machine: small ones that were copied here into one file (creating and opening a file for
 * each takes longer than everything else), and those that stay at their remote place.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileFault } from '../storage/staging/durable-file.ts';
import type { RemoteFile, RemotePlace } from './remote/read-place.ts';
import { archiveKindOf } from './archives/kinds.ts';
import { smallFileBytes } from './open-file.ts';

/** The place of a file, or of a document of a concatenated file, inside another file. */
export interface Spooled {
  readonly file: string;
  /** offset of its first byte */
  readonly from: number;
  readonly bytes: number;
  /** line and column at which it starts, as in `InputMember` */
  readonly start?: { readonly line: number; readonly column: number };
  readonly encoding?: string;
  readonly carried?: Readonly<Record<string, string | null>>;
}

/** Written once it holds so much. */
const bufferBytes = 1024 * 1024;

export class FileSpool {
  readonly #file: string;
  readonly #found = new Map<string, Spooled | RemoteFile>();
  readonly #places: RemotePlace[] = [];
  /** files that were not fetched, by path, with the reason */
  readonly #passedOver = new Map<string, string>();
  #buffer: Buffer | null = null;
  /** bytes in the buffer, and in the file */
  #held = 0;
  #written = 0;
  /** null: files were added since */
  #paths: readonly string[] | null = null;

  /** `file`: of this run alone; it is made when it is needed. */
  constructor(file: string) {
    this.#file = file;
  }

  /**
   * Stores a file instead of one at that path; buffered content may be lost until `end`. Returns false if it must be a file of its own,
   * because it is not a single small document. AppError if the disk is full.
   */
  take(path: string, bytes: Uint8Array): boolean {
    if (
      path.slice(-4).toLowerCase() !== '.xml' ||
      // the shared file would never be created for empty files only
      bytes.length === 0 ||
      bytes.length > smallFileBytes ||
      archiveKindOf(bytes) !== null
    )
      return false;
    this.#buffer ??= Buffer.allocUnsafe(bufferBytes);
    if (this.#held + bytes.length > bufferBytes) this.#write();
    this.#buffer.set(bytes, this.#held);
    this.#found.set(path, { file: this.#file, from: this.#written + this.#held, bytes: bytes.length });
    this.#held += bytes.length;
    this.#paths = null;
    return true;
  }

  /** Writes the buffer, so that all stored files can be read. AppError if the disk is full. */
  end(): void {
    this.#write();
    this.#buffer = null;
  }

  /** The places where files stay; a `RemoteFile` names the one that holds it. */
  get places(): readonly RemotePlace[] {
    return this.#places;
  }

  /** Returns a function that records a remote file of the place, instead of a file at that path. */
  leaveAt(place: RemotePlace): (path: string, file: Omit<RemoteFile, 'place'>) => void {
    const number = this.#places.push(place) - 1;
    return (path, file) => {
      this.#found.set(path, { place: number, ...file });
      this.#paths = null;
    };
  }

  /** A file at that path is no document, and was not fetched. */
  passOver(path: string, why: string): void {
    this.#passedOver.set(path, why);
  }

  /** Returns the files below a folder that were not fetched, as pairs of path and reason. The folder's path ends with a separator. */
  passedOverBelow(folder: string): (readonly [path: string, why: string])[] {
    return [...this.#passedOver].filter(([path]) => path.startsWith(folder));
  }

  /** undefined: at that path there is a file of its own, or none. */
  get(path: string): Spooled | RemoteFile | undefined {
    return this.#found.get(path);
  }

  /** Paths of all files below a folder, whose path ends with a separator. */
  below(folder: string): readonly string[] {
    this.#paths ??= [...this.#found.keys()].toSorted();
    const first = firstAtLeast(this.#paths, folder);
    let last = first;
    while (this.#paths[last]?.startsWith(folder) === true) last += 1;
    return this.#paths.slice(first, last);
  }

  #write(): void {
    if (this.#held === 0) return;
    try {
      if (this.#written === 0) mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
      // discard what an earlier attempt has left
      const flag = this.#written === 0 ? 'w' : 'a';
      writeFileSync(this.#file, this.#buffer!.subarray(0, this.#held), { flag, mode: 0o600 });
    } catch (error) {
      throw fileFault(error, this.#file);
    }
    this.#written += this.#held;
    this.#held = 0;
  }
}

/** Place of the first that is not below `wanted`. */
function firstAtLeast(sorted: readonly string[], wanted: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
