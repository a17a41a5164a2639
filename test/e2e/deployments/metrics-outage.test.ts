/** Metrics of a service whose database does not answer any more: stopped backends, as behind a firewall that drops packets. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const trial = useTrial();
const token = 'scrape-0123456789abcdef';
let home: ServiceHome;
let service: RunningService;
let stopped: number[] = [];

beforeAll(async () => {
  home = await trial.home({ 'svc.metrics.token': token });
  service = await trial.service(home);
});
afterAll(() => {
  for (const pid of stopped) process.kill(pid, 'SIGCONT');
});

/** The server process and its children. */
async function serverProcesses(): Promise<number[]> {
  const names = await readdir(join(home.directory, 'db'), { recursive: true });
  const pidFile = names.find((name) => name.endsWith('postmaster.pid'))!;
  const [first] = (await readFile(join(home.directory, 'db', pidFile), 'utf8')).split('\n');
  const server = Number(first);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
      return [pid, Number(/\) \S (\d+)/.exec(stat)?.[1])] as const;
    }),
  );
  return [server, ...parents.filter(([, parent]) => parent === server).map(([pid]) => pid)];
}

async function scrape() {
  const began = performance.now();
  const answer = await fetch(`${service.url}/actuator/prometheus`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  return { status: answer.status, text: await answer.text(), ms: performance.now() - began };
}

it('are read within a second with svc.metrics.token, and say that the database is down', async () => {
  expect((await scrape()).text).toContain('svc_component_up{component="db"} 1\n');
  stopped = await serverProcesses();
  for (const pid of stopped) process.kill(pid, 'SIGSTOP');
  for (let time = 0; time < 8; time += 1) {
    const { status, text, ms } = await scrape();
    expect(status).toBe(200);
    expect(text).toContain('svc_component_up{component="db"} 0\n');
    expect(text).toMatch(/^process_resident_memory_bytes \d+$/m);
    expect(ms).toBeLessThan(1000);
  }
  const probe = await fetch(`${service.url}/actuator/health/liveness`, {
    headers: { Authorization: `Bearer ${service.key}` },
    signal: AbortSignal.timeout(500),
  });
  expect(probe.status).toBe(200);
  for (const pid of stopped) process.kill(pid, 'SIGCONT');
  stopped = [];
  await eventually('the figures of the database', async () =>
    (await scrape()).text.includes('svc_jobs{status="Q"}') ? true : null,
  );
});
