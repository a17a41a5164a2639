/** The alerts and the dashboard of examples/monitoring: what they ask for is told by the service, and Prometheus understands it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestApp } from '../../support/memory/adapters.ts';
import { submitJobs } from '../../support/memory/job-records.ts';
import { needs, programOf } from '../../support/needs.ts';

const folder = join(import.meta.dirname, '../../../examples/monitoring');

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

let expressions: readonly string[];
let dashboard: Dashboard;
let trial: string;

beforeAll(async () => {
  dashboard = JSON.parse(await readFile(join(folder, 'grafana-dashboard.json'), 'utf8')) as Dashboard;
  // what Grafana fills in
  expressions = dashboard.panels
    .flatMap(({ targets }) => targets.map(({ expr }) => expr))
    .map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'conversion-job-service'));
  trial = await mkdtemp(join(tmpdir(), 'monitoring-'));
});

afterAll(() => rm(trial, { recursive: true, force: true }));

async function promtool(...argv: readonly string[]): Promise<readonly [code: unknown, output: string]> {
  return new Promise((resolve) => {
    execFile(programOf('promtool')!, [...argv], (error, stdout, stderr) =>
      resolve([error?.code ?? 0, stdout + stderr]),
    );
  });
}

it('asks for metrics that the service tells, by labels that they have', async () => {
  const { send, adapters } = await createTestApp();
  await submitJobs(adapters.jobs, 1, 1);
  await send('/v2/executions/all');
  const told = await (await send('/actuator/prometheus')).text();
  const metrics = new Set([...told.matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name!));
  const alerts = await readFile(join(folder, 'alerts.yml'), 'utf8');
  const asked = [...`${alerts}\n${expressions.join('\n')}`.matchAll(/\b(?:svc|process)_\w+(?=[{[ )])/g)].map(
    ([name]) => name.replace(/_bucket$/, ''),
  );
  expect(asked.length).toBeGreaterThan(15);
  // figures of a process come with the adapters of Node
  const known = (name: string): boolean => metrics.has(name) || name.startsWith('process_');
  expect(asked.filter((name) => !known(name))).toEqual([]);
});

it('Prometheus reads its settings, and the alerts come when they should', needs('promtool'), async () => {
  expect(await promtool('check', 'config', '--syntax-only', join(folder, 'prometheus.yml'))).toEqual([
    0,
    expect.stringContaining('SUCCESS'),
  ]);
  expect(await promtool('check', 'rules', join(folder, 'alerts.yml'))).toEqual([
    0,
    expect.stringContaining('12 rules found'),
  ]);
  expect(await promtool('test', 'rules', join(folder, 'alerts-test.yml'))).toEqual([
    0,
    expect.stringContaining('SUCCESS'),
  ]);
});

it('Prometheus understands every panel, and none covers another', needs('promtool'), async () => {
  const rules = expressions.map((expr, at) => ({ record: `panel:${at}`, expr }));
  const file = join(trial, 'panels.json');
  // JSON is YAML
  await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }));
  expect(await promtool('check', 'rules', file)).toEqual([
    0,
    expect.stringContaining(`${rules.length} rules found`),
  ]);
  const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});
