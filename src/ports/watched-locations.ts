/**
 * The locations that schedulers search for objects: the operations that any source of watches must support
 * (docs/decisions/service/watches.md).
 */
import type { ToolRequest } from '../service/jobs/request/tool-request.ts';
import type { MetObject } from './stores/watches.ts';

export interface WatchedPlace {
  readonly idOrg: number;
  /** location as the watch names it, including its password */
  readonly location: string;
  readonly pattern: string | null;
  /** name of the credential to read it with; null: a source of the operator, or nothing */
  readonly credential: string | null;
  /** row options of a job (`--from`, `--query`, `--after`); null: the source has files */
  readonly rows: ToolRequest | null;
}

export interface WatchedLocation {
  /** The file system of its files, or the address of a store. It changes if a mount is missing. Null: unknown. */
  readonly fileSystem: string | null;
  /** Yields the current objects that the watch accepts, in no order. */
  objects(): AsyncIterable<MetObject>;
  /**
   * Reads a whole object. Returns its SHA-256, hexadecimal, and the object as it was from its first byte to its last, with another
   * version if it has changed since it was found. Returns null if it is gone.
   */
  digest(object: MetObject): Promise<{ readonly sha256: string; readonly object: MetObject } | null>;
}

export interface WatchedLocations {
  /** AppErrors describe the fault: `path_not_allowed`, `input_not_found`, `host_not_allowed`, `service_unavailable`, … */
  open(place: WatchedPlace, signal: AbortSignal): Promise<WatchedLocation>;
}
