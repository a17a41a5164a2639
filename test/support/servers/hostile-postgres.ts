/** A server that speaks PostgreSQL's protocol as far as it likes. */
import { createServer, type AddressInfo, type Socket } from 'node:net';

export interface HostilePostgres {
  readonly url: string;
  /** connections taken so far */
  readonly connections: () => number;
  /** bytes that clients took from us */
  readonly taken: () => number;
  close(): Promise<void>;
}

/** `talk` gets each connection once its startup message has come; `answer` is called for each query's text. */
export async function startHostilePostgres(behaviour: {
  readonly greet?: (socket: Socket) => void;
  readonly answer?: (socket: Socket, query: string) => void;
  /** what is said to a request for TLS */
  readonly tls?: Buffer;
}): Promise<HostilePostgres> {
  let connections = 0;
  let taken = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      taken += socket.bytesWritten - socket.writableLength;
      sockets.delete(socket);
    });
    let greeted = false;
    socket.on('data', (bytes: Buffer) => {
      if (bytes.length === 8 && bytes.readUInt32BE(4) === 80877103) {
        socket.write(behaviour.tls ?? 'N');
      } else if (!greeted) {
        greeted = true;
        (behaviour.greet ?? letIn)(socket);
      } else {
        behaviour.answer?.(socket, bytes.toString('latin1'));
      }
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://somebody:secret@127.0.0.1:${port}/lake`,
    connections: () => connections,
    taken: () => [...sockets].reduce((sum, each) => sum + each.bytesWritten - each.writableLength, taken),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A message (PostgreSQL manual §54.7); `length`: what its head says of it, where that is a lie. */
export function message(kind: string, body: Buffer | string = '', length?: number): Buffer {
  const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body;
  const head = Buffer.alloc(5);
  head.write(kind, 'latin1');
  head.writeUInt32BE(length ?? bytes.length + 4, 1);
  return Buffer.concat([head, bytes]);
}

/** Big-endian. */
export function int32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) bytes.writeUInt32BE(value, at * 4);
  return bytes;
}

export const accepted = message('R', int32(0));
export const ready = message('Z', 'I');
export const oneColumn = message(
  'T',
  Buffer.concat([Buffer.from([0, 1]), Buffer.from('a\0'), Buffer.alloc(18)]),
);

export function letIn(socket: Socket): void {
  socket.write(Buffer.concat([accepted, message('K', int32(1, 1)), ready]));
}

/** Writes the same again and again, as fast as it is taken. */
export function flood(socket: Socket, piece: Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
    if (!socket.destroyed) socket.once('drain', more);
  };
  more();
}
