/** Reports of a run to its job record. */
import { describe, expect, it } from 'vitest';
import type { JobProgress } from '../../../../src/ports/stores/jobs.ts';
import { createJobReports } from '../../../../src/tools/reports/summary.ts';

function recording() {
  const written: JobProgress[] = [];
  const faults: (Error | undefined)[] = [];
  const reports = createJobReports(async (progress) => {
    await Promise.resolve();
    const fault = faults.shift();
    if (fault !== undefined) throw fault;
    written.push(progress);
  });
  return { reports, written, faults };
}

describe('reports of a run', () => {
  it('go together when they are asked for, the newest of each kind', async () => {
    const { reports, written } = recording();
    reports.add({ idSch: 1, messages: 1 });
    reports.add({ idLschma: 2, messages: 3 });
    expect(written).toEqual([]);
    await reports.flush();
    await reports.flush();
    expect(written).toEqual([{ idSch: 1, idLschma: 2, messages: 3 }]);
  });

  it('are written by themselves soon after', async () => {
    const { reports, written } = recording();
    reports.add({ idSch: 1 });
    await expect.poll(() => written).toEqual([{ idSch: 1 }]);
    reports.add({ progress: 1 });
    await expect.poll(() => written).toEqual([{ idSch: 1 }, { progress: 1 }]);
  });

  it('come in their order, and a fault is told once: what is told after it is written', async () => {
    const { reports, written, faults } = recording();
    faults.push(new Error('no database'));
    reports.add({ idSch: 1 });
    await expect(reports.flush()).rejects.toThrow('no database');
    reports.add({ failure: 'no database' });
    await reports.flush();
    const last = reports.flush();
    reports.add({ progress: 1 });
    await Promise.all([last, reports.flush()]);
    expect(written).toEqual([{ failure: 'no database' }, { progress: 1 }]);
  });
});
