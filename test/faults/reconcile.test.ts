/**
 * A job whose worker died between the commit of its rows and the word of its tool: the target is asked, and the job ends C, once.
 * The moment itself is too short to be met by chance, so the record is put back to it.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../support/service/start.ts';
import { execution } from '../support/service/client.ts';
import { freightDocumentFolder, freightXsdFolder } from '../support/service/fixtures.ts';
import { shortLeases } from '../support/service/leases.ts';
import { convert } from '../support/service/tools.ts';
import { needs, some } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

describe('a job left while it published', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let origin: number;

  beforeAll(async () => {
    home = await trial.home({ ...shortLeases, 'svc.files.roots': '/', 'svc.allow.hosts': '*' });
    origin = (await convert(home, 'xsd2er', freightXsdFolder, '-g', '1')).origin!;
    service = await trial.service(home);
    sql = await trial.metadb(home);
    await sql.unsafe('create database elsewhere');
  });

  const targets: readonly (readonly [string, () => Promise<string>, () => Promise<void>])[] = [
    ['metadb', async () => 'metadb:left', async () => void (await sql`drop schema "left" cascade`)],
    [
      'postgresql',
      async () => (await home.databaseUrl()).replace(/\/postgres$/, '/elsewhere?schema=left'),
      async () => {
        const there = connectPostgres((await home.databaseUrl()).replace(/\/postgres$/, '/elsewhere'), {
          applicationName: 'test',
          max: 1,
        });
        await there`drop schema "left" cascade`;
        await there.end();
      },
    ],
    [
      'folder',
      async () => join(home.directory, 'files', '1', 'left'),
      () => rm(join(home.directory, 'files', '1', 'left'), { recursive: true }),
    ],
    [
      'duckdb',
      async () => `duckdb:${join(home.directory, 'files', '1', 'left.duckdb')}`,
      () => rm(join(home.directory, 'files', '1', 'left.duckdb')),
    ],
  ];

  it.each(some(targets, 1))(
    '%s: C where the rows are there, tried again where they are not',
    needs('whole run'),
    async (_, target, wipe) => {
      const { client } = service;
      const run = await client.run([
        execution(
          'xml2er',
          `${freightDocumentFolder}/manifest-1.xml`,
          [['-o', await target()]],
          String(origin),
        ),
      ]);
      const idJob = run.jobs[0]!;
      const first = await client.ended(idJob);
      expect(first, first.failure ?? '').toMatchObject({ status: 'C', attempt: 1 });
      const summary = await summaryOf(idJob);

      await leave(idJob);
      const adopted = await client.ended(idJob);
      expect(adopted, adopted.failure ?? '').toMatchObject({ status: 'C', attempt: 1, failure: null });
      expect(await client.log(idJob)).toContain('had published its rows');
      expect(await summaryOf(idJob)).toEqual(summary);

      await wipe();
      await leave(idJob);
      const again = await client.ended(idJob);
      expect(again, again.failure ?? '').toMatchObject({ status: 'C', attempt: 2, failure: null });
      expect(await client.log(idJob)).toContain('had published nothing');
      expect(await tablesOf(idJob)).toEqual((summary as { tables: unknown }).tables);
    },
  );

  const removals: readonly (readonly [string, () => string, readonly [string, string][]])[] = [
    ['a SQL schema', () => 'metadb:removed', []],
    ['Delta tables', () => join(home.directory, 'files', '1', 'removed'), [['-f', 'delta']]],
  ];
  it.each(removals)(
    'a document taken out of %s is known to be gone',
    needs('whole run'),
    async (_, target, format) => {
      const { client } = service;
      const document = `${freightDocumentFolder}/manifest-1.xml`;
      const load = await client.run([
        execution('xml2er', document, [['-o', target()], ...format], String(origin)),
      ]);
      expect(await client.ended(load.jobs[0]!)).toMatchObject({ status: 'C' });
      const run = await client.run([
        {
          app_name: 'unload',
          target: {
            format: [
              { command: '-i', enabled: true, value: target() },
              { command: '-D', enabled: true, value: 'manifest-1.xml' },
            ],
          },
        },
      ]);
      const idJob = run.jobs[0]!;
      const first = await client.ended(idJob);
      expect(first, first.failure ?? '').toMatchObject({ status: 'C', attempt: 1 });
      await leave(idJob);
      expect(await client.ended(idJob)).toMatchObject({ status: 'C', attempt: 1, failure: null });
      expect(await client.log(idJob)).toContain('had published its rows');
    },
  );

  it('killed meanwhile: C where the rows are there, K where they are not', needs('whole run'), async () => {
    const { client } = service;
    const run = await client.run([
      execution(
        'xml2er',
        `${freightDocumentFolder}/manifest-1.xml`,
        [['-o', 'metadb:killed']],
        String(origin),
      ),
    ]);
    const idJob = run.jobs[0]!;
    expect(await client.ended(idJob)).toMatchObject({ status: 'C', attempt: 1 });
    await leave(idJob, 'T');
    expect(await client.ended(idJob)).toMatchObject({ status: 'C', failure: null });
    await sql`drop schema killed cascade`;
    await leave(idJob, 'T');
    expect(await client.ended(idJob)).toMatchObject({ status: 'K', failure: 'killed on request' });
  });

  /** As a worker leaves it that dies there. The rules of the table are put aside for it. */
  async function leave(idJob: number, status: 'R' | 'T' = 'R'): Promise<void> {
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        update svc.job set status = ${status}, committing = true, end_date = null, slot = null, worker_id = 'dead',
               failure = ${status === 'T' ? 'killed on request' : null}, lease_until = clock_timestamp()
         where id_job = ${idJob}`;
    });
  }

  async function summaryOf(idJob: number): Promise<unknown> {
    const [row] = await sql<{ summary: string }[]>`select summary from svc.job where id_job = ${idJob}`;
    return JSON.parse(row!.summary);
  }

  async function tablesOf(idJob: number): Promise<unknown> {
    return ((await summaryOf(idJob)) as { tables: unknown }).tables;
  }
});
