/**
 * The network as the service sees it: held connections, compression of answers, addresses of callers, requests to the outside, bearer tokens, and the locations of
 * watches.
 */
import type { Scope } from './stores/access.ts';
import type { ToolRequest } from '../service/jobs/request/tool-request.ts';
import type { ListedObject } from './stores/watches.ts';

/** The connection of a request, in a process that limits its connections. */
export interface RequestConnection {
  /** Records the sender of the request once it is known: the one with most connections gives way first. */
  heldBy(idOrg: number, idKey: string): void;
  /** The answer continues as long as its reader likes, and the reader can resume it: `giveWay` ends it if there is no room. */
  followedUntil(giveWay: () => void): void;
}

/** A content coding of answers, as `Content-Encoding` names it. */
export type Coding = 'br' | 'gzip';

/** Compresses answers. */
export interface Compressor {
  /** the preferred one first */
  readonly codings: readonly Coding[];
  /** compresses quickly, as the bytes come */
  stream(coding: Coding): ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>;
  /** compresses thoroughly, for content that is sent many times */
  whole(coding: Coding, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>>;
}

// Callers of an application that is mounted in another one which has its own sign-in.

interface HostCaller {
  /** a stable name of the person or program, for the audit log and the rate limit */
  readonly name: string;
  /** an organisation of this installation (`id_org`) */
  readonly idOrg: number;
  readonly scopes: readonly Scope[];
}

export interface HostCallers {
  /** names of query parameters that `identify` reads; all others that an operation does not declare are refused */
  readonly queryParameters?: readonly string[];
  /** Returns null if the host does not know the caller; the request may still have an API key */
  identify(request: Request): Promise<HostCaller | null>;
}

// Connections that a request names: the name is resolved once, its addresses are checked, and only those are connected to.

/** A host that was checked. Connections use these addresses, and the name for TLS and `Host` alone. */
export interface CheckedHost {
  /** lower case, IPv6 in brackets */
  readonly host: string;
  readonly port: number;
  /** one or more, `192.0.2.1` or `2001:db8::1`, in the order to try them */
  readonly addresses: readonly string[];
}

export interface HostResolver {
  /** Every address of a name. AppError `service_unavailable` when it has none. */
  resolve(name: string): Promise<readonly string[]>;
}

export interface OutgoingRequest {
  readonly method: string;
  /** http: or https:, of the checked host's host and port */
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** silence after which it fails, in milliseconds (30,000) */
  readonly idleTimeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface OutgoingHttp {
  /** One request on a connection of its own to the checked host's addresses; a redirect is answered as it is, never followed. */
  send(checked: CheckedHost, request: OutgoingRequest): Promise<Response>;
}

/** Bearer tokens of an identity provider. */
export interface TokenVerifier {
  /**
   * Returns the claims of a token that is signed by the issuer's key, addressed to us, and valid now; null for every other text.
   * AppError `service_unavailable` if the issuer's keys are not available now.
   */
  verify(token: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** Absent if the keys are in a file. `ageMs` is null if they were never fetched. */
  keys?(): { readonly ageMs: number | null; readonly failures: number };
}

// The locations that schedulers search for objects: the operations that any source of watches must support
// (docs/decisions/service/watches.md).

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
  objects(): AsyncIterable<ListedObject>;
  /**
   * Reads a whole object. Returns its SHA-256, hexadecimal, and the object as it was from its first byte to its last, with another
   * version if it has changed since it was found. Returns null if it is gone.
   */
  digest(object: ListedObject): Promise<{ readonly sha256: string; readonly object: ListedObject } | null>;
}

export interface WatchedLocations {
  /** AppErrors describe the fault: `path_not_allowed`, `input_not_found`, `host_not_allowed`, `service_unavailable`, … */
  open(place: WatchedPlace, signal: AbortSignal): Promise<WatchedLocation>;
}
