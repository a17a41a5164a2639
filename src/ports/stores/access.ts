/**
 * The store of organisations, API keys, upload tokens, the audit log and credentials. Secrets are stored as SHA-256, or sealed if they must
 * be read back.
 */
import type { Page } from './jobs.ts';

export type Scope =
  | 'jobs:read'
  | 'jobs:run'
  | 'schemas:read'
  | 'schemas:write'
  | 'files:upload'
  | 'rows:read'
  | 'migrate'
  | 'metrics:read'
  | 'admin';

export const allScopes: readonly Scope[] = [
  'jobs:read',
  'jobs:run',
  'schemas:read',
  'schemas:write',
  'files:upload',
  'rows:read',
  'migrate',
  'metrics:read',
  'admin',
];

export interface ApiKeyRecord {
  readonly idKey: string;
  readonly idOrg: number;
  readonly scopes: readonly Scope[];
  /** lower-case hex */
  readonly secretSha256: string;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

export interface UploadTokenClaim {
  readonly idOrg: number;
  readonly maxBytes: number;
}

export interface OrgRecord {
  readonly id_org: number;
  readonly name: string;
  readonly description: string | null;
  readonly created: number;
  readonly schema_count: number;
  readonly job_count: number;
}

/** The public facts about a key: all but its secret. Times are epoch milliseconds. */
export interface ApiKeyInfo {
  readonly idKey: string;
  readonly idOrg: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly created: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
}

/** One line of the audit log: the actor and the action. */
interface AuditEvent {
  /** organisation of the actor */
  readonly idOrg: number;
  /** `key 0f3c…`, `oidc alice`, `command line root` */
  readonly actor: string;
  /** a method and the pattern of its path, or a command */
  readonly action: string;
  /** object of the action: the requested path, or the id of the new object; null if the action says it all */
  readonly subject: string | null;
  /** status of the answer; null for a command */
  readonly status: number | null;
  readonly requestId: string | null;
}

export type AuditRecord = AuditEvent & {
  readonly idAudit: number;
  /** epoch milliseconds, by the store's clock */
  readonly at: number;
};

/** API keys. */
export interface KeyStore {
  findKey(idKey: string): Promise<ApiKeyRecord | null>;
  createKey(key: ApiKeyRecord & { readonly name: string }): Promise<void>;
  /** True when no key exists at all: the first start. */
  hasNoKeys(): Promise<boolean>;
  /** Keys of an organisation, or of all (null); oldest first. */
  listKeys(idOrg: number | null): Promise<readonly ApiKeyInfo[]>;
  /** Ends a key of the organisation, or of any (null), from now on; idempotent. False: there is none. */
  revoke(idOrg: number | null, idKey: string): Promise<boolean>;
}

/** Organisations. */
export interface OrganisationStore {
  /** AppError `conflict` for a name that is in use. */
  createOrg(org: { readonly name: string; readonly description: string | null }): Promise<OrgRecord>;
  /** Oldest first. */
  listOrgs(): Promise<readonly OrgRecord[]>;
  findOrg(idOrg: number): Promise<OrgRecord | null>;
  /** An organisation by its exact name. */
  findOrgNamed(name: string): Promise<{ readonly idOrg: number } | null>;
}

/** The audit log. */
export interface AuditLog {
  /** Appends a line to the audit log; no line is ever changed or removed. */
  recordAudit(event: AuditEvent): Promise<void>;
  /** Newest first: of an organisation, or of all (null). */
  listAudit(idOrg: number | null, page: number, size: number): Promise<Page<AuditRecord>>;
}

/** Tokens for one upload each. */
export interface UploadTokenStore {
  saveUploadToken(token: {
    readonly sha256: string;
    readonly idOrg: number;
    /** identity that requested it, a key or not */
    readonly idKey: string;
    readonly kind: 'xml' | 'xsd';
    readonly maxBytes: number;
    readonly ttlMs: number;
  }): Promise<{ readonly expiresAt: number }>;
  /** Spends a token: once, unexpired, of that kind, while its key is neither expired nor revoked; null otherwise. */
  spendUploadToken(sha256: string, kind: 'xml' | 'xsd'): Promise<UploadTokenClaim | null>;
}

export interface AccessStore extends KeyStore, OrganisationStore, AuditLog, UploadTokenStore {}

// Credentials of each organisation for remote inputs: names and kinds are public, the rest is sealed.

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

/** Encryption at rest for values that must be read back (passwords of job targets). AES-256-GCM with the key `svc.secret.key`. */
export interface SecretBox {
  /** text -> printable sealed form, different at each call */
  seal(plain: string): Promise<string>;
  /** Throws AppError `internal_error` when the key is another one or the text was changed. */
  open(sealed: string): Promise<string>;
}
