/** SQLite files that others made with UTF-16: documents come back from them as from any other. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqlite } from '../../../../../src/targets/sql/sqlite/database.ts';
import { createSqliteRowSink } from '../../../../../src/targets/sql/sqlite/driver.ts';
import { createSqliteRowSource } from '../../../../../src/targets/sql/sqlite/source.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { listsXsd } from '../../../../support/documents/lists.ts';
import { bytesOf, compiled, modelOf } from '../../../../support/models/shredding.ts';
import { loadInto, readFrom } from '../../../../support/round-trip/postgres.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'utf16-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

it.each(['UTF-8', 'UTF-16le', 'UTF-16be'])('rows of a file with %s are documents again', async (encoding) => {
  const file = join(directory, 'rows.sqlite');
  const database = await openSqlite(file, { label: 'rows', isNew: true });
  await database.run(`PRAGMA encoding = '${encoding}'`);
  await database.run('CREATE TABLE other (a)');
  database.close();
  const source = compiled(listsXsd.replace('xs:integer', 'xs:string'));
  const model = modelOf(source, 3);
  const document = `<plan>${'<step more="é 日">a 😀</step>'.repeat(100)}</plan>`;
  await loadInto(createSqliteRowSink({ file }), { model, idJob: 1 }, [bytesOf(document)]);
  const [written] = await readFrom(createSqliteRowSource({ file }), model);
  expect(compareXml(document, written!, { source })).toEqual([]);
});
