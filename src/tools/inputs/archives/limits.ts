/** Limits the expansion of archives, and builds their faults (docs/decisions/service/limits.md). */
import { InputError } from '../../../engine/diagnostics.ts';
import { defaultLimits, fixedLimits, type Limits } from '../../../config/limits.ts';

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
