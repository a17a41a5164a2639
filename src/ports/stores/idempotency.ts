/** Answers that are given again to a repeated request (`Idempotency-Key`). Keys belong to an organisation; job submissions use them too. */

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly idOrg: number;
  readonly key: string;
  /** identifies operation and body: another request with the same key is refused */
  readonly requestHash: string;
}

/** The right to process a request, for as long as its lease is renewed. */
export interface KeyHold extends Pick<KeyedRequest, 'idOrg' | 'key'> {
  readonly holder: string;
}

export interface IdempotencyStore {
  /**
   * Takes the key for a request, or returns the answer that the first request with it had. AppError `idempotency_key_reused` if the first
   * request was another one, `conflict` while the first request is being processed. A lease that ended frees the key.
   */
  begin(
    request: KeyedRequest,
    leaseMs: number,
  ): Promise<{ readonly hold: KeyHold } | { readonly answer: string }>;
  /** Renews the lease. */
  extend(hold: KeyHold, leaseMs: number): Promise<void>;
  /** Stores the answer, unless another request has taken the key since. */
  settle(hold: KeyHold, answer: string): Promise<void>;
  /** Frees the key: the request changed nothing. */
  release(hold: KeyHold): Promise<void>;
}
