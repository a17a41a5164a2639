/** Pools that end while a connection is being opened: nothing of them keeps the process alive. */
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { createSocketOpener } from '../../../src/postgres/checked-socket.ts';
import { connectTarget } from '../../../src/targets/sql/postgres/connection.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
beforeAll(async () => {
  database = await trial.emptyDatabase();
});

/** Each notes the sockets that its pool opens. */
const pools = {
  'of a target': (all: Set<Socket>) => connectTarget({ url: database.url }, { all }),
  'of the metadata database': (all: Set<Socket>) => {
    const open = createSocketOpener(60_000);
    return connectPostgres(database.url, {
      applicationName: 'test',
      max: 1,
      openSocket: (hosts, ports) => {
        const socket = open(hosts, ports);
        all.add(socket);
        return socket;
      },
    });
  },
};

test.each(Object.entries(pools))('%s, ended at any moment of its first connection', async (_, connect) => {
  const all = new Set<Socket>();
  let queries = 0;
  for (let turn = 0; turn < 40; turn += 1) {
    const sql = connect(all);
    const asked = sql.unsafe('SELECT 1').then(
      () => (queries += 1),
      () => undefined,
    );
    if (turn % 4 > 0) await delay(turn / 8);
    await sql.end({ timeout: 0 });
    await asked;
  }
  for (let waited = 0; waited < 100 && [...all].some(({ closed }) => !closed); waited += 1) await delay(20);
  expect([...all].filter(({ closed }) => !closed)).toEqual([]);
  expect(all.size).toBeGreaterThan(0);
  expect(queries).toBeLessThan(40);
});

test('ends with what was asked before, where it may take its time', async () => {
  const sql = connectTarget({ url: database.url });
  const asked = sql.unsafe('SELECT pg_sleep(0.2), 7 AS n').execute();
  await sql.end({ timeout: 5 });
  expect((await asked)[0]!['n']).toBe(7);
});
