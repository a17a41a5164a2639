/**
 * Sockets to a foreign database, including TLS: incoming data are checked before the driver reads them, and a server that hangs up
 * during the login is not tried again and again, as the driver (3.4.9) would.
 */
import { once } from 'node:events';
import { isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { createMessageCheck, type MessageCheck, type MessageCheckOptions } from './message-check.ts';
import type { RowTap } from './row-tap.ts';
import { ServerFault, firstOpenSocket, openUnixSocket, type ServerAddress } from './watched-socket.ts';
import { presentSocket } from './connect.ts';

export interface CheckedSocketOptions {
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

export interface CheckedSocket {
  readonly socket: Socket;
  /** the connection is not encrypted: its bytes are those that the server reads */
  readonly plain: boolean;
}

/** Opens the sockets of one connection, one after another. Rejects with a ServerFault, or with the fault of the network. */
export function createCheckedSockets(options: CheckedSocketOptions): () => Promise<CheckedSocket> {
  let last: MessageCheck | null = null;
  return async () => {
    if (last?.ready === false) throw new ServerFault('hung up before it let us in', 'CONNECTION_CLOSED');
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
export function isThisMachine(host: string): boolean {
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
  throw new ServerFault('hung up during the TLS handshake', 'CONNECTION_CLOSED');
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
