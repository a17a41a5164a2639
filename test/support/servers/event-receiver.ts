/** A server that takes webhooks and lineage events, and answers as it is told. */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedEvent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface EventReceiver {
  readonly port: number;
  readonly received: readonly ReceivedEvent[];
  /** The status for a request, from its path, its body, and how many with this body came before; 204 at first. */
  answer: (event: ReceivedEvent, before: number) => number;
  close(): Promise<void>;
}

export async function startEventReceiver(): Promise<EventReceiver> {
  const received: ReceivedEvent[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const event = { path: request.url ?? '', headers: request.headers, body };
      const before = received.filter((one) => one.body === body).length;
      received.push(event);
      response.writeHead(receiver.answer(event, before)).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const receiver: EventReceiver = {
    port: (server.address() as AddressInfo).port,
    received,
    answer: () => 204,
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
  return receiver;
}
