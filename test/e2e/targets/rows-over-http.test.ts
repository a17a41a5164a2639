/** Rows and queries of targets over HTTP: the same values from every kind of target, in their exact forms. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createServiceClient, execution, type ServiceClient } from '../../support/service/client.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="ledger"><xs:complexType><xs:sequence>
    <xs:element name="entry" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="label" type="xs:string"/>
      <xs:element name="count" type="xs:long"/>
      <xs:element name="amount"><xs:simpleType><xs:restriction base="xs:decimal">
        <xs:totalDigits value="20"/><xs:fractionDigits value="4"/></xs:restriction></xs:simpleType></xs:element>
      <xs:element name="open" type="xs:decimal"/>
      <xs:element name="ratio" type="xs:double"/>
      <xs:element name="done" type="xs:boolean"/>
      <xs:element name="day" type="xs:date"/>
      <xs:element name="moment" type="xs:dateTime"/>
      <xs:element name="note" type="xs:string" minOccurs="0"/>
      <xs:element name="sizes"><xs:simpleType><xs:list itemType="xs:int"/></xs:simpleType></xs:element>
      <xs:element name="tag" type="xs:string" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`;

const labels = ['plain', 'tab\tand "quotes", commas', 'line\nbreak \\t back\\slash', 'naïve 日本 \u{1F600}'];

function documentOf(entries: number): string {
  const rows = Array.from({ length: entries }, (_, at) => {
    const label = labels[at % labels.length]!.replaceAll('\n', '&#10;').replaceAll('\t', '&#9;');
    return `<entry><label>${label}</label><count>${at === 1 ? '9007199254740993' : at}</count>
      <amount>${at === 2 ? '1234567890123456.7891' : `${at}.5000`}</amount><open>${at}.25</open>
      <ratio>${at === 3 ? 'INF' : at / 4}</ratio><done>${at % 2 === 0}</done><day>2024-02-0${(at % 9) + 1}</day>
      <moment>2024-02-29T12:30:0${at % 10}.125Z</moment>${at % 2 === 0 ? `<note>n${at}</note>` : ''}
      <sizes>${at} ${at + 1}</sizes><tag>a${at}</tag><tag>b${at}</tag></entry>`;
  });
  return `<ledger>${rows.join('')}</ledger>`;
}

interface Page {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly content: readonly (readonly unknown[])[];
  readonly page: number;
  readonly size: number;
  readonly total_elements: number;
  readonly total_pages: number;
}

interface Found {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly truncated: boolean;
}

const targets = {
  metadb: ['-o', 'metadb:ledger'],
  duckdb: ['-o', 'duckdb:ledger.duckdb'],
  sqlite: ['-o', 'sqlite:ledger.sqlite'],
  csv: ['-o', 'csv', '-f', 'csv'],
  tsv: ['-o', 'tsv', '-f', 'tsv'],
  jsonl: ['-o', 'jsonl', '-f', 'jsonl'],
  parquet: ['-o', 'parquet', '-f', 'parquet'],
  delta: ['-o', 'delta', '-f', 'delta'],
  iceberg: ['-o', 'iceberg', '-f', 'iceberg'],
} as const;
type Kind = keyof typeof targets;
const kinds = Object.keys(targets) as Kind[];

describe('rows of targets', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let service: RunningService;
  let client: ServiceClient;
  let other: ServiceClient;

  beforeAll(async () => {
    const home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home);
    client = service.client;
    const { body: org } = await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'neighbour' });
    const { body } = await client.post<{ key: string }>('/v2/admin/keys', {
      name: 'k',
      id_org: org.id_org,
      scopes: ['rows:read', 'jobs:run', 'jobs:read', 'files:upload'],
    });
    other = createServiceClient(service.url, body.key);
    const utf8 = new TextEncoder();
    const schema = await client.upload('xsd', 'ledger.xsd', utf8.encode(xsd));
    const document = await client.upload('xml', 'ledger.xml', utf8.encode(documentOf(25)));
    const { jobs } = await client.run([
      execution('xsd2er', schema),
      ...kinds.map((kind) => {
        const [out, name, ...format] = targets[kind];
        return execution(
          'xml2er',
          document,
          [[out, name], ...(format.length === 0 ? [] : [[format[0], format[1]] as const]), ['--views']],
          '$0',
        );
      }),
    ]);
    for (const job of jobs) expect(await client.ended(job)).toMatchObject({ status: 'C', failure: null });
  });

  const rows = (kind: Kind, table: string, more = ''): Promise<Page> =>
    client.get(`/v2/target/rows?target=${encodeURIComponent(targets[kind][1])}&table=${table}${more}`);
  const ask = async <T = Found>(target: string, sql: string, as = client) =>
    as.post<T>('/v2/target/query', { target, sql });
  const query = async (kind: Kind, sql: string): Promise<Found> => {
    const { status, body } = await ask(targets[kind][1], sql);
    expect([kind, status, body]).toEqual([kind, 200, expect.anything()]);
    return body;
  };

  it.each(kinds)('%s: pages of a table, in the order of its key', async (kind) => {
    const first = await rows(kind, 'entry', '&size=10');
    expect(first).toMatchObject({ page: 0, size: 10, total_elements: 25, total_pages: 3 });
    expect(first.content).toHaveLength(10);
    const last = await rows(kind, 'entry', '&size=10&page=2');
    expect(last.content).toHaveLength(5);
    const at = (name: string): number => first.columns.findIndex((column) => column.name === name);
    const keys = [
      ...first.content,
      ...(await rows(kind, 'entry', '&size=10&page=1')).content,
      ...last.content,
    ];
    expect(keys.map((row) => row[at('entry_key')])).toEqual(Array.from({ length: 25 }, (_, key) => key + 1));
    expect(await rows(kind, 'entry', '&page=7')).toMatchObject({ content: [], total_elements: 25 });
  });

  it.each(kinds)('%s: values in their exact forms', async (kind) => {
    const { columns, content } = await rows(kind, 'entry', '&size=4');
    const named = content.map((row) => Object.fromEntries(columns.map(({ name }, at) => [name, row[at]])));
    const isSqlite = kind === 'sqlite';
    expect(named.map(({ label }) => label)).toEqual(labels);
    expect(named.map(({ count }) => count)).toEqual([0, '9007199254740993', 2, 3]);
    expect(named.map(({ amount }) => trimmed(amount))).toEqual([
      '0.5',
      '1.5',
      '1234567890123456.7891',
      '3.5',
    ]);
    expect(named.map(({ open }) => trimmed(open))).toEqual(['0.25', '1.25', '2.25', '3.25']);
    expect(named.map(({ ratio }) => ratio)).toEqual([0, 0.25, 0.5, 'Infinity']);
    expect(named.map(({ done }) => done)).toEqual(isSqlite ? [1, 0, 1, 0] : [true, false, true, false]);
    expect(named.map(({ day }) => day)).toEqual(['2024-02-01', '2024-02-02', '2024-02-03', '2024-02-04']);
    expect(named[1]!['moment']).toBe('2024-02-29T12:30:01.125Z');
    expect(named.map(({ note }) => note)).toEqual(['n0', null, 'n2', null]);
    // SQLite has a table for the items of a list
    if (!isSqlite)
      expect(named.map(({ sizes }) => sizes)).toEqual([
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 4],
      ]);
    const tags = await rows(kind, 'tag', '&size=3');
    expect(tags.content.map((row) => row[tags.columns.findIndex(({ name }) => name === 'value')])).toEqual([
      'a0',
      'b0',
      'a1',
    ]);
  });

  it.each(kinds)('%s: one statement with joins, groups and names', async (kind) => {
    const {
      columns,
      rows: found,
      truncated,
    } = await query(
      kind,
      `select e.entry_key as id, count(*) as tags, min(t.value) as "First tag", e.entry_key as id
         from entry e join tag t on t.entry_key = e.entry_key
        where e.note is not null -- only some
        group by e.entry_key order by 1 desc limit 2;`,
    );
    expect(columns.map(({ name }) => name)).toEqual(['id', 'tags', 'First tag', 'id']);
    expect(found).toEqual([
      [25, 2, 'a24', 25],
      [23, 2, 'a22', 23],
    ]);
    expect(truncated).toBe(false);
  });

  it.each(kinds)('%s: sums are exact', async (kind) => {
    const { rows: found } = await query(kind, 'select sum(open) from entry');
    expect(trimmed(found[0]![0])).toBe('306.25');
  });

  it.each(kinds)('%s: at most 1,000 rows', async (kind) => {
    const cross = 'select a.entry_key from entry a, entry b, entry c';
    const { rows: found, truncated } = await query(kind, cross);
    expect([found.length, truncated]).toEqual([1000, true]);
    const exact = await query(kind, `select * from (${cross}) x limit 1000`);
    expect([exact.rows.length, exact.truncated]).toEqual([1000, false]);
  });

  it.each(kinds)('%s: faults of a statement have their place', async (kind) => {
    const { status, body } = await ask<{ code: string; detail: string; errors: { pointer: string }[] }>(
      targets[kind][1],
      'select entry_key,\n  missing from entry',
    );
    expect([status, body.code, body.errors[0]!.pointer]).toEqual([400, 'invalid_body', '/sql']);
    expect(body.detail).toContain('missing');
    if (kind !== 'sqlite') expect(body.detail).toMatch(/^line 2, column 3: /);
    const syntax = await ask<{ detail: string }>(targets[kind][1], 'selec 1');
    expect([syntax.status, syntax.body.detail]).toEqual([400, expect.stringMatching(/selec/i)]);
    expect((await ask(targets[kind][1], 'select * from nowhere')).status).toBe(400);
  });

  it.each(['metadb', 'duckdb', 'sqlite'] as const)('%s: views can be read', async (kind) => {
    const { rows: views } = await query(kind, 'select * from entry_view where entry_key = 1').catch(() => ({
      rows: [],
    }));
    const page = await client.fetch(`/v2/target/rows?target=${targets[kind][1]}&table=entry_view`);
    expect([page.status, views.length]).toEqual([200, 1]);
  });

  it('a target or table that is not there, or of another organisation', async () => {
    for (const kind of kinds) {
      const name = targets[kind][1];
      expect([name, await statusOf(client, name, 'nowhere')]).toEqual([name, 404]);
      expect([name, await statusOf(other, name, 'entry')]).toEqual([name, 404]);
      expect([name, (await ask(name, 'select 1', other)).status]).toEqual([name, 404]);
    }
    for (const name of [
      'metadb:absent',
      'duckdb:absent.duckdb',
      'absent',
      '/etc',
      'uploads',
      '..',
      'sqlite:ledger.duckdb',
    ])
      expect([name, await statusOf(client, name, 'entry')]).toEqual([name, 404]);
    const answers = await Promise.all(
      ['metadb:ledger', 'metadb:absent'].map(
        async (name) => (await ask<{ detail: string }>(name, 'select 1', other)).body.detail,
      ),
    );
    expect(answers[0]!.replace('ledger', 'absent')).toBe(answers[1]);
    expect(await statusOf(client, 'metadb:svc', 'job')).toBe(400);
    expect(await statusOf(client, 'postgresql://db.example/x', 'entry')).toBe(422);
    expect(await statusOf(client, 's3://bucket/x', 'entry')).toBe(422);
  });

  it('needs the scope rows:read, and members as they are declared', async () => {
    const { body } = await client.post<{ key: string }>('/v2/admin/keys', {
      name: 'w',
      scopes: ['jobs:read'],
    });
    const without = createServiceClient(service.url, body.key);
    expect((await ask('metadb:ledger', 'select 1', without)).status).toBe(403);
    expect((await client.post('/v2/target/query', { target: 'metadb:ledger' })).status).toBe(400);
    expect(
      (await client.post('/v2/target/query', { target: 'metadb:ledger', sql: 'select 1', rows: 2 })).status,
    ).toBe(400);
    expect((await client.fetch('/v2/target/rows?target=metadb:ledger')).status).toBe(400);
  });
});

async function statusOf(as: ServiceClient, target: string, table: string): Promise<number> {
  const address = `/v2/target/rows?target=${encodeURIComponent(target)}&table=${table}`;
  return (await as.fetch(address)).status;
}

/** Zeros behind the point say nothing. */
function trimmed(value: unknown): string {
  return String(value)
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '');
}
