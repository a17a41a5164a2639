/** A target outside of the service's own database, and the password that opens it. */
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { zipped } from '../../support/service/archives.ts';
import { execution } from '../../support/service/client.ts';
import { startExternalPostgres, type ExternalPostgres } from '../../support/service/external-postgres.ts';
import {
  filesBelow,
  freightDocumentFolder,
  freightDocuments,
  freightXsdFolder,
} from '../../support/service/fixtures.ts';
import { expectDocumentsIn, leftovers, readSchema } from '../../support/service/schema.ts';
import { runTool } from '../../support/service/tools.ts';
import { needs } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const longText = (_: unknown, row: number): string =>
  `<text>${`${row} it was a dark night. `.repeat(120)}</text>`;

describe('an external PostgreSQL', { timeout: 120_000, ...needs('postgresql') }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let external: ExternalPostgres;

  beforeAll(async () => {
    external = await startExternalPostgres();
    home = await trial.home({ 'svc.allow.hosts': external.address });
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  afterAll(async () => {
    await external?.stop();
  });

  it.each(['pglz', 'lz4'])('compresses long values as its owner wishes, else by LZ4 (%s)', async (chosen) => {
    const { sql: owner, url } = external;
    await owner.unsafe(`create role ${chosen}_loader superuser login password 'night'`);
    // what somebody sets is heeded; a default of the server's is not
    if (chosen === 'pglz') await owner.unsafe(`alter role pglz_loader set default_toast_compression = pglz`);
    const target = new URL(url);
    target.username = `${chosen}_loader`;
    target.password = 'night';
    const documents = await mkdtemp(join(tmpdir(), 'long-values-'));
    try {
      for (const [name, rows] of Object.entries({ small: 10, large: 1500 })) {
        const path = join(documents, `${name}.xml`);
        await writeFile(path, `<texts>${Array.from({ length: rows }, longText).join('')}</texts>`);
        const run = await runTool(home, 'xml2er', [path, '-o', `${target.href}?schema=${chosen}_${name}`]);
        expect(run.code, run.stdout + run.stderr).toBe(0);
        const used = await owner.unsafe(
          `select distinct pg_column_compression(value) as method from ${chosen}_${name}.text`,
        );
        expect([...used]).toEqual([{ method: chosen }]);
      }
    } finally {
      await rm(documents, { recursive: true });
    }
  });

  it('takes the rows, and its password shows nowhere', async () => {
    const { client } = service;
    const secret = 'c4nary/s%cret:@w&rd';
    const { sql: owner } = external;
    await owner.unsafe(`create role loader login password '${secret}'`);
    await owner.unsafe('create database lake owner loader');
    const seen: string[] = [];
    const watch = setInterval(() => void readProcesses().then((found) => seen.push(...found)), 10);
    try {
      const path = await client.upload(
        'xml',
        'all.zip',
        zipped(freightDocuments.map(({ name, text }) => ({ name, bytes: utf8.encode(text) }))),
      );
      const xsdPath = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
      const target = `postgresql://${external.address}/lake?schema=freight`;
      const run = await client.run([
        execution('xsd2er', xsdPath, [['-g', '1']]),
        execution(
          'xml2er',
          path,
          [
            ['-o', target],
            ['-u', 'loader'],
            ['-p', secret],
          ],
          '$0',
        ),
      ]);
      const job = await client.ended(run.jobs[1]!);
      expect(job, job.failure ?? '').toMatchObject({ status: 'C', parm_path_output: target });
      expect(job.params).toContain(`-u loader -p '***'`);
      const url = new URL(external.url);
      url.pathname = '/lake';
      const lake = connectPostgres(url.href, { applicationName: 'test', max: 2 });
      try {
        await expectDocumentsIn(lake, 'freight', await readSchema(client, job.id_sch!), freightDocuments);
        expect(await leftovers(lake)).toEqual([]);
      } finally {
        await lake.end({ timeout: 1 });
      }

      const wrong = await client.run([
        execution(
          'xml2er',
          path,
          [
            ['-o', target],
            ['-u', 'loader'],
            ['-p', `${secret}-wrong`],
          ],
          String(job.id_sch),
        ),
      ]);
      const refused = await client.ended(wrong.jobs[0]!);
      expect(refused.status).toBe('F');
      expect(refused.failure).toContain('loader');

      const address = `postgresql://loader:${encodeURIComponent(secret)}@${external.address}/lake?schema=by_hand`;
      const manifest = join(freightDocumentFolder, 'manifest-1.xml');
      const byHand = await runTool(home, 'xml2er', [manifest, '-x', String(job.id_sch), '-o', address]);
      expect(byHand.code, byHand.stdout + byHand.stderr).toBe(0);

      const answers = await Promise.all(
        ['/v2/executions/all', '/v2/workflow/all', `/v2/workflow/${wrong.id_workflow}`, '/v2/schema/all'].map(
          async (page) => (await client.fetch(page)).text(),
        ),
      );
      // whoever starts a tool by hand shows what he writes
      const ofService = seen.filter((line) => !line.includes('by_hand'));
      const logs = await readTexts(join(home.directory, 'logs'));
      const rows = await everyRow(sql);
      expect(seen.some((line) => line.includes(`xml2er.mjs -j ${job.id_job}`))).toBe(true);
      expect(logs.join('')).toContain('loading into postgresql://');
      expect(rows).toContain(`"id_job":${job.id_job}`);
      for (const place of [
        ...answers,
        ...logs,
        rows,
        service.output(),
        byHand.stdout,
        byHand.stderr,
        ...ofService,
      ]) {
        expect(place).not.toContain(secret);
        expect(place).not.toContain(encodeURIComponent(secret));
        expect(place).not.toContain('c4nary');
      }
    } finally {
      clearInterval(watch);
    }
  });
});

/** Command lines of what runs now. */
async function readProcesses(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
  );
  return lines.filter((line) => line !== '').map((line) => line.replaceAll('\0', ' '));
}

async function readTexts(folder: string): Promise<string[]> {
  return Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
}

/** Every row of the service's own tables, as text. */
async function everyRow(sql: Sql): Promise<string> {
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.tables where table_schema = 'svc'`;
  const texts: string[] = [];
  for (const { name } of tables) {
    const rows = await sql<{ text: string }[]>`select row_to_json(t)::text as text from svc.${sql(name)} t`;
    texts.push(...rows.map(({ text }) => text));
  }
  return texts.join('\n');
}
