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
