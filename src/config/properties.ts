/**
 * The settings of the service: one table of properties, read into the typed record of `Config`. The runtime decides where they come
 * from (`backend.properties`, the environment).
 */
import type {
  EventConfig,
  ObjectStoreConfig,
  OidcConfig,
  SparkConfig,
  SourceConfig,
  Config,
} from './shape.ts';
import {
  parseCount,
  parseHttpAddress,
  parseQuantity,
  parseWebhookSecret,
  timeUnits,
  parseAlgorithms,
  parseJwks,
  parseScopeNames,
  parseSparkConf,
  sizeUnits,
  parseBearerToken,
  parseDatabaseUrl,
  parseHosts,
  parseKey,
  parseKeys,
  parseOrigins,
  parseRoots,
  parseSwitch,
} from './values.ts';
import {
  accessKinds,
  accessMembers,
  kindNames,
  readAccess,
  refuseStrangers,
  MemberFault,
  type AccessKind,
  type AccessTexts,
} from './source-access.ts';
import { didYouMean } from '../engine/closest-word.ts';
import { ConfigError } from './wrong-settings.ts';
import { limitProperties, readLimits } from './limits.ts';

// The settings `svc.webhooks.*` and `svc.openlineage.*`.

const eventProperties = [
  {
    name: 'svc.webhooks.url',
    initial: '',
    meaning: 'address that receives an event for each job that ends; empty: none',
  },
  {
    name: 'svc.webhooks.secret',
    initial: '',
    meaning: 'whsec_ and the base64 of 24 to 64 bytes, which sign webhooks; required for webhooks',
  },
  { name: 'svc.webhooks.attempts', initial: '8', meaning: 'maximum number of attempts to deliver one event' },
  {
    name: 'svc.webhooks.retry',
    initial: '5 s',
    meaning: 'pause before the second delivery; each further one is four times as long, at most a day',
  },
  {
    name: 'svc.openlineage.url',
    initial: '',
    meaning:
      'address that receives OpenLineage events of jobs, such as https://host/api/v1/lineage; empty: none',
  },
  { name: 'svc.openlineage.key', initial: '', meaning: 'bearer token for that address' },
  {
    name: 'svc.openlineage.namespace',
    initial: 'conversion-job-service',
    meaning: 'namespace of the jobs in OpenLineage events',
  },
] as const;

type EventProperty = (typeof eventProperties)[number]['name'];

/** Reads the settings of events. Faults are added to `complaints`. */
function readEvents(
  read: <T>(name: EventProperty, parse: (text: string) => T) => T,
  complaints: string[],
): EventConfig {
  const url = read('svc.webhooks.url', parseHttpAddress);
  const secret = read('svc.webhooks.secret', parseWebhookSecret);
  if (url !== null && secret === null)
    complaints.push('svc.webhooks.secret: is required if svc.webhooks.url is set');
  const lineage = {
    url: read('svc.openlineage.url', parseHttpAddress),
    key: read('svc.openlineage.key', (text) => (text === '' ? null : text)),
    namespace: read('svc.openlineage.namespace', (text) => text),
  };
  return {
    webhook: url === null || secret === null ? null : { url, secret },
    openLineage: lineage.url === null ? null : { ...lineage, url: lineage.url },
    attempts: read('svc.webhooks.attempts', (text) => parseCount(text, 1)),
    retryMs: read('svc.webhooks.retry', (text) => parseQuantity(text, timeUnits, 'a time such as 30 s')),
  };
}

// The settings `svc.files.*` of a store that several machines share.

const fileStoreProperties = [
  {
    name: 'svc.files.store',
    initial: '',
    meaning: 's3://BUCKET/PREFIX for files and logs that several machines share; empty: folders of the home',
  },
  {
    name: 'svc.files.s3_endpoint',
    initial: '',
    meaning: 'address of the S3-compatible store; empty: Amazon S3 in the region',
  },
  { name: 'svc.files.s3_region', initial: 'us-east-1', meaning: 'region of the bucket' },
  { name: 'svc.files.s3_access_key', initial: '', meaning: 'access key of the store' },
  { name: 'svc.files.s3_secret_key', initial: '', meaning: 'secret key of the store' },
] as const;

type FileStoreProperty = (typeof fileStoreProperties)[number]['name'];

/** Returns null if files are stored in folders. Faults are added to `complaints`. */
function readObjectStore(
  read: <T>(name: FileStoreProperty, parse: (text: string) => T) => T,
  complaints: string[],
): ObjectStoreConfig | null {
  const store = read('svc.files.store', parseStore);
  const region = read('svc.files.s3_region', (text) => text);
  const endpoint = read('svc.files.s3_endpoint', parseHttpAddress);
  const accessKeyId = read('svc.files.s3_access_key', (text) => text);
  const secretAccessKey = read('svc.files.s3_secret_key', (text) => text);
  if (store === null) return null;
  if (accessKeyId === '' || secretAccessKey === '')
    complaints.push('svc.files.s3_access_key, svc.files.s3_secret_key: svc.files.store needs both');
  return {
    ...store,
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    accessKeyId,
    secretAccessKey,
  };
}

function parseStore(text: string): Pick<ObjectStoreConfig, 'bucket' | 'prefix'> | null {
  if (text === '') return null;
  const [, bucket = '', path = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(text) ?? [];
  const parts = path.split('/').filter((part) => part !== '');
  if (bucket === '' || parts.some((part) => part === '.' || part === '..'))
    throw new Error('must be s3://BUCKET or s3://BUCKET/PREFIX');
  return { bucket, prefix: parts.length === 0 ? '' : `${parts.join('/')}/` };
}

// The settings `svc.oidc.*`.

type OidcProperty =
  | 'svc.oidc.issuer'
  | 'svc.oidc.audience'
  | 'svc.oidc.jwks'
  | 'svc.oidc.algorithms'
  | 'svc.oidc.keys_grace'
  | 'svc.oidc.scope_claim'
  | 'svc.oidc.org_claim'
  | 'svc.oidc.default_org'
  | 'svc.oidc.scopes';

/** Returns null without an issuer; faults are added to `complaints`. */
function readOidc(
  read: <T>(name: OidcProperty, parse: (text: string) => T) => T,
  complaints: string[],
): OidcConfig | null {
  const text = (name: OidcProperty): string | null => read(name, (value) => (value === '' ? null : value));
  const issuer = text('svc.oidc.issuer');
  const audience = text('svc.oidc.audience');
  const jwks = read('svc.oidc.jwks', parseJwks);
  const oidc = {
    algorithms: read('svc.oidc.algorithms', parseAlgorithms),
    graceMs: read('svc.oidc.keys_grace', (value) => parseQuantity(value, timeUnits, 'a time such as 1 d')),
    scopeClaim: read('svc.oidc.scope_claim', (value) => value),
    orgClaim: read('svc.oidc.org_claim', (value) => value),
    defaultOrg: read('svc.oidc.default_org', (value) => (value === '' ? null : parseCount(value, 1))),
    scopeNames: read('svc.oidc.scopes', parseScopeNames),
  };
  if (issuer === null) return null;
  if (audience === null) complaints.push('svc.oidc.audience: is required if svc.oidc.issuer is set');
  if (jwks === null) complaints.push('svc.oidc.jwks: is required if svc.oidc.issuer is set');
  return audience === null || jwks === null ? null : { issuer, audience, jwks, ...oidc };
}

// The settings `svc.spark.*`.

/** Environment variables with the places of Spark, Java, Python and the cluster's settings. */
export const sparkVariables =
  /^(?:JAVA_HOME|KUBECONFIG|(?:SPARK|PYSPARK|HADOOP|YARN|KUBERNETES)_[A-Z0-9_]+)$/;

const sparkProperties = [
  {
    name: 'svc.spark.submit',
    initial: '',
    meaning: 'path of spark-submit; empty: jobs on Spark are refused',
  },
  {
    name: 'svc.spark.master',
    initial: 'local[*]',
    meaning: 'the Spark master: local[*], spark://host:7077, yarn or k8s://https://host:6443',
  },
  {
    name: 'svc.spark.memory',
    initial: '1g',
    meaning: 'memory of an executor, in addition to the memory of its tasks',
  },
  { name: 'svc.spark.cores', initial: '', meaning: 'cores of an executor; empty: the default of the master' },
  {
    name: 'svc.spark.conf',
    initial: '',
    meaning: 'further Spark settings, separated by blanks, such as spark.cores.max=64',
  },
  {
    name: 'svc.spark.work',
    initial: '',
    meaning:
      'folder for intermediate files, which all executors can read and write; empty: the temporary folder',
  },
  {
    name: 'svc.spark.range_bytes',
    initial: '256 MiB',
    meaning:
      'size above which a file is cut into parts, one for each task; small files share tasks (docs/how-to/spark.md)',
  },
  {
    name: 'svc.spark.node',
    initial: '',
    meaning:
      'path of Node on the executors, or in an archive of spark.archives; empty: the path on this machine',
  },
  {
    name: 'svc.spark.package',
    initial: '',
    meaning:
      'folder of this package on the executors, or in an archive of spark.archives; empty: the folder on this machine',
  },
] as const;

type SparkProperty = (typeof sparkProperties)[number]['name'];

function readSpark(read: <T>(name: SparkProperty, parse: (text: string) => T) => T): SparkConfig {
  const text = (name: SparkProperty): string | null => read(name, (value) => (value === '' ? null : value));
  const cores = read('svc.spark.cores', (value) => (value === '' ? null : parseCount(value, 1)));
  return {
    submit: text('svc.spark.submit'),
    conf: {
      'spark.master': read('svc.spark.master', parseMaster),
      'spark.executor.memory': read('svc.spark.memory', parseMemory),
      ...(cores === null ? {} : { 'spark.executor.cores': String(cores) }),
      ...read('svc.spark.conf', parseSparkConf),
    },
    work: text('svc.spark.work'),
    rangeBytes: read('svc.spark.range_bytes', (value) =>
      parseQuantity(value, sizeUnits, 'a size such as 64 MiB'),
    ),
    node: text('svc.spark.node'),
    package: text('svc.spark.package'),
  };
}

function parseMaster(text: string): string {
  if (
    !/^(?:local(?:\[(?:\*|\d+)(?:,\d+)?\])?|local-cluster\[[\d, ]+\]|spark:\/\/\S+|k8s:\/\/\S+|yarn)$/.test(
      text,
    )
  )
    throw new Error('must be local[N], spark://HOST:PORT, yarn or k8s://ADDRESS');
  return text;
}

function parseMemory(text: string): string {
  if (!/^\d+[kmgt]$/i.test(text)) throw new Error('must be a size as Spark writes it, such as 2g');
  return text;
}

// `svc.sources.NAME.*`: places from which documents and schemas are fetched, and which may hold targets, each with its credentials.
// Requests without a place of their own give it as `--credential NAME`.

/** The properties of a source; either a location or a kind is required. */
const sourceMembers = ['location', 'kind', 'organisations', 'writable', ...accessMembers] as const;
type SourceMember = (typeof sourceMembers)[number];

const sourceName = /^svc\.sources\.([a-z0-9][a-z0-9-]{0,39})\.([a-z_]+)$/;

/** Whether a property is one of a source, whatever its name is. */
function isSourceProperty(name: string): boolean {
  return sourceMembers.includes(sourceName.exec(name)?.[2] as SourceMember);
}

/** `SVC_SOURCES_INBOX_ACCESS_KEY` is `svc.sources.inbox.access_key`; null: no setting of a source. */
export function sourcePropertyOf(variable: string): string | null {
  const members = sourceMembers.map((member) => member.toUpperCase()).join('|');
  const [, name, member] = new RegExp(`^SVC_SOURCES_([A-Z0-9]+)_(${members})$`).exec(variable) ?? [];
  return name === undefined ? null : `svc.sources.${name.toLowerCase()}.${member!.toLowerCase()}`;
}

/** Reads the sources. Faults are added to `complaints`. */
function readSources(
  record: Readonly<Record<string, string | undefined>>,
  complaints: string[],
): readonly SourceConfig[] {
  const byName = new Map<string, Partial<Record<SourceMember, string>>>();
  for (const [property, text] of Object.entries(record)) {
    const [, name, member] = sourceName.exec(property) ?? [];
    if (name === undefined || !isSourceProperty(property) || text === undefined || text.trim() === '')
      continue;
    byName.set(name, { ...byName.get(name), [member as SourceMember]: text.trim() });
  }
  return [...byName].flatMap(([name, given]) => {
    try {
      return [sourceOf(name, given)];
    } catch (error) {
      complaints.push(`svc.sources.${name}.${(error as Error).message}`);
      return [];
    }
  });
}

function sourceOf(
  name: string,
  {
    location,
    kind: given,
    organisations,
    writable = 'false',
    ...texts
  }: Partial<Record<SourceMember, string>>,
): SourceConfig {
  const kind = kindOf(location, given);
  const isWeb = kind === 'https' && location !== undefined;
  // values that the location contains are not read from other settings
  const access: AccessTexts = isWeb
    ? { ...texts, host: new URL(location).host }
    : kind === 'sftp' && location !== undefined
      ? { ...texts, ...serverIn(location) }
      : texts;
  if (given !== undefined) inWords(() => refuseStrangers(kind, texts));
  if (writable !== 'true' && writable !== 'false') throw new Error('writable: must be true or false');
  return {
    name,
    location: location ?? null,
    organisations: organisationsOf(organisations),
    ...(writable === 'true' ? { writable: true } : {}),
    access: inWords(() => readAccess(kind, access)),
  };
}

/** Returns the kind that the location implies; without a location, the kind must be given. */
function kindOf(location: string | undefined, given: string | undefined): AccessKind {
  const named = kindNames.find((kind) => kind === given);
  if (given !== undefined && named === undefined)
    throw new Error(`kind: must be one of ${Object.keys(accessKinds).join(', ')}`);
  if (location === undefined && named !== undefined) return named;
  const found = locationForms.find(([, isOne]) => isOne(location ?? ''))?.[0];
  if (found === undefined)
    throw new Error(
      'location: must be s3://BUCKET/PREFIX, az://CONTAINER/PREFIX, https://HOST/PATH or sftp://USER@HOST/PATH',
    );
  if (named !== undefined && named !== found)
    throw new Error(`kind: ${named} does not match the location, which begins with ${found}://`);
  return found;
}

/** `sftp://USER@HOST:PORT/PATH` */
const sftpForm = /^sftp:\/\/(?:([^/@]+)@)?([^/@]+)(?:\/|$)/;

function serverIn(location: string): AccessTexts {
  const [, user, host = ''] = sftpForm.exec(location) ?? [];
  return { host, ...(user === undefined ? {} : { user }) };
}

const locationForms: readonly (readonly [AccessKind, (location: string) => boolean])[] = [
  ['s3', (location) => /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](?:\/|$)/.test(location)],
  ['az', (location) => /^az:\/\/[a-z0-9$][a-z0-9-]{2,62}(?:\/|$)/.test(location)],
  ['https', (location) => location.startsWith('https://') && URL.canParse(location)],
  ['sftp', (location) => sftpForm.test(location)],
];

/** Prefixes a fault with the name of the member. */
function inWords<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof MemberFault)) throw error;
    throw new Error(`${error.member}: ${error.message}`, { cause: error });
  }
}

/** Like folders outside those of organisations: the default is organisation 1 alone. */
function organisationsOf(text = '1'): readonly number[] | null {
  if (text === '*') return null;
  const ids = text.split(',').map((id) => Number(id.trim()));
  if (ids.some((id) => !Number.isSafeInteger(id) || id < 1))
    throw new Error('organisations: must be ids, comma-separated, or * for all');
  return ids;
}

/** A property as people see it: docs/reference/properties.md and the file of the first start are written from these. */
interface PropertySpec {
  readonly name: string;
  /** default value as written in the file; '' = not set */
  readonly initial: string;
  readonly meaning: string;
}

export const properties = [
  { name: 'cmd.enabled', initial: 'false', meaning: 'true: POST /v2/run/cmd and rerun may start jobs' },
  {
    name: 'metadb.url',
    initial: '',
    meaning: 'postgresql:// address of the metadata database; empty: the embedded one',
  },
  {
    name: 'svc.files.roots',
    initial: '',
    meaning:
      'absolute folders that jobs may read and write in addition to files/, comma-separated; a root without {org} is only for organisation 1',
  },
  ...fileStoreProperties,
  {
    name: 'svc.targets.modules',
    initial: '',
    meaning:
      'absolute paths of modules that register your own kinds of targets, comma-separated; the service and every tool import them (docs/how-to/embed.md)',
  },
  {
    name: 'svc.allow.hosts',
    initial: '',
    meaning:
      'hosts that jobs, migrations and events may reach in addition to the metadata database: host or host:port, comma-separated, * for all',
  },
  {
    name: 'svc.allow.plain_passwords',
    initial: '',
    meaning:
      'remote databases that may ask for passwords as text or MD5 without TLS: host or host:port, comma-separated, * for all',
  },
  {
    name: 'svc.secret.key',
    initial: '',
    meaning: 'base64 of the 32 bytes that encrypt stored passwords; empty: secret.key in the home folder',
  },
  {
    name: 'svc.secret.old_keys',
    initial: '',
    meaning: 'earlier keys, comma-separated: they decrypt passwords that they encrypted',
  },
  {
    name: 'svc.oidc.issuer',
    initial: '',
    meaning: 'issuer (iss) of bearer tokens that are accepted in addition to API keys; empty: none',
  },
  { name: 'svc.oidc.audience', initial: '', meaning: 'audience (aud) that these tokens must have' },
  {
    name: 'svc.oidc.jwks',
    initial: '',
    meaning: 'public keys of the issuer: https: address of its key set, or absolute path of a file',
  },
  {
    name: 'svc.oidc.algorithms',
    initial: 'RS256, ES256',
    meaning: 'signature algorithms accepted, comma-separated: RS…, PS…, ES…, EdDSA',
  },
  {
    name: 'svc.oidc.keys_grace',
    initial: '1 d',
    meaning: 'time for which the last known keys are used while the issuer does not answer',
  },
  {
    name: 'svc.oidc.scope_claim',
    initial: 'scope',
    meaning: 'claim with the scopes, as text or list; a dot selects a member of an object',
  },
  { name: 'svc.oidc.org_claim', initial: 'org', meaning: 'claim with the id or name of the organisation' },
  {
    name: 'svc.oidc.default_org',
    initial: '',
    meaning: 'organisation of tokens without that claim; empty: they are refused',
  },
  {
    name: 'svc.oidc.scopes',
    initial: '',
    meaning: 'scopes of values of the scope claim: analyst=jobs:read schemas:read, comma-separated',
  },
  {
    name: 'svc.metrics.token',
    initial: '',
    meaning:
      'bearer token that may read only /actuator/prometheus, and is checked without the database; empty: only keys with metrics:read may read it',
  },
  { name: 'svc.cors.origins', initial: '', meaning: 'origins whose pages may use the API, comma-separated' },
  {
    name: 'svc.ui.enabled',
    initial: 'true',
    meaning: 'true: / is a page for browsers; other clients always get a JSON index',
  },
  ...eventProperties,
  {
    name: 'svc.migration.binary',
    initial: 'bin/migrate.mjs',
    meaning:
      'program that exports and imports schemas: a path, relative to the folder of the installation, or a name in PATH',
  },
  {
    name: 'svc.migration.password_hosts',
    initial: '',
    meaning:
      'other metadata databases to which the service’s own password may be sent, over verified TLS: host or host:port, comma-separated',
  },
  {
    name: 'svc.migration.azcopy_binary',
    initial: 'builtin',
    meaning:
      'client for cloud storage: builtin, or a program such as azcopy, whose arguments other users of the machine may see',
  },
  ...sparkProperties,
  {
    name: 'svc.worker.concurrency',
    initial: '2',
    meaning:
      'jobs that one process runs at the same time; with several organisations, one organisation gets at most one fewer, and one additional job may start for an organisation that runs nothing; 0: none',
  },
  {
    name: 'svc.worker.drain',
    initial: '10 s',
    meaning: 'time for which running jobs may continue after SIGTERM before they return to the queue',
  },
  {
    name: 'svc.worker.idle',
    initial: '10 s',
    meaning:
      'time for which the process of a completed job waits for the next job of its tool and organisation, which then starts faster; none: each job has its own process',
  },
  {
    name: 'svc.worker.memory',
    initial: '',
    meaning: 'memory of a job for JavaScript objects, such as 8 GiB; empty: the default of Node, up to 4 GiB',
  },
  {
    name: 'svc.worker.port',
    initial: '',
    meaning:
      'port on which a worker without a service (npm run worker) answers /actuator, at the address of HOST; 0: any free port; empty: none',
  },
  {
    name: 'svc.worker.threads_from',
    initial: '64 MiB',
    meaning:
      'size of inputs from which --workers starts threads, one for each half of it; smaller inputs load faster with one thread (archives count eightfold)',
  },
  ...limitProperties,
] as const satisfies readonly PropertySpec[];

type PropertyName = (typeof properties)[number]['name'];

/** Property names to their text; absent and '' mean the default. */
export type PropertyRecord = Readonly<Record<string, string | undefined>>;

/** Reads a plain record; ConfigError lists all that is wrong, unknown names of our own families included. */
export function readConfig(record: PropertyRecord): Config {
  const complaints: string[] = [];
  const known = new Map<string, PropertySpec>(properties.map((property) => [property.name, property]));
  for (const name of Object.keys(record)) {
    if (/^(svc|cmd|metadb)\./.test(name) && !known.has(name) && !isSourceProperty(name))
      complaints.push(`${name}: there is no such property${didYouMean(name, known.keys())}`);
  }

  const read = <T>(name: PropertyName, parse: (text: string) => T): T => {
    const initial = known.get(name)!.initial;
    const given = record[name]?.trim() ?? '';
    try {
      return parse(given === '' ? initial : given);
    } catch (error) {
      complaints.push(`${name}: ${(error as Error).message}`);
      return parse(initial);
    }
  };
  const count = (name: PropertyName, min = 1): number => read(name, (text) => parseCount(text, min));
  const time = (name: PropertyName): number =>
    read(name, (text) => parseQuantity(text, timeUnits, 'a time such as 30 s'));

  const config: Config = {
    commandsEnabled: read('cmd.enabled', parseSwitch),
    metadbUrl: read('metadb.url', parseDatabaseUrl),
    fileRoots: read('svc.files.roots', parseRoots),
    targetModules: read('svc.targets.modules', parseRoots),
    objectStore: readObjectStore(read, complaints),
    sources: readSources(record, complaints),
    allowedHosts: read('svc.allow.hosts', parseHosts),
    plainPasswordHosts: read('svc.allow.plain_passwords', parseHosts),
    secretKey: read('svc.secret.key', parseKey),
    oldSecretKeys: read('svc.secret.old_keys', parseKeys),
    oidc: readOidc(read, complaints),
    metricsToken: read('svc.metrics.token', parseBearerToken),
    corsOrigins: read('svc.cors.origins', parseOrigins),
    pageEnabled: read('svc.ui.enabled', parseSwitch),
    migration: {
      binary: read('svc.migration.binary', (value) => value),
      azcopyBinary: read('svc.migration.azcopy_binary', (value) => value),
      passwordHosts: read('svc.migration.password_hosts', parseHosts).filter((host) => host !== '*'),
    },
    spark: readSpark(read),
    worker: {
      concurrency: count('svc.worker.concurrency', 0),
      drainMs: time('svc.worker.drain'),
      idleMs: read('svc.worker.idle', (value) =>
        value === 'none' ? null : parseQuantity(value, timeUnits, 'a time such as 10 s, or none'),
      ),
      memoryBytes: read('svc.worker.memory', (value) =>
        value === '' ? null : parseQuantity(value, sizeUnits, 'a size such as 8 GiB'),
      ),
      port: read('svc.worker.port', parsePort),
      threadsFromBytes: read('svc.worker.threads_from', (value) =>
        parseQuantity(value, sizeUnits, 'a size such as 64 MiB'),
      ),
    },
    events: readEvents(read, complaints),
    limits: readLimits(read),
  };
  if (config.limits.heartbeatMs * 2 > config.limits.leaseMs) {
    complaints.push('svc.limits.heartbeat: must be at most half of svc.limits.lease');
  }
  if (complaints.length > 0) throw new ConfigError(complaints);
  return config;
}

function parsePort(text: string): number | null {
  if (text === '') return null;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new Error('must be a number from 0 to 65535');
  return port;
}
