/** A store that fails, tells nothing, or keeps to no promise: no row is lost, none is there twice, and every table can be read. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { LakeFormatName } from '../../../src/targets/files/lake/table-format.ts';
import { isHere, some } from '../../support/needs.ts';
import {
  startObjectServer,
  type ObjectServer,
  type StoreFault,
} from '../../support/servers/object-server.ts';
import { libraryPlan } from '../targets/library-rows.ts';
import { expectJobs } from './expected-jobs.ts';
import { load, loadUntilThere as loadAgain } from './library-bucket.ts';

const formats = ['delta,iceberg', 'delta', 'iceberg'] as const;

let server: ObjectServer;
let folder: string;

beforeEach(async () => {
  server = await startObjectServer();
  folder = await mkdtemp(join(tmpdir(), 'bucket-faults-'));
});
afterEach(async () => {
  await server.end();
  await rm(folder, { recursive: true, force: true });
});

/** Time until a job gives up waiting for an answer of the store, which is in this process and answers at once. */
const patienceMs = 300;

const loadUntilThere = (job: number, format: LakeFormatName): Promise<number> =>
  loadAgain({ ...server.settings, patienceMs }, folder, format, job);

const faults: readonly StoreFault[] = [
  { at: 'after', answer: 'hang up' },
  { at: 'after', answer: 500 },
  { at: 'after', answer: 412 },
  { at: 'after', answer: 'silence' },
  { at: 'before', answer: 503 },
  { at: 'before', answer: 'hang up' },
  { at: 'before', answer: 'silence' },
];
/** What a store says of what is there already, and of nothing else. */
const isRefusal = (fault: StoreFault): boolean =>
  fault !== null && typeof fault === 'object' && 'answer' in fault && fault.answer === 412;
const isCommit = (key: string): boolean =>
  /(?:book|_documents|_loads)\/(?:_delta_log\/\d+\.json|metadata\/v\d+\.metadata\.json)$/.test(key);

describe.each(some(formats, 1))('%s', (format) => {
  test.each(some(faults, 4).map((fault) => [JSON.stringify(fault), fault] as const))(
    'a version whose first try fails: %s',
    async (_, fault) => {
      const failed = new Set<string>();
      server.setFaults(({ method, key }) => {
        if (method !== 'PUT' || !isCommit(key) || failed.has(key)) return null;
        failed.add(key);
        return fault;
      });
      for (const job of [1, 2]) expect(await loadUntilThere(job, format)).toBe(1);
      expect(failed.size).toBeGreaterThan(5);
      await expectJobs(server, join(folder, 'copy'), format, [1, 2]);
    },
  );

  test('somebody else’s version comes first: the job goes on from that', async () => {
    await loadUntilThere(1, format);
    let isTaken = false;
    server.setFaults(({ method, key, isExclusive }) => {
      if (method !== 'PUT' || !isExclusive || !/lake\/book\/_delta_log\/0+1\.json$/.test(key) || isTaken)
        return null;
      isTaken = true;
      server.put(key, `${JSON.stringify({ commitInfo: { operation: 'somebody’s' } })}\n`);
      return null;
    });
    await loadUntilThere(2, format);
    expect(isTaken).toBe(format !== 'iceberg');
    await expectJobs(server, join(folder, 'copy'), format, [1, 2]);
  });
});

test('a store that replaces what is to be made once is refused at open, and nothing is written', async () => {
  server.setFaults(() => 'replace');
  await expect(load(server.settings, folder, 'delta')).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('If-None-Match') as string,
  });
  expect([...server.objects.keys()].filter((key) => !key.endsWith('.svc-lock'))).toEqual([]);
});

test('a store that knows no such condition is refused', async () => {
  server.setFaults(({ isExclusive }) => (isExclusive ? { at: 'before', answer: 501 } : null));
  await expect(load(server.settings, folder, 'iceberg')).rejects.toMatchObject({ code: 'invalid_option' });
});

test('files of an attempt that ended before it decided go with the next job', async () => {
  await loadUntilThere(1, 'delta');
  // all that the dead one could still do
  server.setFaults(({ method, key }) =>
    key.includes('.svc-steps/') && method === 'PUT' ? { at: 'before', answer: 403 } : null,
  );
  const dead = load(server.settings, folder, 'delta', libraryPlan(2));
  await expect(dead).rejects.toMatchObject({ code: 'service_unavailable' });
  expect([...server.objects.keys()].filter((key) => key.includes('/data/2-')).length).toBeGreaterThan(5);
  server.setFaults(() => null);
  await loadUntilThere(3, 'delta');
  expect([...server.objects.keys()].filter((key) => key.includes('/data/2-'))).toEqual([]);
  await expectJobs(server, join(folder, 'copy'), 'delta', [1, 3]);
});

const rounds = isHere('whole run') ? 12 : 1;

test.each(some(formats, 1))(
  'any request fails now and then, jobs come two at a time: %s',
  { timeout: 60_000 + rounds * 60_000 },
  async (format) => {
    server.setFaults(({ method, isExclusive }) => {
      const chance = Math.random();
      if (chance > 0.08) return null;
      if (method === 'PUT' && chance < 0.02) return { at: 'before', answer: 403 };
      const fault = faults[Math.floor(Math.random() * faults.length)]!;
      return isExclusive || !isRefusal(fault) ? fault : null;
    });
    const jobs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const pair = [2 * round + 1, 2 * round + 2];
      await Promise.all(pair.map((job) => loadUntilThere(job, format)));
      jobs.push(...pair);
    }
    server.setFaults(() => null);
    await loadUntilThere(1000, format);
    await expectJobs(server, join(folder, 'copy'), format, [...jobs, 1000]);
  },
);
