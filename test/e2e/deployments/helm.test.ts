/** The chart of examples/helm makes the objects of examples/kubernetes; its settings are properties, and what it lacks it asks for. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { needs, programOf } from '../../support/needs.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const chart = join(root, 'examples/helm/conversion-job-service');
const given = ['database.url=postgresql://svc:secret@db.example/svc', 'secrets.secretKey=c2VjcmV0'];

interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [member: string]: unknown;
}

/** Objects as JSON by kind and name, without labels and annotations that Helm alone has. */
function objectsOf(yaml: string): Map<string, string> {
  const ofHelm = /^(?:app\.kubernetes\.io\/(?:instance|version|managed-by)|helm\.sh\/chart|annotations)$/;
  const plain = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(plain);
    if (typeof value !== 'object' || value === null) return value;
    const members = Object.entries(value).filter(([name]) => !ofHelm.test(name));
    return Object.fromEntries(
      members.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, plain(one)]),
    );
  };
  const objects = parseAllDocuments(yaml)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((one) => one !== null);
  return new Map(
    objects.map((one) => [`${one.kind} ${one.metadata.name}`, JSON.stringify(plain(one), null, 1)]),
  );
}

async function template(values: readonly string[], release = 'conversion-job-service'): Promise<string> {
  const sets = values.flatMap((value) => ['--set', value]);
  return (await execute(programOf('helm')!, ['template', release, chart, ...sets])).stdout;
}

describe('the chart', () => {
  it('is of this version', async () => {
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    const { appVersion } = parse(await readFile(join(chart, 'Chart.yaml'), 'utf8')) as { appVersion: string };
    expect(appVersion).toBe(version);
  });
});

describe('the objects of the chart', { timeout: 60_000, ...needs('helm') }, () => {
  it('pass the linter of Helm', async () => {
    const sets = given.flatMap((value) => ['--set', value]);
    const { stdout } = await execute(programOf('helm')!, ['lint', '--strict', chart, ...sets]);
    expect(stdout).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it.each([
    ['shared-folder', given],
    [
      'object-store',
      [
        ...given,
        'objectStore.location=s3://conversions/production',
        'objectStore.region=eu-central-1',
        'objectStore.accessKey=a',
        'objectStore.secretKey=b',
      ],
    ],
  ])('are those of the overlay %s', { timeout: 60_000, ...needs('kubectl') }, async (overlay, values) => {
    const kustomized = await execute(programOf('kubectl')!, [
      'kustomize',
      join(root, 'examples/kubernetes/overlays', overlay),
    ]);
    const expected = objectsOf(kustomized.stdout);
    const made = objectsOf(await template(values));
    const { stringData } = JSON.parse(made.get('Secret conversion-job-service')!) as { stringData: object };
    made.delete('Secret conversion-job-service');
    expect([...made.keys()].toSorted()).toEqual([...expected.keys()].toSorted());
    for (const [name, text] of expected) expect(made.get(name), name).toBe(text);
    const asked = new Set([...kustomized.stdout.matchAll(/^ +key: (\S+)$/gm)].map(([, key]) => key!));
    expect(Object.keys(stringData).toSorted()).toEqual([...asked].toSorted());
  });

  it('are those of the component for Prometheus, if it is wanted', async () => {
    const monitors = await readFile(
      join(root, 'examples/kubernetes/components/service-monitor/monitor.yaml'),
      'utf8',
    );
    const made = objectsOf(await template([...given, 'monitor.enabled=true', 'monitor.key=k']));
    for (const [name, text] of objectsOf(monitors)) expect(made.get(name), name).toBe(text);
    expect(made.get('Secret conversion-job-service')).toContain('metrics-key');
  });

  it('have the name of the release, and the secret and claim that are there', async () => {
    const made = objectsOf(
      await template(
        [
          'secrets.existing=mine',
          'volume.existingClaim=files',
          'workers.jobs=4',
          'settings.SVC_LIMITS_WATCHES=7',
          'networkPolicy.enabled=false',
          'podDisruptionBudget.enabled=false',
        ],
        'night',
      ),
    );
    expect([...made.keys()].toSorted()).toEqual([
      'ConfigMap night',
      'Deployment night',
      'Deployment night-workers',
      'Service night',
      'ServiceAccount night',
    ]);
    const workers = made.get('Deployment night-workers')!;
    expect(workers).toContain('"claimName": "files"');
    expect(workers).toMatch(/"name": "SVC_WORKER_CONCURRENCY",\s+"value": "4"/);
    expect(workers.match(/"name": "mine"/g)).toHaveLength(2);
    expect(made.get('ConfigMap night')).toContain('"SVC_LIMITS_WATCHES": "7"');
  });

  it.each([
    [[], 'set database.url'],
    [['database.url=postgresql://a'], 'set secrets.secretKey'],
    [[...given, 'objectStore.location=s3://a/b'], 'set objectStore.accessKey'],
    [[...given, 'monitor.enabled=true'], 'set monitor.key'],
  ])('are not made without what they need: %j', async (values, message) => {
    await expect(template(values)).rejects.toThrow(message);
  });
});
