/** Documents that are not well-formed: the job fails with the place, and the target is as it was. */
import { join } from 'node:path';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { tarGzipped, zipped } from '../../support/service/archives.ts';
import { execution, type JobAnswer } from '../../support/service/client.ts';
import { filesBelow, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { expectDocumentsIn, leftovers, readSchema, tablesOf } from '../../support/service/schema.ts';
import { runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const good = freightDocuments[0]!.text;

/** What is wrong with each, and where: lines and columns from 1, columns in characters. */
const malformed: readonly {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly line: number;
  readonly column: number;
}[] = [
  { name: 'truncated', bytes: utf8.encode('<a>\n  <b>text'), line: 2, column: 10 },
  { name: 'wrong-end-tag', bytes: utf8.encode('<a>\n <b>\n  </c>\n</a>'), line: 3, column: 3 },
  {
    name: 'invalid-utf-8',
    bytes: Uint8Array.from([...utf8.encode('<a>\n<b>é'), 0xff, ...utf8.encode('</b></a>')]),
    line: 2,
    column: 5,
  },
  { name: 'bare-ampersand', bytes: utf8.encode('<a>\n\n b & c</a>'), line: 3, column: 4 },
  { name: 'two-roots', bytes: utf8.encode('<a/>\n<b/>'), line: 2, column: 1 },
  { name: 'twice-the-attribute', bytes: utf8.encode('<a>\n<b x="1" x="2"/></a>'), line: 2, column: 10 },
  { name: 'unbound-prefix', bytes: utf8.encode('<a>\n  <p:b/></a>'), line: 2, column: 3 },
  { name: 'empty', bytes: new Uint8Array(0), line: 1, column: 1 },
  { name: 'forbidden-character', bytes: utf8.encode('<a>\n<b>&#0;</b></a>'), line: 2, column: 4 },
];

describe('malformed input', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let origin = 0;

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
    const path = await service.client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
    const run = await service.client.run([execution('xsd2er', path)]);
    origin = (await service.client.ended(run.jobs[0]!)).id_sch!;
  });

  /** Runs one xml2er into `metadb:NAME`. */
  async function load(path: string, sqlSchema: string, ...options: [string, string][]): Promise<JobAnswer> {
    const all = [['-o', `metadb:${sqlSchema}`] as const, ...options];
    const run = await service.client.run([execution('xml2er', path, all, String(origin))]);
    return service.client.ended(run.jobs[0]!);
  }

  it.each(malformed)('$name: F with line $line, column $column', async ({ name, bytes, line, column }) => {
    const folder = await mkdtemp(join(tmpdir(), 'malformed-'));
    try {
      const path = join(folder, `${name}.xml`);
      await writeFile(path, bytes);
      const { code, stdout, summary } = await runTool(home, 'xml2er', [
        path,
        '-o',
        'metadb:not_made',
        '--json',
      ]);
      expect(code).toBe(1);
      expect(stdout).toContain(`failed: ${name}.xml`);
      expect(stdout).toContain(`line ${line}, column ${column}`);
      expect(summary).toMatchObject({ status: 'F', documents: 0, rows: 0, tables: {} });
      expect(await service.client.job(summary!.job!)).toMatchObject({
        status: 'F',
        failure: expect.stringContaining(`line ${line}, column ${column}`),
      });
      expect(await tablesOf(sql, 'not_made')).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('by REST: one that breaks off near its end leaves no row and no table', async () => {
    const broken = utf8.encode(good.slice(0, good.lastIndexOf('<totals')));
    const path = await service.client.upload('xml', 'broken.xml', broken);
    const job = await load(path, 'broken');
    expect(job).toMatchObject({ status: 'F', attempt: 1, end_date: expect.any(Number) });
    const lines = new TextDecoder().decode(broken).split('\n');
    expect(job.failure).toContain(`line ${lines.length}, column ${lines.at(-1)!.length + 1}`);
    expect(job.failure).toContain('broken.xml');
    expect(await service.client.log(job.id_job)).toContain(`failed: ${job.failure}`);
    expect(await tablesOf(sql, 'broken')).toEqual([]);
    expect(await leftovers(sql)).toEqual([]);
  });

  const mixed = [
    { name: 'a.xml', bytes: utf8.encode(good) },
    { name: 'b.xml', bytes: utf8.encode(good.replace('</shipper>', '</shiper>')) },
    { name: 'c.xml', bytes: utf8.encode(freightDocuments[1]!.text) },
    { name: 'd.xml', bytes: utf8.encode(good.slice(0, 700)) },
  ];

  it('one bad document among good ones: nothing of the job is published', async () => {
    const before = await load(await service.client.upload('xml', 'one.xml', utf8.encode(good)), 'among');
    expect(before.status).toBe('C');
    const path = await service.client.upload('xml', 'mixed.zip', zipped(mixed));
    expect((await load(path, 'among')).status).toBe('F');
    expect((await load(path, 'among', ['-S', 'o'])).failure).toMatch(/b\.xml.*line 1\d, column \d+/);
    await expectDocumentsIn(sql, 'among', await readSchema(service.client, origin), [
      { name: 'one.xml', text: good },
    ]);
    expect(await leftovers(sql)).toEqual([]);
  });

  it('--on-error skip: the good ones are published, the others listed with their place', async () => {
    const path = await service.client.upload('xml', 'mixed.tgz', await tarGzipped(mixed));
    const job = await load(path, 'skipping', ['--on-error', 'skip']);
    expect(job).toMatchObject({ status: 'C', msg_proc_qty: 2 });
    const log = await service.client.log(job.id_job);
    expect(log).toMatch(/rejected: b\.xml.*line 1\d, column \d+/);
    expect(log).toMatch(/rejected: d\.xml.*line \d+, column \d+/);
    expect(log).toContain('loaded 2, unknown root 0, rejected 2, ');
    await expectDocumentsIn(sql, 'skipping', await readSchema(service.client, origin), [
      { name: 'a.xml', text: good },
      { name: 'c.xml', text: freightDocuments[1]!.text },
    ]);
  });

  it('--on-error skip where all are bad: F, and no table', async () => {
    const path = await service.client.upload('xml', 'bad.zip', zipped([mixed[1]!, mixed[3]!]));
    const job = await load(path, 'all_bad', ['--on-error', 'skip']);
    expect(job.status).toBe('F');
    expect(job.failure).toMatch(/line \d+, column \d+/);
    expect(await tablesOf(sql, 'all_bad')).toEqual([]);
  });

  it('a broken archive, and an archive without documents: F with the reason', async () => {
    const packed = gzipSync(utf8.encode(good));
    const cut = await service.client.upload('xml', 'cut.xml.gz', new Uint8Array(packed.subarray(0, 400)));
    const broken = await load(cut, 'cut');
    expect(broken).toMatchObject({ status: 'F', failure: expect.stringContaining('cut.xml') });
    const none = await service.client.upload(
      'xml',
      'none.zip',
      zipped([{ name: 'a.txt', bytes: utf8.encode('x') }]),
    );
    const empty = await load(none, 'cut');
    expect(empty.status).toBe('F');
    expect(empty.failure).toMatch(/./);
    expect(await tablesOf(sql, 'cut')).toEqual([]);
  });

  it('a broken XSD set: F with file, line and column, and no schema', async () => {
    const files = filesBelow(freightXsdFolder).map(({ name, bytes }) => ({
      name,
      bytes: name.endsWith('party.xsd')
        ? utf8.encode(new TextDecoder().decode(bytes).replace('type="p:Address"', 'type="p:Adress"'))
        : bytes,
    }));
    const path = await service.client.upload('xsd', 'broken.zip', zipped(files));
    const schemas = await service.client.get<unknown[]>('/v2/schema/all');
    const run = await service.client.run([
      execution('xsd2er', path),
      execution(
        'xml2er',
        await service.client.upload('xml', 'a.xml', utf8.encode(good)),
        [['-o', 'metadb:never']],
        '$0',
      ),
    ]);
    const second = await service.client.ended(run.jobs[1]!);
    const job = await service.client.job(run.jobs[0]!);
    expect(job).toMatchObject({ status: 'F', id_sch: null, id_lschma: null });
    expect(job.failure).toMatch(/common\/party\.xsd.*line 7, column \d+/);
    expect(job.failure).toContain('Adress');
    expect(second).toMatchObject({
      status: 'K',
      start_date: null,
      failure: expect.stringContaining(`job ${job.id_job}`),
    });
    expect(await service.client.get<unknown[]>('/v2/schema/all')).toEqual(schemas);
  });
});
