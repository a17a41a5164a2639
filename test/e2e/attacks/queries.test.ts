/**
 * Hostile statements to targets: each is refused with 400, or ended at a limit with 422. None of them changes a target, reads anything but the
 * tables of the target, or keeps the service from answering others.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import { createServiceClient, execution, type ServiceClient } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { duckdb, postgresql, sqlite, type Hostile } from './statements.ts';

const documentOf = (mark: string): Uint8Array =>
  new TextEncoder().encode(
    `<list>${Array.from({ length: 30 }, (_, at) => `<entry><label>${mark} ${at}</label></entry>`).join('')}</list>`,
  );

const secret = 'otter-secret-row';
const targets = [
  'metadb:heron_rows',
  'sqlite:heron.sqlite',
  'duckdb:heron.duckdb',
  'heron-csv',
  'heron-delta',
];

async function load(client: ServiceClient, mark: string, outs: readonly string[]): Promise<void> {
  const path = await client.upload('xml', 'list.xml', documentOf(mark));
  const { jobs } = await client.run(
    outs.map((out) =>
      execution('xml2er', path, [
        ['-o', out],
        ...(out.endsWith('-delta') ? [['-f', 'delta'] as const] : []),
        ...(out.endsWith('-csv') ? [['-f', 'csv'] as const] : []),
      ]),
    ),
  );
  for (const job of jobs) expect(await client.ended(job)).toMatchObject({ status: 'C', failure: null });
}

const mayReachLimit = ([, ...allowed]: Hostile): boolean => allowed.includes(422);

const attacked: readonly (readonly [target: string, statements: readonly Hostile[]])[] = [
  ['metadb:heron_rows', postgresql],
  ['sqlite:heron.sqlite', sqlite],
  ['duckdb:heron.duckdb', duckdb],
  ['heron-csv', duckdb],
  ['heron-delta', duckdb],
];

describe('hostile statements', { timeout: 900_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let heron: ServiceClient;
  let otter: ServiceClient;
  let adminKey: string;

  beforeAll(async () => {
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.limits.requests_per_second': '100000',
      'svc.limits.request_burst': '100000',
    });
    service = await trial.service(home);
    adminKey = service.key;
    const clients = await Promise.all(
      ['heron', 'otter'].map(async (name) => {
        const { body: org } = await service.client.post<{ id_org: number }>('/v2/admin/orgs', { name });
        const { body } = await service.client.post<{ key: string }>('/v2/admin/keys', {
          name,
          id_org: org.id_org,
          scopes: ['rows:read', 'jobs:run', 'jobs:read', 'files:upload'],
        });
        return createServiceClient(service.url, body.key);
      }),
    );
    [heron, otter] = clients as [ServiceClient, ServiceClient];
    await load(heron, 'heron', targets);
    await load(otter, secret, ['metadb:otter_rows', 'sqlite:otter.sqlite', 'duckdb:otter.duckdb']);
  });

  const ask = async (
    target: string,
    sql: string,
    client = heron,
  ): Promise<{ status: number; text: string }> => {
    const response = await client.fetch('/v2/target/query', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ target, sql }),
    });
    return { status: response.status, text: await response.text() };
  };

  /** Returns what is wrong with the answers: a status that is not allowed, a secret, or a long wait. */
  const faultsOf = async (target: string, statements: readonly Hostile[]): Promise<unknown[]> => {
    const faults: unknown[] = [];
    for (const [text, ...allowed] of statements) {
      const sql = text.replaceAll('OTHER', 'otter_rows');
      const started = performance.now();
      const { status, text: body } = await ask(target, sql);
      const seconds = (performance.now() - started) / 1000;
      const isAllowed = (allowed.length === 0 ? [400] : allowed).includes(status);
      const leaks = [secret, 'svk_', adminKey, 'root:', home.directory, 'svc_service'].filter((word) =>
        body.includes(word),
      );
      if (!isAllowed || leaks.length > 0 || seconds > 20)
        faults.push({ sql: sql.slice(0, 200), status, leaks, seconds, body: body.slice(0, 300) });
    }
    return faults;
  };

  it.each(attacked)('%s: refused', async (target, statements) => {
    expect(statements.length).toBeGreaterThan(60);
    expect(
      await faultsOf(
        target,
        statements.filter((one) => !mayReachLimit(one)),
      ),
    ).toEqual([]);
  });

  it.each(attacked.slice(0, 3))('%s: ended at a limit', async (target, statements) => {
    expect(await faultsOf(target, statements.filter(mayReachLimit).slice(-4))).toEqual([]);
  });

  it.each(attacked)('%s: ended at every limit', needs('whole run'), async (target, statements) => {
    expect(await faultsOf(target, statements.filter(mayReachLimit))).toEqual([]);
  });

  it('leave every target, the service and the other organisation as they were', async () => {
    for (const target of targets) {
      const { status, text } = await ask(target, 'select count(*) as n, min(label) as least from entry');
      expect([target, status, JSON.parse(text)]).toMatchObject([target, 200, { rows: [[30, 'heron 0']] }]);
    }
    expect(await ask('metadb:otter_rows', 'select label from entry', otter)).toMatchObject({
      status: 200,
      text: expect.stringContaining(secret) as unknown,
    });
    for (const target of [
      'metadb:otter_rows',
      'sqlite:otter.sqlite',
      'duckdb:otter.duckdb',
      '../3/otter.sqlite',
      'sqlite:../3/otter.sqlite',
    ])
      expect([target, (await ask(target, 'select 1')).status]).toEqual([target, 404]);
    expect((await readdir('/tmp')).filter((name) => name.startsWith('stolen'))).toEqual([]);
    expect((await readdir(join(home.directory, 'tmp'))).filter((name) => name.startsWith('query-'))).toEqual(
      [],
    );
    expect(await readFile(join(home.directory, 'admin.key'), 'utf8')).toContain(adminKey);
    expect(service.output()).not.toContain('unexpected fault');
  });

  it('do not keep the other organisation waiting', async () => {
    const endless = 'with recursive r(n) as (select 1 union all select n + 1 from r) select count(*) from r';
    const slow = Array.from({ length: 6 }, (_, at) => ask(targets[at % 3]!, endless));
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const started = performance.now();
    expect((await ask('sqlite:otter.sqlite', 'select count(*) from entry', otter)).status).toBe(200);
    expect(performance.now() - started).toBeLessThan(8000);
    expect((await Promise.all(slow)).map(({ status }) => [422, 503].includes(status))).not.toContain(false);
  });
});
