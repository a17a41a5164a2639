/** A new DuckDB file that nobody else knows takes what is committed without its log, where long values are copied in memory. */
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openDuckDb } from '../../../../../src/targets/sql/duckdb/database.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'duckdb-log-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

it.each([
  { skipsLog: true, logged: false },
  { skipsLog: false, logged: true },
])('what is committed is logged: $logged, where the log is skipped: $skipsLog', async (the) => {
  const path = join(directory, 'new.duckdb');
  const database = await openDuckDb(path, { directory, memoryBytes: 2 ** 27, skipsLog: the.skipsLog });
  try {
    await database.run('BEGIN');
    await database.run('CREATE TABLE t (a VARCHAR)');
    await database.run("INSERT INTO t SELECT repeat('x', 100000) || i FROM range(50) r (i)");
    await database.run('COMMIT');
    const log = `${path}.wal`;
    expect(existsSync(log) && statSync(log).size > 1_000_000).toBe(the.logged);
    expect(await database.read('SELECT count(*)::INTEGER AS rows FROM t')).toEqual([{ rows: 50 }]);
  } finally {
    database.close();
  }
});
