/** A target whose connection lives and brings nothing any more: the load ends as an outage, and the next attempt finds what is there. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { createPostgresRowSource } from '../../../src/targets/sql/postgres/source.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { createSwallowingProxy, type SwallowingProxy } from '../../support/servers/swallowing-proxy.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { encodeRows, libraryPlan, libraryRows } from '../targets/library-rows.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
let proxy: SwallowingProxy;
let schema = '';
let number = 0;
beforeAll(async () => {
  database = await trial.emptyDatabase();
});

beforeEach(async () => {
  schema = `half_${(number += 1)}`;
  proxy = await createSwallowingProxy(Number(new URL(database.url).port));
});
afterEach(() => proxy.close());

function openSink(url: string): RowSink {
  return createPostgresRowSink({ url, sqlSchema: schema, createSchema: true, probeIntervalMs: 150 });
}

const people = 12_000;

async function write(sink: RowSink): Promise<void> {
  await sink.open(libraryPlan(1));
  const rows = libraryRows(1);
  await sink.writeSide('documents', encodeRows(sink.encoding, rows.documents), 1);
  await sink.write(at.library, encodeRows(sink.encoding, rows.tables.get(at.library)!), 1);
  const person = Array.from({ length: people }, (_, i) => [i + 1, 1, null, i + 1, 'n'.repeat(300), null]);
  for (let from = 0; from < people; from += 1000)
    await sink.write(at.person, encodeRows(sink.encoding, person.slice(from, from + 1000)), 1000);
}

const publish = (sink: RowSink) => sink.publish(async () => true, new Map());

async function again(): Promise<{ readonly already: boolean; readonly people: number }> {
  const sink = openSink(database.url);
  try {
    const toDo = await sink.open(libraryPlan(1));
    await sink.abort();
    if (toDo === 'load') {
      await write(sink);
      await publish(sink);
    }
    const [counted] = await database.sql<
      { n: number }[]
    >`select count(*)::int as n from ${database.sql(schema)}.person`;
    return { already: toDo === 'skip', people: counted!.n };
  } finally {
    await sink.close();
  }
}

test('swallowed while rows are copied', needs('whole run'), async () => {
  const sink = openSink(proxy.through(database.url));
  await write(sink);
  proxy.swallow();
  const given = publish(sink);
  await expect(given).rejects.toMatchObject({ code: 'service_unavailable' });
  proxy.heal();
  await sink.close();
  expect(await again()).toEqual({ already: false, people });
});

test('the acknowledgement of the staged rows is swallowed', needs('whole run'), async () => {
  const sink = openSink(proxy.through(database.url));
  const met = proxy.swallowAfter('COMMIT\0');
  await write(sink);
  const given = publish(sink);
  await met;
  await expect(given).rejects.toMatchObject({ code: 'service_unavailable' });
  await sink.close();
  expect(await again()).toEqual({ already: false, people });
});

test('the acknowledgement of the publication is swallowed: the rows are there, and the next attempt sees it', async () => {
  const sink = openSink(proxy.through(database.url));
  await write(sink);
  const met = proxy.swallowAfter('commit\0');
  const given = publish(sink);
  await met;
  await expect(given).rejects.toMatchObject({ code: 'service_unavailable' });
  await sink.close();
  expect(await again()).toEqual({ already: true, people });
});

test('an answer to a reader is swallowed', needs('whole run'), async () => {
  const sink = openSink(database.url);
  await write(sink);
  await publish(sink);
  await sink.close();
  const url = proxy.through(database.url);
  const source = createPostgresRowSource({ url, sqlSchema: schema, probeIntervalMs: 150 });
  await source.open(libraryModel);
  const met = proxy.swallowAfter('count(*)');
  const given = source.documentCount();
  await met;
  await expect(given).rejects.toMatchObject({ code: 'service_unavailable' });
  await source.close();
});

test('a reader whose connection was ended between two questions reads nothing from another snapshot', async () => {
  const sink = openSink(database.url);
  await write(sink);
  await publish(sink);
  await sink.close();
  const source = createPostgresRowSource({ url: database.url, sqlSchema: schema });
  const end = async (): Promise<void> => {
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and application_name = 'conversion-job-service'`;
    // the end has come here, too
    await delay(300);
  };
  await source.open(libraryModel);
  await end();
  await expect(source.documents()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    code: 'service_unavailable',
  });
  await source.close();

  const another = createPostgresRowSource({ url: database.url, sqlSchema: schema });
  await another.open(libraryModel);
  const rows = await another.rowsFrom(null);
  const blocks = await rows.table(at.person);
  await end();
  const readOn = async (): Promise<void> => {
    for (;;) {
      if ((await blocks!.next()) === null) return;
    }
  };
  await expect(readOn()).rejects.toMatchObject({ code: 'service_unavailable' });
  await another.close();
});

test('a server that is slow to answer is waited for', needs('whole run'), async () => {
  const sink = openSink(proxy.through(database.url));
  await write(sink);
  const blocker = await database.sql.reserve();
  await blocker`begin`;
  await blocker
    .unsafe(`create schema ${schema}; create table ${schema}._loads (x int)`)
    .catch(() => undefined);
  const given = publish(sink);
  const early = await Promise.race([
    given.then(
      () => 'ended',
      () => 'failed',
    ),
    new Promise((resolve) => setTimeout(() => resolve('waits'), 2000)),
  ]);
  await blocker`rollback`;
  blocker.release();
  expect(early).toBe('waits');
  expect(await given).toMatchObject({ already: false });
  await sink.close();
});
