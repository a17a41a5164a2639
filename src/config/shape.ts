/**
 * The typed settings. Code that only reads them imports the types alone: loading Zod would add a fifth to the start of a tool. The
 * texts of settings are therefore read by functions of their own, and the application checks the settings that its host passes.
 */
import { z } from 'zod';
import { engineLimitSpecs } from './engine-limits.ts';
import { limitSpecs } from './limits.ts';

const amount = z.number().positive();
const texts = z.array(z.string()).readonly();
const byName = z.record(z.string(), z.string()).readonly();

/** An S3-compatible store for files and logs. */
const objectStore = z
  .object({
    bucket: z.string(),
    /** before every key: '' or ending in '/' */
    prefix: z.string().regex(/^$|\/$/, { error: 'must be empty or end in /' }),
    endpoint: z.string(),
    region: z.string(),
    accessKeyId: z.string(),
    secretAccessKey: z.string(),
  })
  .readonly();
export type ObjectStoreConfig = z.infer<typeof objectStore>;

/** Access data for remote inputs, by the scheme of their addresses. */
const sourceAccess = z.discriminatedUnion('kind', [
  z
    .object({
      kind: z.literal('s3'),
      endpoint: z.string(),
      region: z.string(),
      accessKeyId: z.string(),
      secretAccessKey: z.string(),
      sessionToken: z.string().optional(),
    })
    .readonly(),
  z
    .object({
      kind: z.literal('az'),
      /** address of the account; its containers are below it */
      endpoint: z.string(),
      account: z.string(),
      /** key of the account, base64; null: there is a token */
      key: z.string().nullable(),
      /** a shared access signature; null: one is made with the key */
      token: z.string().nullable(),
    })
    .readonly(),
  z
    .object({
      kind: z.literal('https'),
      /** the only host that receives secrets; `host` or `host:port`, as in `URL.host` */
      host: z.string(),
      /** sent as `Authorization: Bearer`; null: none */
      token: z.string().nullable(),
      /** sent as `Authorization: Basic`; null: none */
      user: z.string().nullable(),
      password: z.string().nullable(),
    })
    .readonly(),
  z
    .object({
      kind: z.literal('sftp'),
      /** the only host that receives secrets; `host` or `host:port` (22), lower case, IPv6 in brackets */
      host: z.string(),
      /** null: the address contains it */
      user: z.string().nullable(),
      password: z.string().nullable(),
      /** a private key itself, and a file of this machine that holds one */
      key: z.string().nullable(),
      keyFile: z.string().nullable(),
      /** `ssh-ed25519 AAAA…`; null: as known_hosts of the service's user has it */
      hostKey: z.string().nullable(),
    })
    .readonly(),
]);
export type SourceAccess = z.infer<typeof sourceAccess>;

/**
 * `svc.sources.NAME.*`: a place from which documents and schemas are fetched and which may hold targets, or the access data that
 * `--credential NAME` names.
 */
const source = z
  .object({
    /** the operator's name for it; only requests that name it learn of it */
    name: z.string(),
    /**
     * `s3://BUCKET/PREFIX`, `az://CONTAINER/PREFIX` or `https://HOST/PATH`: all addresses with that prefix, up to a `/` or its end;
     * null: only if the name is given
     */
    location: z.string().nullable(),
    /** ids of the organisations whose jobs may read there; null: all */
    organisations: z.array(z.int().positive()).readonly().nullable(),
    /** whether their jobs may have targets there, too (false) */
    writable: z.boolean().optional(),
    access: sourceAccess,
  })
  .readonly();
export type SourceConfig = z.infer<typeof source>;

/** How tokens of an OpenID Connect provider are checked, and which rights they give. */
const oidc = z
  .object({
    /** compared exactly with `iss` */
    issuer: z.string(),
    /** one of `aud` */
    audience: z.string(),
    /** an https: address (http: on loopback), or an absolute path: the public keys as a JSON Web Key Set */
    jwks: z.string(),
    /** the only ones accepted; never symmetric ones, never `none` */
    algorithms: texts,
    /** how long keys remain in use that cannot be fetched again */
    graceMs: amount,
    /** claims, with dots leading into objects, that give the token's rights, as text with blanks or a list */
    scopeClaim: z.string(),
    /** claim with the organisation's id or name */
    orgClaim: z.string(),
    /** organisation of tokens without that claim; null: they are refused */
    defaultOrg: z.int().nullable(),
    /** from a value of the scope claim to scopes of ours; the name of a scope always means that scope */
    scopeNames: z.record(z.string(), texts).readonly(),
  })
  .readonly();
export type OidcConfig = z.infer<typeof oidc>;

const spark = z
  .object({
    /** path of spark-submit; null: there is no Spark */
    submit: z.string().nullable(),
    /** Spark's settings for all jobs; the master is always among them */
    conf: byName,
    /** folder that this machine and all executors see; null: the temporary one */
    work: z.string().nullable(),
    /** largest part of the inputs, in bytes, for one task */
    rangeBytes: amount,
    /** path on executors; null: as on this machine */
    node: z.string().nullable(),
    package: z.string().nullable(),
  })
  .readonly();
export type SparkConfig = z.infer<typeof spark>;

/** Recipients of job events. */
const events = z
  .object({
    /** null: webhooks are off; the secret is `whsec_` and base64 */
    webhook: z.object({ url: z.string(), secret: z.string() }).readonly().nullable(),
    /** null: lineage events are off; `key` is sent as a bearer token */
    openLineage: z
      .object({ url: z.string(), key: z.string().nullable(), namespace: z.string() })
      .readonly()
      .nullable(),
    /** deliveries that are tried of one event */
    attempts: amount,
    /** until the second of them */
    retryMs: amount,
  })
  .readonly();
export type EventConfig = z.infer<typeof events>;

const migration = z
  .object({
    /** a path, relative to the installation unless absolute, or a name to be found in PATH */
    binary: z.string(),
    azcopyBinary: z.string(),
    /** other metadata databases that get the service's own password */
    passwordHosts: texts,
  })
  .readonly();

const worker = z
  .object({
    /** jobs the service's own process runs at the same time; 0: none, other processes run them */
    concurrency: z.number().nonnegative(),
    /** time for which running jobs may continue after SIGTERM before they are handed back */
    drainMs: amount,
    /** time for which the process of a completed job waits for another one; null: not at all */
    idleMs: amount.nullable(),
    /** memory that a tool may use for JavaScript objects; null: Node's default */
    memoryBytes: amount.nullable(),
    /** port for `/actuator` of a worker without a service; null: none */
    port: z.number().int().nonnegative().nullable(),
    /** smaller inputs are loaded without threads, whatever `--workers` says */
    threadsFromBytes: amount,
  })
  .readonly();

/** Times in milliseconds, sizes in bytes. */
export const configShape = z
  .object({
    commandsEnabled: z.boolean(),
    /** null: the embedded database */
    metadbUrl: z.string().nullable(),
    /** absolute folders; `{org}` is replaced by the organisation's id */
    fileRoots: texts,
    targetModules: texts,
    /** null: files and logs are stored in folders of the home */
    objectStore: objectStore.nullable(),
    /** absent: none */
    sources: z.array(source).readonly().optional(),
    /** `host`, `host:port` or `*`, lower case */
    allowedHosts: texts,
    /** the same form: databases that may ask for passwords as text or MD5 without TLS */
    plainPasswordHosts: texts,
    /** base64 of 32 bytes; null: the key file of the home folder */
    secretKey: z.string().nullable(),
    /** bearer tokens of an identity provider beside our own keys; null: keys alone */
    oidc: oidc.nullable(),
    /** bearer token for the metrics alone; null: there is none */
    metricsToken: z.string().nullable().optional(),
    /** the same form: keys that open texts that were sealed before the key was changed */
    oldSecretKeys: texts,
    /** origins whose pages may read answers; none: no CORS headers at all */
    corsOrigins: texts,
    /** whether browsers get a page at `/` */
    pageEnabled: z.boolean(),
    migration,
    spark,
    worker,
    events,
    limits: z
      .object({ ...eachAmount(limitSpecs), engine: z.object(eachAmount(engineLimitSpecs)).readonly() })
      .readonly(),
  })
  .readonly();
export type Config = z.infer<typeof configShape>;

function eachAmount<Specs extends object>(specs: Specs): { readonly [Name in keyof Specs]: typeof amount } {
  return Object.fromEntries(Object.keys(specs).map((name) => [name, amount])) as {
    readonly [Name in keyof Specs]: typeof amount;
  };
}
