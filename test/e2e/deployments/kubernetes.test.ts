/** The kustomization of examples/kubernetes: what it says of the image, the settings and the probes is so, and Kubernetes takes it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { properties, readConfig } from '../../../src/config/properties.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { needs, programOf, skipFor } from '../../support/needs.ts';
import { firstLine, pythonProgram } from '../../support/tool-cache.ts';

const execute = promisify(execFile);
const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'examples/kubernetes');

let all = '';
let container = '';
const matches = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, found]) => found!)),
];

beforeAll(async () => {
  container = await readFile(join(root, 'Containerfile'), 'utf8');
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.yaml'));
  all = (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('\n');
});

describe('the kustomization', () => {
  it('sets properties that there are, and the places of the container', () => {
    const known = new Set<string>([
      'SVC_HOME',
      ...properties.map(({ name }) => {
        const upper = name.toUpperCase().replaceAll('.', '_');
        return upper.startsWith('SVC_') ? upper : `SVC_${upper}`;
      }),
    ]);
    const set = matches(all, /\b(SVC_[A-Z0-9_]+)\b/g);
    expect(set.length).toBeGreaterThan(6);
    expect(set.filter((name) => !known.has(name))).toEqual([]);
    for (const name of ['SVC_HOME', 'HOST', 'PORT']) {
      const [inContainer] = matches(container, new RegExp(`\\b${name}=(\\S+)`, 'g'));
      expect(matches(all, new RegExp(`^  ${name}: '?([^'\\n]+)'?$`, 'gm'))).toEqual([inContainer]);
    }
    const [home] = matches(container, /\bSVC_HOME=(\S+)/g);
    expect(matches(all, /mountPath: (\S+)/g)).toEqual([home, '/tmp']);
    expect(matches(all, /containerPort: (\d+)/g)).toEqual(matches(container, /^EXPOSE (\d+)$/gm));
    const [user] = matches(container, /^USER (\d+):\d+$/gm);
    expect(matches(all, /runAsUser: (\d+)/g)).toEqual([user]);
  });

  it('probes and collects from paths that answer, and its image is of this version', async () => {
    const { send } = await createTestApp();
    const paths = matches(all, /\bpath: (\/actuator\S+)/g);
    expect(paths.toSorted()).toEqual([
      '/actuator/health/liveness',
      '/actuator/health/readiness',
      '/actuator/prometheus',
    ]);
    for (const path of paths) expect((await send(path)).status, path).toBe(200);
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
    expect(matches(all, /newTag: (\S+)/g)).toEqual([version]);
  });

  it('gives the service no jobs and the workers some, and asks for secrets that its page tells to make', async () => {
    const page = await readFile(join(folder, 'README.md'), 'utf8');
    const keys = matches(all, /^ +key: (\S+)$/gm);
    expect(keys.length).toBe(5);
    expect(keys.filter((key) => !page.includes(key))).toEqual([]);
    const service = await readFile(join(folder, 'base/service.yaml'), 'utf8');
    const workers = await readFile(join(folder, 'base/workers.yaml'), 'utf8');
    expect(matches(service, /SVC_WORKER_CONCURRENCY\n +value: '(\d+)'/g)).toEqual(['0']);
    expect(workers).toMatch(/args: \[worker\]/);
    // what its jobs may hold, and a GiB for the worker
    const [places] = matches(workers, /SVC_WORKER_CONCURRENCY\n +value: '(\d+)'/g);
    const [memory] = matches(workers, /limits:\n +memory: (\d+)Gi/g);
    const { limits } = readConfig({});
    expect(Number(memory) * 1024 ** 3).toBeGreaterThanOrEqual(
      Number(places) * limits.toolMemoryBytes + 1024 ** 3,
    );
    expect(workers).toMatch(/SVC_WORKER_PORT\n +value: '8080'/);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) expect(workers).toContain(probe);
    for (const text of [service, workers]) {
      expect(text).toContain('readOnlyRootFilesystem: true');
      expect(text).toContain('runAsNonRoot: true');
    }
  });

  it(
    'is what Kubernetes takes',
    { timeout: 120_000, ...needs(['whole run', 'kubectl']) },
    async (context) => {
      const validate = await pythonProgram('kubernetes-validate==1.37.0', 'kubernetes-validate').catch(
        (error: unknown) => skipFor(context, 'kubernetes-validate', firstLine(error)),
      );
      const trial = await mkdtemp(join(tmpdir(), 'kubernetes-'));
      try {
        for (const overlay of ['shared-folder', 'object-store']) {
          const built = await execute(programOf('kubectl')!, [
            'kustomize',
            join(folder, 'overlays', overlay),
          ]);
          const file = join(trial, `${overlay}.yaml`);
          await writeFile(file, built.stdout);
          const { stdout, stderr } = await execute(validate, ['--strict', '-k', '1.37', file]);
          expect((stdout + stderr).match(/ passed for resource /g)?.length).toBeGreaterThanOrEqual(9);
          await writeFile(file, built.stdout.replace('replicas: 2', 'replicas: two'));
          await expect(execute(validate, ['--strict', '-k', '1.37', file])).rejects.toThrow();
        }
      } finally {
        await rm(trial, { recursive: true });
      }
    },
  );
});
