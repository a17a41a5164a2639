/**
 * Sockets to a foreign database, including TLS. Incoming data are checked before the driver reads them, and a server that hangs up during
 * the login is not tried again and again, as the driver (3.4.9) would.
 */
import { connect, type Socket, isIP } from 'node:net';
import { type SocketChecks, presentSocket } from './connect.ts';
import { once } from 'node:events';
import { connect as connectTls } from 'node:tls';
import type { RowTap } from './row-tap.ts';

// Checks the server's messages before the driver reads them. A foreign server may send anything, and the driver (3.4.9) trusts it: it
// buffers a message of any length, searches for the end of a name past the end of a message, and computes as many rounds of a
// password's hash as requested. Formats: PostgreSQL manual §54.7.

interface MessageCheckOptions {
  /** longest message with data of rows */
  readonly longestMessageBytes: number;
  /** whether the server may request a password as plain text or MD5, which an eavesdropper can read or break */
  readonly mayAskPlainPassword: boolean;
  /** the server must prove that it knows the password (false) */
  readonly requiresProof?: boolean;
}

interface MessageCheck {
  /** Checks the next bytes of the connection. Returns the fault, in words that follow the server's name, or null if there is none. */
  see(chunk: Uint8Array): string | null;
  /** Records the bytes that are sent to the server. */
  sent(chunk: Uint8Array | string): void;
  /** the server has let us in */
  readonly ready: boolean;
}

const dataRow = 0x44;
const kibi = 1024;
const mebi = 1024 * 1024;
/** Limit for rows between two ends of an answer, in longest messages: they are held until the answer ends. */
const messagesOfAnswer = 4;
/** All that a connection says of its parameters; a server has some dozen of them. */
const parameterBytes = mebi;
/** A COPY names 1,600 columns of 63 bytes at most. */
const longestStatement = 120 * kibi;
/** A server asks for 4096 (scram_iterations); a million take half a second. */
const hashRounds = 1_000_000;

/** Longest body of each kind of message that we can be sent; data of rows: as the options say. */
const longestBodies: Readonly<Record<string, number>> = {
  R: 64 * kibi, // Authentication…
  S: 64 * kibi, // ParameterStatus
  K: 260, // BackendKeyData
  Z: 1, // ReadyForQuery
  T: mebi, // RowDescription
  t: 512 * kibi, // ParameterDescription
  E: mebi, // ErrorResponse
  N: mebi, // NoticeResponse
  A: 64 * kibi, // NotificationResponse
  C: kibi, // CommandComplete
  G: 64 * kibi, // CopyInResponse
  I: 0, // EmptyQueryResponse
  n: 0, // NoData
  s: 0, // PortalSuspended
  '1': 0, // ParseComplete
  '2': 0, // BindComplete
  '3': 0, // CloseComplete
};
/** Message kinds that the server may send before the login is complete. */
const greetings = 'RSKEZN';
/** Kinds whose bodies are read here, and so kept until they are whole. */
const readKinds = 'RT';

export function createMessageCheck(options: MessageCheckOptions): MessageCheck {
  return new Check(options);
}

class Check implements MessageCheck {
  ready = false;
  readonly #options: MessageCheckOptions;
  readonly #header = Buffer.alloc(5);
  #headerBytes = 0;
  #kind = '';
  /** bytes of the body that are still to come */
  #missing = 0;
  #kept: Uint8Array[] = [];
  #answerBytes = 0;
  #parameterBytes = 0;
  /** columns of the rows that come; null: none were described */
  #columns: number | null = null;
  /** COPY statements that the server has not answered: of one that nobody sent the driver makes a stream, whose fault ends the process */
  #copies = 0;
  #login: 'none' | 'begun' | 'proven' | 'accepted' = 'none';

  constructor(options: MessageCheckOptions) {
    this.#options = options;
  }

  see(chunk: Uint8Array): string | null {
    let at = 0;
    while (at < chunk.length) {
      if (this.#headerBytes === 0) at = this.#afterRows(chunk, at);
      if (this.#headerBytes < 5) {
        const taken = Math.min(5 - this.#headerBytes, chunk.length - at);
        this.#header.set(chunk.subarray(at, at + taken), this.#headerBytes);
        this.#headerBytes += taken;
        at += taken;
        if (this.#headerBytes < 5) return null;
        const fault = this.#begin();
        if (fault !== null) return fault;
      }
      const taken = Math.min(this.#missing, chunk.length - at);
      if (taken > 0 && readKinds.includes(this.#kind)) this.#kept.push(chunk.slice(at, at + taken));
      at += taken;
      this.#missing -= taken;
      if (this.#missing > 0) return null;
      this.#headerBytes = 0;
      const fault = this.#end();
      if (fault !== null) return fault;
    }
    return null;
  }

  /** Returns the end of the rows that are complete in the piece, as most are, and that have no fault. */
  #afterRows(chunk: Uint8Array, from: number): number {
    const { longestMessageBytes } = this.#options;
    if (!this.ready || this.#columns === null) return from;
    let at = from;
    while (at + 5 <= chunk.length && chunk[at] === dataRow) {
      const bytes =
        chunk[at + 1]! * 2 ** 24 + (chunk[at + 2]! << 16) + (chunk[at + 3]! << 8) + chunk[at + 4]! - 4;
      const isFine =
        bytes >= 0 &&
        bytes <= longestMessageBytes &&
        this.#answerBytes + bytes <= messagesOfAnswer * longestMessageBytes;
      // one that is not is looked at again, and refused
      if (!isFine || at + 5 + bytes > chunk.length) break;
      this.#answerBytes += bytes;
      at += 5 + bytes;
    }
    return at;
  }

  sent(chunk: Uint8Array | string): void {
    // Pieces of COPY data are longer than statements, or hold the word only by chance, which allows one COPY too many.
    if (typeof chunk !== 'string' && chunk.length <= longestStatement && copyStatement(chunk))
      this.#copies += 1;
  }

  /** Handles the head of a message. */
  #begin(): string | null {
    const kind = String.fromCharCode(this.#header[0]!);
    const bytes = this.#header.readUInt32BE(1) - 4;
    const { longestMessageBytes } = this.#options;
    const isRow = kind === 'D';
    const longest = isRow ? longestMessageBytes : longestBodies[kind];
    if (longest === undefined) return `${alien} (a message of kind ${this.#header[0]})`;
    if (bytes < 0 || (!isRow && bytes > longest)) return `${alien} (a message ${kind} of ${bytes} bytes)`;
    if (bytes > longest)
      return `sends a row of ${bytes} bytes, more than the ${longest} that one may have (svc.limits.target_message)`;
    if (!this.ready && !greetings.includes(kind)) return `${alien} (a message ${kind} before the login)`;
    if (isRow) {
      if (this.#columns === null) return `${alien} (rows that it did not describe)`;
      this.#answerBytes += bytes;
      if (this.#answerBytes > messagesOfAnswer * longestMessageBytes)
        return `sends too many rows: more than ${this.#answerBytes} bytes in one answer, which is ${messagesOfAnswer} times svc.limits.target_message`;
    } else if (kind === 'G') {
      this.#copies -= 1;
      if (this.#copies < 0) return `${alien} (a COPY that nobody began)`;
    } else if (kind === 'S') {
      this.#parameterBytes += bytes;
      if (this.#parameterBytes > parameterBytes) return 'sends too many parameters';
    }
    this.#kind = kind;
    this.#missing = bytes;
    return null;
  }

  #end(): string | null {
    const body = readKinds.includes(this.#kind) ? Buffer.concat(this.#kept) : null;
    this.#kept = [];
    switch (this.#kind) {
      case 'R':
        return this.#authentication(body!);
      case 'T':
        this.#columns = columnsOf(body!);
        return this.#columns === null ? `${alien} (a broken description of columns)` : null;
      case 'Z':
        if (this.#login !== 'accepted') return 'accepts the connection without asking for a login';
        this.ready = true;
        this.#answerBytes = 0;
        return null;
      default:
        return null;
    }
  }

  /** The steps in their order: one that is left out would leave a server unknown that was to prove that it knows the password. */
  #authentication(body: Buffer): string | null {
    const type = body.length < 4 ? -1 : body.readUInt32BE(0);
    const login = this.#login;
    if (type === 0) {
      if (login === 'begun' || (login === 'none' && this.#options.requiresProof === true))
        return 'accepts the login without proving that it knows the password';
      this.#login = 'accepted';
      return null;
    }
    if (login === 'accepted') return `${alien} (a second login)`;
    if (type === 3 || (type === 5 && body.length === 8)) {
      return this.#options.mayAskPlainPassword
        ? null
        : `asks for the password ${type === 3 ? 'as plain text' : 'as MD5'} on a connection that is not encrypted: ` +
            'add sslmode=require to its address, have it ask by SCRAM-SHA-256, or let the operator name its host in svc.allow.plain_passwords';
    }
    if (type === 10 && login === 'none') {
      if (!body.includes('SCRAM-SHA-256\0')) return 'offers no login by SCRAM-SHA-256';
      this.#login = 'begun';
      return null;
    }
    if (type === 11 && login === 'begun') {
      const challenge = /^r=[^,]+,s=[A-Za-z0-9+/=]+,i=(\d+)(?:,|$)/.exec(body.toString('latin1', 4));
      if (challenge === null) return `${alien} (a broken challenge)`;
      return Number(challenge[1]) > hashRounds
        ? `asks for ${challenge[1]} rounds of the password's hash, more than ${hashRounds}`
        : null;
    }
    if (type === 12 && login === 'begun') {
      this.#login = 'proven';
      return null;
    }
    return [2, 6, 7, 8, 9].includes(type)
      ? 'asks for an unsupported login method (Kerberos, GSSAPI, SSPI): let it accept passwords by SCRAM-SHA-256'
      : `${alien} (a login step ${type} out of order)`;
  }
}

function copyStatement(chunk: Uint8Array): boolean {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes('COPY ');
}

const alien = 'does not answer as PostgreSQL does';

/** Returns the number of columns of a RowDescription, or null if its parts do not fill it exactly. */
function columnsOf(body: Buffer): number | null {
  if (body.length < 2) return null;
  const count = body.readUInt16BE(0);
  let at = 2;
  for (let column = 0; column < count; column++) {
    const end = body.indexOf(0, at);
    if (end < 0) return null;
    at = end + 19;
  }
  return at === body.length ? count : null;
}

// Sockets that detect when the peer is gone: a half-open connection gives no sign of itself.

/** `to`: connected to in place of the host, which was resolved to it. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly to?: string;
}

const connectTimeoutMs = 10_000;
const checkMs = 5_000;
/** before a server lets us in it sends no rows */
const longestLoginMessage = 64 * 1024;

/**
 * Opens a socket and gives it at once, as a pool needs it: the driver counts a connection as gone by the events of its socket, and
 * never again uses one whose socket it did not get. Several servers are tried in turn.
 */
export function createSocketOpener(
  silenceMs: number,
): (hosts: readonly string[], ports: readonly number[], checks?: SocketChecks) => Socket {
  let turn = 0;
  return (hosts, ports, { socketPath, requiresProof } = { socketPath: null, requiresProof: false }) => {
    const at = turn % hosts.length;
    turn += 1;
    const host = hosts[at]!;
    const socket =
      socketPath === null
        ? connect({ host, port: ports[at]!, noDelay: true })
        : connect({ path: presentSocket(socketPath) });
    checkLogin(socket, requiresProof);
    return closeWhenSilent(Object.assign(socket, { host }), silenceMs);
  };
}

/**
 * Ends a connection whose server hangs up before it has let us in with a fault: the driver (3.4.9) would connect again at once, hundreds of
 * times a second, and its query would wait without end. `requiresProof`: refuses a server that does not prove that it knows the password.
 */
function checkLogin(socket: Socket, requiresProof: boolean): void {
  const check = createMessageCheck({
    longestMessageBytes: longestLoginMessage,
    mayAskPlainPassword: !requiresProof,
    requiresProof,
  });
  let state: 'login' | 'in' | 'over' = 'login';
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean;
  const fail = (fault: ServerFault): void => {
    state = 'over';
    emit('error', fault);
    socket.destroy();
  };
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event === 'error' && state === 'login') state = 'over';
    // without the driver's listeners, the socket is now part of one with TLS
    if (event === 'close' && state === 'login' && socket.listenerCount('data') > 0)
      fail(new ServerFault('closed the connection before the login was complete', 'CONNECTION_CLOSED'));
    if (event !== 'data' || state === 'in') return emit(event, ...values);
    if (state === 'over') return false;
    const fault = check.see(values[0] as Uint8Array);
    if (fault !== null && requiresProof) {
      fail(new ServerFault(fault));
      return false;
    }
    // the driver judges oddities in the login of a server that the operator chose
    if (check.ready || fault !== null) state = 'in';
    return emit(event, ...values);
  };
}

/** Connects to the first server that answers; throws the fault of the last if none does. */
export async function firstOpenSocket(servers: readonly ServerAddress[]): Promise<Socket> {
  let fault: unknown;
  for (const server of servers) {
    try {
      return await openSocket(server);
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

/**
 * Opens a socket without Nagle's delay: the driver ends every COPY with a small packet of its own, which would wait 40 ms for the
 * acknowledgement of the previous one.
 */
function openSocket({ host, port, to = host }: ServerAddress): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: to, port, noDelay: true });
    const timer = setTimeout(() => {
      socket.destroy(Object.assign(new Error(`no answer from ${host}:${port}`), { code: 'CONNECT_TIMEOUT' }));
    }, connectTimeoutMs);
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(error);
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.removeAllListeners();
      // the name that TLS asks for
      resolve(Object.assign(socket, { host }));
    });
  });
}

/** Connected; rejects with the fault of the system. */
export function openUnixSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.removeAllListeners();
      resolve(Object.assign(socket, { host: 'localhost' }));
    });
  });
}

/** Closes a socket that has received nothing for that time; for connections whose queries are all short. */
function closeWhenSilent(socket: Socket, silenceMs: number): Socket {
  return watch(socket, silenceMs, () => socket.bytesRead);
}

/** Closes a socket that has had bytes to send for that time without sending any; waiting for an answer may take any time. */
export function closeWhenStalled(socket: Socket, stallMs: number): Socket {
  let sent = 0;
  return watch(socket, stallMs, () => {
    if (socket.writableLength === 0) sent += 1;
    return sent * 2 ** 40 + socket.bytesWritten - socket.writableLength;
  });
}

/**
 * Watches with a timer of its own: the driver removes all listeners from the socket when it starts TLS. It counts checks, not time:
 * while this process is busy or stopped, received data wait in the socket unread, and the first check after that precedes reading them.
 */
function watch(socket: Socket, limitMs: number, measure: () => number): Socket {
  const everyMs = Math.min(checkMs, limitMs / 2);
  let last = measure();
  let alike = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    const now = measure();
    alike = now === last ? alike + 1 : 0;
    last = now;
    if (alike * everyMs < limitMs) return;
    clearInterval(timer);
    // Destroyed without an error: the driver forgets queries between the error of a socket and its end
    socket.destroy();
  }, everyMs);
  timer.unref();
  return socket;
}

// Faults of servers that the driver does not detect.

/**
 * The fault of a server that is untrustworthy or unreachable, in words that follow its name. `code` is as in other faults of
 * connections.
 */
export class ServerFault extends Error {
  readonly code: 'SERVER_FAULT' | 'CONNECTION_CLOSED';

  constructor(message: string, code: ServerFault['code'] = 'SERVER_FAULT') {
    super(message);
    this.name = 'ServerFault';
    this.code = code;
  }
}

// The checked sockets.

interface CheckedSocketOptions {
  readonly servers: readonly ServerAddress[];
  /** SSL mode as in libpq; null: TLS if the server offers it, but none for connections to this machine */
  readonly sslmode: string | null;
  readonly longestMessageBytes: number;
  /** the operator lets passwords go to these servers as plain text or MD5 without TLS */
  readonly mayAskPlainPassword: boolean;
  /** path of a Unix socket in a private folder to connect to in place of the servers; null: TCP (null) */
  readonly socketPath?: string | null;
  /** the server must prove by SCRAM-SHA-256 that it knows the password, even one on this machine (false) */
  readonly requiresProof?: boolean;
  /** takes rows before the driver sees them */
  readonly rows?: RowTap;
}

/** SSLRequest (PostgreSQL manual §54.7) */
const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const handshakeTimeoutMs = 10_000;

interface CheckedSocket {
  readonly socket: Socket;
  /** the connection is not encrypted: its bytes are those that the server reads */
  readonly plain: boolean;
}

/** Opens the sockets of one connection, one after another. Rejects with a ServerFault, or with the fault of the network. */
export function createCheckedSockets(options: CheckedSocketOptions): () => Promise<CheckedSocket> {
  let last: MessageCheck | null = null;
  return async () => {
    if (last?.ready === false)
      throw new ServerFault('closed the connection before the login was complete', 'CONNECTION_CLOSED');
    const { socketPath = null } = options;
    const plain =
      socketPath === null
        ? await firstOpenSocket(options.servers)
        : await openUnixSocket(presentSocket(socketPath));
    const host = hostOf(plain);
    const local =
      socketPath !== null || options.servers.every((server) => isThisMachine(server.to ?? server.host));
    const socket = wantsTls(options.sslmode, local) ? await secured(plain, host, options.sslmode) : plain;
    const encrypted = socket !== plain;
    const check = createMessageCheck(checkOptions(options, encrypted || local));
    last = check;
    inspect(socket, check, options.rows?.divert());
    return { socket: Object.assign(socket, { host }), plain: !encrypted };
  };
}

function checkOptions(options: CheckedSocketOptions, isPrivate: boolean): MessageCheckOptions {
  const { longestMessageBytes, mayAskPlainPassword, requiresProof = false } = options;
  return {
    longestMessageBytes,
    mayAskPlainPassword: !requiresProof && (mayAskPlainPassword || isPrivate),
    requiresProof,
  };
}

function hostOf(socket: Socket): string {
  return (socket as Socket & { readonly host?: string }).host ?? '';
}

/** Decides by the text: a name that was checked comes with its address. */
function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function wantsTls(sslmode: string | null, local: boolean): boolean {
  return sslmode === null ? !local : sslmode !== 'disable';
}

/** Returns the encrypted socket, or the plain one if the server offers no TLS and `sslmode` does not require it. */
async function secured(socket: Socket, host: string, sslmode: string | null): Promise<Socket> {
  const timer = setTimeout(() => {
    socket.destroy(Object.assign(new Error('no answer to the TLS handshake'), { code: 'CONNECT_TIMEOUT' }));
  }, handshakeTimeoutMs);
  try {
    socket.write(sslRequest);
    // Rejects with the socket's error; a server that only hangs up gives none.
    const [answer] = (await Promise.race([once(socket, 'data'), hangUp(socket)])) as [Uint8Array];
    // More than the one byte would be read as if it had come encrypted (CVE-2021-23222).
    if (answer.length !== 1)
      throw new ServerFault('does not answer as PostgreSQL does (to the request for TLS)');
    if (answer[0] !== 0x53) {
      if (sslmode === null || sslmode === 'prefer' || sslmode === 'allow') return socket;
      throw new ServerFault(`offers no TLS, which sslmode=${sslmode} asks for`);
    }
    const verified = sslmode === 'verify-ca' || sslmode === 'verify-full';
    const encrypted = connectTls({
      socket,
      rejectUnauthorized: verified,
      ...(isIP(host) === 0 ? { servername: host } : { host }),
    });
    await Promise.race([once(encrypted, 'secureConnect'), hangUp(encrypted)]);
    return encrypted;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function hangUp(socket: Socket): Promise<never> {
  await once(socket, 'close');
  throw new ServerFault('closed the connection during the TLS handshake', 'CONNECTION_CLOSED');
}

/** Passes valid data to the driver, whose listeners change; invalid data end the connection with the reason. */
function inspect(socket: Socket, check: MessageCheck, divert?: (chunk: Uint8Array) => Uint8Array): void {
  const write = socket.write.bind(socket) as (...values: unknown[]) => boolean;
  socket.write = (...values: unknown[]): boolean => {
    check.sent(values[0] as Uint8Array);
    return write(...values);
  };
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean;
  let over = false;
  socket.emit = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...values);
    if (over) return false;
    const fault = check.see(values[0] as Uint8Array);
    if (fault === null) {
      if (divert === undefined) return emit(event, ...values);
      const rest = divert(values[0] as Uint8Array);
      return rest.length === 0 || emit(event, rest);
    }
    over = true;
    // Emits the error by hand and destroys the socket without one: the driver forgets queries between the error of a socket and its
    // end.
    emit('error', new ServerFault(fault));
    socket.destroy();
    return false;
  };
}
