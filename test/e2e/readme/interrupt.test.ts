/** Tools run by hand and ended in the middle: the record says so at once, nothing stays behind, and the log is readable over REST. */
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert, startTool, type StartedTool } from '../../support/service/tools.ts';
import { eventually } from '../../support/service/waiting.ts';
import { isHere, needs, some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="rows"><xs:complexType><xs:sequence>
  <xs:element name="row" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="text" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
</xs:sequence></xs:complexType></xs:element></xs:schema>`;

/** A load of so many rows still runs when a test interrupts it, or blocks its main thread. */
const [pieces, rowsOfPiece] = isHere('whole run') ? [150, 20_000] : [50, 20_000];
/** for which the main thread computes: some leases */
const blockedMs = 6000;

describe('a tool by hand that is interrupted', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let large: string;
  let small: string;
  let origin: string;

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = connectPostgres(await home.databaseUrl(), { applicationName: 'interrupt test' });
    await mkdir(join(home.directory, 'in'));
    large = join(home.directory, 'in', 'large.xml');
    small = join(home.directory, 'in', 'small.xml');
    const schema = join(home.directory, 'in', 'rows.xsd');
    await writeFile(schema, xsd);
    await writeFile(small, '<rows><row><text>one</text></row></rows>');
    const out = createWriteStream(large);
    out.write('<rows>');
    const piece = '<row><text>some words of a row</text></row>\n'.repeat(rowsOfPiece);
    for (let written = 0; written < pieces; written += 1)
      if (!out.write(piece)) await new Promise((resolve) => out.once('drain', resolve));
    out.end('</rows>');
    await finished(out);
    origin = String((await convert(home, 'xsd2er', schema)).origin);
  });

  afterAll(async () => {
    await sql?.end();
  });

  const latest = async () => {
    const [row] = await sql<{ id_job: number }[]>`select max(id_job)::int as id_job from svc.job`;
    return row!.id_job;
  };
  /** Begun, and so far that the log holds the line. */
  async function begun(tool: StartedTool, line: RegExp, before: number): Promise<number> {
    let ended = false;
    void tool.ended.then(() => (ended = true));
    return eventually('the job is on its way', async () => {
      const job = await latest();
      if (ended) throw new Error('the tool ended by itself');
      return job > before && line.test(await service.client.log(job)) ? job : null;
    });
  }
  const endings: readonly [signal: NodeJS.Signals, code: number, ...argv: string[]][] = [
    ['SIGINT', 130, '-o', 'metadb:interrupted'],
    ['SIGTERM', 143, '-o', 'metadb:interrupted', '--workers', '2', '--row-tag', 'row'],
    ['SIGHUP', 129, '-e', 's'],
  ];
  it.each(some(endings, 1))(
    '%s ends it with %i, killed and without a trace',
    async (signal, code, ...argv) => {
      const before = await latest();
      const tool = startTool(home, 'xml2er', [large, '-x', origin, ...argv]);
      const job = await begun(tool, argv.includes('-o') ? /^loading into/m : /started, job/, before);
      // statistics alone of this document are soon whole
      await delay(argv.includes('-o') ? 500 : 100);
      process.kill(tool.pid, signal);
      const record = await eventually('the job ends', async () => {
        const now = await service.client.job(job);
        return now.end_date === null ? null : now;
      });
      expect(record).toMatchObject({
        status: 'K',
        failure: 'interrupted; nothing was published',
        log_file: `logs/job-${job}.log`,
      });
      const run = await tool.ended;
      expect([run.code, run.stdout, run.stderr]).toEqual([
        code,
        expect.stringMatching(/^interrupted; nothing was published$/m),
        '',
      ]);
      expect(await service.client.log(job)).toBe(run.stdout);
      const tables = await sql`select from information_schema.tables where table_schema = 'interrupted'`;
      expect(tables).toHaveLength(0);
    },
  );

  it('a program that checks documents ends, too', needs('whole run'), async () => {
    const before = await latest();
    const tool = startTool(home, 'xml2er', [large, '-x', origin, '-o', 'metadb:checked', '--validate']);
    const job = await begun(tool, /^checking the documents with/m, before);
    if ((await service.client.log(job)).includes('xmllint'))
      await eventually('the program runs', async () =>
        (await childrenOf(tool.pid)).includes('xmllint') ? true : null,
      );
    process.kill(tool.pid, 'SIGINT');
    expect((await tool.ended).code).toBe(130);
    expect(await service.client.job(job)).toMatchObject({ status: 'K' });
    const left = await readdir('/proc');
    const programs = await Promise.all(
      left
        .filter((entry) => /^\d+$/.test(entry))
        .map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
    );
    expect(programs.filter((line) => line.startsWith('xmllint') && line.includes(home.directory))).toEqual(
      [],
    );
  });

  it('one that waits for its input ends', needs('whole run'), async () => {
    const before = await latest();
    const tool = startTool(home, 'xml2er', ['-', '-x', origin, '-o', 'metadb:piped'], null);
    const job = await begun(tool, /started, job/, before);
    process.kill(tool.pid, 'SIGINT');
    expect((await tool.ended).code).toBe(130);
    expect(await service.client.job(job)).toMatchObject({ status: 'K' });
  });

  it('one that computes for longer than its lease goes on', async () => {
    const blocking = join(home.directory, 'in', 'blocking.mjs');
    await writeFile(
      blocking,
      `import { isMainThread } from 'node:worker_threads';
      // the main thread alone, once the run is longer than one that has no heartbeat thread
      if (isMainThread && process.argv[1].endsWith('xml2er.mjs'))
        setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${blockedMs}), 2500);`,
    );
    const argv = [large, '-x', origin, '-o', 'metadb:computed', '--row-tag', 'row', '--json'];
    const environment = {
      NODE_OPTIONS: `--import=${blocking}`,
      SVC_LIMITS_LEASE: '2s',
      SVC_LIMITS_HEARTBEAT: '500ms',
    };
    const { code, stdout, summary } = await startTool(home, 'xml2er', argv, '', environment).ended;
    expect([code, stdout]).toEqual([0, expect.not.stringContaining('taken over')]);
    expect(summary).toMatchObject({ status: 'C', documents: pieces * rowsOfPiece });
    expect(summary!.seconds).toBeGreaterThan(blockedMs / 1000);
  });

  it('what is being published then is told to be complete', needs('whole run'), async () => {
    // to commit takes long
    await sql`create function slow_fence() returns trigger language plpgsql as
      $$ begin perform pg_sleep(3); return new; end $$`;
    await sql`create trigger slow_fence before update of committing on svc.job for each row
      when (new.committing and not old.committing) execute function slow_fence()`;
    const before = await latest();
    const tool = startTool(home, 'xml2er', [small, '-x', origin, '-o', 'metadb:late', '--json']);
    const job = await eventually('the job is there', async () =>
      (await latest()) > before ? latest() : null,
    );
    await eventually('it commits', async () => {
      const [now] = await sql<{ n: number }[]>`
        select count(*)::int as n from pg_stat_activity where state = 'active' and query like '%committing = true%' and pid <> pg_backend_pid()`;
      return now!.n > 0 ? true : null;
    });
    process.kill(tool.pid, 'SIGINT');
    const run = await tool.ended;
    await sql`drop function slow_fence cascade`;
    expect([run.code, run.stdout]).toEqual([
      0,
      expect.stringMatching(/^interrupted when its rows had been published: the job is complete$/m),
    ]);
    expect(await service.client.job(job)).toMatchObject({ status: 'C', failure: null });
    expect(await sql`select from late.row`).toHaveLength(1);
  });
});

async function childrenOf(pid: number): Promise<string[]> {
  const names: string[] = [];
  for (const entry of await readdir('/proc')) {
    const stat = /^\d+$/.test(entry) ? await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '') : '';
    const [, name, , ppid] = /^\d+ \((.*)\) (\S) (\d+)/.exec(stat) ?? [];
    if (Number(ppid) === pid) names.push(name!);
  }
  return names;
}
