/** Databases whose owner wishes the service ill: what they say is bounded, in order, and no reason to wait or to ask again. */
import { afterEach, describe, expect, it } from 'vitest';
import { connectTarget } from '../../../src/targets/sql/postgres/connection.ts';
import { createMessageCheck } from '../../../src/postgres/checked-socket.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { createPostgresRowSource } from '../../../src/targets/sql/postgres/source.ts';
import { openTransferDatabase } from '../../../src/tools/transfer/package-transfer.ts';
import { createEmptyDatabase } from '../../support/servers/postgres.ts';
import {
  accepted,
  flood,
  int32,
  letIn,
  message,
  oneColumn,
  ready,
  startHostilePostgres,
  type HostilePostgres,
} from '../../support/servers/hostile-postgres.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryPlan } from './library-rows.ts';
import { needs, some } from '../../support/needs.ts';

const longestMessageBytes = 1024 * 1024;
/** What may have been on its way when the client hung up: buffers of both ends of a socket. */
const onTheWay = 16 * 1024 * 1024;

let server: HostilePostgres;
afterEach(() => server.close());

async function load(more: object = {}): Promise<unknown> {
  const sink = createPostgresRowSink({
    url: server.url,
    sqlSchema: 'public',
    createSchema: true,
    label: 'the target',
    longestMessageBytes,
    ...more,
  });
  try {
    return await sink.open(libraryPlan(1));
  } catch (error) {
    return error;
  } finally {
    await sink.close().catch(() => undefined);
  }
}

type Behaviour = Parameters<typeof startHostilePostgres>[0];
const scram = message('R', Buffer.concat([int32(10), Buffer.from('SCRAM-SHA-256\0\0')]));

const cases: readonly (readonly [string, Behaviour, RegExp])[] = [
  [
    'a row of two gigabytes',
    {
      answer: (socket) => {
        socket.write(Buffer.concat([oneColumn, message('D', '', 2 ** 31 - 1)]));
        flood(socket, Buffer.alloc(65_536, 'x'));
      },
    },
    /a row of 2147483643 bytes, more than the 1048576 .*svc\.limits\.target_message/,
  ],
  [
    'rows without end',
    {
      answer: (socket) => {
        socket.write(oneColumn);
        const row = message('D', Buffer.concat([Buffer.from([0, 1]), int32(1000), Buffer.alloc(1000, 'x')]));
        flood(socket, Buffer.concat(Array.from({ length: 64 }, () => row)));
      },
    },
    /rows without end/,
  ],
  [
    'rows that nobody described',
    { answer: (socket) => socket.write(message('D', '\0\0')) },
    /as PostgreSQL does/,
  ],
  [
    'too many parameters',
    {
      greet: (socket) => {
        let number = 0;
        letIn(socket);
        flood(
          socket,
          Buffer.concat(
            Array.from({ length: 64 }, () => message('S', `p${(number += 1)}\0${'v'.repeat(1000)}\0`)),
          ),
        );
      },
    },
    /too many parameters/,
  ],
  [
    'an error of 200 megabytes',
    {
      answer: (socket) => {
        socket.write(message('E', '', 200_000_000));
        flood(socket, Buffer.alloc(65_536, 'x'));
      },
    },
    /a message E of 199999996 bytes/,
  ],
  [
    'an error of one megabyte',
    {
      answer: (socket) =>
        socket.write(Buffer.concat([message('E', `SERROR\0CXX000\0M${'long '.repeat(150_000)}\0\0`), ready])),
    },
    /^the target: (long ){400}…$/,
  ],
  [
    'an error that says nothing',
    { answer: (socket) => socket.write(Buffer.concat([message('E', '\0'), ready])) },
    /reason/,
  ],
  [
    'a name of a column without its end',
    {
      answer: (socket) =>
        socket.write(message('T', Buffer.concat([Buffer.from([0, 1]), Buffer.from('name')]))),
    },
    /description of columns/,
  ],
  [
    'a billion rounds of the hash',
    {
      greet: (socket) => {
        socket.write(scram);
        socket.once('data', (bytes) => {
          const nonce = /r=([^,]+)/.exec(bytes.toString('latin1'))![1];
          socket.write(
            message('R', Buffer.concat([int32(11), Buffer.from(`r=${nonce}x,s=c2FsdA==,i=2000000000`)])),
          );
        });
      },
    },
    /2000000000 rounds/,
  ],
  [
    'a challenge that is none',
    {
      greet: (socket) =>
        socket.write(Buffer.concat([scram, message('R', Buffer.concat([int32(11), Buffer.from('x')]))])),
    },
    /broken challenge/,
  ],
  [
    'a login without its proof',
    { greet: (socket) => socket.write(Buffer.concat([scram, accepted, ready])) },
    /proof/,
  ],
  ['a way in without a question', { greet: (socket) => socket.write(ready) }, /without asking for a login/],
  ['a login by Kerberos', { greet: (socket) => socket.write(message('R', int32(7))) }, /GSSAPI/],
  [
    'a web server',
    { greet: (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n') },
    /as PostgreSQL does/,
  ],
  ['a message that is none', { answer: (socket) => socket.write(message('y')) }, /kind 121/],
  [
    'a message of less than nothing',
    { answer: (socket) => socket.write(message('D', '', 3)) },
    /as PostgreSQL does/,
  ],
  [
    'rows where none were asked for',
    {
      answer: (socket) =>
        socket.write(Buffer.concat([message('T', '\0\0'), message('C', 'SELECT 0\0'), ready])),
    },
    /as PostgreSQL does/,
  ],
  [
    'a COPY that nobody began',
    { answer: (socket) => socket.write(message('G', '\0\0\0')) },
    /as PostgreSQL does/,
  ],
];

describe('a server that sends', () => {
  it.each(some(cases, 1))('%s', async (_, behaviour, reason) => {
    server = await startHostilePostgres(behaviour);
    const error = (await load()) as Error & { code: string };
    expect(error.message).toMatch(reason);
    expect(error.message.length).toBeLessThan(5000);
    expect(error.code).toBe('unprocessable_input');
    expect(server.connections()).toBeLessThan(4);
    expect(server.taken()).toBeLessThan(onTheWay);
  });

  it('nothing, and hangs up, once it has the password: it is not asked again and again', async () => {
    server = await startHostilePostgres({
      greet: (socket) => {
        socket.write(message('R', int32(3)));
        socket.once('data', () => socket.destroy());
      },
    });
    const error = (await load()) as Error & { code: string };
    expect(error.code).toBe('service_unavailable');
    expect(error.message).toContain('closed the connection before the login was complete');
    expect(server.connections()).toBeLessThan(4);
  });

  it('the same to an export: it ends, with the reason', async () => {
    server = await startHostilePostgres({
      greet: (socket) => {
        socket.write(message('R', int32(3)));
        socket.once('data', () => socket.destroy());
      },
    });
    const metadb_port = new URL(server.url).port;
    await expect(
      openTransferDatabase('export', { metadb_host: '127.0.0.1', metadb_port, metadb_password: 'x' }),
    ).rejects.toThrow(
      `the metadata database at 127.0.0.1:${metadb_port}: the server closed the connection before the login was complete`,
    );
    expect(server.connections()).toBeLessThan(3);
  });

  it('all this to one who reads', needs('whole run'), async () => {
    server = await startHostilePostgres(cases[0]![1]);
    const source = createPostgresRowSource({
      url: server.url,
      sqlSchema: 'public',
      label: 'the target',
      longestMessageBytes,
    } as Parameters<typeof createPostgresRowSource>[0]);
    await expect(source.open(libraryModel)).rejects.toThrow(/a row of 2147483643 bytes/);
    await source.close();
  });
});

describe('TLS', () => {
  it('is demanded where sslmode demands it', async () => {
    server = await startHostilePostgres({});
    const error = (await load({ url: `${server.url}?sslmode=require` })) as Error;
    expect(error.message).toContain('offers no TLS, which sslmode=require asks for');
  });

  it('begins with one byte alone: what follows it unencrypted is not read as if it were', async () => {
    server = await startHostilePostgres({ tls: Buffer.concat([Buffer.from('S'), accepted, ready]) });
    const error = (await load({ url: `${server.url}?sslmode=prefer` })) as Error;
    expect(error.message).toContain('to the request for TLS');
  });

  it('is left out where it is not offered and only preferred', async () => {
    const database = await createEmptyDatabase();
    server = await startHostilePostgres({});
    try {
      const sql = connectTarget({ url: `${database.url}?sslmode=prefer` });
      expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
      await sql.end();
    } finally {
      await database.drop();
    }
  });
});

describe('passwords', () => {
  const greetings = { text: message('R', int32(3)), md5: message('R', int32(5, 0x01020304)) };
  it.each(Object.entries(greetings))(
    'as %s go nowhere unencrypted, unless the operator says so',
    async (_, asked) => {
      server = await startHostilePostgres({});
      const check = (mayAskPlainPassword: boolean): string | null =>
        createMessageCheck({ longestMessageBytes, mayAskPlainPassword }).see(asked);
      expect(check(true)).toBe(null);
      expect(check(false)).toContain('svc.allow.plain_passwords');
    },
  );
});
