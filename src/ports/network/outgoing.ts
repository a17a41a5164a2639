/** Connections that a request names: the name is resolved once, its addresses are checked, and only those are connected to. */

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
