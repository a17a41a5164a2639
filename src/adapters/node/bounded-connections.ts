/** How many connections an HTTP server holds, and what of answers, and which of them makes room for a new one. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that stand in a queue on one connection: each is worked on, and its answer waits for those before it. */
const mostInQueue = 32;

export interface ConnectionBounds {
  /** at a time */
  readonly connections: number;
  /** of answers that nobody has read, on all connections together */
  readonly unreadBytes: number;
}

/**
 * At most so many at a time. Where one more comes, the one goes that has been without a request for longest: it is kept alive for a
 * client that may open another, or its request never comes. Where requests are under way on all, the new one is closed: who holds
 * them keeps others out for no longer than bodies and answers may take. Where answers that wait to be read are too much memory,
 * those are dropped that were asked for first.
 */
export function boundConnections(server: Server, { connections, unreadBytes }: ConnectionBounds): void {
  /** answers under way; by age: who has just been served stands last */
  const open = new Map<Socket, Set<ServerResponse>>();

  function makeRoom(newest: Socket): void {
    if (open.size <= connections) return;
    for (const [socket, answers] of open) {
      if (answers.size > 0) continue;
      close(socket);
      return;
    }
    newest.destroy();
  }

  function dropUnread(newest: Socket): void {
    let unread = 0;
    for (const answers of open.values()) unread += sizeOf(answers);
    for (const [socket, answers] of open) {
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
    open.set(socket, new Set());
    makeRoom(socket);
  });
  // before the one that answers
  server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    const answers = open.get(socket);
    if (answers === undefined) return;
    answers.add(answer);
    moveToEnd(socket, answers);
    if (answers.size > mostInQueue) close(socket);
    answer.once('prefinish', () => {
      if (answer.writableLength > 0) dropUnread(socket);
    });
    answer.once('close', () => {
      answers.delete(answer);
      moveToEnd(socket, answers);
    });
  });

  // Silence of a client that waits for us is none: exports take minutes, and say nothing until they are done.
  server.on('timeout', (socket: Socket) => {
    if (![...(open.get(socket) ?? [])].some(isWorkedOn)) close(socket);
  });

  function moveToEnd(socket: Socket, answers: Set<ServerResponse>): void {
    if (open.delete(socket)) open.set(socket, answers);
  }
}

/** The request is all there, and its answer has not begun. */
function isWorkedOn(answer: ServerResponse): boolean {
  return answer.req.complete && !answer.headersSent;
}

/** Of answers that nobody has read, those included that stand behind another one. */
function sizeOf(answers: ReadonlySet<ServerResponse>): number {
  let bytes = 0;
  for (const answer of answers) bytes += answer.writableLength;
  return bytes;
}

export type RequestHead = Pick<IncomingMessage, 'rawHeaders' | 'socket' | 'headers' | 'httpVersion'>;

/**
 * Requests that nobody has to answer: of a connection that was closed in the middle of them, those with several hosts, and those
 * whose body others may take for a longer or shorter one.
 */
export function isVoid(incoming: RequestHead): boolean {
  return incoming.socket.destroyed || hasSeveralHosts(incoming) || hasOddCoding(incoming);
}

/** RFC 9112 section 6.1: a coding beside chunks is none that we undo, and HTTP/1.0 knows no coding. */
function hasOddCoding({ headers, httpVersion }: RequestHead): boolean {
  const coding = headers['transfer-encoding'];
  return coding !== undefined && (httpVersion === '1.0' || coding.trim().toLowerCase() !== 'chunked');
}

/** RFC 9112 section 3.2: who stands in front may have looked at the other one. */
function hasSeveralHosts({ rawHeaders }: RequestHead): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
  return hosts > 1;
}
