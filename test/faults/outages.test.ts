/** Targets whose servers stop and come back, and servers that never answered: who waits, for how long, and what the record says. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../src/postgres/connect.ts';
import { mariadbParts, startDurableMariadb, type TestMariadb } from '../support/servers/mariadb.ts';
import { execution, type JobAnswer } from '../support/service/client.ts';
import { freePort, startExternalPostgres } from '../support/service/external-postgres.ts';
import type { RunningService } from '../support/service/start.ts';
import { endedWithoutPauses, tryAgainNow } from '../support/service/retries.ts';
import { eventually } from '../support/service/waiting.ts';
import { writeLargeDocument } from '../support/documents/large.ts';
import { isHere, needs } from '../support/needs.ts';
import { useTrial } from '../support/service/trial.ts';

interface StoppableServer {
  readonly address: string;
  /** for `-o`, with its credentials as options */
  target(name: string): readonly (readonly [string, string])[];
  /** whether rows are on their way */
  isLoading(): Promise<boolean>;
  halt(): Promise<void>;
  resume(): Promise<void>;
  stop(): Promise<void>;
  /** rows of a table of one of the targets */
  count(name: string, table: string): Promise<number>;
}

async function postgresServer(): Promise<StoppableServer> {
  const server = await startExternalPostgres();
  const { password } = new URL(server.url);
  return {
    ...server,
    isLoading: async () =>
      (await server.sql`select from pg_stat_activity where query ilike 'copy%' and state = 'active'`).length >
      0,
    target: (name) => [
      ['-o', `postgresql://${server.address}/postgres?schema=${name}&sslmode=disable`],
      ['-u', 'owner'],
      ['-p', password],
    ],
    count: async (name, table) =>
      Number((await server.sql.unsafe(`select count(*) as n from ${name}.${table}`))[0]!['n']),
  };
}

async function mariadbServer(): Promise<StoppableServer> {
  const port = await freePort();
  const server: TestMariadb = await startDurableMariadb(port);
  await server.run('CREATE DATABASE first; CREATE DATABASE second; CREATE DATABASE third;');
  return {
    ...server,
    isLoading: async () => (await server.run('SHOW FULL PROCESSLIST;')).includes('LOAD DATA'),
    address: `127.0.0.1:${port}`,
    target: (name) => [
      ['-o', `mysql://127.0.0.1:${port}/${name}?sslmode=disable`],
      ['-u', 'root'],
    ],
    count: async (name, table) =>
      Number((await server.run(`SELECT count(*) FROM ${table};`, undefined, name)).trim().split('\n')[1]),
  };
}

describe.each([
  ['PostgreSQL', postgresServer, needs('postgresql')],
  ['MariaDB', mariadbServer, needs(mariadbParts)],
] as const)('a target on %s', (_, startServer, needed) => {
  describe('whose server is away', { timeout: 240_000, ...needed }, () => {
    const trial = useTrial();
    let server: StoppableServer;
    let service: RunningService;
    let metadb: Sql;
    let folder: string;
    let small: string;
    let nowhere: string;

    beforeAll(async () => {
      server = trial.keep(await startServer(), (each) => each.stop());
      nowhere = `127.0.0.1:${await freePort()}`;
      folder = await trial.folder('outages-');
      const home = await trial.home({
        'svc.files.roots': folder,
        'svc.limits.attempts': '1',
        'svc.allow.hosts': `${server.address},${nowhere}`,
      });
      service = await trial.service(home);
      metadb = await trial.metadb(home);
      small = join(folder, 'small.xml');
      await writeFile(small, '<items><item><name>a</name></item><item><name>b</name></item></items>');
    }, 120_000);

    const load = async (options: readonly (readonly [string, string])[], input = small): Promise<number> =>
      (await service.client.run([execution('xml2er', input, options)])).jobs[0]!;
    const waiting = (idJob: number): Promise<JobAnswer> =>
      eventually(`job ${idJob} waits`, async () => {
        const job = await service.client.job(idJob);
        expect(['Q', 'R', 'W'], job.failure ?? '').toContain(job.status);
        return job.status === 'W' ? job : null;
      });
    const metric = async (name: string): Promise<number> => {
      const text = await (await service.client.fetch('/actuator/prometheus')).text();
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    };

    it('fails soon where no server ever answered', async () => {
      const [[, target]] = server.target('first') as [readonly [string, string]];
      const options = [['-o', target.replace(server.address, nowhere)], ...server.target('first').slice(1)];
      const began = performance.now();
      const job = await service.client.ended(await load(options as (readonly [string, string])[]));
      expect(job.status).toBe('F');
      expect(job.failure).toContain(nowhere);
      expect(job.failure).not.toContain('waiting since');
      expect(performance.now() - began).toBeLessThan(60_000);
    });

    it('is waited for without losing attempts, and loaded when it is back; a kill ends the wait at once', async () => {
      expect(await service.client.ended(await load(server.target('first')))).toMatchObject({ status: 'C' });
      await server.halt();
      const [idJob, killed] = [await load(server.target('first')), await load(server.target('first'))];
      const before = await waiting(idJob);
      expect(before.failure).toMatch(
        /^waiting since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ, until \d{4}-\S+Z at the latest: \S*127\.0\.0\.1/,
      );
      await waiting(killed);
      const asked = performance.now();
      await service.client.fetch(`/v2/executions/kill/${killed}`, { method: 'POST' });
      expect(await service.client.ended(killed)).toMatchObject({ status: 'K' });
      expect(performance.now() - asked).toBeLessThan(2_000);
      expect(await metric('svc_outage_waiting_jobs')).toBe(1);
      expect(await metric('svc_outage_wait_seconds')).toBeGreaterThan(0);
      // more tries than there are attempts
      await tryAgainNow(metadb);
      const lines = await eventually('the second try', async () => {
        const found = (await service.client.log(idJob)).match(/^.*waiting since .*$/gm) ?? [];
        return found.length > 1 ? found : null;
      });
      expect(lines[1]).toMatch(/svc\.limits\.outage_wait.*next try in \d+ s/);
      // the wait began once
      expect(/since (\S+),/.exec(lines[1]!)?.[1]).toBe(/since (\S+),/.exec(lines[0]!)?.[1]);
      await server.resume();
      const job = await endedWithoutPauses(service.client, metadb, idJob);
      expect(job, job.failure ?? '').toMatchObject({ status: 'C', attempt: 1, failure: null });
      expect(await server.count('first', 'item')).toBe(4);
      expect(await metric('svc_outage_waiting_jobs')).toBe(0);
    });

    it('is waited for by a load that loses it half way, and has the rows once', async () => {
      const large = await writeLargeDocument(join(folder, 'large.xml'), isHere('whole run') ? 80e6 : 40e6);
      const idJob = await load(server.target('second'), large.path);
      await eventually('rows on their way', async () => {
        const job = await service.client.job(idJob);
        expect(['Q', 'R'], job.failure ?? '').toContain(job.status);
        return (await server.isLoading()) || null;
      });
      await server.halt();
      await waiting(idJob);
      await server.resume();
      const job = await endedWithoutPauses(service.client, metadb, idJob);
      expect(job, job.failure ?? '').toMatchObject({ status: 'C', attempt: 1 });
      expect(await server.count('second', 'shipment')).toBe(large.shipments);
    });
  });

  describe('that stays away', { timeout: 120_000, ...needed }, () => {
    const trial = useTrial();

    it('ends the job when svc.limits.outage_wait is over, and the record says so', async () => {
      const server = trial.keep(await startServer(), (each) => each.stop());
      const folder = await trial.folder('outages-');
      const home = await trial.home({
        'svc.files.roots': folder,
        'svc.limits.attempts': '3',
        'svc.limits.outage_wait': '1 s',
        'svc.allow.hosts': server.address,
      });
      const { client } = await trial.service(home);
      const metadb = await trial.metadb(home);
      const small = join(folder, 'small.xml');
      await writeFile(small, '<items><item><name>a</name></item></items>');
      const load = async (): Promise<JobAnswer> => {
        const { jobs } = await client.run([execution('xml2er', small, server.target('third'))]);
        return endedWithoutPauses(client, metadb, jobs[0]!);
      };
      expect(await load()).toMatchObject({ status: 'C' });
      await server.halt();
      const job = await load();
      expect(job).toMatchObject({ status: 'F', attempt: 1 });
      expect(job.failure).toMatch(
        /127\.0\.0\.1.*; the job has waited since \S+Z, .*svc\.limits\.outage_wait/,
      );
    });
  });
});
