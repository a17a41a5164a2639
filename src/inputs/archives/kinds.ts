/** Detects kinds of archives by names and by first bytes, and limits their expansion. */
import { constants, gunzipSync } from 'node:zlib';
import { InputError } from '../../engine/diagnostics.ts';
import { defaultLimits, fixedLimits, type Limits } from '../../config/limits.ts';

export type ArchiveKind = 'gz' | 'zip' | 'tar' | 'tgz';

/** number of bytes that suffice to detect the type of a file, even if it is packed */
export const headBytes = 4096;

/** Returns the kind according to the name's suffix. */
export function archiveKind(name: string): ArchiveKind | null {
  if (/\.(?:tgz|tar\.gz)$/i.test(name)) return 'tgz';
  if (/\.gz$/i.test(name)) return 'gz';
  if (/\.zip$/i.test(name)) return 'zip';
  return /\.tar$/i.test(name) ? 'tar' : null;
}

/** Detects an archive by its first bytes, because uploads may have lost their suffix. A `.gz` may hold a tar archive. */
export function archiveKindOf(head: Uint8Array): ArchiveKind | null {
  if (head[0] === 0x1f && head[1] === 0x8b) return isTar(unpackedHead(head)) ? 'tgz' : 'gz';
  if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4) return 'zip';
  return isTar(head) ? 'tar' : null;
}

/** Unpacks the first bytes of a gzip file. Returns no bytes if they are damaged. */
export function unpackedHead(head: Uint8Array): Uint8Array {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array(0);
  }
}

const magicAt = 257;
/** `ustar` */
const magic = [0x75, 0x73, 0x74, 0x61, 0x72];

/** Detects a POSIX.1-1988 header: `ustar` at 257. The NUL after the member's name cannot occur in a UTF-8 document. */
function isTar(head: Uint8Array): boolean {
  for (let at = 0; at < magic.length; at += 1) if (head[magicAt + at] !== magic[at]) return false;
  return head[0] !== 0x3c && head.subarray(1, 100).includes(0);
}

// Limits of expansion, and the faults of archives (docs/decisions/service/limits.md).

/** `svc.limits.archive_expansion` and `svc.limits.archive_members`. */
export interface ArchiveLimits {
  /** expanded bytes per archived byte */
  readonly maxExpansion: number;
  readonly maxMembers: number;
}

export const defaultArchiveLimits: ArchiveLimits = archiveLimitsOf(defaultLimits);

export function archiveLimitsOf(limits: Pick<Limits, 'archiveExpansion' | 'archiveMembers'>): ArchiveLimits {
  return { maxExpansion: limits.archiveExpansion, maxMembers: limits.archiveMembers };
}

export function broken(file: string, reason: string): InputError {
  const advice = 'is it whole, and does its name say what it is (.gz, .zip, .tar, .tgz)?';
  return new InputError({ code: 'archive_broken', severity: 'error', message: `${reason}; ${advice}`, file });
}

/** A member that is at fault by itself: the others can be read. */
export function brokenMember(file: string, reason: string): InputError {
  return new InputError({ code: 'archive_broken', severity: 'error', message: reason, file });
}

/** Returns an InputError for an archive that cannot be unpacked. An error that is an InputError already is returned unchanged. */
export function unpackingFault(error: unknown, file: string): InputError {
  if (error instanceof InputError) return error;
  return broken(file, `cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`);
}

/** Counts what an archive expands to, and stops it at the limit. */
export class Expansion {
  readonly #maxExpansion: number;
  #bytes = 0;

  constructor({ maxExpansion }: ArchiveLimits) {
    this.#maxExpansion = maxExpansion;
  }

  /** Throws an InputError `archive_expansion_limit` past the limit. `packedBytes`: packed size of these bytes and all before them. */
  add(bytes: number, packedBytes: number, file: string): void {
    this.#bytes += bytes;
    if (this.#bytes <= fixedLimits.freeArchiveBytes || this.#bytes <= packedBytes * this.#maxExpansion)
      return;
    throw new InputError({
      code: 'archive_expansion_limit',
      severity: 'error',
      message: `expands to more than ${this.#maxExpansion} times its size; unpack it and give the files`,
      file,
    });
  }

  /** Yields the chunks of a source; errors name `file`. */
  async *guarded(
    source: AsyncIterable<Uint8Array>,
    file: string,
    packedBytes: () => number,
  ): AsyncIterable<Uint8Array> {
    try {
      for await (const chunk of source) {
        this.add(chunk.length, packedBytes(), file);
        yield chunk;
      }
    } catch (error) {
      throw unpackingFault(error, file);
    }
  }
}
