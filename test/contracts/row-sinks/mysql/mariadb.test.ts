/** What MySQL has of its own: changes of tables that commit, kills between them, rows that clients may not send. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMysqlRowSink } from '../../../../src/targets/sql/mysql/sink.ts';
import { itemsOf } from '../../../../src/targets/sql/mysql/staging.ts';
import { settledType } from '../../../../src/targets/sql/mysql/tables.ts';
import { parseTarget } from '../../../../src/service/jobs/request/target.ts';
import type { RowSink } from '../../../../src/ports/row-sink.ts';
import { needs, some } from '../../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../../support/servers/mariadb.ts';
import { at } from '../../../unit/engine/sql/library-model.ts';
import { libraryPlan, libraryRows, loadLibrary, writeLibrary } from '../../targets/library-rows.ts';
import { expectSoundKeys } from '../soundness.ts';
import { mariadbAddress, mariadbTarget } from '../targets.ts';

async function load(
  sink: RowSink,
  ...[plan, count = 1]: [ReturnType<typeof libraryPlan>, number?]
): Promise<void> {
  try {
    await loadLibrary(sink, plan, count);
  } finally {
    await sink.close();
  }
}

describe('mariadb', needs(mariadbParts), () => {
  let server: TestMariadb;
  let number = 0;
  beforeAll(async () => {
    server = await startMariadb();
  });
  afterAll(() => server?.stop());

  async function emptyTarget(): Promise<ReturnType<typeof mariadbTarget> & { readonly name: string }> {
    const name = `own_${(number += 1)}`;
    await server.run(`CREATE DATABASE ${name};`);
    return { ...mariadbTarget(() => server, name), name };
  }

  test.each(['append', 'overwrite'] as const)(
    'a connection that ends at any moment leaves the rows of before or those of the job (%s)',
    { timeout: 300_000 },
    async (saveMode) => {
      for (const ms of some([150, 40, 90, 5, 22, 60, 75, 110, 130, 180, 210, 240], 3)) {
        const target = await emptyTarget();
        await load(target.createSink(), libraryPlan(1), 2);
        const sink = createMysqlRowSink(mariadbAddress(server, target.name));
        await endsAfter(sink, target.name, ms, saveMode);
        const libraries = (await target.reader.read('library'))!.length;
        expect([2, saveMode === 'append' ? 5 : 3]).toContain(libraries);
        await expectSoundKeys(target.reader);
        // the job once more, as its worker asks for it
        await load(target.createSink(), libraryPlan(2, { saveMode }), 3);
        expect(await target.reader.read('library')).toHaveLength(saveMode === 'append' ? 5 : 3);
        expect((await target.list()).filter((name) => name.startsWith('_svc_'))).toEqual([]);
        const loads = (await target.reader.read('_loads'))!;
        expect(loads.map(({ job }) => job)).toEqual(['1', '2']);
        await expectSoundKeys(target.reader);
      }
    },
  );

  /** Another connection ends the job's while it loads, after so many milliseconds. */
  async function endsAfter(
    sink: RowSink,
    database: string,
    ms: number,
    saveMode: 'append' | 'overwrite',
  ): Promise<void> {
    const killed = sleep(ms).then(async () => {
      const ids = await server.run(`SELECT id FROM information_schema.processlist WHERE db = '${database}';`);
      for (const id of ids.split('\n').slice(1, -1)) await server.run(`KILL ${id};`).catch(() => '');
    });
    try {
      await sink.open(libraryPlan(2, { saveMode }));
      await writeLibrary(sink, libraryRows(2, 3, await sink.keyOffsets()));
      await sink.publish(async () => true, new Map());
    } catch (error) {
      expect(error).toMatchObject({ code: 'service_unavailable' });
    } finally {
      await sink.close();
    }
    await killed;
  }

  test('a server that takes no rows from clients is told of with what to do', async () => {
    const target = await emptyTarget();
    await server.run('SET GLOBAL local_infile = OFF;');
    try {
      await expect(load(target.createSink(), libraryPlan(1))).rejects.toMatchObject({
        code: 'target_not_allowed',
        message: expect.stringContaining('SET GLOBAL local_infile = ON') as string,
      });
    } finally {
      await server.run('SET GLOBAL local_infile = ON;');
    }
    expect(await target.list()).toEqual([]);
  });

  test('a value that the type of its column does not hold makes it text, and loses nothing', async () => {
    const target = await emptyTarget();
    const sink = target.createSink();
    await sink.open(libraryPlan(1));
    const rows = libraryRows(1, 1);
    // a year that MySQL has not, a number without an end
    rows.tables.get(at.library)![0]![4] = '12026-11-05T10:00:00+02:00';
    await writeLibrary(sink, rows);
    const { changes } = await sink.publish(async () => true, rows.lastKeys);
    await sink.close();
    expect(changes.filter((change) => change.startsWith('library.'))).toHaveLength(1);
    const [library] = (await target.reader.read('library'))!;
    expect(Object.values(library!)).toContain('12026-11-05T10:00:00+02:00');
  });

  test('a database that is not there is named', async () => {
    const sink = createMysqlRowSink(mariadbAddress(server, 'nowhere'));
    await expect(load(sink, libraryPlan(1))).rejects.toMatchObject({ code: 'not_found' });
  });

  test('documents that come again under keys of their own are there once', async () => {
    const target = await emptyTarget();
    await load(target.createSink(), libraryPlan(1, { keys: 'hash' }), 2);
    await load(target.createSink(), libraryPlan(2, { keys: 'hash' }), 2);
    expect(await target.reader.read('library')).toHaveLength(2);
    expect(await target.reader.read('book')).toHaveLength(4);
    await expectSoundKeys(target.reader);
  });
});

test('items of lists, as COPY text has them', () => {
  expect(itemsOf('\\N')).toBeNull();
  expect(itemsOf('{}')).toEqual([]);
  expect(itemsOf('{1,2}')).toEqual(['1', '2']);
  expect(itemsOf('{"a b","c\\\\"d","\\te"}')).toEqual(['a b', 'c"d', '\te']);
});

test('types that hold the values of both', () => {
  expect(settledType('smallint', 'bigint')).toBe('bigint');
  expect(settledType('varchar(10)', 'text')).toBe('text');
  expect(settledType('decimal(10,2)', 'decimal(8,4)')).toBe('decimal(12,4)');
  expect(settledType('int', 'decimal(8,4)')).toBe('decimal(14,4)');
  expect(settledType('date', 'int')).toBe('longtext');
});

test('addresses of MySQL are told as those of PostgreSQL are', () => {
  expect(parseTarget('mysql://u:p%40ss@DB.example:3307/shop?sslmode=verify-full')).toMatchObject({
    kind: 'mysql',
    address: 'mysql://db.example:3307/shop',
    user: 'u',
    password: 'p@ss',
    sslmode: 'verify-full',
  });
  expect(parseTarget('mysql://h')).toMatchObject({
    fault: expect.stringContaining('names no database') as string,
  });
  expect(parseTarget('mysql://h/mysql')).toMatchObject({
    fault: expect.stringContaining('server’s own'.replace('’', "'")) as string,
  });
  expect(parseTarget('postgresql://h/a%20b')).toMatchObject({ address: 'postgresql://h:5432/a%20b' });
});
