/** An embedded database whose folder is moved while it runs, which would write its control file into what lies there next, or was removed in part. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import postgres from 'postgres';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  joinEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../../src/process/embedded-postgres/server.ts';
import { processTable } from '../../../src/process/running.ts';
import { eventually } from '../../support/service/waiting.ts';

let home: string;
let directory: string;
let movedTo: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'moved-database-'));
  await chmod(home, 0o755);
  [directory, movedTo] = [join(home, 'db'), join(home, 'moved')];
});
afterEach(async () => {
  for (const folder of [directory, movedTo])
    if ((await stat(folder).catch(() => null)) !== null) await stopEmbeddedPostgres(folder);
  await rm(home, { recursive: true, force: true });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const sql = postgres(url, { max: 1, connect_timeout: 5, onnotice: () => undefined });
  try {
    return [...(await sql.unsafe(text))];
  } finally {
    await sql.end();
  }
}

async function serverPid(): Promise<number> {
  return Number((await readFile(join(directory, 'data/postmaster.pid'), 'utf8')).split('\n')[0]);
}

test('ends, when a tool started it', async () => {
  const first = await joinEmbeddedPostgres({ directory, idleMs: 60_000 });
  await query(first.url, 'create table kept as select 7 as n');
  const pid = await serverPid();
  await rename(directory, movedTo);
  await eventually('the server ends', async () => ((await processTable.startOf(pid)) === null ? true : null));
  const second = await startEmbeddedPostgres({ directory });
  expect(await query(second.url, "select to_regclass('kept') as found")).toEqual([{ found: null }]);
  await second.stop();
  const kept = await startEmbeddedPostgres({ directory: movedTo });
  expect(await query(kept.url, 'select n from kept')).toEqual([{ n: 7 }]);
  await kept.stop();
});

test('is told of before another one is made in its place', async () => {
  const first = await startEmbeddedPostgres({ directory });
  const pid = await serverPid();
  await rename(directory, movedTo);
  await expect(startEmbeddedPostgres({ directory })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining(`kill -QUIT ${pid}`),
  });
  expect(await stat(join(directory, 'data')).catch(() => null)).toBeNull();
  await rm(directory, { recursive: true });
  await rename(movedTo, directory);
  expect(await query(first.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  await first.stop();
});

test('is not made where one was removed in part, which is told', async () => {
  const data = join(directory, 'data');
  await mkdir(join(data, 'pg_wal'), { recursive: true });
  await expect(startEmbeddedPostgres({ directory })).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringMatching(/no PG_VERSION.*pg_wal.*remove the folder/u),
  });
  expect(await readdir(data)).toEqual(['pg_wal']);
});
