/** A server that greets as MySQL 8 does, lets everybody in, and answers the first statement without an end. */
import { createServer, type AddressInfo, type Socket } from 'node:net';

export type EndlessAnswer = 'rows' | 'columns' | 'value';

export interface EndlessMysql {
  readonly port: number;
  close(): void;
}

const packet = (sequence: number, body: Buffer): Buffer => {
  const head = Buffer.alloc(4);
  head.writeUIntLE(body.length, 0, 3);
  head[3] = sequence & 255;
  return Buffer.concat([head, body]);
};
const text = (bytes: Buffer): Buffer => {
  if (bytes.length < 251) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const head = Buffer.from([0xfd, 0, 0, 0]);
  head.writeUIntLE(bytes.length, 1, 3);
  return Buffer.concat([head, bytes]);
};
const column = (name: Buffer): Buffer => {
  const facts = Buffer.from([0x0c, 45, 0, 0xe8, 3, 0, 0, 0xfd, 0, 0, 0, 0, 0]);
  return Buffer.concat([
    ...[Buffer.from('def'), Buffer.alloc(0), Buffer.from('t'), Buffer.from('t'), name, name].map(text),
    facts,
  ]);
};
const greeting = Buffer.concat([
  Buffer.from('\x0a8.0.36\0\x01\0\0\x0012345678\0', 'latin1'),
  Buffer.from([0x0f, 0xa2, 45, 2, 0, 0x08, 0, 0x15]),
  Buffer.alloc(10),
  Buffer.from('123456789012\0mysql_native_password\0'),
]);

export async function startEndlessMysql(kind: EndlessAnswer): Promise<EndlessMysql> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.write(packet(0, greeting));
    let received = 0;
    socket.on('data', () => {
      received += 1;
      if (received === 1) socket.write(packet(2, Buffer.from([0, 0, 0, 2, 0, 0, 0])));
      else if (received === 2) answer(socket, kind);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function answer(socket: Socket, kind: EndlessAnswer): void {
  let sequence = 4;
  let piece: Buffer;
  if (kind === 'columns') {
    socket.write(packet(1, Buffer.from([0xfd, 0xff, 0xff, 0x7f])));
    sequence = 2;
    piece = column(Buffer.alloc(8000, 'c'));
  } else {
    socket.write(packet(1, Buffer.from([1])));
    socket.write(packet(2, column(Buffer.from('x'))));
    socket.write(packet(3, Buffer.from([0xfe, 0, 0, 2, 0])));
    const endless = Buffer.concat([
      Buffer.from([0xfe, 0, 0, 0, 0, 0, 0, 0, 0x10]),
      Buffer.alloc(0xff_ff_ff - 9, 'y'),
    ]);
    piece = kind === 'rows' ? text(Buffer.alloc(65_536, 'y')) : endless;
  }
  const send = (): void => {
    while (!socket.destroyed) {
      const isTaken = socket.write(packet(sequence, piece));
      sequence += 1;
      if (!isTaken) return void socket.once('drain', send);
    }
  };
  send();
}
