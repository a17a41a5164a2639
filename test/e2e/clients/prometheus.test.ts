/** The metrics under Prometheus' own check (Debian package `prometheus`). */
import { execFile } from 'node:child_process';
import { expect, it } from 'vitest';
import { submitJobs } from '../../support/memory/job-records.ts';
import { createTestApp } from '../../support/memory/adapters.ts';
import { needs, programOf } from '../../support/needs.ts';

it('promtool check metrics has nothing to say', needs('promtool'), async () => {
  const { send, adapters } = await createTestApp();
  await submitJobs(adapters.jobs, 1, 3);
  await send('/v2/executions/all');
  await send('/no/such/path', { method: 'TEAPOT' });
  const metrics = await (await send('/actuator/prometheus')).text();
  expect(metrics).toContain('svc_jobs{status="Q"} 3\n');
  const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
    const child = execFile(
      programOf('promtool')!,
      ['check', 'metrics', '--extended'],
      (error, stdout, stderr) => resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
    child.stdin!.end(metrics);
  });
  expect([code, output]).toEqual([0, expect.not.stringMatching(/error|should|no help|non-/i)]);
});
