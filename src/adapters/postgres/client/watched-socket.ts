/** Node sockets to a database that detect when the peer is gone: a half-open connection gives no sign of itself. */
import { connect, type Socket } from 'node:net';
import { type SocketChecks, presentSocket } from './connect.ts';
import { createMessageCheck } from './message-check.ts';

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
      fail(new ServerFault('hung up before it let us in', 'CONNECTION_CLOSED'));
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

// Faults of servers that the driver does not find by itself.

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
