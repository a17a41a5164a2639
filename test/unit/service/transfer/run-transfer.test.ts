/** One run of the transfer program. */
import { beforeEach, describe, expect, it } from 'vitest';
import { runTransfer, type PlannedRun } from '../../../../src/service/transfer/run-transfer.ts';
import type { JobStore } from '../../../../src/ports/stores/jobs.ts';
import type { TransferProgram } from '../../../../src/ports/processes.ts';
import { createMemoryAdapters, type MemoryAdapters } from '../../../support/memory/adapters.ts';

const settings = {
  allowedHosts: [],
  plainPasswordHosts: [],
  migration: { azcopyBinary: 'builtin', passwordHosts: [] },
  limits: { leaseMs: 2_000, heartbeatMs: 10, transferTimeMs: 60_000 },
};
const caller = { idOrg: 1, requestId: 'r' };
const plan: PlannedRun = {
  command: 'import',
  request: {} as PlannedRun['request'],
  secrets: [],
  ownDatabase: true,
  asked: { input_path: 'package' },
  idSch: null,
};
const answered = { code: 0, lastLine: '{"error":false,"origin_ids":"7"}' };

const endless: TransferProgram['run'] = async (_, __, { signal }) => {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return { code: null, lastLine: null };
};

describe('a run of the migration program', () => {
  let adapters: MemoryAdapters;
  beforeEach(() => {
    adapters = createMemoryAdapters();
  });

  const run = (program: TransferProgram['run'], jobs: Partial<JobStore> = {}, limits: object = {}) =>
    runTransfer(
      {
        ...adapters,
        jobs: { ...adapters.jobs, ...jobs },
        transfers: {
          ownDatabase: { host: 'h', port: 1, user: 'u', database: 'd', password: null, sslMode: 'disable' },
          environmentPassword: null,
          identity: { workerId: 'w', host: 'h/1', osUser: 'u', basePath: '/' },
          run: program,
        },
      },
      { ...settings, limits: { ...settings.limits, ...limits } },
      caller,
      plan,
    );
  const job = async () => (await adapters.jobs.listJobs(1, 0, 1)).content[0]!;

  it('writes its end through an outage of the database', async () => {
    let failures = 0;
    const ended = await run(async () => answered, {
      finish: (...given) =>
        (failures += 1) < 3
          ? Promise.reject(Object.assign(new Error('x'), { code: 'CONNECTION_CLOSED' }))
          : adapters.jobs.finish(...given),
    });
    expect(ended.answer).toMatchObject({ origin_ids: '7' });
    expect(failures).toBe(3);
    expect(await job()).toMatchObject({ status: 'completed', id_sch: 7 });
  });

  it('is not told to end once it has ended its record itself', async () => {
    const ended = await run(async (_, __, { signal }) => {
      const { id_job: idJob } = await job();
      await adapters.jobs.finish({ idJob, epoch: 1 }, 'completed', null);
      // heartbeats find it ended while the answer is on its way
      await new Promise((resolve) => setTimeout(resolve, 100));
      return signal.aborted ? { code: null, lastLine: null } : answered;
    });
    expect(ended.answer).toMatchObject({ origin_ids: '7' });
    expect(await job()).toMatchObject({ status: 'completed' });
  });

  it('ends, with the reason, when its time is up', async () => {
    expect((await run(endless, {}, { transferTimeMs: 30 })).answer).toBe(null);
    expect(await job()).toMatchObject({
      status: 'failed',
      failure: 'it took longer than 0.03 s (svc.limits.migration_time)',
    });
  });

  it('is told to end when the job is killed', async () => {
    const ended = await run(async (_, __, { signal }) => {
      await adapters.jobs.requestKill(1, (await job()).id_job);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return { code: null, lastLine: null };
    });
    expect(ended.answer).toBeNull();
    expect(await job()).toMatchObject({ status: 'killed' });
  });
});
