/** A MySQL target whose connection lives but brings no answers any more: the load ends as an outage, and the next attempt finds what is there. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createMysqlRowSink } from '../../../../src/targets/sql/mysql/sink.ts';
import { createMysqlRowSource } from '../../../../src/targets/sql/mysql/source.ts';
import type { MysqlAddress } from '../../../../src/targets/sql/mysql/connection.ts';
import type { RowSink } from '../../../../src/ports/row-sink.ts';
import { freePort } from '../../../support/free-port.ts';
import { needs } from '../../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../../support/servers/mariadb.ts';
import { createSwallowingProxy, type SwallowingProxy } from '../../../support/servers/swallowing-proxy.ts';
import { libraryModel } from '../../../unit/engine/sql/library-model.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../../targets/library-rows.ts';
import { mariadbAddress, mariadbTarget } from '../targets.ts';

const publish = (sink: RowSink) => sink.publish(async () => true, new Map());

async function write(sink: RowSink): Promise<void> {
  await sink.open(libraryPlan(1));
  await writeLibrary(sink, libraryRows(1, 2, await sink.keyOffsets()));
}

describe('mariadb', needs(mariadbParts), () => {
  let server: TestMariadb;
  let port = 0;
  let proxy: SwallowingProxy;
  let name = '';
  let number = 0;
  beforeAll(async () => {
    port = await freePort();
    server = await startMariadb({ port });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    name = `swallowed_${(number += 1)}`;
    await server.run(`CREATE DATABASE ${name};`);
    proxy = await createSwallowingProxy(port);
  });
  afterEach(() => proxy.close());

  function throughProxy(): MysqlAddress {
    const { hostname, port: own } = new URL(proxy.through(`mysql://127.0.0.1:${port}`));
    const { socketPath: _, ...address } = mariadbAddress(server, name);
    return { ...address, host: hostname, port: Number(own), probeIntervalMs: 150 };
  }

  /** What the next attempt at the job does. Until the server ends the session that was cut, as after `wait_timeout`, that one holds the target. */
  async function nextAttempt(): Promise<'load' | 'skip'> {
    proxy.endGhosts();
    const sink = createMysqlRowSink(mariadbAddress(server, name));
    const toDo = await sink.open(libraryPlan(1));
    await sink.close();
    if (toDo === 'load') {
      const another = createMysqlRowSink(mariadbAddress(server, name));
      await loadLibrary(another, libraryPlan(1), 2);
      await another.close();
    }
    const target = mariadbTarget(() => server, name);
    expect(await target.reader.read('library')).toHaveLength(2);
    expect((await target.list()).filter((table) => table.startsWith('_svc_'))).toEqual([]);
    return toDo;
  }

  test('rows do not arrive', async () => {
    const sink = createMysqlRowSink(throughProxy());
    await sink.open(libraryPlan(1));
    proxy.swallow();
    const written = writeLibrary(sink, libraryRows(1, 2, await sink.keyOffsets())).then(() => publish(sink));
    await expect(written).rejects.toMatchObject({ code: 'service_unavailable' });
    await sink.close();
    expect(await nextAttempt()).toBe('load');
  });

  test('the answer that the rows are published does not arrive', async () => {
    const sink = createMysqlRowSink(throughProxy());
    await write(sink);
    const met = proxy.swallowAfter('RENAME TABLE');
    const published = publish(sink);
    await met;
    await expect(published).rejects.toMatchObject({ code: 'service_unavailable' });
    await sink.close();
    expect(await nextAttempt()).toBe('skip');
  });

  test('an answer to a reader does not arrive', async () => {
    const loading = createMysqlRowSink(mariadbAddress(server, name));
    await loadLibrary(loading, libraryPlan(1), 2);
    await loading.close();
    const source = createMysqlRowSource(throughProxy());
    await source.open(libraryModel);
    const met = proxy.swallowAfter('count(*)');
    const counted = source.documentCount();
    await met;
    await expect(counted).rejects.toMatchObject({ code: 'service_unavailable' });
    await source.close();
  });

  test('a server that is slow to answer is waited for', async () => {
    const sink = createMysqlRowSink(throughProxy());
    await write(sink);
    const blocked = server.run('FLUSH TABLES WITH READ LOCK; SELECT sleep(4);');
    await delay(500);
    const published = publish(sink);
    expect(await Promise.race([published, delay(2000).then(() => 'waits')])).toBe('waits');
    await blocked;
    expect(await published).toMatchObject({ already: false });
    await sink.close();
  });
});
