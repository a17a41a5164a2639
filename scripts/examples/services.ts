/** The services that examples are recorded from, with homes of their own. */
import { createTestApp } from '../../test/support/memory/adapters.ts';
import { createServiceHome, startService } from '../../test/support/service/start.ts';
import { createLikeness } from './likeness.ts';
import { recordExamples } from './record.ts';
import type { RecordedExamples } from './recorder.ts';

/** Starts them, records, and stops them. What differs from run to run is made alike. */
export async function recordFromServices(): Promise<RecordedExamples> {
  const homes = [await createServiceHome(), await createServiceHome()] as const;
  try {
    const service = await startService(homes[0]);
    const withoutCommands = await startService(homes[1], { SVC_CMD_ENABLED: 'false' });
    try {
      const { answers, problems } = await recordExamples(service, withoutCommands);
      const recorded = { answers, problems: { ...problems, ...(await faults()) } };
      const alike = createLikeness(homes[0].directory, service.url);
      return alike(recorded) as RecordedExamples;
    } finally {
      await Promise.all([service.end('SIGTERM'), withoutCommands.end('SIGTERM')]);
    }
  } finally {
    await Promise.all(homes.map((home) => home.remove()));
  }
}

/** Errors of an application whose parts fail, or that is asked too often. */
async function faults(): Promise<Record<string, unknown>> {
  const test = await createTestApp({ 'cmd.enabled': 'true', 'svc.limits.request_burst': '3' });
  const { runtime, jobs } = test.adapters;
  const lost = Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' });
  const answers = [];
  for (const error of [lost, new Error('a fault of the program')]) {
    const { key } = await test.newKey(1, ['jobs:read']);
    Object.assign(jobs, { listJobs: () => Promise.reject(error) });
    answers.push(await test.send('/v2/executions/all', { key }));
  }
  const asked = await Promise.all(Array.from({ length: 50 }, () => test.send('/v2/about/org')));
  answers.push(asked.find(({ status }) => status === 429)!);
  const capabilities = { ...runtime.capabilities, commands: false };
  const edge = await createTestApp({ 'cmd.enabled': 'true' }, { runtime: { ...runtime, capabilities } });
  const body = JSON.stringify({
    executions: [{ app_name: 'xml2er', source: { file: { command: 'a.xml' } } }],
  });
  const headers = { 'Content-Type': 'application/json' };
  answers.push(await edge.send('/v2/run/cmd', { method: 'POST', headers, body }));
  const problems = await Promise.all(answers.map((answer) => answer.json() as Promise<{ code: string }>));
  return Object.fromEntries(problems.map((problem) => [problem.code, problem]));
}
