/** HTTP servers of this program: their limits, and how they end. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket, AddressInfo } from 'node:net';
import type { RequestConnection } from '../ports/network.ts';
import { getRequestListener, RequestError } from '@hono/node-server';
import { fixedLimits } from '../config/limits.ts';
import { ConfigError } from '../config/wrong-settings.ts';
import { faultOfHead, refusedRequest, refuseUnreadable } from './refused-requests.ts';
import type { OpenedService } from './open-service.ts';

// Handles `Expect: 100-continue` (RFC 9110 section 10.1.1).

/**
 * `Expect: 100-continue` is answered with 100 when the body is read for the first time: a client that is refused for its key, a scope
 * or a length sends none. Node closes the connection after an answer without a preceding 100, because the next bytes may be the body or
 * a request.
 */
function continueOnRead(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, answer: ServerResponse) => {
    const unwatched = request._read;
    request._read = function read(size) {
      request._read = unwatched;
      // bytes that are read after the answer are discarded
      if (!answer.headersSent && !answer.destroyed) answer.writeContinue();
      unwatched.call(this, size);
    };
    server.emit('request', request, answer);
  });
}

// Limits the connections of a server and its unread answers, and chooses the connection that is closed to make room for a new one.

/** The remedy if an address cannot be listened on, by the code of the fault. */
const listenAdvice: Readonly<Record<string, string>> = {
  EADDRINUSE: 'a service or another program already runs there; stop it, or set PORT to another port',
  EACCES: 'this user may not use ports below 1024; set PORT to a higher port, and let a proxy forward to it',
  EADDRNOTAVAIL: 'set HOST to an address of this machine',
};

/** Limit for requests queued on one connection: each is processed, and its answer waits for those before it. */
const maxInQueue = 32;

/** The share of connections that followers leave to requests that end by themselves, probes among them. */
const keptFraction = 0.1;

/** A follower that gives way may send the end of its answer for so long. */
const giveWayMs = 1000;

/** A connection younger than this may still send its first request. */
const freshMs = 1000;

interface ConnectionBounds {
  /** connections at a time */
  readonly connections: number;
  /** bytes of unread answers, on all connections together */
  readonly unreadBytes: number;
}

interface BoundConnections {
  /** Returns the connection of a request that is being answered. */
  of(request: Pick<IncomingMessage, 'socket'>): RequestConnection;
}

interface Connection {
  /** unfinished answers */
  readonly answers: Set<ServerResponse>;
  /** an organisation, or the address while nobody has named one */
  group: string;
  /** a key of the organisation */
  holder: string;
  giveWay: (() => void) | null;
  /** time when it was opened */
  readonly sinceMs: number;
}

/**
 * Limits the number of connections. If one more arrives, an idle connection is closed, kept alive for a client that can open another:
 * of the address that has most of those, the one idle for longest. If all idle ones have only just arrived, the oldest follower of the
 * caller with most followers is closed. If requests are pending on all, one of the caller with most is closed, a follower before
 * others; the new one if nobody has more than one. Followers leave a share to other requests: if one more arrives, the oldest of the
 * caller with most ends, and resumes its log later. If unread answers take too much memory, those that were requested first are
 * dropped.
 */
export function boundConnections(
  server: Server,
  { connections, unreadBytes }: ConnectionBounds,
): BoundConnections {
  /** keyed by age: a connection that was just served moves to the end */
  const open = new Map<Socket, Connection>();
  const maxFollowers = connections - Math.max(1, Math.ceil(connections * keptFraction));

  function makeRoom(newest: Socket): void {
    if (open.size <= connections) return;
    const others = [...open].filter(([socket]) => socket !== newest);
    const leaves = idleOne(others) ?? busyOne(others);
    if (leaves === undefined) close(newest);
    else leave(leaves);
  }

  /**
   * Chooses an idle connection to close. Connections that are so new that their request may still arrive are spared as long as possible.
   */
  function idleOne(those: readonly Held[]): Held | undefined {
    const idle = those.filter(([, { answers }]) => answers.size === 0);
    const now = performance.now();
    const fresh = (one: Held): boolean => now - one[1].sinceMs < freshMs;
    const waiting = idle.filter((one) => !fresh(one));
    if (waiting.length > 0) return mostOf(waiting, ([, { group }]) => group)[0];
    const follower = idle.length < connections / 2 ? oldestFollower(those) : undefined;
    return follower ?? mostOf(idle, ([, { group }]) => group)[0];
  }

  function leave([socket, { answers, giveWay }]: Held): void {
    if (giveWay === null) return close(socket);
    open.delete(socket);
    const timer = setTimeout(() => socket.destroy(), giveWayMs);
    for (const answer of answers) answer.once('finish', () => socket.destroySoon());
    socket.once('close', () => clearTimeout(timer));
    giveWay();
  }

  function dropUnread(newest: Socket): void {
    let unread = 0;
    for (const { answers } of open.values()) unread += sizeOf(answers);
    for (const [socket, { answers }] of open) {
      if (unread <= unreadBytes) return;
      const bytes = sizeOf(answers);
      if (socket === newest || bytes === 0) continue;
      unread -= bytes;
      close(socket);
    }
  }

  function close(socket: Socket): void {
    open.delete(socket);
    socket.destroy();
  }

  server.on('connection', (socket: Socket) => {
    socket.once('close', () => open.delete(socket));
    const address = `address ${socket.remoteAddress ?? ''}`;
    open.set(socket, {
      answers: new Set(),
      group: address,
      holder: address,
      giveWay: null,
      sinceMs: performance.now(),
    });
    makeRoom(socket);
  });
  // before the listener that answers
  server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    const connection = open.get(socket);
    if (connection === undefined) return;
    const { answers } = connection;
    answers.add(answer);
    moveToEnd(socket);
    if (answers.size > maxInQueue) close(socket);
    answer.once('prefinish', () => {
      if (answer.writableLength > 0) dropUnread(socket);
    });
    answer.once('close', () => {
      answers.delete(answer);
      connection.giveWay = null;
      moveToEnd(socket);
    });
  });

  // Silence does not count while a client waits for us: exports take minutes, and send nothing until they are done.
  server.on('timeout', (socket: Socket) => {
    if (![...(open.get(socket)?.answers ?? [])].some(isWorkedOn)) close(socket);
  });

  function moveToEnd(socket: Socket): void {
    const connection = open.get(socket);
    if (connection !== undefined && open.delete(socket)) open.set(socket, connection);
  }

  return {
    of: ({ socket }) => ({
      heldBy(idOrg, idKey) {
        const connection = open.get(socket);
        if (connection === undefined) return;
        connection.group = `organisation ${idOrg}`;
        connection.holder = `${idOrg} ${idKey}`;
      },
      followedUntil(giveWay) {
        const connection = open.get(socket);
        if (connection === undefined) return giveWay();
        const before = [...open].filter(([, other]) => other.giveWay !== null);
        if (before.length > 0 && before.length >= maxFollowers) leave(oldestFollower(before) ?? before[0]!);
        connection.giveWay = giveWay;
      },
    }),
  };
}

type Held = readonly [socket: Socket, connection: Connection];

/** Returns a connection with a pending request, of the caller that has most, if that is more than one. */
function busyOne(those: readonly Held[]): Held | undefined {
  const most = ofWhoHasMost(those);
  return most.length > 1 ? (most.find(([, { giveWay }]) => giveWay !== null) ?? most[0]) : undefined;
}

function oldestFollower(those: readonly Held[]): Held | undefined {
  const most = ofWhoHasMost(those.filter(([, { giveWay }]) => giveWay !== null));
  return most.length > 1 ? most[0] : undefined;
}

/** Returns the connections of one key, in their order: the key with most connections, of the organisation with most. */
function ofWhoHasMost(those: readonly Held[]): readonly Held[] {
  return mostOf(
    mostOf(those, ([, { group }]) => group),
    ([, { holder }]) => holder,
  );
}

/** The largest group of those that have one name. */
function mostOf<T>(those: readonly T[], nameOf: (one: T) => string): readonly T[] {
  let most: readonly T[] = [];
  for (const group of Map.groupBy(those, nameOf).values()) if (group.length > most.length) most = group;
  return most;
}

/** The request is all there, and its answer has not begun. */
function isWorkedOn(answer: ServerResponse): boolean {
  return answer.req.complete && !answer.headersSent;
}

/** Returns the number of unread bytes, including those of answers queued behind another one. */
function sizeOf(answers: ReadonlySet<ServerResponse>): number {
  let bytes = 0;
  for (const answer of answers) bytes += answer.writableLength;
  return bytes;
}

/** Resolves once it listens, with its address. ConfigError if the port is not available. */
export function listen(
  fetch: OpenedService['fetch'],
  {
    host: hostname,
    port,
    connections,
  }: { readonly host: string; readonly port: number; readonly connections: number },
): Promise<{ readonly server: Server; readonly url: string }> {
  let bound: BoundConnections;
  const answer = (
    request: Request,
    {
      incoming,
    }: { readonly incoming: Pick<IncomingMessage, 'rawHeaders' | 'socket' | 'headers' | 'httpVersion'> },
  ): Response | Promise<Response> => {
    // its connection was closed while it waited for its turn
    if (incoming.socket.destroyed) return new Response(null, { status: 400 });
    const fault = faultOfHead(incoming);
    return fault === null ? fetch(request, { svcConnection: bound.of(incoming) }) : refusedRequest(fault);
  };
  return new Promise((resolve, reject) => {
    // No limit on the whole request: an upload may take hours. One on silence instead.
    const serverOptions = {
      requestTimeout: 0,
      headersTimeout: fixedLimits.requestHeadMs,
      keepAliveTimeout: fixedLimits.keepAliveMs,
      // faultOfHead answers it
      requireHostHeader: false,
    };
    const server = createServer(
      serverOptions,
      getRequestListener(answer, {
        hostname,
        errorHandler: (error) =>
          error instanceof RequestError
            ? refusedRequest(`the address of the request is wrong: ${error.message}`)
            : new Response(null, { status: 500 }),
      }),
    );
    server.listen(port, hostname, () => {
      const { family, address, port: actual } = server.address() as AddressInfo;
      const name = family === 'IPv6' ? `[${address}]` : address;
      resolve({ server, url: `http://${name}:${actual}` });
    });
    const refused = (error: NodeJS.ErrnoException): void => {
      const code = error.code ?? error.message;
      const advice = listenAdvice[code] ?? 'conversion-job-service doctor examines this machine';
      reject(new ConfigError([`HOST, PORT: cannot listen on ${hostname}:${port} (${code}): ${advice}`]));
    };
    // Ignores errors once the server listens: then a connection could not be accepted, for lack of descriptors.
    server.on('error', refused);
    server.setTimeout(fixedLimits.idleConnectionMs);
    bound = boundConnections(server, { connections, unreadBytes: fixedLimits.unreadBytes });
    continueOnRead(server);
    refuseUnreadable(server);
  });
}

/** Gives pending answers a moment to end; followers of logs would stay for ever. */
export async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), 1000);
  await closed;
  clearTimeout(timer);
}
