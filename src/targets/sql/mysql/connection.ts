/**
 * One connection to a MySQL or MariaDB server; its faults are converted to those of the service. The driver is loaded with the first
 * connection.
 */
import { isIP, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Connection as CoreConnection } from 'mysql2';
import type { Connection, FieldPacket, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import { AppError, serverOutage } from '../../../errors.ts';
import { createSilenceWatch } from '../database.ts';

export interface MysqlAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly password: string;
  /** the TLS mode, as for PostgreSQL; absent: TLS is not requested, even if the server has it */
  readonly sslmode: string | null;
  /** the address without secrets */
  readonly label: string;
  /** the only addresses to connect to; absent: those that the name resolves to */
  readonly addresses?: readonly string[];
  /** instead of host and port */
  readonly socketPath?: string;
  /** the limit for messages of the server; absent: 1 GiB */
  readonly longestMessageBytes?: number;
  /** time between two checks of a silent connection (10 s) */
  readonly probeIntervalMs?: number;
}

export interface MysqlWarning {
  readonly code: number;
  readonly message: string;
}

export interface Mysql {
  /** the connection is opened so that the server accepts only one statement at a time */
  readonly statementsPerRun: 1;
  /** Runs one statement; returns the number of rows that it changed. */
  run(sql: string): Promise<number>;
  /** Returns rows with every value as text. */
  rows(sql: string): Promise<(string | null)[][]>;
  /** Returns the same rows by column name. */
  read<T>(sql: string): Promise<T[]>;
  /** Returns the columns of a query, which is changed so that it returns no row. */
  describe(sql: string): Promise<readonly FieldPacket[]>;
  /**
   * Streams rows, with values as text, or as bytes if `isBytes` says so for their column. No more rows are in memory than are requested.
   */
  stream(sql: string, isBytes: (column: number) => boolean): AsyncIterable<(string | Uint8Array | null)[]>;
  /** Loads rows by `LOAD DATA LOCAL`; returns the server's warnings. */
  load(sql: string, rows: readonly Uint8Array[]): Promise<readonly MysqlWarning[]>;
  close(): Promise<void>;
}

/**
 * Idle time, in seconds, after which the server ends a session and frees its locks, for a client whose machine is gone. A live client sends
 * a ping in time. Shorter than the time that the next job waits for the lock of the target.
 */
const idleSeconds = 600;
const pingMs = 60_000;

/**
 * The settings of a load's session, which override settings that the server's owner chose for people: strict mode, UTC, names in either
 * kind of quotes.
 */
const sessionSettings = `SET NAMES utf8mb4 COLLATE utf8mb4_bin, time_zone = '+00:00', wait_timeout = ${idleSeconds}, net_read_timeout = 600,
  net_write_timeout = 600, group_concat_max_len = 4294967295, foreign_key_checks = 0, unique_checks = 1, autocommit = 1, lock_wait_timeout = 60,
  sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ANSI_QUOTES'`;

/** rows buffered for the reader */
const streamedRows = 16;

/** time that the server gets to close a connection */
const goodbyeMs = 5000;

/**
 * Opens a connection. Every statement ends: if a connection stays silent while the server waits for the client, it is closed and the
 * statement fails.
 */
export async function openMysql(address: MysqlAddress): Promise<Mysql> {
  const longest = address.longestMessageBytes ?? 1024 ** 3;
  const { connection, limit } = await connect(address, longest);
  const { threadId } = core(connection);
  const watch = createSilenceWatch(
    (withinMs) => serverWaits(address, threadId, withinMs),
    address.probeIntervalMs,
  );
  watch.sockets.add(parts(core(connection)).stream);
  let pending = 0;
  /** Runs a statement on the server. `maxBytes`: the limit for its answer. */
  const ask = async <T>(maxBytes: number, question: () => Promise<T>): Promise<T> => {
    pending += 1;
    try {
      return await watch.during(() => limit.within(maxBytes, question));
    } finally {
      pending -= 1;
    }
  };
  const ping = setInterval(() => {
    // the next statement reports a connection that is lost
    if (pending === 0) ask(answerBytes.ofNoRows, () => connection.ping()).catch(() => undefined);
  }, pingMs);
  ping.unref();
  const end = (): void => {
    clearInterval(ping);
    connection.destroy();
  };
  try {
    await ask(answerBytes.ofNoRows, () => connection.query(sessionSettings));
  } catch (error) {
    end();
    throw error;
  }
  const rows = async (sql: string): Promise<(string | null)[][]> => {
    const [found] = await ask(messagesOfAnswer * longest, () =>
      connection.query<RowDataPacket[]>({
        sql,
        rowsAsArray: true,
        typeCast: (field) => field.string('utf-8'),
      }),
    );
    return found as unknown as (string | null)[][];
  };
  return {
    statementsPerRun: 1,
    rows,
    read: async <T>(sql: string): Promise<T[]> => {
      const [found] = await ask(messagesOfAnswer * longest, () =>
        connection.query<RowDataPacket[]>({ sql, typeCast: (field) => field.string('utf-8') }),
      );
      return found as unknown as T[];
    },
    run: async (sql) => {
      const [done] = await ask(answerBytes.ofNoRows, () => connection.query<ResultSetHeader>(sql));
      return done.affectedRows;
    },
    describe: async (sql) =>
      (
        await ask(answerBytes.ofColumns, () => connection.query<RowDataPacket[]>({ sql, rowsAsArray: true }))
      )[1],
    async *stream(sql, isBytes) {
      let column = 0;
      let columns = 0;
      // the driver reads the values of a row one after the other
      const query = core(connection).query({
        sql,
        rowsAsArray: true,
        typeCast: (field) => {
          const at = column;
          column = (column + 1) % columns;
          return isBytes(at) ? field.buffer() : field.string('utf-8');
        },
      });
      query.on('fields', (fields: readonly FieldPacket[]) => {
        columns = fields.length;
        limit.streams();
      });
      let isWhole = false;
      const { promise: read, resolve: endAnswer } = Promise.withResolvers<void>();
      void limit.within(answerBytes.ofColumns, () => read);
      pending += 1;
      const answer = query.stream({ highWaterMark: streamedRows });
      const next = answer[Symbol.asyncIterator]() as AsyncIterator<(string | Uint8Array | null)[]>;
      try {
        for (;;) {
          const { done, value } = await watch.during(() => next.next());
          if (done === true) break;
          yield value;
        }
        isWhole = true;
      } finally {
        pending -= 1;
        endAnswer();
        // the server would send all remaining rows before it reads anything else
        if (!isWhole) end();
      }
    },
    load: async (sql, pieces) => {
      const [done] = await ask(answerBytes.ofNoRows, () =>
        connection.query<ResultSetHeader>({
          sql,
          infileStreamFactory: () =>
            Readable.from(pieces.map((piece) => Buffer.from(piece.buffer, piece.byteOffset, piece.length))),
        }),
      );
      if (done.warningStatus === 0) return [];
      return (await rows('SHOW WARNINGS LIMIT 1000')).map(([, code, message]) => ({
        code: Number(code),
        message: message ?? '',
      }));
    },
    close: async () => {
      clearInterval(ping);
      // a lost connection cannot be closed in an orderly way
      const giveUp = setTimeout(end, goodbyeMs);
      await connection.end().catch(() => connection.destroy());
      clearTimeout(giveUp);
    },
  };
}

/** States of a session that reads from its client or writes to it, in the words of MySQL and MariaDB. */
const waitingStates = ['Reading from net', 'Receiving from client', 'Writing to net', 'Sending to client'];

/** Checks over another connection whether the session waits for its client, or has ended. */
async function serverWaits(address: MysqlAddress, threadId: number, withinMs: number): Promise<boolean> {
  const { promise: timeout, resolve: giveUp } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => giveUp(true), withinMs);
  const probe = connect(address, answerBytes.ofColumns);
  const answer = async (): Promise<boolean> => {
    const { connection, limit } = await probe;
    const [sessions] = await limit.within(answerBytes.ofColumns, () =>
      connection.query<RowDataPacket[]>({
        sql: `SELECT command, state FROM information_schema.processlist WHERE id = ${threadId}`,
        rowsAsArray: true,
      }),
    );
    const busy = sessions as unknown as [command: string, state: string | null][];
    return busy.every(([command, state]) => command === 'Sleep' || waitingStates.includes(state ?? ''));
  };
  try {
    return await Promise.race([answer(), timeout]);
  } catch (error) {
    // a server that refuses the connection is running
    return /^(?:ECONN|EHOST|ENET|ETIMEDOUT|PROTOCOL_CONNECTION_LOST)/.test(codeOf(error));
  } finally {
    clearTimeout(timer);
    void probe.then(
      ({ connection }) => connection.destroy(),
      () => undefined, // there is nothing to close
    );
  }
}

/** The driver's own connection, which streams; the one with promises does not (its types leave it out). */
function core(connection: Connection): CoreConnection {
  return (connection as Connection & { readonly connection: CoreConnection }).connection;
}

interface Connected {
  readonly connection: Connection;
  readonly limit: MessageLimit;
}

/** The parts of the driver's connection that its types leave out. */
interface CoreParts {
  readonly stream: Socket;
  readonly packetParser: { execute(chunk: Uint8Array): void };
}

function parts(connection: CoreConnection): CoreParts {
  return connection as unknown as CoreParts;
}

/** Counts the bytes that the server sends from the first on; past the limit the connection ends with an AppError. */
function limited(core: CoreConnection, limit: MessageLimit, label: string): void {
  const { stream, packetParser: parser } = parts(core);
  let isRefused = false;
  const execute = (chunk: Uint8Array): void => {
    if (isRefused) return;
    const reason = limit.refuse(chunk);
    if (reason === null) return parser.execute(chunk);
    isRefused = true;
    stream.destroy(new AppError('unprocessable_input', `${label}: the server ${reason}`));
  };
  Object.assign(core, { packetParser: { execute } });
}

async function connect(address: MysqlAddress, longest: number): Promise<Connected> {
  const { createConnection } = await import('mysql2');
  const { host, port, addresses = [host.replaceAll(/^\[|\]$/g, '')], socketPath } = address;
  let fault: unknown;
  for (const to of addresses)
    try {
      const core = createConnection({
        ...(socketPath === undefined ? { host: to, port } : { socketPath }),
        user: address.user,
        password: address.password,
        database: address.database,
        charset: 'UTF8MB4_BIN',
        supportBigNumbers: true,
        bigNumberStrings: true,
        flags: ['-FOUND_ROWS'],
        connectTimeout: 10_000,
        enableKeepAlive: true,
        ...tls(address),
      });
      const limit = createMessageLimit(longest);
      limited(core, limit, address.label);
      await new Promise<void>((resolve, reject) => {
        core.once('connect', () => resolve());
        // also later, when no caller waits: the next call gets the error
        core.on('error', reject);
      });
      return { connection: core.promise(), limit };
    } catch (error) {
      fault = error;
      if (!unreachable.test(codeOf(error))) break;
    }
  throw fault;
}

/** Returns the TLS options. `allow` and `prefer` give none: TLS that may be left out protects nobody. */
function tls({ sslmode, host }: MysqlAddress): { ssl?: object } {
  if (sslmode === null || ['disable', 'allow', 'prefer'].includes(sslmode)) return {};
  const name = host.replaceAll(/^\[|\]$/g, '');
  return {
    ssl: {
      rejectUnauthorized: sslmode !== 'require',
      verifyIdentity: sslmode === 'verify-full',
      ...(isIP(name) === 0 ? { servername: name } : {}),
    },
  };
}

const unreachable =
  /^(ECONN|EHOST|ENET|ENOTFOUND|EAI_|ETIMEDOUT|EPIPE|PROTOCOL_CONNECTION_LOST|HANDSHAKE_|ER_CON_COUNT|ER_SERVER_SHUTDOWN|ER_LOCK_|ER_DISK_FULL|ER_RECORD_FILE_FULL|ER_OPTION_PREVENTS|ER_CONNECTION_KILLED|ER_QUERY_INTERRUPTED)/;

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Like `targetFault` of PostgreSQL: returns an AppError that names the target. */
export function mysqlFault(error: unknown, label: string): unknown {
  if (error instanceof AppError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const fault = (kind: ConstructorParameters<typeof AppError>[0], text: string): AppError =>
    new AppError(kind, `${label}: ${text}`, { cause: error });
  const away = (text: string): AppError =>
    new AppError('service_unavailable', `${label}: ${text}`, {
      cause: error,
      outage: serverOutage(error, label),
    });
  const busy = (text: string): AppError => fault('service_unavailable', text);
  const closed = /closed state|Connection lost|read ECONN/i.test(error.message);
  if (
    ['ER_NOT_ALLOWED_COMMAND', 'ER_CLIENT_LOCAL_FILES_DISABLED', 'ER_LOAD_DATA_LOCAL_DISABLED'].includes(
      code,
    ) ||
    /local.?infile|LOAD DATA LOCAL|loading local data/i.test(error.message)
  )
    return fault(
      'target_not_allowed',
      'the server does not accept rows from clients: let its administrator run SET GLOBAL local_infile = ON, and run the job again',
    );
  if (code === 'ECONNREFUSED')
    return away('no server listens there; is it running, and are host and port right?');
  if (/^(CERT_|DEPTH_|SELF_SIGNED|UNABLE_|ERR_TLS|ERR_SSL)/.test(code) || code === 'HANDSHAKE_NO_SSL_SUPPORT')
    return fault('service_unavailable', `TLS could not be negotiated (${code}); check sslmode=`);
  if (closed || unreachable.test(code))
    return (/^(?:ER_LOCK_|ER_OPTION_|ER_QUERY_)/.test(code) ? busy : away)(
      `${closed ? 'the connection was lost' : `the server refuses connections (${code})`}; run the job again when the server is up: nothing is published twice`,
    );
  if (code === 'ER_BAD_DB_ERROR')
    return fault('not_found', `${error.message}: make it, and run the job again`);
  if (/^ER_(ACCESS_DENIED|DBACCESS_DENIED|TABLEACCESS_DENIED|SPECIFIC_ACCESS|COLUMNACCESS)/.test(code))
    return fault('target_not_allowed', error.message);
  return code.startsWith('ER_') ? fault('unprocessable_input', error.message.slice(0, 2000)) : error;
}

// The limit for data that a MySQL server sends: the driver buffers each message whole, and all messages of most answers. The bytes are
// counted before the driver sees them, by the headers of packets (MySQL, "MySQL Packets").

const headerBytes = 4;
/** A packet of this length is continued by the next one. */
const fullPacket = 0xff_ff_ff;
const mebi = 1024 * 1024;

/** Limits, in bytes, for answers that are buffered: to a statement without rows, and for descriptions of columns. */
export const answerBytes = { ofNoRows: mebi, ofColumns: 16 * mebi } as const;
/** The limit for the buffered rows of one answer, in units of the longest message, as for PostgreSQL. */
export const messagesOfAnswer = 4;

export interface MessageLimit {
  /** Returns why the server is not listened to any more, in words that follow its name, or null if the bytes may pass. */
  refuse(chunk: Uint8Array): string | null;
  /** Limits the answers to statements in progress to so many bytes together. */
  within<T>(maxBytes: number, work: () => Promise<T>): Promise<T>;
  /** Stops counting: the rest of the answer is streamed. */
  streams(): void;
}

export function createMessageLimit(longestMessageBytes: number): MessageLimit {
  // bytes left in the current packet
  let header = 0;
  let headerSeen = 0;
  let rest = 0;
  let isContinued = false;
  let messageBytes = 0;
  // bytes of the current answer; the greeting is the first
  let gathered = 0;
  let most: number = answerBytes.ofNoRows;
  let pending = 0;

  return {
    refuse(chunk) {
      gathered += chunk.length;
      if (gathered > most)
        return `sends a response of more than ${most} bytes, the limit (svc.limits.target_message)`;
      for (let at = 0; at < chunk.length;) {
        if (rest > 0) {
          const taken = Math.min(rest, chunk.length - at);
          rest -= taken;
          at += taken;
          continue;
        }
        header += headerSeen < 3 ? chunk[at]! * 256 ** headerSeen : 0;
        headerSeen += 1;
        at += 1;
        if (headerSeen < headerBytes) continue;
        messageBytes = (isContinued ? messageBytes : 0) + header;
        if (messageBytes > longestMessageBytes)
          return `sends a message of more than ${longestMessageBytes} bytes (svc.limits.target_message)`;
        isContinued = header === fullPacket;
        rest = header;
        header = 0;
        headerSeen = 0;
      }
      return null;
    },
    async within(maxBytes, work) {
      if (pending === 0) {
        gathered = 0;
        most = maxBytes;
      } else most = Math.max(most, maxBytes);
      pending += 1;
      try {
        return await work();
      } finally {
        pending -= 1;
      }
    },
    streams() {
      most = Infinity;
    },
  };
}
