/** Loads into a file that has tables of many columns: each leaves the file whole, without a log beside it, so that the next one finds the memory to open it. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDuckDbRowSink } from '../../../../../src/targets/sql/duckdb/driver.ts';
import { createDuckDbRowSource } from '../../../../../src/targets/sql/duckdb/source.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { wideDocument, wideXsd } from '../../../../support/documents/wide.ts';
import { bytesOf, compiled, modelOf } from '../../../../support/models/shredding.ts';
import { loadInto, readFrom } from '../../../../support/round-trip/postgres.ts';

const columns = 250;
let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'wide-duckdb-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

test('two jobs, one after the other', async () => {
  const source = compiled(wideXsd(columns));
  const model = modelOf(source, 3);
  const file = join(directory, 'wide.duckdb');
  const jobs = [1, 2];
  for (const idJob of jobs) {
    await loadInto(createDuckDbRowSink({ file }), { model, idJob }, [bytesOf(wideDocument(columns, idJob))]);
    expect(await readdir(directory)).toEqual(['wide.duckdb']);
  }
  const written = await readFrom(createDuckDbRowSource({ file }), model);
  expect(written).toHaveLength(jobs.length);
  for (const [at, job] of jobs.entries())
    expect(compareXml(wideDocument(columns, job), written[at]!, { source })).toEqual([]);
});
