/** Rows of a SQLite table as pages of bytes. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqlite, type SqliteDb } from '../../../../../src/targets/sql/sqlite/database.ts';
import { pagedBlocks } from '../../../../../src/targets/sql/sqlite/source.ts';
import { cellText } from '../../../../../src/engine/unshred/rows/values.ts';

let directory: string;
let database: SqliteDb;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'row-pages-'));
  database = await openSqlite(join(directory, 'rows.sqlite'), { label: 'rows', isNew: true });
});

afterEach(async () => {
  database.close();
  await rm(directory, { recursive: true, force: true });
});

/** A table of so many columns of text beside its key, as rows of `values` have them. */
async function makeTable(values: readonly (string | null)[][], firstKey = 1n): Promise<string[]> {
  const names = values[0]!.map((_, at) => `c${at}`);
  await database.run(`CREATE TABLE t (k INTEGER PRIMARY KEY, ${names.join(', ')})`);
  const insert = database.prepareChange(`INSERT INTO t VALUES (?, ${names.map(() => '?').join(', ')})`);
  await database.run('BEGIN');
  for (const [at, row] of values.entries()) insert.run(firstKey + BigInt(at), ...row);
  await database.run('COMMIT');
  return names;
}

async function readAll(texts: readonly string[], rest = ''): Promise<(string | null)[][]> {
  // an empty column first, and the values from the last one to the first
  const columns = texts.map((_, at) => texts.length - at);
  const plan = { columns, decoders: texts.map(() => null), width: texts.length + 1 };
  const blocks = pagedBlocks(database, { from: 't', rest, key: 'k', texts, plan });
  const rows: (string | null)[][] = [];
  for (let block = await blocks.next(); block !== null; block = await blocks.next())
    for (let row = 0; row < block.rows; row += 1) {
      const at = row * plan.width * 2;
      rows.push([0, ...columns].map((column) => cellText({ ...block!, at }, column)));
    }
  return rows;
}

const withEmpty = (rows: readonly (string | null)[][]): (string | null)[][] =>
  rows.map((row) => [null, ...row]);

describe('pages of rows', () => {
  it('have every row once, in the order of its key, empty texts and none apart', async () => {
    const rows = Array.from({ length: 5000 }, (_, at) => [`Größe ${at}`, at % 3 === 0 ? null : '', '日本']);
    const texts = await makeTable(rows, -2500n);
    expect(await readAll(texts)).toEqual(withEmpty(rows));
    expect(await readAll(texts, ' WHERE k >= 2000')).toEqual(withEmpty(rows.slice(4500)));
    expect(await readAll(texts, ' WHERE k > 2499')).toEqual([]);
  });

  it('have keys beyond 2^53', async () => {
    const rows = Array.from({ length: 100 }, (_, at) => [String(at)]);
    const texts = await makeTable(rows, 9_223_372_036_854_775_000n);
    expect(await readAll(texts)).toEqual(withEmpty(rows));
  });

  it('have fewer rows where values are long, also longer than a page may be', async () => {
    const rows = Array.from({ length: 300 }, (_, at) => [
      at > 200 && at % 7 === 0 ? 'x'.repeat(3_000_000 + at) : `short ${at}`,
    ]);
    const texts = await makeTable(rows);
    expect((await readAll(texts)).map(([, text]) => text!.length)).toEqual(
      rows.map(([text]) => text!.length),
    );
  });

  it('are read value by value where one has what sets values apart', async () => {
    const rows = Array.from({ length: 100 }, (_, at) => [at === 60 ? 'a\u001fb' : 'a', null, 'c']);
    const texts = await makeTable(rows);
    expect(await readAll(texts)).toEqual(withEmpty(rows));
  });

  it('have more columns than a function takes', async () => {
    const rows = Array.from({ length: 50 }, (_, row) =>
      Array.from({ length: 1600 }, (__, at) => (at % 5 === 0 ? null : `${row} ${at}`)),
    );
    const texts = await makeTable(rows);
    expect(await readAll(texts)).toEqual(withEmpty(rows));
  });
});
