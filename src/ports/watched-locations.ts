/**
 * Where schedulers look for objects: what a source of watches must be able to do, whatever it is (docs/decisions/service/watches.md).
 */
import type { ToolRequest } from '../jobs/request/tool-request.ts';
import type { MetObject } from './stores/watches.ts';

export interface WatchedPlace {
  readonly idOrg: number;
  /** as the watch names it, its password included */
  readonly location: string;
  readonly pattern: string | null;
  /** name of what it is read with; null: a source of the operator, or nothing */
  readonly credential: string | null;
  /** what a job asks of rows (`--from`, `--query`, `--after`); null: files come there */
  readonly rows: ToolRequest | null;
}

export interface WatchedLocation {
  /** What its files lie on, a file system or the address of a store: another one where nothing is mounted any more. Null: that cannot be told. */
  readonly fileSystem: string | null;
  /** What is there now and the watch takes, in no order. */
  objects(): AsyncIterable<MetObject>;
  /**
   * Reads all of an object. Answers its SHA-256, hexadecimal, and the object as it was from its first byte to its last: of another
   * version where it has changed since it was met. Null: it is gone.
   */
  digest(object: MetObject): Promise<{ readonly sha256: string; readonly object: MetObject } | null>;
}

export interface WatchedLocations {
  /** AppErrors say in words what is wrong with it: `path_not_allowed`, `input_not_found`, `host_not_allowed`, `service_unavailable`, … */
  open(place: WatchedPlace, signal: AbortSignal): Promise<WatchedLocation>;
}
