/** Connections to PostgreSQL, set up in the one way that the stores expect, and locks. Runs wherever postgres.js does. */
import { AppError } from '../errors.ts';
import postgres from 'postgres';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AsyncLocalStorage } from 'node:async_hooks';

// A lock that all users of the metadata database see, and that ends with its holder, however that ends.

export interface AdvisoryLock {
  /** false when the connection that held it is gone */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

const pollMs = 200;
/** Silence after which a connection is considered dead. */
const signOfLifeMs = 10_000;

/** Waits for the lock; AppError `service_unavailable` after `timeoutMs`. One connection of the pool is kept for it. */
export async function takeAdvisoryLock(sql: Sql, name: string, timeoutMs: number): Promise<AdvisoryLock> {
  const connection = await sql.reserve();
  try {
    const until = performance.now() + timeoutMs;
    const [{ pid } = { pid: 0 }] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`;
    for (;;) {
      const [row] = await connection<{ taken: boolean }[]>`
        select pg_try_advisory_lock(hashtextextended(${name}, 0)) as taken`;
      if (row?.taken === true) break;
      if (performance.now() > until)
        throw new AppError('service_unavailable', `another job has held the lock on ${name} for long`);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    const isHeld = async (): Promise<boolean> => {
      const [row] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`.catch(() => []);
      return row?.pid === pid;
    };
    const timer = setInterval(() => void isHeld(), signOfLifeMs);
    timer.unref();
    return {
      isHeld,
      async release() {
        clearInterval(timer);
        // a connection that is gone has given up its lock
        await connection`select pg_advisory_unlock(hashtextextended(${name}, 0))`.catch(() => undefined);
        connection.release();
      },
    };
  } catch (error) {
    connection.release();
    throw error;
  }
}

// Connections.

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

// Finds the Unix socket of the embedded database, which has another name if the server had to use another port.

/** The file, or the one other socket of PostgreSQL in its folder, which is private to one server. */
export function presentSocket(path: string): string {
  if (existsSync(path)) return path;
  const folder = dirname(path);
  try {
    const others = readdirSync(folder).filter((name) => /^\.s\.PGSQL\.\d+$/.test(name));
    return others.length === 1 ? join(folder, others[0]!) : path;
  } catch {
    return path;
  }
}

// Addresses of the embedded database, as the processes of this program use them. Any local user may listen on its port while it is down,
// so that a connection goes through a Unix socket in a private folder, or the server has to prove that it knows the password.

/** the parameters have the names and meanings of libpq's */
const socketParameter = 'host';
const proofParameter = 'require_auth';
const proof = 'scram-sha-256';

export interface CheckedAddress {
  /** the address without those parameters */
  readonly url: string;
  /** path of the Unix socket to connect to in place of host and port; null: TCP */
  readonly socketPath: string | null;
  /** a server that does not prove by SCRAM-SHA-256 that it knows the password is refused */
  readonly requiresProof: boolean;
}

/** The address with the way to reach it safely. */
export function checkedAddress(url: string, socketFolder: string | null): string {
  const checked = new URL(url);
  if (socketFolder === null) checked.searchParams.set(proofParameter, proof);
  else checked.searchParams.set(socketParameter, socketFolder);
  return checked.href;
}

/** Addresses that URL cannot read, such as those with several hosts, stay as they are. */
export function readCheckedAddress(url: string): CheckedAddress {
  const parsed = URL.parse(url);
  const folder = parsed?.searchParams.get(socketParameter) ?? null;
  const requiresProof = parsed?.searchParams.get(proofParameter) === proof;
  const isSocket = folder !== null && folder.startsWith('/');
  if (parsed === null || (!isSocket && !requiresProof))
    return { url, socketPath: null, requiresProof: false };
  const socketPath = isSocket ? `${folder}/.s.PGSQL.${parsed.port || '5432'}` : null;
  if (isSocket) parsed.searchParams.delete(socketParameter);
  parsed.searchParams.delete(proofParameter);
  return { url: parsed.href, socketPath, requiresProof };
}

/** The address as other programs take it. */
export function plainAddress(url: string): string {
  return readCheckedAddress(url).url;
}

// The sockets of a pool, none of which outlives it. The driver (3.4.9) forgets a connection that is being opened while its pool ends:
// it is opened all the same, is never used, and keeps the process alive.

/** The part of a Node socket that is needed. */
export interface PoolSocket {
  /** the driver has said goodbye on it */
  readonly writableEnded: boolean;
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

interface Endable {
  /** `timeout`: seconds that queries may take */
  end(options?: { readonly timeout?: number }): Promise<void>;
}

export interface PoolSockets {
  /** The socket; one that comes when its pool has ended is closed, and CONNECTION_DESTROYED thrown. */
  add<Opened extends PoolSocket>(socket: Opened): Opened;
  /** The pool, changed: with its end, all its sockets end. */
  endWith<Ended extends Endable>(pool: Ended): Ended;
}

const openSockets = new WeakMap<object, () => number>();

/** Returns the number of open connections of a pool; 0 for other objects. */
export function openConnections(pool: object): number {
  return openSockets.get(pool)?.() ?? 0;
}

export function createPoolSockets(): PoolSockets {
  const open = new Set<PoolSocket>();
  let hasEnded = false;
  return {
    add(socket) {
      if (hasEnded) {
        socket.destroy();
        throw Object.assign(new Error('the pool has ended'), { code: 'CONNECTION_DESTROYED' });
      }
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      return socket;
    },
    endWith(pool) {
      const end = pool.end.bind(pool);
      openSockets.set(pool, () => open.size);
      return Object.assign(pool, {
        async end(options?: { readonly timeout?: number }): Promise<void> {
          // queries that are under way may need a connection until then
          if (options?.timeout === 0) hasEnded = true;
          try {
            await end(options);
          } finally {
            hasEnded = true;
            for (const socket of open) if (!socket.writableEnded) socket.destroy();
          }
        },
      });
    },
  };
}

// A pool that delegates to the database client of the current request. Edge runtimes do not let a connection serve two requests, but the
// application and its stores are made only once.

export interface RequestSql {
  /** usable within `run` alone */
  readonly sql: Sql;
  /** Runs `work` with a client of its own; `end` closes it, once nothing of the request uses it any more. */
  run<T>(work: (end: () => Promise<void>) => T): T;
}

export function createRequestSql(connect: () => Sql): RequestSql {
  const present = new AsyncLocalStorage<Sql>();
  const client = (): Sql => {
    const sql = present.getStore();
    if (sql === undefined) throw new Error('a query outside any request');
    return sql;
  };
  const sql = new Proxy((() => undefined) as unknown as Sql, {
    apply: (_target, _self, given: unknown[]) =>
      (client() as unknown as (...given: unknown[]) => unknown)(...given),
    get: (_target, name) => {
      const current = client();
      const member = current[name as keyof Sql] as unknown;
      return typeof member === 'function' ? member.bind(current) : member;
    },
  });
  return {
    sql,
    run: (work) => {
      const own = connect();
      return present.run(own, work, () => own.end({ timeout: 5 }));
    },
  };
}
