/** Encryption at rest for values that must be read back (passwords of job targets). AES-256-GCM with the key `svc.secret.key`. */
export interface SecretBox {
  /** text -> printable sealed form, different at each call */
  seal(plain: string): Promise<string>;
  /** Throws AppError `internal_error` when the key is another one or the text was changed. */
  open(sealed: string): Promise<string>;
}
