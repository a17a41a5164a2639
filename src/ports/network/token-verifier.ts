/** Bearer tokens of an identity provider. */
export interface TokenVerifier {
  /**
   * The claims of a token that is signed by the issuer's key, for us, and in time; null for every other text. AppError
   * `service_unavailable` when the issuer's keys cannot be had now.
   */
  verify(token: string): Promise<Readonly<Record<string, unknown>> | null>;
  /** Absent where the keys lie in a file. `ageMs` null: they were never fetched. */
  keys?(): { readonly ageMs: number | null; readonly failures: number };
}
