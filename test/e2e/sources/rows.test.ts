/** XML in columns: `--from` by hand and over the API, resumed by `--after`, whatever became of the load before. */
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { secretForms } from '../../../src/service/jobs/mask-secrets.ts';
import { createServiceClient, type Problem, type ServiceClient } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { runTool, type ToolRun } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const canary = 'c4nary-of-rows-é/+';
const query = 'SELECT id, payload, received_at, origin FROM inbox';

describe('documents in columns', { timeout: 180_000 }, () => {
  const trial = useTrial();
  const answers: string[] = [];
  let source: Sql;
  let from: string;
  let login: string;
  let home: ServiceHome;
  let service: RunningService;
  let metadb: Sql;
  let client: ServiceClient;
  let other: ServiceClient;

  beforeAll(async () => {
    const database = await trial.emptyDatabase();
    source = database.sql;
    login = `reader_${database.url.slice(-16)}`;
    await source.unsafe(`
      CREATE TABLE inbox (id int PRIMARY KEY, payload xml, received_at timestamptz NOT NULL, origin text);
      INSERT INTO inbox VALUES
        (1, '<order no="a"><line sku="x"/><line sku="y"/></order>', '2026-01-01T00:00:00Z', 'o/1'),
        (2, NULL, '2026-01-02T00:00:00Z', NULL),
        (3, '<order no="b"><line sku="z"/></order>', '2026-01-03T00:00:00.5Z', NULL);
      CREATE ROLE ${login} LOGIN PASSWORD '${canary}'; GRANT SELECT ON inbox TO ${login}`);
    const url = new URL(database.url);
    url.username = login;
    url.password = encodeURIComponent(canary);
    from = url.href;
    home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': url.host });
    service = await trial.service(home);
    client = createServiceClient(service.url, service.key);
    metadb = await trial.metadb(home);
    const org = (await client.post<{ id_org: number }>('/v2/admin/orgs', { name: 'second' })).body;
    const { key } = (
      await client.post<{ key: string }>('/v2/admin/keys', {
        name: 'second',
        scopes: ['jobs:run', 'jobs:read', 'admin'],
        id_org: org.id_org,
      })
    ).body;
    other = createServiceClient(service.url, key);
  });
  afterAll(() => source.unsafe(`DROP OWNED BY ${login}; DROP ROLE ${login}`));

  const load = async (...argv: string[]): Promise<ToolRun> => {
    const run = await runTool(home, 'xml2er', ['--from', from, '--query', query, ...argv, '--json']);
    answers.push(run.stdout, run.stderr);
    return run;
  };
  const run = async (
    who: ServiceClient,
    options: readonly (readonly [string, string])[],
    tool: 'xml2er' | 'xsd2er' = 'xml2er',
  ) => {
    const { status, body } = await who.post<{ jobs?: number[] } & Partial<Problem>>('/v2/run/cmd', {
      executions: [
        {
          app_name: tool,
          target: { generation: options.map(([command, value]) => ({ command, value, enabled: true })) },
        },
      ],
    });
    answers.push(JSON.stringify(body));
    return { status, text: JSON.stringify(body), job: body.jobs?.[0] ?? 0 };
  };

  it('become rows, with the other columns beside them and in their names', async () => {
    const { code, stdout, summary } = await load('-o', 'metadb:first');
    expect([code, stdout]).toEqual([0, expect.stringContaining('3 rows, 1 of them without a document')]);
    expect(summary).toMatchObject({ documents: 2, from: { rows: 3, without_document: 1, loaded_before: 0 } });
    const orders = await metadb`
      select no, id, received_at::text as received, origin from first."order" order by id`;
    expect([...orders]).toEqual([
      { no: 'a', id: 1, received: '2026-01-01 00:00:00+00', origin: 'o/1' },
      { no: 'b', id: 3, received: '2026-01-03 00:00:00.5+00', origin: null },
    ]);
    const lines = await metadb`
      select column_name::text as name from information_schema.columns where table_schema = 'first' and table_name = 'line'`;
    // the table of what is below them has none of it
    expect(lines.map(({ name }) => String(name)).toSorted()).toEqual([
      'document_key',
      'line_key',
      'order_key',
      'position',
      'sku',
    ]);
    expect(
      (await metadb`select name from first._documents order by name`).map(({ name }) => String(name)),
    ).toEqual([
      'id=1,received_at=2026-01-01T00:00:00Z,origin=o%2F1.xml',
      'id=3,received_at=2026-01-03T00:00:00.5Z.xml',
    ]);
  });

  it.each([
    ['with threads', ['--workers', '2']],
    ['by row elements', ['--row-tag', 'order']],
    ['with keys of their content', ['--keys', 'hash']],
  ])('%s as without', async (name, options) => {
    const target = `metadb:as_${name.replaceAll(' ', '_')}`;
    const { code } = await load('-o', target, ...options);
    expect(code).toBe(0);
    const orders = await metadb.unsafe(`select no, id, origin from ${target.slice(7)}."order" order by id`);
    expect([...orders]).toEqual([
      { no: 'a', id: 1, origin: 'o/1' },
      { no: 'b', id: 3, origin: null },
    ]);
  });

  it('make their schema without being loaded, and print its tables', async () => {
    const { code, summary } = await load('-e', 's');
    expect([code, summary]).toEqual([0, expect.objectContaining({ documents: 2, rows: 0 })]);
    const printed = await load('-S', 'p');
    expect([printed.code, printed.stdout]).toEqual([
      0,
      expect.stringMatching(/CREATE TABLE "order"[^;]*"received_at"/),
    ]);
  });

  it('make a schema by xsd2er, too, by hand and as a job, which they are loaded by', async () => {
    const argv = ['--from', from, '--query', query, '--name', 'of_rows', '--json'];
    const made = await runTool(home, 'xsd2er', argv);
    answers.push(made.stdout, made.stderr);
    expect([made.code, made.summary]).toEqual([0, expect.objectContaining({ documents: 2, rows: 0 })]);
    const options = [
      ['--from', from],
      ['--query', query],
    ] as const;
    const { job } = await run(client, options, 'xsd2er');
    const record = await client.ended(job);
    expect(record).toMatchObject({ status: 'C', failure: null });
    for (const [name, logical] of [
      ['by_hand', made.summary!.logical],
      ['by_job', record.id_lschma],
    ] as const) {
      const { code } = await load('-l', String(logical), '-o', `metadb:schema_${name}`);
      const rows = await metadb`select no, id, origin from ${metadb(`schema_${name}`)}."order" order by id`;
      expect([code, rows.map((row) => ({ ...row }))]).toEqual([
        0,
        [
          { no: 'a', id: 1, origin: 'o/1' },
          { no: 'b', id: 3, origin: null },
        ],
      ]);
    }
    const both = await runTool(home, 'xsd2er', ['order.xsd', ...argv]);
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('--from replaces inputs')]);
  });

  it('are written back as they were', async () => {
    const folder = await trial.folder('rows-back-');
    const written = await runTool(home, 'er2xml', ['-i', 'metadb:first', '-o', folder]);
    expect(written.code).toBe(0);
    expect((await readdir(folder)).length).toBe(2);
    expect(await readFile(join(folder, 'id=3,received_at=2026-01-03T00_00_00.5Z.xml'), 'utf8')).toMatch(
      /<order [^>]*no="b"><line sku="z"\/><\/order>/,
    );
  });

  it('of files of Parquet and CSV, of SQLite and DuckDB, give the same tables', async () => {
    const folder = await trial.folder('rows-files-');
    const csv = join(folder, 'inbox.csv');
    await writeFile(csv, 'id,payload\r\n1,"<order no=""a""/>"\r\n2,\r\n');
    const target = join(folder, 'out');
    const ambiguous = await runTool(home, 'xml2er', ['--from', csv, '-o', target]);
    expect([ambiguous.code, ambiguous.stdout + ambiguous.stderr]).toEqual([
      1,
      expect.stringContaining('documents could be in id, payload: name one with --xml-column'),
    ]);
    const { code } = await runTool(home, 'xml2er', ['--from', csv, '--xml-column', 'PAYLOAD', '-o', target]);
    expect(code).toBe(0);
    expect(await readFile(join(target, 'order.csv'), 'utf8')).toBe('order_key,document_key,no,id\n1,1,a,1\n');
    for (const [kind, statements] of [
      ['sqlite', 'SELECT 1 AS id, \'<order no="a"/>\' AS payload'],
      ['duckdb', 'SELECT 1 AS id, \'<order no="a"/>\' AS payload'],
    ] as const) {
      const file = join(folder, `empty.${kind}`);
      // a database of the product's own making will do
      expect(
        (await runTool(home, 'xml2er', [csv.replace('.csv', '.xml'), '-o', `${kind}:${file}`])).code,
      ).toBe(1);
      await writeFile(join(folder, 'one.xml'), '<one/>');
      expect((await runTool(home, 'xml2er', [join(folder, 'one.xml'), '-o', `${kind}:${file}`])).code).toBe(
        0,
      );
      const read = await runTool(home, 'xml2er', [
        '--from',
        `${kind}:${file}`,
        '--query',
        statements,
        '--xml-column',
        'payload',
        '-o',
        join(folder, kind),
      ]);
      expect([kind, read.code, read.stderr]).toEqual([kind, 0, '']);
      expect(await readFile(join(folder, kind, 'order.csv'), 'utf8')).toBe(
        'order_key,document_key,no,id\n1,1,a,1\n',
      );
    }
  });

  it('that are not well-formed name their row, or are left out', async () => {
    const broken = `SELECT id, CASE id WHEN 3 THEN '<order><line></order>' ELSE payload::text END AS payload FROM inbox`;
    const argv = ['--from', from, '--query', broken, '-o', 'metadb:broken', '--json'];
    const failed = await runTool(home, 'xml2er', argv);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringMatching(/id=3\.xml.*line 1, column \d+|id=3\.xml:1:\d+/),
    ]);
    const skipped = await runTool(home, 'xml2er', [...argv, '--on-error', 'skip']);
    expect(skipped.summary).toMatchObject({ status: 'C', documents: 1, rejected: 1 });
    expect(skipped.stdout).toContain('id=3.xml');
  });

  it('are gone on with by --after, each loaded once, though several have one value', async () => {
    const after = ['-o', 'metadb:resumed', '--after', 'received_at'];
    expect((await load(...after)).summary).toMatchObject({
      documents: 2,
      from: { rows: 3, after: { column: 'received_at', mark: '2026-01-03 00:00:00.5+00' } },
    });
    expect((await load(...after)).summary).toMatchObject({
      status: 'C',
      documents: 0,
      from: { rows: 1, loaded_before: 1 },
    });
    await source`insert into inbox values
      (4, '<order no="c"/>', '2026-01-03T00:00:00.5Z', null), (5, '<order no="d"/>', '2026-01-04T00:00:00Z', null)`;
    expect((await load(...after)).summary).toMatchObject({
      documents: 2,
      from: { rows: 3, loaded_before: 1, after: { mark: '2026-01-04 00:00:00+00' } },
    });
    const numbers = await metadb`select no from resumed."order" order by no`;
    expect(numbers.map(({ no }) => String(no))).toEqual(['a', 'b', 'c', 'd']);
    // into another target, and from a given value on
    expect((await load('-o', 'metadb:elsewhere', '--after', 'received_at')).summary).toMatchObject({
      documents: 4,
    });
    expect((await load('-o', 'metadb:given', '--after', 'id=3')).summary).toMatchObject({ documents: 3 });
  });

  it('are gone on with where a load ended between its commit and its end, and begun anew where it did not commit', async () => {
    await metadb.unsafe('update svc.query_mark set settled = false');
    const marks = await metadb`select source, max(id_job)::int as job from svc.query_mark group by source`;
    expect(marks.length).toBeGreaterThan(2);
    // of jobs that never published
    for (const { source: key } of marks)
      await metadb`insert into svc.query_mark (id_org, source, id_job, mark, seen) values (1, ${String(key)}, 9999, '2030-01-01 00:00:00+00', '{}')`;
    expect((await load('-o', 'metadb:resumed', '--after', 'received_at')).summary).toMatchObject({
      status: 'C',
      documents: 0,
      from: { rows: 1, loaded_before: 1, after: { mark: '2026-01-04 00:00:00+00' } },
    });
    await metadb`drop schema elsewhere cascade`;
    expect((await load('-o', 'metadb:elsewhere', '--after', 'received_at')).summary).toMatchObject({
      documents: 4,
    });
  });

  it('are an error with --after where a row has no value there', async () => {
    const { code, stdout } = await load('-o', 'metadb:none', '--after', 'origin');
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/--after origin: the row id=\d.* has no value in it/),
    ]);
    expect((await metadb`select 1 from pg_namespace where nspname = 'none'`).length).toBe(0);
  });

  it('are loaded by jobs of the service, where its operator lets them', async () => {
    const { job } = await run(client, [
      ['--from', from],
      ['--query', query],
      ['--after', 'id'],
      ['-o', 'metadb:job'],
    ]);
    const record = await client.ended(job);
    answers.push(JSON.stringify(record), await client.log(job));
    expect(record).toMatchObject({ status: 'C', failure: null });
    expect(record.params).toContain(`postgresql://${login}:***@`);
    expect((await metadb`select count(*)::int as n from job._documents`)[0]!['n']).toBe(4);
    const second = await run(other, [
      ['--from', from],
      ['--query', query],
      ['--after', 'id'],
      ['-o', 'metadb:of_second'],
    ]);
    expect(await other.ended(second.job)).toMatchObject({ status: 'C' });
    // what the other organisation has asked is nothing to this one
    expect((await metadb`select count(*)::int as n from of_second._documents`)[0]!['n']).toBe(4);
  });

  it.each([
    ['metadb:first', 'SELECT 1', 'is only for the service itself'],
    ['postgresql://ann@elsewhere.example/x', 'SELECT 1', 'jobs may not reach elsewhere.example:5432'],
    ['postgresql://ann@169.254.169.254/x', 'SELECT 1', 'jobs may not reach 169.254.169.254:5432'],
    ['mysql://ann@2130706433/x', 'SELECT 1', 'jobs may not reach 2130706433:3306'],
    ['sqlite:/etc/passwd', 'SELECT 1', 'outside the folders'],
    ['duckdb:../../db', 'SELECT 1', ''],
    ['postgresql://ann@elsewhere.example/x', '', 'needs --query'],
  ])('from %s are refused to jobs', async (place, sql, why) => {
    const refused = await run(client, [
      ['--from', place],
      ...(sql === '' ? [] : [['--query', sql] as const]),
      ['-o', 'metadb:refused'],
    ]);
    expect([refused.status >= 400 && refused.status < 500, refused.text]).toEqual([
      true,
      expect.stringContaining(why),
    ]);
  });

  it('see nothing but the file that a job names', async () => {
    await mkdir(join(home.directory, 'files/1/own'), { recursive: true });
    await writeFile(join(home.directory, 'files/1/own/one.xml'), '<one/>');
    const made = await run(client, [
      ['-o', 'duckdb:own/one.duckdb'],
      ['--from', 'own/none.csv'],
    ]);
    expect([made.status, made.text]).toEqual([
      400,
      expect.stringContaining('there is no such file or folder'),
    ]);
    const { body } = await client.post<{ jobs: number[] }>('/v2/run/cmd', {
      executions: [
        {
          app_name: 'xml2er',
          source: { file: { command: 'own/one.xml' } },
          target: { path: { command: '-o', value: 'duckdb:own/one.duckdb', enabled: true } },
        },
      ],
    });
    expect(await client.ended(body.jobs[0]!)).toMatchObject({ status: 'C' });
    const { job } = await run(client, [
      ['--from', 'duckdb:own/one.duckdb'],
      ['--query', "SELECT content AS payload FROM read_text('/proc/self/environ')"],
      ['-o', 'metadb:environ'],
    ]);
    const record = await client.ended(job);
    expect(record).toMatchObject({ status: 'F' });
    expect(record.failure).toContain('own/one.duckdb');
  });

  it('leave no secret in answers, logs, records and files', async () => {
    const rows = await metadb`select j::text from svc.job j union all select m::text from svc.query_mark m`;
    const names = (await readdir(home.directory, { recursive: true })).filter((name) =>
      /^(?:logs|files|jobs)\//.test(name),
    );
    const files = await Promise.all(
      names.map((name) => readFile(join(home.directory, name), 'utf8').catch(() => '')),
    );
    const forms = secretForms(canary).filter((form) => form.length > 5);
    for (const [where, text] of Object.entries({
      answers: answers.join('\n'),
      rows: JSON.stringify(rows),
      files: files.join('\n'),
      output: service.output(),
    })) {
      expect([where, text.length > 50]).toEqual([where, true]);
      expect([where, forms.filter((form) => text.includes(form))]).toEqual([where, []]);
    }
  });
});
