/** How many connections an HTTP server holds, and which of them makes room for a new one. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * At most `max` at a time. Where one more comes, the one goes that has been without a request for longest: it is kept alive for a
 * client that may open another, or its request never comes. Where requests are under way on all, the new one is closed: who holds
 * them keeps others out for no longer than bodies and answers may take.
 */
export function boundConnections(server: Server, max: number): void {
  /** requests under way; by age: who has just been served stands last */
  const open = new Map<Socket, number>();

  function makeRoom(newest: Socket): void {
    if (open.size <= max) return;
    for (const [socket, requests] of open) {
      if (requests > 0) continue;
      open.delete(socket);
      socket.destroy();
      return;
    }
    newest.destroy();
  }

  server.on('connection', (socket: Socket) => {
    socket.once('close', () => open.delete(socket));
    open.set(socket, 0);
    makeRoom(socket);
  });
  // before the one that answers
  server.prependListener('request', ({ socket }: IncomingMessage, answer: ServerResponse) => {
    count(socket, 1);
    answer.once('close', () => count(socket, -1));
  });

  /** Requests may stand in a queue on one connection. */
  function count(socket: Socket, more: 1 | -1): void {
    const requests = open.get(socket);
    if (requests === undefined) return;
    open.delete(socket);
    open.set(socket, requests + more);
  }
}

/** RFC 9112 section 3.2: who stands in front may have looked at the other one. */
export function hasSeveralHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === 'host') hosts += 1;
  return hosts > 1;
}
