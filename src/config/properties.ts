/**
 * The settings of the service: one table of properties, read into the typed record of `Config`. The runtime decides where they come
 * from (`backend.properties`, the environment).
 */
import { didYouMean } from '../engine/closest-word.ts';
import { eventProperties, readEvents } from './events.ts';
import { fileStoreProperties, readObjectStore } from './files.ts';
import { readOidc } from './oidc.ts';
import { isSourceProperty, readSources } from './sources.ts';
import { ConfigError } from './wrong-settings.ts';
import { readSpark, sparkProperties } from './spark.ts';
import type { Config } from './shape.ts';
import {
  parseBearerToken,
  parseCount,
  parseDatabaseUrl,
  parseHosts,
  parseKey,
  parseKeys,
  parseOrigins,
  parseQuantity,
  parseRoots,
  parseSwitch,
  sizeUnits,
  timeUnits,
} from './values.ts';
import { limitProperties, readLimits } from './limits.ts';

/** A property as people see it: docs/configuration.md and the file of the first start are written from these. */
export interface PropertySpec {
  readonly name: string;
  /** default value as written in the file; '' = not set */
  readonly initial: string;
  readonly meaning: string;
}

export const properties = [
  { name: 'cmd.enabled', initial: 'false', meaning: 'whether POST /v2/run/cmd and rerun may start jobs' },
  {
    name: 'metadb.url',
    initial: '',
    meaning: 'postgresql:// address of the metadata database; empty: the embedded one',
  },
  {
    name: 'svc.files.roots',
    initial: '',
    meaning:
      'absolute folders that jobs may read and write beside files/, comma-separated; a root without {org} is for organisation 1 alone',
  },
  ...fileStoreProperties,
  {
    name: 'svc.targets.modules',
    initial: '',
    meaning:
      'absolute paths of modules that register kinds of targets of your own, comma-separated; the service and every tool import them (docs/embedding.md)',
  },
  {
    name: 'svc.allow.hosts',
    initial: '',
    meaning:
      'hosts that jobs, migrations and events may reach beside the metadata database: host or host:port, comma-separated, * for all',
  },
  {
    name: 'svc.allow.plain_passwords',
    initial: '',
    meaning:
      'databases elsewhere that may ask for passwords as text or MD5 without TLS: host or host:port, comma-separated, * for all',
  },
  {
    name: 'svc.secret.key',
    initial: '',
    meaning: 'base64 of the 32 bytes that encrypt stored passwords; empty: secret.key in the home folder',
  },
  {
    name: 'svc.secret.old_keys',
    initial: '',
    meaning: 'keys before that one, comma-separated: they still open what they encrypted',
  },
  {
    name: 'svc.oidc.issuer',
    initial: '',
    meaning: 'issuer (iss) of bearer tokens that are accepted beside API keys; empty: none are',
  },
  { name: 'svc.oidc.audience', initial: '', meaning: 'audience (aud) that such tokens must be for' },
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
    meaning: 'how long the keys known last serve while the issuer gives no new ones',
  },
  {
    name: 'svc.oidc.scope_claim',
    initial: 'scope',
    meaning: 'claim with the scopes, text or list; dots lead into objects',
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
    meaning: 'what values of the scope claim mean: analyst=jobs:read schemas:read, comma-separated',
  },
  {
    name: 'svc.metrics.token',
    initial: '',
    meaning:
      'bearer token that reads /actuator/prometheus and nothing else, checked without the database; empty: keys with metrics:read alone',
  },
  { name: 'svc.cors.origins', initial: '', meaning: 'origins whose pages may use the API, comma-separated' },
  {
    name: 'svc.ui.enabled',
    initial: 'true',
    meaning: 'whether a browser gets the page of the service at /; others get its addresses as JSON',
  },
  ...eventProperties,
  {
    name: 'svc.migration.binary',
    initial: 'bin/migrate.mjs',
    meaning:
      'program that exports and imports schemas: a path, from the folder of the installation on, or a name that PATH finds',
  },
  {
    name: 'svc.migration.password_hosts',
    initial: '',
    meaning:
      'other metadata databases that get the service’s own password, by verified TLS: host or host:port, comma-separated',
  },
  {
    name: 'svc.migration.azcopy_binary',
    initial: 'builtin',
    meaning:
      'what copies to and from cloud storage: the built-in client (builtin), or a program such as azcopy, whose arguments other users of the machine may see',
  },
  ...sparkProperties,
  {
    name: 'svc.worker.concurrency',
    initial: '2',
    meaning:
      'jobs that one process runs at the same time, all but one of them of one organisation if there are several; one job more of an organisation that runs nothing; 0: none',
  },
  {
    name: 'svc.worker.drain',
    initial: '10 s',
    meaning: 'how long running jobs may go on after SIGTERM before they are handed back',
  },
  {
    name: 'svc.worker.idle',
    initial: '10 s',
    meaning:
      'how long the process of a job that completed waits for another one of its tool and organisation, which then starts sooner; none: each job has a process of its own',
  },
  {
    name: 'svc.worker.memory',
    initial: '',
    meaning: 'memory of a job for objects of JavaScript, such as 8 GiB; empty: as Node has it, up to 4 GiB',
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
      'size of inputs from which --workers begins threads, one for each half of it: smaller ones are loaded sooner without (archives count eightfold)',
  },
  ...limitProperties,
] as const satisfies readonly PropertySpec[];

export type PropertyName = (typeof properties)[number]['name'];

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
