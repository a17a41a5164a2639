/** Rows wider than one table, through a real PostgreSQL and back: full rows, several jobs, and a target that gets wider. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { loadIntoPostgres, readFromPostgres } from '../../support/round-trip/postgres.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { wideDocument, wideXsd } from '../../support/documents/wide.ts';
import { needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await trial.emptyDatabase();
  sql = connectPostgres(database.url, { applicationName: 'test', max: 1 });
});

afterAll(async () => {
  await sql.end({ timeout: 1 });
});

describe.each(some([2500, 1000, 5000], 1))('%i simple children, all filled', (columns) => {
  it('load in two jobs and come back, all and one alone', needs('whole run'), async () => {
    const place = { url: database.url, sqlSchema: `wide_${columns}` };
    const source = compiled(wideXsd(columns));
    const model = modelOf(source, 3);
    const documents = [1, 2].map((seed) => bytesOf(wideDocument(columns, seed)));
    await loadIntoPostgres(place, model, [documents[0]!], { id: 1, name: 'first' });
    await loadIntoPostgres(place, model, [documents[1]!], { id: 2, name: 'second' });
    const written = await readFromPostgres(place, model);
    expect(documents.flatMap((document, at) => compareXml(document, written[at]!, { source }))).toEqual([]);
    const [alone] = await readFromPostgres(place, model, 'second-1.xml');
    expect(compareXml(documents[1]!, alone!, { source })).toEqual([]);
    const [{ pairs }] = await sql<[{ pairs: number }]>`
      select count(*) as pairs from ${sql(place.sqlSchema)}.row r join ${sql(place.sqlSchema)}.row_2 using (row_key)`;
    expect(Number(pairs)).toBe(6);
  });
});

function text(at: number): string {
  return Array.from({ length: 200 }, (_, word) => ((at * 7919 + word * 104729) % 1_000_003).toString(36))
    .join(' ')
    .slice(0, 2000);
}

describe('1,000 text columns', () => {
  it('of 2,000 characters each: more than a page holds pointers to', async () => {
    const children = Array.from({ length: 1000 }, (_, at) => `<xs:element name="t${at}" type="xs:string"/>`);
    const source = compiled(
      `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>${children.join('')}</xs:sequence></xs:complexType></xs:element></xs:schema>`,
    );
    const place = { url: database.url, sqlSchema: 'wide_text' };
    const document = bytesOf(`<r>${children.map((_, at) => `<t${at}>${text(at)}</t${at}>`).join('')}</r>`);
    const model = modelOf(source, 3);
    await loadIntoPostgres(place, model, [document]);
    const [written] = await readFromPostgres(place, model);
    expect(compareXml(document, written!, { source })).toEqual([]);
  });
});

describe('a target that gets wider', () => {
  it('keeps its rows; what is added to a full table goes to a continuation', async () => {
    const place = { url: database.url, sqlSchema: 'widened' };
    const before = modelOf(compiled(wideXsd(250)), 3);
    const source = compiled(wideXsd(700));
    const after = buildRelationalModel(source, { mapLevel: 3, previous: before });
    const documents = [wideDocument(250, 1), wideDocument(700, 2), wideDocument(700, 3)].map(bytesOf);
    await loadIntoPostgres(place, before, [documents[0]!], { id: 1, name: 'old' });
    await loadIntoPostgres(place, after, documents.slice(1), { id: 2, name: 'new' });
    const columns = await sql<{ table: string; count: number }[]>`
      select table_name as table, count(*)::int as count from information_schema.columns
       where table_schema = ${place.sqlSchema} and table_name like 'row%' group by 1 order by 1`;
    expect(columns.map(({ table, count }) => [table, count])).toEqual([
      ['row', 269],
      ['row_2', 268],
      ['row_3', 171],
      ['rows', 2],
    ]);
    const written = await readFromPostgres(place, after);
    expect(documents.flatMap((document, at) => compareXml(document, written[at]!, { source }))).toEqual([]);
  });
});
