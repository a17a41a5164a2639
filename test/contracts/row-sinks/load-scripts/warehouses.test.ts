/** The scripts beside Parquet in a bucket: each names every file once, with the columns of its warehouse's own tables, and a parser of its dialect reads it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { warehouseScripts } from '../../../../src/targets/files/folder/every-layout.ts';
import { createFolderRowSink } from '../../../../src/targets/files/folder/sink.ts';
import { needs, skipFor } from '../../../support/needs.ts';
import { firstLine, pythonProgram } from '../../../support/tool-cache.ts';
import { libraryPlan, loadLibrary } from '../../targets/library-rows.ts';

const location = 's3://lake/library';
const dialectOf = (script: string): string => script.split('.')[1]!;

let directory = '';
let files: string[] = [];
const scripts = new Map<string, string>();

async function load(job: number, format: 'parquet' | 'csv', inBucket?: string): Promise<void> {
  const sink = createFolderRowSink({ directory, format, location: inBucket });
  try {
    await loadLibrary(sink, libraryPlan(job), 2);
  } finally {
    await sink.close();
  }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'warehouse-scripts-'));
  await load(1, 'parquet', location);
  await load(2, 'parquet', location);
  files = (await readdir(directory)).filter((name) => name.endsWith('.parquet'));
  for (const { name } of warehouseScripts)
    scripts.set(dialectOf(name), await readFile(join(directory, name), 'utf8'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Statements that begin with a word, without their semicolons. */
const statements = (dialect: string, word: string): string[] =>
  scripts
    .get(dialect)!
    .split(/;\n+/)
    .map((text) => text.trim())
    .filter((text) => text.startsWith(word));

test.each(['snowflake', 'bigquery', 'redshift'])('%s takes each file once', (dialect) => {
  expect(files.length).toBeGreaterThan(15);
  const text = scripts.get(dialect)!;
  for (const file of files) expect(text.split(new RegExp(`['/]${file}'`)).length - 1, file).toBe(1);
});

test('Databricks is given each file, and refuses times of day before it begins', () => {
  const copies = statements('databricks', 'COPY INTO');
  const refused = statements('databricks', 'SELECT raise_error');
  const books = files.filter((name) => name.startsWith('book'));
  expect(copies).toHaveLength(files.length - books.length);
  expect(refused).toHaveLength(books.length);
  expect(refused[0]).toContain('closes');
  expect(copies.find((copy) => copy.startsWith('COPY INTO `library`'))).toBe(
    "COPY INTO `library` FROM (SELECT `library_key` AS `library_key`, `document_key` AS `document_key`, `name` AS `name`, `founded` AS `founded`, `opened_at` AS `opened_at`, `is_public` AS `is_public` FROM 's3://lake/library/') FILEFORMAT = PARQUET FILES = ('library.parquet')",
  );
});

test('lists are arrays where a warehouse has them, else rows with the number of items', () => {
  const [snowflake] = statements('snowflake', 'COPY INTO "book"');
  expect(snowflake).toContain('$1:"keywords"::ARRAY');
  // exact, and never cut to the length of a column
  expect(snowflake).toContain('$1:"price"::NUMBER(10,2)');
  expect(snowflake).toContain('$1:"title"::VARCHAR,');
  const [bigquery] = statements('bigquery', 'INSERT INTO `book`');
  expect(bigquery).toContain('`keywords`, ARRAY_LENGTH(`keywords`)');
  expect(statements('redshift', 'INSERT INTO "book" ')[0]).toContain('GET_ARRAY_LENGTH("keywords")');
  const items = statements('redshift', 'INSERT INTO "book_keywords"');
  expect(items).toHaveLength(2);
  expect(items[0]).toMatch(/ AS f, f\."keywords" AS item AT at$/);
});

test('a folder elsewhere has none, nor have other formats', async () => {
  const inBucket = directory;
  directory = join(inBucket, 'machine');
  await load(3, 'parquet');
  expect((await readdir(directory)).filter((name) => name.endsWith('.sql'))).toEqual(['load.sql']);
  directory = join(inBucket, 'text');
  await load(4, 'csv', location);
  expect((await readdir(directory)).filter((name) => name.endsWith('.sql'))).toEqual(['load.sql']);
  directory = inBucket;
});

describe('a parser of each dialect', needs('whole run'), () => {
  test('understands every statement', async (context) => {
    const python = await pythonProgram('sqlglot==30.30.0', 'python').catch((error: unknown) =>
      skipFor(context, 'sqlglot', firstLine(error)),
    );
    const parser = fileURLToPath(new URL('../../../unit/engine/sql/parse-ddl.py', import.meta.url));
    const answer = promisify(execFile)(python, [parser], { maxBuffer: 64 * 1024 * 1024 });
    answer.child.stdin!.end(JSON.stringify(Object.fromEntries(scripts)));
    const parsed = JSON.parse((await answer).stdout) as Record<string, { kind: string }[] | string>;
    for (const [dialect, found] of Object.entries(parsed)) {
      if (typeof found === 'string') throw new Error(`${dialect}: ${found}`);
      // the parser has no word for DROP EXTERNAL TABLE, and keeps it as it is
      const unknown = found.filter(({ kind }) => kind === 'Command');
      expect([dialect, unknown.length]).toEqual([dialect, dialect === 'bigquery' ? files.length : 0]);
      const loads = found.filter(({ kind }) => kind === (dialect === 'bigquery' ? 'Insert' : 'Copy'));
      expect(loads.length).toBeGreaterThan(files.length / 2);
    }
  });
});
