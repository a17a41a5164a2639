/** Jobs of one organisation that one process of a tool does, one after the other: each as if it had a process of its own. */
import { beforeAll, describe, expect, it } from 'vitest';
import { execution } from '../../support/service/client.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import { freightDocuments } from '../../support/service/fixtures.ts';
import { openFiles, toolProcesses, waitingTools } from '../../support/service/processes.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;
let conversion: Conversion;

interface Facts {
  readonly pid: number;
  readonly files: number;
}

/** The process that waits once a job has ended. */
const waiting = (): Promise<Facts> =>
  eventually('a tool that waits', async () => {
    const [one, ...others] = (await waitingTools(home)).filter(({ commandLine }) =>
      commandLine.includes('xml2er'),
    );
    return one === undefined || others.length > 0 ? null : { pid: one.pid, files: await openFiles(one.pid) };
  });

async function load(text: string): Promise<number> {
  const { client } = service;
  const path = await client.upload('xml', 'one.xml', new TextEncoder().encode(text));
  const into = [['-o', `metadb:${conversion.sqlSchema}`]] as const;
  const answer = await client.run([execution('xml2er', path, into, String(conversion.idSch))]);
  return answer.jobs[0]!;
}

describe('jobs that follow one another', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.worker.idle': '1 h',
      'svc.limits.requests_per_second': '100000',
    });
    service = await trial.service(home);
    conversion = await convertFreight(service.client, 'freight');
  });

  it('are done by one process, which keeps nothing open of the ones before', async () => {
    const facts: Facts[] = [];
    for (let turn = 0; turn < 14; turn += 1) {
      const text = freightDocuments[turn % freightDocuments.length]!.text;
      const begun = Date.now();
      const idJob = await load(text);
      const record = await service.client.ended(idJob);
      expect(record.status, record.failure ?? '').toBe('C');
      const { result } = JSON.parse(record.params_json) as {
        result: { job: number; steps: { name: string; seconds: number }[] };
      };
      expect(result.job).toBe(idJob);
      // its own steps, not those of the jobs before
      const spent = result.steps.reduce((sum, { seconds }) => sum + seconds, 0);
      expect(spent).toBeLessThan((Date.now() - begun) / 1000 + 1);
      const log = await service.client.log(idJob);
      expect(log).toContain(`xml2er started, job ${idJob}`);
      expect(log.match(/started, job/g)).toHaveLength(1);
      expect(log).not.toMatch(/warning|waits/i);
      facts.push(await waiting());
    }
    const [first, ...others] = facts.slice(2);
    expect(others.every(({ pid }) => pid === first!.pid)).toBe(true);
    expect(others.at(-1)!.files).toBeLessThanOrEqual(first!.files + 2);
    expect(await toolProcesses(home)).toEqual([]);
  });

  it('find what has changed in between: settings of the home, tables, schemas', async () => {
    const { pid } = await waiting();
    await home.configure({ 'svc.limits.xml_depth': '2' });
    const refused = await service.client.ended(await load(freightDocuments[0]!.text));
    expect(refused).toMatchObject({
      status: 'F',
      failure: expect.stringContaining('nested deeper than 2 levels') as string,
    });
    await home.configure({});
    // one that fails ends its process
    const again = await service.client.ended(await load(freightDocuments[0]!.text));
    expect(again.status).toBe('C');
    expect((await waiting()).pid).not.toBe(pid);
  });

  it('end with the service', async () => {
    const { pid } = await waiting();
    await service.end('SIGTERM');
    expect(await waitingTools(home)).toEqual([]);
    await expect(openFiles(pid)).rejects.toThrow('ENOENT');
  });
});
