/** Two organisations whose queries never end hold both places of a process: a third one's job begins nevertheless, and a limit ends theirs. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createServiceClient, execution, type ServiceClient } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const endless =
  "with recursive c(n) as (select 1 union all select n + 1 from c) select max(n) id, '<r/>' x from c";

describe('places of a process', { timeout: 180_000 }, () => {
  const trial = useTrial();
  let operator: ServiceClient;
  let database: Buffer;
  const clients: ServiceClient[] = [];

  beforeAll(async () => {
    const home = await trial.home({ 'cmd.enabled': 'true', 'svc.limits.job_seconds': '15' });
    const service = await trial.service(home);
    operator = service.client;
    for (const name of ['one', 'two', 'three', 'four']) {
      const { body: org } = await operator.post<{ id_org: number }>('/v2/admin/orgs', { name });
      const { body } = await operator.post<{ key: string }>('/v2/admin/keys', {
        name,
        scopes: ['jobs:run', 'jobs:read', 'files:upload'],
        id_org: org.id_org,
      });
      clients.push(createServiceClient(service.url, body.key));
    }
    const path = join(await trial.folder('endless-'), 't.db');
    const made = new DatabaseSync(path);
    made.exec('create table t (a integer)');
    made.close();
    database = await readFile(path);
  });

  const runEndless = async (client: ServiceClient): Promise<number> => {
    const uploaded = await client.upload('xml', 't.xml', database);
    const { jobs } = await client.run([
      {
        app_name: 'xml2er',
        target: {
          generation: [
            { command: '--from', enabled: 'true', value: `sqlite:${uploaded}` },
            { command: '--xml-column', enabled: 'true', value: 'x' },
            { command: '--query', enabled: 'true', value: endless },
            { command: '-o', enabled: 'true', value: 'out' },
          ],
        },
      },
    ]);
    return jobs[0]!;
  };
  const figure = async (): Promise<number> => {
    const text = await (await operator.fetch('/actuator/prometheus')).text();
    return Number(/^svc_waiting_tenants (\d+)$/m.exec(text)![1]);
  };

  it('are not all held by those who hold them', async () => {
    const [one, two, three, four] = clients as [ServiceClient, ServiceClient, ServiceClient, ServiceClient];
    const held = [await runEndless(one), await runEndless(two)];
    await eventually('both to run', async () => {
      const states = await Promise.all([one.job(held[0]!), two.job(held[1]!)]);
      return states.every(({ status }) => status === 'R') ? true : null;
    });
    const startedMs = Date.now();
    const small = await runSmall(three);
    const ended = await eventually('the end of the small job', async () => {
      const record = await three.job(small);
      return record.end_date === null ? null : record;
    });
    expect(ended.status).toBe('C');
    expect(ended.start_date! - startedMs).toBeLessThan(10_000);
    expect(await figure()).toBe(0);

    // the kept place is taken, too: a fourth one waits, and that is told
    held.push(await runEndless(three));
    await eventually('it to run', async () => ((await three.job(held[2]!)).status === 'R' ? true : null));
    const waits = await runSmall(four);
    await eventually('the figure', async () => ((await figure()) === 1 ? true : null));
    const health = await operator.get<{ components: Record<string, { details: unknown }> }>(
      '/actuator/health',
    );
    expect(health.components['worker']).toMatchObject({
      details: { running: 3, places: 2, waitingTenants: 1 },
    });

    // and the limit of running time ends theirs
    for (const [at, client] of [one, two].entries()) {
      const record = await eventually('its end', async () => {
        const found = await client.job(held[at]!);
        return found.end_date === null ? null : found;
      });
      expect(record).toMatchObject({
        status: 'E',
        failure: 'it ran for longer than 15 s (svc.limits.job_seconds)',
      });
      expect(record.end_date! - record.start_date!).toBeLessThan(22_000);
    }
    const last = await eventually('the end of the last', async () => {
      const record = await four.job(waits);
      return record.end_date === null ? null : record;
    });
    expect(last.status).toBe('C');
    expect(await figure()).toBe(0);
  });
});

async function runSmall(client: ServiceClient): Promise<number> {
  const uploaded = await client.upload('xml', 'a.xml', Buffer.from('<order><id>1</id></order>'));
  const { jobs } = await client.run([execution('xml2er', uploaded, [['-o', 'out']])]);
  return jobs[0]!;
}
