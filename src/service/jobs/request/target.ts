/** Parses the text of a target: the destination (`-o`) or source (`-i`) of rows (docs/decisions/service/request-forms.md). */
import { hasOwnPrefix } from '../../../engine/model/side-tables.ts';
import { layoutNames, layouts } from '../../../ports/layouts.ts';
import { isLoopbackName } from '../../files/remote-location.ts';
import { hasHiddenCharacters } from '../../../engine/hidden-characters.ts';
import { AppError } from '../../../errors.ts';
import type { RegisteredTarget } from '../../../ports/row-sink.ts';

export type Target =
  | { readonly kind: 'metadb'; readonly sqlSchema: string }
  | {
      readonly kind: 'postgresql';
      /** the address without user, password and parameters */
      readonly address: string;
      /** one name or address, lower case, IPv6 in brackets */
      readonly host: string;
      readonly port: number;
      readonly database: string | null;
      readonly user: string | null;
      readonly password: string | null;
      readonly sqlSchema: string;
      readonly sslmode: SslMode | null;
    }
  | {
      readonly kind: 'mysql';
      /** address as for PostgreSQL */
      readonly address: string;
      readonly host: string;
      readonly port: number;
      readonly database: string;
      readonly user: string | null;
      readonly password: string | null;
      readonly sslmode: SslMode | null;
    }
  | { readonly kind: 'duckdb'; readonly file: string }
  | { readonly kind: 'sqlite'; readonly file: string }
  | {
      /** a folder in a bucket of an S3-compatible store, or in a container of an Azure storage account */
      readonly kind: 'bucket';
      readonly store: 's3' | 'az';
      /** `s3://BUCKET/PREFIX` or `az://CONTAINER/PREFIX`, without a '/' at its end */
      readonly location: string;
      /** or container */
      readonly bucket: string;
      /** before every key: '' or ending in '/' */
      readonly prefix: string;
    }
  | {
      /** tables in a namespace of a catalogue of Iceberg tables */
      readonly kind: 'iceberg';
      /** the whole location, in one spelling */
      readonly location: string;
      /** address of the catalogue, without parameters and without a '/' at its end */
      readonly address: string;
      /** host as for PostgreSQL */
      readonly host: string;
      readonly port: number;
      readonly warehouse: string | null;
      /** its levels, the outermost first */
      readonly namespace: readonly string[];
    }
  | { readonly kind: 'folder'; readonly path: string }
  | {
      /** a target whose kind the host application registered */
      readonly kind: 'registered';
      readonly scheme: string;
      /** the text after the scheme and its colon */
      readonly text: string;
      /** both */
      readonly location: string;
    };

const sslModes = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
type SslMode = (typeof sslModes)[number];

/** Longest identifier of PostgreSQL, in bytes. */
const identifierBytes = 63;

/**
 * Connection strings of drivers and clouds, `host=h password=p`, `Server=h;Password=p`, `{"password":"p"}`: as a folder or file, their
 * secret would become its name, and appear in every record of the job.
 */
const connectionString =
  /(?:^|[\s;&?:{,'"])(?:password|passwd|pwd|sslpassword|account_?key|shared_?access_?(?:key|signature)|access_?token|client_?secret|sig)["']?\s*(?:=|(?<=["']\s*):)/i;

/** Returns the target, or the fault of its text; the answer never repeats a password. */
export function parseTarget(text: string): Target | { readonly fault: string } {
  if (text.startsWith('metadb:')) return metadb(text.slice('metadb:'.length));
  if (/^postgres(ql)?:/i.test(text)) return postgresql(text);
  if (/^(mysql|mariadb):/i.test(text)) return mysql(text);
  if (/^iceberg:/i.test(text)) return icebergNamespace(text.slice('iceberg:'.length));
  if (connectionString.test(text))
    return {
      fault: 'looks like a connection string: write postgresql://HOST[:PORT]/DATABASE, with -u and -p',
    };
  for (const kind of ['duckdb', 'sqlite'] as const) {
    if (!text.startsWith(`${kind}:`)) continue;
    const file = text.slice(kind.length + 1);
    return file === '' ? { fault: `${kind}: needs a file` } : { kind, file };
  }
  if (/^s3:\/\//i.test(text)) return bucketFolder(text, 's3');
  if (/^az:\/\//i.test(text)) return bucketFolder(text, 'az');
  const [, scheme] = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text) ?? [];
  if (scheme !== undefined) return registered(scheme, text);
  return text === '' ? { fault: 'the target is empty' } : { kind: 'folder', path: text };
}

function registered(scheme: string, text: string): Target | { readonly fault: string } {
  if (registeredTarget(scheme) === null) {
    const forms = [
      'postgresql://…',
      'mysql://…',
      'metadb:NAME',
      'duckdb:FILE',
      'sqlite:FILE',
      's3://BUCKET/PREFIX',
      'az://CONTAINER/PREFIX',
      'iceberg:https://…',
      ...registeredForms(),
    ];
    return { fault: `must be ${forms.join(', ')} or a folder` };
  }
  if (hasHiddenCharacters(text)) return { fault: 'has invisible or bidirectional characters' };
  return { kind: 'registered', scheme, text: text.slice(scheme.length + 1), location: text };
}

/** Layouts that make files of their own in a folder, whose name alone is no target. */
const namedLayouts = layoutNames.filter((name) => layouts[name].insteadOfFile !== null);
/** Names of files of a kind that are written into another, or as several. */
const fileNames = new RegExp(String.raw`\.(duckdb|sqlite3?|db3?|${namedLayouts.join('|')})$`, 'i');

/**
 * Returns the correct spelling for a path that has the name of a file although the target is a folder, or null for other paths. A slash
 * at the end marks a folder with such a name.
 */
export function fileNameFault(text: string, tool: string, isWritten: boolean): string | null {
  const target = parseTarget(text);
  if ('fault' in target || (target.kind !== 'folder' && target.kind !== 'bucket')) return null;
  const [, suffix] = fileNames.exec(text) ?? [];
  if (suffix === undefined) return null;
  const folder = text.slice(0, -suffix.length - 1) || text;
  return `${JSON.stringify(text)} looks like a file, but a target without a kind is a folder: write ${
    tool === 'er2xml' && isWritten ? folder : spellingOf(text, suffix, folder, target.kind)
  }`;
}

function spellingOf(text: string, suffix: string, folder: string, kind: 'folder' | 'bucket'): string {
  const lower = suffix.toLowerCase();
  const layout = namedLayouts.find((name) => name === lower);
  if (layout !== undefined) return `${folder} with -f ${layout}, ${layouts[layout].insteadOfFile}`;
  if (kind === 'bucket') return `${folder}: a database file cannot be written into a bucket`;
  if (lower === 'duckdb') return `duckdb:${text}`;
  return lower.startsWith('sqlite') ? `sqlite:${text}` : `sqlite:${text} or duckdb:${text}`;
}

/** SQL schemas that belong to the database itself or to the service. */
export function isReservedSqlSchema(name: string): boolean {
  const lower = name.toLowerCase();
  return lower === 'svc' || lower === 'information_schema' || lower.startsWith('pg_') || hasOwnPrefix(name);
}

const bucketForms = {
  s3: {
    pattern: /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/+(.*?))?\/*$/i,
    form: 's3://BUCKET/PREFIX',
  },
  az: {
    pattern: /^az:\/\/([a-z0-9](?:-?[a-z0-9]){2,62})(?:\/+(.*?))?\/*$/i,
    form: 'az://CONTAINER/PREFIX',
  },
} as const;

function bucketFolder(text: string, store: 's3' | 'az'): Target | { readonly fault: string } {
  const { pattern, form } = bucketForms[store];
  const [, bucket, path = ''] = pattern.exec(text) ?? [];
  if (bucket === undefined) return { fault: `must be ${form}` };
  const parts = path === '' ? [] : path.split('/');
  if (parts.some((part) => /^\.{0,2}$|[?*#[\]\\]/.test(part)) || hasHiddenCharacters(path))
    return {
      fault:
        'has a part of its prefix that is empty, . or .., or has one of ? * # [ ] \\ or hidden characters',
    };
  const name = bucket.toLowerCase();
  const prefix = parts.map((part) => `${part}/`).join('');
  return {
    kind: 'bucket',
    store,
    location: `${store}://${name}/${prefix}`.slice(0, -1),
    bucket: name,
    prefix,
  };
}

const icebergForm = 'iceberg:https://HOST[:PORT][/PATH]?warehouse=NAME&namespace=NAME';

/** Answers repeat nothing of the text, because a secret may be anywhere in it. */
function icebergNamespace(text: string): Target | { readonly fault: string } {
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) ? URL.parse(text) : null;
  if (url === null || url.hash !== '') return { fault: `must be ${icebergForm}` };
  if (url.username !== '' || url.password !== '' || text.includes('@'))
    return { fault: `must be ${icebergForm}: give user and password by -u and -p` };
  if (url.protocol === 'http:' && !isLoopbackName(url.hostname))
    return {
      fault:
        'names a catalogue without TLS: write iceberg:https:// (only this machine may be used without TLS)',
    };
  for (const name of new Set(url.searchParams.keys())) {
    if (name !== 'warehouse' && name !== 'namespace')
      return { fault: 'has a parameter other than warehouse and namespace' };
    if (url.searchParams.getAll(name).length > 1) return { fault: `has the parameter ${name} twice` };
  }
  const warehouse = url.searchParams.get('warehouse');
  const namespace = url.searchParams.get('namespace') ?? '';
  if (namespace === '')
    return { fault: 'names no namespace: give one, as in iceberg:https://HOST?namespace=orders' };
  const levels = namespace.split('.');
  if (warehouse === '' || levels.some((level) => level.trim() === ''))
    return { fault: 'has an empty warehouse, or an empty level of its namespace' };
  if (hasHiddenCharacters(namespace) || hasHiddenCharacters(warehouse ?? ''))
    return { fault: 'has invisible characters in its warehouse or namespace' };
  const address = `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
  const named = new URLSearchParams({ ...(warehouse === null ? {} : { warehouse }), namespace });
  return {
    kind: 'iceberg',
    location: `iceberg:${address}?${named.toString()}`,
    address,
    host: url.hostname.toLowerCase(),
    port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
    warehouse,
    namespace: levels,
  };
}

function metadb(name: string): Target | { readonly fault: string } {
  const fault = sqlSchemaFault(name);
  if (fault !== null) return { fault };
  if (isReservedSqlSchema(name) || name.toLowerCase() === 'public')
    return { fault: `metadb:${name} is reserved` };
  if (name.trim() !== name) return { fault: 'has white space around the name of its SQL schema' };
  return { kind: 'metadb', sqlSchema: name };
}

function sqlSchemaFault(name: string): string | null {
  if (name === '') return 'names no SQL schema: give one, as in metadb:orders';
  if (hasHiddenCharacters(name))
    return 'has invisible or bidirectional characters in the name of its SQL schema';
  return new TextEncoder().encode(name).length > identifierBytes
    ? `has a name of its SQL schema that is longer than ${identifierBytes} bytes`
    : null;
}

interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string | null;
  readonly password: string | null;
  readonly database: string | null;
  readonly parameters: URLSearchParams;
  readonly sslmode: SslMode | null;
}

/** The parts of SCHEME://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?PARAMETERS]. `form`: how it is to be written. */
function serverAddress(
  text: string,
  usualPort: number,
  known: readonly string[],
  form: string,
): ServerAddress | { readonly fault: string } {
  const match = /^[a-z]+:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^/?#]*))?(?:\?([^#]*))?$/i.exec(text);
  if (match === null)
    return {
      fault: `must be ${form} (with -u and -p), metadb:NAME, duckdb:FILE, sqlite:FILE or a folder`,
    };
  const [, credentials, hostPort, database, query] = match as unknown as [
    string,
    string?,
    string?,
    string?,
    string?,
  ];
  const address = /^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/.exec(hostPort ?? '');
  const port = Number(address?.[2] ?? usualPort);
  if (address === null || port < 1 || port > 65_535)
    return { fault: 'must name one host, with at most one port' };

  // An @ here is the rest of a password with an unescaped slash or question mark: refuse it rather than show it
  if (database?.includes('@') || query?.includes('@'))
    return { fault: 'has an unescaped character before the host: write / as %2F, ? as %3F, @ as %40' };

  const colon = credentials?.indexOf(':') ?? -1;
  const user = colon < 0 ? credentials : credentials!.slice(0, colon);
  const password = colon < 0 ? undefined : credentials!.slice(colon + 1);
  const parameters = new URLSearchParams(query ?? '');
  for (const name of new Set(parameters.keys())) {
    if (!known.includes(name))
      return { fault: `has a parameter other than ${known.join(' and ')}: ${name.slice(0, 40)}` };
    if (parameters.getAll(name).length > 1) return { fault: `has the parameter ${name} twice` };
  }
  const sslmode = parameters.get('sslmode');
  const knownMode = sslModes.find((mode) => mode === sslmode);
  if (sslmode !== null && knownMode === undefined)
    return { fault: `sslmode must be one of ${sslModes.join(', ')}` };

  const decoded = { user: decode(user), password: decode(password), database: decode(database) };
  if (decoded.user === undefined || decoded.password === undefined || decoded.database === undefined) {
    return { fault: 'has a % that does not begin an escape' };
  }
  // NUL ends a parameter of the protocol: text after it would be read as the next one
  if (Object.values(decoded).some((part) => part !== null && /\p{Cc}/u.test(part!)))
    return { fault: 'has control characters in its user, password or database' };
  return {
    host: address[1]!.toLowerCase(),
    port,
    user: decoded.user,
    password: decoded.password,
    database: decoded.database,
    parameters,
    sslmode: knownMode ?? null,
  };
}

function postgresql(text: string): Target | { readonly fault: string } {
  const form = 'postgresql://HOST[:PORT][/DATABASE][?schema=NAME]';
  const server = serverAddress(text, 5432, ['schema', 'sslmode'], form);
  if ('fault' in server) return server;
  const { parameters, ...parts } = server;
  const sqlSchema = parameters.get('schema') ?? 'public';
  const fault = sqlSchemaFault(sqlSchema);
  if (fault !== null) return { fault };
  if (sqlSchema.toLowerCase().startsWith('pg_') || sqlSchema.toLowerCase() === 'information_schema') {
    return { fault: `the SQL schema ${sqlSchema} is the database's own` };
  }
  const { host, port } = parts;
  const path = /^[^?]*?:\/\/[^/?]*\/([^?]*)/.exec(text)?.[1] ?? '';
  return {
    kind: 'postgresql',
    address: `postgresql://${host}:${port}${path === '' ? '' : `/${path}`}`,
    ...parts,
    sqlSchema,
  };
}

/** The address of a PostgreSQL server to connect to, with the credentials of the request before those in the target's text. */
export function connectionUrl(
  target: Pick<
    Extract<Target, { kind: 'postgresql' }>,
    'host' | 'port' | 'database' | 'user' | 'password' | 'sslmode'
  >,
  user?: string,
  password?: string,
): string {
  const url = new URL(
    `postgresql://${target.host}:${target.port}/${encodeURIComponent(target.database ?? 'postgres')}`,
  );
  url.username = encodeURIComponent(user ?? target.user ?? '');
  url.password = encodeURIComponent(password ?? target.password ?? '');
  if (target.sslmode !== null) url.searchParams.set('sslmode', target.sslmode);
  return url.href;
}

/** A database of MySQL corresponds to a SQL schema of PostgreSQL. */
function mysql(text: string): Target | { readonly fault: string } {
  const server = serverAddress(text, 3306, ['sslmode'], 'mysql://HOST[:PORT]/DATABASE');
  if ('fault' in server) return server;
  const { parameters: _, database, ...parts } = server;
  if (database === null) return { fault: 'names no database: give one, as in mysql://HOST/orders' };
  if (hasHiddenCharacters(database)) return { fault: 'has invisible characters in the name of its database' };
  if (['mysql', 'sys', 'information_schema', 'performance_schema'].includes(database.toLowerCase()))
    return { fault: `the database ${database} is the server's own` };
  return {
    kind: 'mysql',
    address: `mysql://${parts.host}:${parts.port}/${encodeURIComponent(database)}`,
    ...parts,
    database,
  };
}

/** Returns null if it is not given, undefined if it cannot be decoded. */
function decode(part: string | undefined): string | null | undefined {
  if (part === undefined || part === '') return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Whether the operator lets jobs reach this place: an entry is compared as text, so no other spelling of an address passes. */
export function isHostAllowed(allowedHosts: readonly string[], host: string, port: number): boolean {
  return allowedHosts.some((entry) => entry === '*' || entry === host || entry === `${host}:${port}`);
}

// Kinds of targets that a host application adds (docs/how-to/embed.md).

/** A process may hold the package more than once, bundled and not: all of them share one registry. */
const key = Symbol.for('conversion-job-service.targets');
const everywhere = globalThis as { [key]?: Map<string, RegisteredTarget> };
const registeredKinds = (everywhere[key] ??= new Map<string, RegisteredTarget>());

const ownSchemes: ReadonlySet<string> = new Set([
  'metadb',
  'postgres',
  'postgresql',
  'mysql',
  'mariadb',
  'iceberg',
  'duckdb',
  'sqlite',
  's3',
  'az',
  'http',
  'https',
  'sftp',
  'file',
]);

/**
 * Makes `-o SCHEME:…` and `-i SCHEME:…` mean this kind of targets, in this process. Jobs run in processes of their own: the modules that the property
 * `svc.targets.modules` names register their targets there. AppError `invalid_option` for a scheme that is the product's own or no word. A kind registered later under
 * the same scheme takes its place.
 */
export function registerTarget(target: RegisteredTarget): void {
  if (!/^[a-z][a-z0-9-]*$/.test(target.scheme) || ownSchemes.has(target.scheme))
    throw new AppError(
      'invalid_option',
      `registerTarget: ${JSON.stringify(target.scheme)} cannot be the scheme of a target: use an unused word of lower-case letters, digits and -`,
    );
  registeredKinds.set(target.scheme, target);
}

/** Returns null if no such kind is registered in this process. */
export function registeredTarget(scheme: string): RegisteredTarget | null {
  return registeredKinds.get(scheme) ?? null;
}

/** Returns the forms of targets of all registered kinds. */
function registeredForms(): readonly string[] {
  return [...registeredKinds.values()].map(({ form }) => form);
}
