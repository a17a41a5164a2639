/**
 * Secrets for places that documents come from and rows go to: put through every door that takes one, rightly and wrongly written, at servers that
 * repeat what they are sent; then looked for wherever something is kept, shown or told.
 */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSilentServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { some } from '../../support/needs.ts';
import { startEventReceiver, type EventReceiver } from '../../support/servers/event-receiver.ts';
import { execution, type Options, type RunAnswer } from '../../support/service/client.ts';
import {
  projectRoot,
  serviceEnvironment,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { withoutPauses } from '../../support/service/retries.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient } from '../../support/service/watches.ts';
import { canary, echo, found, nobody, raw, readFiles, readProcesses } from './canary.ts';
import { credentialsOf, loadsOf, wrongCredentials, wrongly, wrongTargets } from './doors.ts';

describe('canaries', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let receiver: EventReceiver;
  let sql: Sql;
  let host: string;
  /** where nobody says a word */
  let silentHost: string;
  let input: string;
  let temporary: string;
  const answers: string[] = [];
  const processes = new Set<string>();
  const kept = new Map<string, string>();

  beforeAll(async () => {
    const web = createServer(echo);
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    trial.keep(web, (one) => new Promise((resolve) => (one.closeAllConnections(), one.close(resolve))));
    host = `127.0.0.1:${(web.address() as AddressInfo).port}`;
    // it keeps whoever asks waiting for a while, with what they have written for that
    const silent = createSilentServer((socket) => void setTimeout(() => socket.destroy(), 1500));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    trial.keep(silent, (one) => new Promise((resolve) => one.close(resolve)));
    silentHost = `127.0.0.1:${(silent.address() as AddressInfo).port}`;
    receiver = trial.keep(await startEventReceiver(), (one) => one.close());
    temporary = await trial.folder('canaries-');
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.worker.concurrency': '4',
      'svc.limits.requests_per_second': '100000',
      'svc.limits.request_burst': '100000',
      'svc.allow.hosts': `${host},${nobody},${silentHost},127.0.0.1:${receiver.port}`,
      'svc.webhooks.url': `http://127.0.0.1:${receiver.port}/hook`,
      'svc.webhooks.secret': `whsec_${Buffer.from(canary('Webhook').repeat(2)).toString('base64')}`,
      'svc.openlineage.url': `http://127.0.0.1:${receiver.port}/lineage`,
      'svc.openlineage.key': raw('Lineage'),
      'svc.sources.store.location': 's3://store/in',
      'svc.sources.store.endpoint': `http://${host}`,
      'svc.sources.store.access_key': 'AKSTORE',
      'svc.sources.store.secret_key': raw('StoreKey'),
      'svc.sources.store.session_token': raw('StoreSession'),
      'svc.sources.store.writable': 'true',
      'svc.sources.blobs.location': 'az://blobs/in',
      'svc.sources.blobs.endpoint': `http://${host}/account`,
      'svc.sources.blobs.access_key': 'account',
      'svc.sources.blobs.token': `sv=2024-01-01&sp=rl&sig=${raw('BlobSignature')}`,
      'svc.sources.feed.kind': 'https',
      'svc.sources.feed.host': host,
      'svc.sources.feed.token': raw('FeedToken'),
      'svc.sources.server.location': `sftp://ann@${silentHost}/in`,
      'svc.sources.server.password': raw('ServerPassword'),
      'svc.sources.server.host_key':
        'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJjUMjOWr1ND1ImkfLdAzlF2rQcUrTyW8rqpsvIcMWWZ',
    });
    service = await trial.service(home, { TMPDIR: temporary });
    sql = await trial.metadb(home);
    input = await service.client.upload('xml', 'a.xml', new TextEncoder().encode('<a><b>1</b></a>'));
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) {
        for (const text of await readProcesses()) processes.add(text);
        await readFiles(temporary, kept);
        await readFiles(join(home.directory, 'tmp'), kept);
        await delay(20);
      }
    })();
    trial.keep(watching, async () => {
      over.abort();
      await watching;
    });
  });

  const post = async (path: string, body: unknown, method = 'POST'): Promise<number> => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await service.client.fetch(path, { method, headers, body: JSON.stringify(body) });
    answers.push(await answer.text());
    return answer.status;
  };
  const run = async (address: string, options: Options): Promise<number | null> => {
    const { status, body } = await service.client.post<RunAnswer>('/v2/run/cmd', {
      executions: [execution('xml2er', address, options)],
    });
    answers.push(JSON.stringify(body));
    return status === 200 ? body.jobs[0]! : null;
  };
  /** Its record and its log, once it has ended: what may pass by is not waited for. */
  const over = async (idJob: number): Promise<string> => {
    await eventually(`an attempt of job ${idJob}`, async () => {
      const { status } = await service.client.job(idJob);
      return ['C', 'F', 'W', 'K'].includes(status) ? true : null;
    });
    await service.client.fetch(`/v2/executions/kill/${idJob}`, { method: 'POST' });
    const record = await service.client.ended(idJob);
    answers.push(JSON.stringify(record), await service.client.log(idJob));
    return record.status;
  };

  it('of credentials are kept, and what is wrong with one is told without it', async () => {
    const path = '/v2/admin/credentials';
    for (const members of credentialsOf(host))
      expect([members.name, await post(path, members)]).toEqual([members.name, 201]);
    for (const members of wrongCredentials(host))
      expect(await post(path, members)).toBeGreaterThanOrEqual(400);
    // what stands for a name, or for the kind, is no secret
    answers.splice(
      -10,
      10,
      ...answers.slice(-10).map((text) => text.replaceAll(raw('Name/'), '').replaceAll(raw('Kind'), '')),
    );
    expect(await post(path, `{"name": "x", "kind": "s3", "secret_key": "${raw('Broken')}`)).toBe(400);
  });

  it('of inputs and targets go through jobs that load and jobs that fail', async () => {
    const jobs = await Promise.all(
      loadsOf(host, silentHost, input).map(([address, options]) => run(address, options)),
    );
    expect(jobs.filter((job) => job === null)).toEqual([]);
    const states = await Promise.all(jobs.map((idJob) => over(idJob!)));
    expect(states[0]).toBe('C');
    expect(states.slice(1)).not.toContain('C');
    const from = [
      [`postgresql://u:${raw('FromPostgres')}@${nobody}/x`, 'select 1'],
      [`mysql://u:${raw('FromMysql')}@${nobody}/x`, `select '${raw('Query')}'`],
    ] as const;
    for (const [address, query] of from) {
      const { status, body } = await service.client.post<RunAnswer>('/v2/run/cmd', {
        executions: [
          {
            app_name: 'xml2er',
            source: {},
            target: {
              generation: [
                ['--from', address],
                ['--query', query.replace(raw('Query'), 'x')],
                ['-o', 'metadb:x'],
              ].map(([command, value]) => ({ command, value, enabled: 'true' })),
            },
          },
        ],
      });
      expect([address, status]).toEqual([address, 200]);
      expect(await over(body.jobs[0]!)).not.toBe('C');
    }
  });

  it('in addresses are refused, and not repeated', async () => {
    for (const address of wrongly('Input', host))
      expect([address, await run(address, [['-o', 'metadb:x']])]).toEqual([address, null]);
    for (const address of wrongly('Watch', host)) {
      expect(
        await post('/v2/watches', { name: 'x', location: address, target: 'metadb:x', every: '1d' }),
      ).toBe(400);
      expect(await post('/v2/schema/create', { name: 'x', xsd: [address] })).toBe(400);
    }
    for (const target of wrongTargets) {
      expect([target, await run(input, [['-o', target]])]).toEqual([target, null]);
      expect(
        await post('/v2/watches', { name: 'x', location: 'uploads', target, every: '1d' }),
      ).toBeGreaterThanOrEqual(400);
    }
  });

  it('of watches that load, that are refused, and whose target refuses them', async () => {
    const watches = watchClient(service.client);
    const members = { every: '1s', settle: '0s' };
    const make = async (
      name: string,
      location: string,
      more: Readonly<Record<string, unknown>>,
    ): Promise<number> =>
      (await watches.create({ name, location, target: `metadb:${name}`, ...members, ...more })).id_watch;
    const feed = await make('loads', `http://${host}/feed/a.xml`, {});
    const stalls = [
      await make('refused', `http://${host}/refused`, { credential: 'bearer' }),
      await make('signed', `http://${host}/signed`, { credential: 'basic' }),
      await make('blobs', 'az://blobs/in/', {}),
      await make('store', 's3://store/in/', {}),
      await make('target', 'uploads', {
        target: `postgresql://u:${raw('WatchTarget')}@${nobody}/x?sslmode=disable`,
        pattern: '**/a.xml',
      }),
      await make('option', 'uploads', {
        target: `postgresql://u@${nobody}/x?sslmode=disable`,
        options: { '-p': canary('WatchOption') },
        pattern: '**/a.xml',
      }),
    ];
    expect(await watches.settled(feed, 1)).toMatchObject([{ status: 'loaded' }]);
    const stall = async (id: number): Promise<void> => {
      const stalled = await watches.stalled(id);
      answers.push(JSON.stringify(stalled), JSON.stringify(await watches.files(id)));
    };
    await withoutPauses(sql, Promise.all(stalls.map(stall)));
    expect(await post(`/v2/watches/${feed}`, { location: wrongly('Change', host)[0] }, 'PATCH')).toBe(400);
    expect(
      await post(`/v2/watches/${feed}`, { options: { '-p': canary('Change') }, paused: true }, 'PATCH'),
    ).toBe(200);
    answers.push(await (await service.client.fetch('/v2/watches?size=500')).text());
    for (const id of [feed, ...stalls])
      expect((await service.client.fetch(`/v2/watches/${id}`, { method: 'DELETE' })).status).toBe(204);
  });

  it('by hand stand in no record and no log, however they were written', async () => {
    const document = join(home.directory, 'a.xml');
    await writeFile(document, '<a><b>1</b></a>');
    const lines = [
      ...some(wrongly('ByHand', host), 5).map((address) => [address, '-o', join(home.directory, 'out')]),
      [document, '-o', `postgresql://u:x/${raw('HandTarget')}@${nobody}/x`],
      [document, '-o', `postgresql://u:${raw('HandTarget')}@${nobody}/x?sslmode=disable`],
      [document, '-o', `mysql://u:x#${raw('HandTarget')}@${nobody}/x`],
      [document, '-o', `postgresql://u@${nobody}/x`, '-p', canary('HandOption')],
      ['--from', `mysql://u:${raw('HandFrom')}@${nobody}/x`, '--query', 'select 1', '-o', 'metadb:x'],
      ['--from', `postgresql://u:x/${raw('HandFrom')}@${nobody}/x`, '--query', 'select 1', '-o', 'metadb:x'],
    ];
    for (const words of lines) {
      const { code, stdout, stderr } = await runTool(home, 'xml2er', words);
      expect([words, code]).not.toEqual([words, 0]);
      answers.push(stdout, stderr);
    }
    const tool = join(projectRoot, 'bin/conversion-job-service.mjs');
    const child = spawn(process.execPath, [tool, 'credentials', 'add', 'wrong'], {
      env: serviceEnvironment(home),
    });
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => answers.push(chunk.toString()));
    child.stdin.end(`{"kind":"https","host":"${host}","tokn":"${raw('HandCredential')}"}`);
    expect(await new Promise((resolve) => child.once('close', resolve))).not.toBe(0);
  });

  it('are nowhere', async () => {
    const moved = await service.client.post('/v2/schema/export', { origin_id: '1', output_path: 'moved' });
    expect(moved.status).toBe(200);
    await eventually('events are told', () =>
      ['/hook', '/lineage'].every((path) => receiver.received.some((event) => event.path === path))
        ? true
        : null,
    );
    const read = async (path: string): Promise<string> =>
      (await service.client.fetch(path, { headers: { Accept: 'application/json, text/plain, */*' } })).text();
    const tables = await sql<{ schema: string; name: string }[]>`
      select schemaname as schema, tablename as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`;
    const rows = await Promise.all(
      tables.map(({ schema, name }) => sql`select t::text as row from ${sql(schema)}.${sql(name)} t`),
    );
    const files = new Map<string, string>();
    await readFiles(home.directory, files);
    const places: Readonly<Record<string, readonly string[]>> = {
      answers,
      'the output of the service': [service.output()],
      records: await Promise.all(
        [
          '/v2/executions/all?size=500',
          '/v2/workflow/all?size=500',
          '/v2/admin/audit?size=500',
          '/v2/extensions/cil/jobs',
          '/v2/admin/credentials',
        ].map(read),
      ),
      'metrics and settings': await Promise.all(
        [
          '/actuator/prometheus',
          '/actuator/metrics',
          '/actuator/env',
          '/actuator/logfile',
          '/actuator/health',
        ].map(read),
      ),
      tables: rows.flat().map((row) => String(row['row'])),
      // those of the database and its log, too
      files: [...files].flatMap(([name, text]) => (name.startsWith('conf/') ? [] : [text])),
      'temporary files': [...kept.values()],
      events: receiver.received.map(({ body, path }) => `${path} ${body}`),
      processes: [...processes],
    };
    expect(found(files.get('conf/backend.properties')!).length).toBeGreaterThan(0);
    const lengths = Object.entries(places).map(([place, texts]) => [place, texts.join('').length > 20]);
    expect(lengths.filter(([, isPresent]) => isPresent !== true)).toEqual([]);
    expect(
      Object.entries(places).flatMap(([place, texts]) =>
        texts.flatMap(found).map((one) => `${place}: ${one}`),
      ),
    ).toEqual([]);
  });
});
