/** Connections to PostgreSQL, set up the one way that the stores expect. Runs wherever postgres.js does. */
import postgres from 'postgres';
import { readCheckedAddress } from './checked-address.ts';
import { createPoolSockets, type PoolSocket } from './pool-sockets.ts';

/** The pool that the stores are written against. */
export type Sql = postgres.Sql<{ bigint: number }>;
/** A transaction of it. */
export type TransactionSql = postgres.TransactionSql<{ bigint: number }>;

export interface ConnectOptions {
  /** shown in `pg_stat_activity` */
  readonly applicationName: string;
  /** most connections at a time (10) */
  readonly max?: number;
  /** named prepared statements; false behind a pooler that cannot keep them (true) */
  readonly prepare?: boolean;
  /** closes a connection that rests so long; 0 keeps it (0) */
  readonly idleTimeoutMs?: number;
  /** role that every connection assumes from its first moment; it must exist, and the login must be a member of it */
  readonly role?: string;
  /** organisation whose rows the connections see under row-level security, or `*` for all */
  readonly idOrg?: string;
  /** connected to in place of the address's host, which was resolved to these and checked */
  readonly addresses?: readonly string[];
  /**
   * opens the sockets, as on Node, if a half-open connection must be detected (`createSocketOpener`); absent: the driver's own. The
   * server is configured to detect it, too.
   */
  readonly openSocket?: OpenSocket;
  /** array parameters and results need the server's type table, one more query per pool (false) */
  readonly fetchTypes?: boolean;
}

/** A socket that connects to one of these hosts; it need not be connected yet. */
export type OpenSocket = (
  hosts: readonly string[],
  ports: readonly number[],
  checks: SocketChecks,
) => PoolSocket | Promise<PoolSocket>;

/** Options for opening a socket beside host and port. */
export interface SocketChecks {
  /** connected to in place of host and port; null: TCP */
  readonly socketPath: string | null;
  /** the server must prove by SCRAM-SHA-256 that it knows the password */
  readonly requiresProof: boolean;
}

/** Settings with which the server ends sessions whose client is gone: their locks are released within a minute. */
const noticeGoneClients = {
  tcp_keepalives_idle: 15,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  tcp_user_timeout: 30_000,
  idle_in_transaction_session_timeout: 60_000,
};

/**
 * Returns a pool for `postgres://…`. Nothing is sent before the first query. `bigint` (ids, counts, epoch milliseconds) becomes a
 * number, or beyond 2^53 a BigInt: never rounded.
 */
export function connectPostgres(address: string, options: ConnectOptions): Sql {
  const { addresses, openSocket } = options;
  const { url, socketPath, requiresProof } = readCheckedAddress(address);
  const port = Number(URL.parse(url)?.port || 5432);
  const sockets = createPoolSockets();
  const sql = postgres(url, {
    ...(addresses === undefined ? {} : { host: [...addresses], port: addresses.map(() => port) }),
    ...(openSocket === undefined || !isTcp(url)
      ? {}
      : {
          socket: async ({ host, port: ports }: { host: string[]; port: number[] }) =>
            sockets.add(await openSocket(host, ports, { socketPath, requiresProof })),
          keep_alive: 15,
        }),
    ...(socketPath === null ? {} : { path: socketPath }),
    max: options.max ?? 10,
    prepare: options.prepare ?? true,
    idle_timeout: (options.idleTimeoutMs ?? 0) / 1000,
    fetch_types: options.fetchTypes ?? false,
    connect_timeout: 10,
    // After an outage the pool is back within a second instead of the driver's 20.
    backoff: (retries: number) => Math.min(0.02 * 2 ** retries, 1),
    onnotice: () => undefined,
    connection: {
      application_name: options.applicationName,
      TimeZone: 'UTC',
      DateStyle: 'ISO, MDY',
      client_min_messages: 'warning',
      ...(openSocket === undefined ? {} : noticeGoneClients),
      ...(options.role === undefined ? {} : { role: options.role }),
      ...(options.idOrg === undefined ? {} : { 'svc.id_org': options.idOrg }),
    },
    types: { bigint: { to: 20, from: [20], serialize: String, parse: parseBigint } },
  } as postgres.Options<{ bigint: postgres.PostgresType<number> }>) as unknown as Sql;
  return withoutLateQueries(sockets.endWith(sql));
}

/** Error codes of a query whose connection is lost. */
const losses = new Set(['CONNECTION_CLOSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT']);

/**
 * Wraps the pool. If the connection of a transaction is lost, the driver (3.4.9) rejects `begin`, and then writes the rollback of the
 * failed work, or its next query, to a socket that no longer exists: an exception that nobody can catch. In the wrapped pool, work that
 * fails because of the loss never ends, and a finished transaction accepts no query.
 */
export function withoutLateQueries(sql: Sql): Sql {
  const begin = sql.begin.bind(sql) as (...all: readonly unknown[]) => Promise<unknown>;
  const guarded = (...all: readonly unknown[]): Promise<unknown> => {
    const work = all.at(-1) as (tx: TransactionSql) => unknown;
    const transaction = { isOver: false };
    const done = begin(...all.slice(0, -1), async (tx: TransactionSql) => {
      try {
        const result = work(whileItLasts(tx, transaction));
        return await (Array.isArray(result) ? Promise.all(result) : result);
      } catch (error) {
        if (losses.has(String((error as { code?: unknown } | null)?.code)))
          return new Promise(() => undefined);
        throw error;
      }
    });
    done.catch(() => (transaction.isOver = true));
    return done;
  };
  return Object.assign(sql, { begin: guarded });
}

function whileItLasts(tx: TransactionSql, transaction: { readonly isOver: boolean }): TransactionSql {
  const check = (): void => {
    if (!transaction.isOver) return;
    throw Object.assign(new Error('the transaction is over'), { code: 'CONNECTION_CLOSED' });
  };
  return new Proxy(tx, {
    apply(target, self, parameters) {
      check();
      return Reflect.apply(target as unknown as (...all: unknown[]) => unknown, self, parameters);
    },
    get(target, key) {
      check();
      return Reflect.get(target, key) as unknown;
    },
  });
}

/** A host that is a path, or none at all, may be a socket of the file system. */
function isTcp(url: string): boolean {
  const parsed = URL.parse(url);
  return (
    parsed !== null &&
    parsed.hostname !== '' &&
    !parsed.hostname.startsWith('%2F') &&
    !parsed.searchParams.has('host')
  );
}

function parseBigint(text: string): number {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : (BigInt(text) as unknown as number);
}

/** The SQLSTATE of a failed query; null for other faults. */
export function sqlState(error: unknown): string | null {
  return error instanceof postgres.PostgresError ? error.code : null;
}

/** Returns whether an id is valid: numbers that JavaScript cannot represent exactly name no record. */
export function isId(id: number): boolean {
  return Number.isSafeInteger(id) && id > 0;
}

/** PostgreSQL's text cannot hold U+0000. */
export function storable(text: string): string {
  return text.replaceAll('\0', '\u{FFFD}');
}
