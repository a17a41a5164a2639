/** The credentials of each organisation for remote inputs: names and kinds are public, the rest is sealed. */

export interface CredentialRecord {
  readonly name: string;
  /** one of `accessKinds` */
  readonly kind: string;
  /** epoch milliseconds */
  readonly created: number;
}

export interface CredentialStore {
  /** `sealed`: of a `SecretBox`. AppError `conflict` for a name that the organisation has, `not_found` for no organisation. */
  create(
    idOrg: number,
    credential: { readonly name: string; readonly kind: string; readonly sealed: string },
  ): Promise<CredentialRecord>;
  /** Lists credentials by name. */
  list(idOrg: number): Promise<readonly CredentialRecord[]>;
  find(idOrg: number, name: string): Promise<{ readonly kind: string; readonly sealed: string } | null>;
  /** False: there is none. */
  remove(idOrg: number, name: string): Promise<boolean>;
}
