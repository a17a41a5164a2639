/** A key that a later version of a model has between two tables that are there already. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectPostgres, type Sql } from '../../../../src/postgres/connect.ts';
import { createPostgresRowSink } from '../../../../src/targets/sql/postgres/sink.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { bytesOf, compiled } from '../../../support/models/shredding.ts';
import { loadInto } from '../../../support/round-trip/postgres.ts';
import type { TestDatabase } from '../../../support/servers/postgres.ts';
import { useTrial } from '../../../support/service/trial.ts';

const trial = useTrial();
let database: TestDatabase;
let sql: Sql;
beforeAll(async () => {
  database = await trial.emptyDatabase();
  sql = connectPostgres(database.url, { applicationName: 'test', max: 1 });
});
afterAll(() => sql.end({ timeout: 1 }));

const versionOf = (uses: string) =>
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:complexType name="Party"><xs:sequence><xs:element name="name" type="xs:string"/><xs:element name="phone" type="xs:string" minOccurs="0" maxOccurs="9"/></xs:sequence></xs:complexType>
    <xs:element name="trade"><xs:complexType><xs:sequence>${uses}</xs:sequence></xs:complexType></xs:element></xs:schema>`);
const both = '<xs:element name="buyer" type="Party"/><xs:element name="seller" type="Party"/>';
const more =
  '<xs:element name="broker" type="Party" minOccurs="0"/><xs:element name="witness" type="Party" minOccurs="0" maxOccurs="9"/>';

const party = (element: string): string => `<${element}><name>${element}</name><phone>1</phone></${element}>`;

async function load(model: RelationalModel, idJob: number, document: string): Promise<readonly string[]> {
  const sink = createPostgresRowSink({ url: database.url, sqlSchema: 'trades', createSchema: true });
  const { changes } = await loadInto(sink, { model, idJob }, [bytesOf(document)], `trade-${idJob}`);
  return changes;
}

const keys = async (): Promise<readonly string[]> =>
  (
    await sql<{ said: string }[]>`
      select conrelid::regclass || ' ' || pg_get_constraintdef(oid) || case when convalidated then '' else ' (not valid)' end as said
        from pg_constraint where connamespace = 'trades'::regnamespace and contype = 'f'
         and conrelid in ('trades.trade'::regclass, 'trades.party'::regclass) order by 1`
  ).map(({ said }) => said.replaceAll('trades.', '').replace(' DEFERRABLE INITIALLY DEFERRED', ''));

test('is enforced as those are that came with their tables, and made once', async () => {
  const first = buildRelationalModel(versionOf(both), { mapLevel: 3 });
  const later = buildRelationalModel(versionOf(both + more), { mapLevel: 3, previous: first });
  await load(first, 1, `<trade>${party('buyer')}${party('seller')}</trade>`);
  const before = await keys();
  expect(before).toContain('trade FOREIGN KEY (buyer_key) REFERENCES party(party_key)');
  const uses = ['buyer', 'seller', 'broker', 'witness'].map(party).join('');
  const changes = await load(later, 2, `<trade>${uses}</trade>`);
  expect(changes).toEqual(expect.arrayContaining(['trade.broker_key: added', 'party.trade_key: added']));
  const added = [
    'party FOREIGN KEY (trade_key) REFERENCES trade(trade_key)',
    'trade FOREIGN KEY (broker_key) REFERENCES party(party_key)',
  ];
  expect(await keys()).toEqual([...before, ...added].toSorted());
  const rows = await sql`
    select b.name as broker, w.name as witness from trades.trade t
      left join trades.party b on b.party_key = t.broker_key left join trades.party w on w.trade_key = t.trade_key order by t.trade_key`;
  expect(rows.map((row) => ({ ...row }))).toEqual([
    { broker: null, witness: null },
    { broker: 'broker', witness: 'witness' },
  ]);
  // one that its owner took away stays away
  const [constraint] = await sql<{ name: string }[]>`
    select conname as name from pg_constraint where conrelid = 'trades.party'::regclass and pg_get_constraintdef(oid) like '%(trade_key)%'`;
  await sql`alter table trades.party drop constraint ${sql(constraint!.name)}`;
  await load(later, 3, `<trade>${uses}</trade>`);
  expect(await keys()).toEqual([...before, added[1]!].toSorted());
});
