/** Connections to a target database: the kind of server, the settings of a load, and the watch over answers that never come. */
import postgres from 'postgres';
import type { Socket } from 'node:net';
import {
  readCheckedAddress,
  withoutLateQueries,
  type Sql,
  type TransactionSql,
  createPoolSockets,
} from '../../../postgres/connect.ts';
import { createCheckedSockets, ServerFault, closeWhenStalled } from '../../../postgres/checked-socket.ts';
import type { RowTap } from '../../../postgres/row-tap.ts';
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { AppError, isOutOfMemory, serverOutage } from '../../../errors.ts';
import { createSilenceWatch, type SilenceWatch } from '../database.ts';

export interface TargetAddress {
  /** `postgresql://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]`; of its parameters only `sslmode` is used */
  readonly url: string;
  /** instead of the address's */
  readonly user?: string;
  readonly password?: string;
  /** addresses to connect to instead of the address's host, which was resolved to them and checked */
  readonly addresses?: readonly string[];
  /** role that every connection switches to at its start */
  readonly setRole?: string;
  /** longest message of the server (1 GiB, as much as a value may have) */
  readonly longestMessageBytes?: number;
  /** the server may request the password as text or MD5 without TLS, as a server on this machine always may (false) */
  readonly mayAskPlainPassword?: boolean;
}

interface ServerName {
  readonly host: string;
  readonly port: number;
  /** the address of the host to connect to; absent: any address that its name resolves to */
  readonly to?: string;
}

interface AddressParts {
  readonly servers: readonly [ServerName, ...ServerName[]];
  readonly database: string;
  readonly user: string;
  readonly password: string;
  readonly sslmode: string | null;
}

/** shown in `pg_stat_activity` */
export const applicationName = 'conversion-job-service';

/** A target that accepts no byte for this long, in milliseconds, does not recover. */
const stallMs = 5 * 60_000;

interface TargetSockets {
  /** receives the socket if the server reads exactly the bytes that are written to it, so not if the connection will be encrypted */
  readonly onPlain?: (socket: Socket) => void;
  /** receives every socket */
  readonly all?: Set<Socket>;
  readonly rows?: RowTap;
  /** a lost session is not replaced by another, which would know nothing of its transaction (false) */
  readonly single?: boolean;
}

/** Creates one connection, opened with the first query; it is never closed because of its age. */
export function connectTarget(address: TargetAddress, sockets: TargetSockets = {}): Sql {
  const { url, socketPath, requiresProof } = readCheckedAddress(address.url);
  const parts = addressParts(url);
  const password = address.password ?? parts.password;
  const [{ host, port }] = parts.servers;
  const openSocket = createCheckedSockets({
    servers: address.addresses?.map((to) => ({ host, port, to })) ?? parts.servers,
    sslmode: parts.sslmode,
    longestMessageBytes: address.longestMessageBytes ?? 1024 ** 3,
    mayAskPlainPassword: address.mayAskPlainPassword ?? false,
    socketPath,
    requiresProof,
    ...(sockets.rows === undefined ? {} : { rows: sockets.rows }),
  });
  const poolSockets = createPoolSockets();
  let wasOpened = false;
  const sql = postgres({
    host: [host],
    port: [port],
    socket: async () => {
      if (wasOpened) throw new ServerFault('has ended the session', 'CONNECTION_CLOSED');
      wasOpened = sockets.single === true;
      const { socket, plain } = await openSocket();
      closeWhenStalled(socket, stallMs);
      poolSockets.add(socket);
      sockets.all?.add(socket);
      if (plain) sockets.onPlain?.(socket);
      return socket;
    },
    // seconds; the kernel then asks every second, and gives up after ten
    keep_alive: 10,
    database: parts.database,
    user: (address.user ?? parts.user) || undefined,
    // A function even if there is no password: the service's own PGPASSWORD must not be sent to other hosts.
    password: () => password,
    // the socket uses TLS if it is requested
    ssl: false,
    max: 1,
    max_lifetime: 0,
    idle_timeout: 0,
    connect_timeout: 10,
    prepare: false,
    fetch_types: false,
    // a query is not retried: the caller decides
    backoff: () => 0,
    onnotice: () => undefined,
    connection: {
      application_name: applicationName,
      TimeZone: 'UTC',
      DateStyle: 'ISO, MDY',
      ...(address.setRole === undefined ? {} : { role: address.setRole }),
    },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: wholeNumber } },
  } as unknown as postgres.Options<{ bigint: postgres.PostgresType<number> }>) as unknown as Sql;
  return withoutLateQueries(poolSockets.endWith(sql));
}

/** Returns a bigint if the number exceeds 2^53: a key computed from the content of a document may. */
function wholeNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/**
 * A publisher that is stopped, or cut off, in its transaction holds the target's lock: the server ends it after this many seconds. The
 * steps follow one another immediately, but the fence between them may wait for a metadata database that has just been restarted.
 */
export const stoppedSeconds = 20;

/**
 * Returns the statement that allows only one job at a time to change the tables of a target; the lock is held until the transaction ends.
 */
export function targetLock(sqlSchema: string): string {
  return `SELECT pg_advisory_xact_lock(hashtextextended(${standardLiteral(`conversion-job-service ${sqlSchema}`)}, 0))`;
}

/** Returns the address without user, password and parameters. */
export function addressLabel(url: string): string {
  return url.replace(/^([a-z]+:\/\/)(?:.*@)?/i, '$1').replace(/[?#].*$/s, '');
}

function addressParts(url: string): AddressParts {
  const match = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?/i.exec(url);
  if (match === null) throw new AppError('invalid_option', 'The target is not an address of PostgreSQL.');
  const [, credentials = '', servers = '', database = '', query = ''] = match;
  const colon = credentials.indexOf(':');
  const [user, password] =
    colon < 0 ? [credentials, ''] : [credentials.slice(0, colon), credentials.slice(colon + 1)];
  const [first = { host: 'localhost', port: 5432 }, ...more] = servers.split(',').flatMap((server) => {
    const [, host = '', port = '5432'] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(server) ?? [];
    return host === ''
      ? []
      : [{ host: decodeURIComponent(host.replaceAll(/^\[|\]$/g, '')), port: Number(port) }];
  });
  return {
    servers: [first, ...more],
    database: decodeURIComponent(database),
    user: decodeURIComponent(user),
    password: decodeURIComponent(password),
    sslmode: new URLSearchParams(query).get('sslmode'),
  };
}

/**
 * First statement on each connection: it overrides settings that the database's owner chose for people. The server probes a silent client:
 * the session of a machine that crashed would otherwise keep its locks for two hours.
 */
export const sessionSettings = `SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;
SET tcp_keepalives_idle = 15; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3;
SET search_path = pg_catalog, pg_temp; SET standard_conforming_strings = on; SET jit = off; SET client_min_messages = warning;
SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN ('idle_session_timeout', 'transaction_timeout') AND setting <> '0'`;

/**
 * A statement that compresses long values by LZ4 if the server has it and no other choice was made. The default, pglz, takes most of the
 * time of loading text, for a tenth less space (PostgreSQL manual §20.11, default_toast_compression; since 14).
 */
export const quickCompression = `SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings
 WHERE name = 'default_toast_compression' AND source = 'default' AND 'lz4' = ANY (enumvals)`;

/**
 * Prepares a new connection. Throws AppError `target_not_allowed` if it leads to a product other than PostgreSQL, or changes its session
 * with each transaction. `more`: further statements. Returns the id of its process on the server.
 */
export async function beginSession(
  sql: Sql,
  address: TargetAddress,
  ...more: readonly string[]
): Promise<number> {
  await checkProduct(sql);
  await checkPooler(sql, () => connectTarget(address));
  return backendAfter(sql, [sessionSettings, ...more].join('; '));
}

/** Runs the statements, and returns the id of their process on the server. */
export async function backendAfter(sql: Sql | TransactionSql, statements: string): Promise<number> {
  const results = await sql.unsafe<{ pid: number }[][]>(`${statements}; SELECT pg_backend_pid() AS pid`);
  return results.at(-1)![0]!.pid;
}

/** Servers that use PostgreSQL's protocol but are other products, by the result of `version()`, and why they are not targets. */
const others: readonly (readonly [answer: RegExp, product: string, why: string])[] = [
  [/\bRedshift\b/i, 'Amazon Redshift', 'it has no COPY from the connection and no advisory locks'],
  [/^CockroachDB\b/i, 'CockroachDB', 'it has no advisory locks, which keep two jobs apart'],
  [/-YB-/, 'YugabyteDB', 'its DDL is not part of the transaction that publishes rows'],
  [/\bGreenplum\b/i, 'Greenplum', 'loads have not been run against it'],
  [/\bMaterialize\b/i, 'Materialize', 'it has no keys and no advisory locks'],
];

/** Returns the product with this `version()`, and why it is not a target; null if loads use it as PostgreSQL. */
export function otherProduct(version: string): { product: string; why: string } | null {
  const found = others.find(([answer]) => answer.test(version));
  return found === undefined ? null : { product: found[1], why: found[2] };
}

/**
 * Throws AppError `target_not_allowed` if the server is known to be another product. Runs before any other statement, which such a server
 * may not know.
 */
async function checkProduct(sql: Sql): Promise<void> {
  const [row] = await sql.unsafe<{ version: string }[]>('SELECT pg_catalog.version() AS version');
  const other = otherProduct(row!.version);
  if (other === null) return;
  throw new AppError(
    'target_not_allowed',
    `The target is ${other.product}, not PostgreSQL: ${other.why}. Load a folder (-o FOLDER -f csv or -f parquet), and have it read the files from there.`,
  );
}

/**
 * Notes on extensions. PostgreSQL with extensions is loaded like PostgreSQL; a note says what the extension means for tables that a load
 * makes.
 */
const extensions: Readonly<Record<string, string>> = {
  citus: 'the new tables are plain ones of this node; loads into distributed tables have not been run',
  timescaledb: 'the new tables are plain ones; loads into hypertables have not been run',
};

/** Returns notes for the log of a job that made tables in the target: a line for each such extension. */
export async function extensionNotes(tx: TransactionSql): Promise<string[]> {
  const found = await tx.unsafe<{ name: string; version: string }[]>(
    'SELECT extname AS name, extversion AS version FROM pg_catalog.pg_extension ORDER BY extname',
  );
  return found.flatMap(({ name, version }) => {
    const note = extensions[name];
    return note === undefined ? [] : [`the database has ${name} ${version}: ${note}`];
  });
}

/**
 * Number of times that two connections are queried in turn: a pooler that assigns its sessions in rotation is detected by the second time.
 */
const rounds = 3;

/** A pooler whose sessions are all in use keeps a further connection waiting. */
const waitMs = 15_000;

/**
 * Checks that transactions keep their session. A load holds locks, settings and staging over many transactions, a reader settings. A pooler
 * that gives each transaction any free session (PgBouncer's `pool_mode = transaction`) would take them away unnoticed. Throws AppError
 * `target_not_allowed` if transactions of the connection run in changing sessions; `service_unavailable` if a pooler has no further session
 * to give. When a client connects, the server itself sends the id of its process, and a pooler sends a value of its own
 * (PostgreSQL manual §55.7, BackendKeyData). A second connection is made only if the ids differ.
 */
async function checkPooler(sql: Sql, connectAnother: () => Sql): Promise<void> {
  const [first, told] = await sessionOf(sql);
  if (first === told) return;
  const other = connectAnother();
  let giveUp: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    giveUp = setTimeout(() => reject(noFurtherSession()), waitMs);
  });
  try {
    for (let round = 0; round < rounds; round++) {
      const [elsewhere] = await Promise.race([sessionOf(other), tooLong]);
      const [here] = await sessionOf(sql);
      if (here !== first || elsewhere === first) throw changingSessions();
    }
  } finally {
    clearTimeout(giveUp);
    await other.end({ timeout: 0 });
  }
}

/** Returns the id of the process that answers, and the id that the connection received at its start. */
async function sessionOf(sql: Sql): Promise<[answering: number, told: number]> {
  const rows = await sql.unsafe<{ pid: number }[]>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return [rows[0]!.pid, (rows.state as unknown as { pid: number }).pid];
}

function changingSessions(): AppError {
  return new AppError(
    'target_not_allowed',
    'The target is behind a pooler that runs each transaction in another session (pool_mode = transaction or statement of PgBouncer), which loses the locks and settings of a load. Name the server itself, or a database of the pooler with pool_mode = session.',
  );
}

function noFurtherSession(): AppError {
  return new AppError(
    'service_unavailable',
    `The target is behind a pooler that provided no second session within ${waitMs / 1000} s, but a load needs several. Raise its pool size (default_pool_size of PgBouncer), or name the server itself.`,
  );
}

interface SilenceOptions {
  readonly address: TargetAddress;
  /** process ids of the server's backends */
  readonly backends: () => readonly number[];
  /** time between two checks (10 s) */
  readonly everyMs?: number;
}

export function watchPostgres({ address, backends, everyMs }: SilenceOptions): SilenceWatch {
  // the server shows the activity of a session to its login, not to the role that it switched to
  const { setRole: _, ...login } = address;
  return createSilenceWatch((withinMs) => serverWaits(login, backends(), withinMs), everyMs);
}

/** Returns whether all these sessions wait for their client, or have ended. */
async function serverWaits(
  address: TargetAddress,
  backends: readonly number[],
  withinMs: number,
): Promise<boolean> {
  const sql: Sql = connectTarget(address);
  // the answer to this query may be lost, too
  const giveUp = setTimeout(() => void sql.end({ timeout: 0 }), withinMs);
  try {
    const busy = await sql.unsafe(
      `SELECT FROM pg_stat_activity WHERE pid IN (${[0, ...backends].join(', ')})
         AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'`,
    );
    return busy.length === 0;
  } catch (error) {
    return isUnreachable(error);
  } finally {
    clearTimeout(giveUp);
    await sql.end({ timeout: 0 });
  }
}

/** Tests whether no server answers any more. A server that refuses the connection is reachable. */
function isUnreachable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(?:CONNECT_TIMEOUT|CONNECTION_|ECONN|EHOST|ENET|ETIMEDOUT)/.test(code);
}

/** in characters */
const longestReason = 2000;

const unreachable =
  /^(CONNECT|CONNECTION_|ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|COPY_IN_PROGRESS|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/;

/** Codes of a failed TLS negotiation, which requires a change by a person. */
const tlsFaults = /^(?:ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/;

/**
 * Converts a fault of the target to an AppError that names it. `service_unavailable` may pass later; the others need another request:
 * `target_not_allowed`, `not_found`, `conflict`, `unprocessable_input`. Other faults are returned unchanged.
 */
export function targetFault(error: unknown, label: string): unknown {
  if (error instanceof AppError) return error;
  const fault = (code: ConstructorParameters<typeof AppError>[0], text: string): AppError =>
    new AppError(code, `${label}: ${text}`, { cause: error });
  const passing = (text: string): AppError => fault('service_unavailable', text);
  const away = (text: string): AppError =>
    new AppError('service_unavailable', `${label}: ${text}`, {
      cause: error,
      outage: serverOutage(error, label),
    });
  if (error instanceof ServerFault) {
    const text = `the server ${error.message}`;
    return error.code === 'SERVER_FAULT' ? fault('unprocessable_input', text) : away(text);
  }
  if (!(error instanceof postgres.PostgresError)) {
    if (isOutOfMemory(error)) return error;
    if (error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError) {
      const words = driverFaultWords(error);
      return fault('unprocessable_input', `the server does not answer as PostgreSQL does (${words})`);
    }
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return unreachable.test(code)
      ? (tlsFaults.test(code) ? passing : away)(`the connection failed (${code})${connectionWords(code)}`)
      : error;
  }
  const { code: state = '' } = error;
  const message = shortened(error.message);
  const about = [message, error.detail && shortened(error.detail), locationOf(error)]
    .filter(Boolean)
    .join('; ');
  // the connection was lost, the server has no room or no connection left, starts, or shuts down
  if (/^(?:08|53|57P0[1-5]|25P03)/.test(state)) return away(about);
  if (/^(57|58)/.test(state) || ['40001', '40P01', '55P03', '55006'].includes(state)) {
    return fault('service_unavailable', about);
  }
  if (state.startsWith('28') || state === '42501') return fault('target_not_allowed', message);
  if (state === '3D000' || state === '3F000') return fault('not_found', message);
  if (/^(22|23)/.test(state))
    return fault('unprocessable_input', [message, locationOf(error)].filter(Boolean).join('; '));
  // another object depends on the one that would have to change
  if (['2BP01', '0A000'].includes(state)) return fault('conflict', about);
  return fault('unprocessable_input', about);
}

/** Explains the error codes of systems, and says what to check. */
function connectionWords(code: string): string {
  const words = faultWords.find(([pattern]) => pattern.test(code))?.[1];
  return words === undefined ? '' : `: ${words}`;
}

const faultWords: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED/, 'no server listens there; is it running, and are host and port right?'],
  [/^(ENOTFOUND|EAI_)/, 'the host name is unknown; is it spelt right?'],
  [/^(ETIMEDOUT|CONNECT_TIMEOUT)/, 'no answer in time; is there a firewall in between?'],
  [/^(EHOST|ENET)/, 'no route to the host; is the network right?'],
  [/^(ECONNRESET|EPIPE|CONNECTION_)/, 'the server ended the connection; its own log says why'],
  [/^(ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/, 'TLS could not be negotiated; check sslmode='],
];

/** Shortens a message, whose length the server chose, to one line. */
function shortened(text: string | undefined): string {
  const known = text || 'it gave no reason';
  return known.length > longestReason ? `${known.slice(0, longestReason)}…` : known;
}

/** Returns the line and column of a COPY, without the value. */
function locationOf(error: postgres.PostgresError): string | undefined {
  const match = /^COPY .*?, line (\d+)(?:, column (.*?))?(?::|$)/.exec(error.where ?? '');
  if (match !== null) return `row ${match[1]}${match[2] === undefined ? '' : `, column ${match[2]}`}`;
  return error.column_name === undefined ? undefined : `${error.table_name ?? ''}.${error.column_name}`;
}

/** in characters */
const longestWords = 300;

/**
 * Returns the kind of the fault, the module and line of its origin, and its message. Values are left out, because rows and passwords may be
 * among them: Node's messages end with the value that was `Received`, and those about invalid JSON or numbers begin with it.
 */
function driverFaultWords(error: TypeError | RangeError | SyntaxError): string {
  const origin = originOf(error);
  const kind = origin === null ? error.name : `${error.name} in ${origin}`;
  if (error instanceof SyntaxError) return kind;
  const [line = ''] = error.message.split('\n');
  const words = line
    .replace(/\.? Received .*$/s, '')
    .trim()
    .slice(0, longestWords);
  return words === '' ? kind : `${kind}: ${words}`;
}

/**
 * Returns the package or folder, file and line of the first module of this program or of a package in the stack, or null if there is none.
 */
function originOf({ stack = '' }: Error): string | null {
  const frame = /^ +at (?:.*\/node_modules|.*?\/src)\/((?:[\w@.-]+\/)*[\w.-]+\.[cm]?[jt]s:\d+):\d+\)?$/m;
  return frame.exec(stack)?.[1] ?? null;
}
