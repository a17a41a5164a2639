/** Connections to a target database, and its faults in the words of the service. */
import type { Socket } from 'node:net';
import postgres from 'postgres';
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import { AppError, isOutOfMemory, serverOutage } from '../../../../errors.ts';
import { readCheckedAddress } from '../../../../adapters/postgres/client/checked-address.ts';
import { createCheckedSockets } from '../../../../adapters/postgres/client/checked-socket.ts';
import { withoutLateQueries, type Sql } from '../../../../adapters/postgres/client/connect.ts';
import { ServerFault } from '../../../../adapters/postgres/client/server-fault.ts';
import type { RowTap } from '../../../../adapters/postgres/client/row-tap.ts';
import { createPoolSockets } from '../../../../adapters/postgres/client/pool-sockets.ts';
import { closeWhenStalled } from '../../../../adapters/postgres/client/watched-socket.ts';
import { driverFaultWords } from './driver-fault.ts';

export interface TargetAddress {
  /** `postgresql://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE]`; of its parameters only `sslmode` is heard */
  readonly url: string;
  /** instead of the address's */
  readonly user?: string;
  readonly password?: string;
  /** connected to in place of the address's host, which was resolved to these and checked */
  readonly addresses?: readonly string[];
  /** role that every connection takes on from its first moment */
  readonly setRole?: string;
  /** longest message of the server (1 GiB, as much as a value may have) */
  readonly longestMessageBytes?: number;
  /** the server may ask for the password as text or MD5 without TLS, as one on this machine always may (false) */
  readonly mayAskPlainPassword?: boolean;
}

interface ServerName {
  readonly host: string;
  readonly port: number;
  /** the address of the host that is connected to; absent: whatever its name resolves to */
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

/** A target that takes no byte for so long does not come back. */
const stallMs = 5 * 60_000;

export interface TargetSockets {
  /** gets the socket where what goes over it is what the server reads: not where it will be encrypted */
  readonly onPlain?: (socket: Socket) => void;
  /** gets every socket */
  readonly all?: Set<Socket>;
  readonly rows?: RowTap;
  /** a session that is lost is not replaced by another, which would know nothing of its transaction (false) */
  readonly single?: boolean;
}

/** One connection, opened with the first query; it is never closed for its age. */
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
    // A function even when there is none: the service's own PGPASSWORD is not for other hosts.
    password: () => password,
    // the socket has it where it is wanted
    ssl: false,
    max: 1,
    max_lifetime: 0,
    idle_timeout: 0,
    connect_timeout: 10,
    prepare: false,
    fetch_types: false,
    // no second try for a query: the caller decides
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

/** A key that follows from the content of a document may be beyond 2^53. */
function wholeNumber(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/**
 * A publisher that is stopped, or cut off, in its transaction holds the target's lock: the server ends it after so long. The steps
 * follow one another at once; the fence between them may wait for a metadata database that has just been restarted.
 */
export const stoppedSeconds = 20;

/** Statement: one job at a time changes the tables of a target; held until the transaction ends. */
export function targetLock(sqlSchema: string): string {
  return `SELECT pg_advisory_xact_lock(hashtextextended(${standardLiteral(`conversion-job-service ${sqlSchema}`)}, 0))`;
}

/** The address without user, password and parameters. */
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

/** characters */
const longestReason = 2000;

const unreachable =
  /^(CONNECT|CONNECTION_|ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|COPY_IN_PROGRESS|ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/;

/** Codes of a TLS agreement that failed: a person has to change something. */
const tlsFaults = /^(?:ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/;

/**
 * A fault of the target as an AppError that names it. `service_unavailable` may pass later; the others need another
 * request: `target_not_allowed`, `not_found`, `conflict`, `unprocessable_input`. Faults that are not the target's stay as they are.
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
  // something depends on what would have to change
  if (['2BP01', '0A000'].includes(state)) return fault('conflict', about);
  return fault('unprocessable_input', about);
}

/** What the codes of systems mean, and what to look at. */
function connectionWords(code: string): string {
  const words = faultWords.find(([pattern]) => pattern.test(code))?.[1];
  return words === undefined ? '' : `: ${words}`;
}

const faultWords: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED/, 'no server listens there; is it running, and are host and port right?'],
  [/^(ENOTFOUND|EAI_)/, 'no host of that name is known; is it spelt right?'],
  [/^(ETIMEDOUT|CONNECT_TIMEOUT)/, 'no answer in time; does a firewall stand between?'],
  [/^(EHOST|ENET)/, 'no way leads to that host; is the network right?'],
  [/^(ECONNRESET|EPIPE|CONNECTION_)/, 'the server ended the connection; its own log says why'],
  [
    /^(ERR_SSL|ERR_TLS|CERT_|DEPTH_|SELF_SIGNED|UNABLE_)/,
    'TLS was not agreed on; sslmode= says what is asked for',
  ],
];

/** The server chose its length; a failure is one line. */
function shortened(text: string | undefined): string {
  const known = text || 'it gave no reason';
  return known.length > longestReason ? `${known.slice(0, longestReason)}…` : known;
}

/** Line and column of a COPY, without the value. */
function locationOf(error: postgres.PostgresError): string | undefined {
  const match = /^COPY .*?, line (\d+)(?:, column (.*?))?(?::|$)/.exec(error.where ?? '');
  if (match !== null) return `row ${match[1]}${match[2] === undefined ? '' : `, column ${match[2]}`}`;
  return error.column_name === undefined ? undefined : `${error.table_name ?? ''}.${error.column_name}`;
}
