/** Places that never come to an end, and hundreds of watches, of one organisation: the watch of another one loads what comes as before. */
import { createServer, type Server } from 'node:http';
import { createServer as createSocketServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createServiceClient, type ServiceClient } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const lookSeconds = 12;

describe('turns of schedulers', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let greedy: WatchClient;
  let greedyClient: ServiceClient;
  let other: WatchClient;
  let otherClient: ServiceClient;
  let otherWatch: number;
  let drip: number;
  let silent: number;

  beforeAll(async () => {
    drip = await listening(
      trial.keep(
        createServer((request, response) => {
          response.writeHead(200, { ETag: '"1"', 'Content-Length': '1000000' });
          if (request.method === 'HEAD') response.end();
          else {
            const timer = setInterval(() => response.write(' '), 500);
            response.on('close', () => clearInterval(timer));
          }
        }),
        closed,
      ),
    );
    const sockets = new Set<Socket>();
    const mute = createSocketServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
    });
    silent = await listening(
      trial.keep(mute, async () => {
        for (const socket of sockets) socket.destroy();
        mute.close();
      }),
    );
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': '127.0.0.1',
      'svc.limits.watches': '400',
      'svc.limits.look': `${lookSeconds} s`,
      'svc.limits.requests_per_second': '10000',
      'svc.limits.request_burst': '10000',
    });
    const service = await trial.service(home);
    const organisation = async (name: string): Promise<ServiceClient> => {
      const { body: org } = await service.client.post<{ id_org: number }>('/v2/admin/orgs', { name });
      const { body } = await service.client.post<{ key: string }>('/v2/admin/keys', {
        name,
        scopes: ['jobs:run', 'jobs:read', 'files:upload'],
        id_org: org.id_org,
      });
      return createServiceClient(service.url, body.key);
    };
    greedyClient = await organisation('greedy');
    otherClient = await organisation('other');
    greedy = watchClient(greedyClient);
    other = watchClient(otherClient);
    await otherClient.upload('xml', 'first.xml', Buffer.from('<order><id>0</id></order>'));
    ({ id_watch: otherWatch } = await other.create({
      name: 'mine',
      location: 'uploads',
      target: 'metadb:mine',
      every: '1s',
      settle: '0s',
    }));
    await other.settled(otherWatch, 1);
  });

  /** Seconds until a file that the other organisation uploads is loaded. */
  const loadSeconds = async (id: number): Promise<number> => {
    const startedMs = performance.now();
    await otherClient.upload('xml', `${id}.xml`, Buffer.from(`<order><id>${id}</id></order>`));
    await other.settled(otherWatch, id + 1);
    return (performance.now() - startedMs) / 1000;
  };

  it('are not held by places that drip or do not answer, which are told as stalled', async () => {
    const made: number[] = [];
    for (let at = 0; at < 2; at += 1)
      made.push(
        (
          await greedy.create({
            name: `drip ${at}`,
            location: `http://127.0.0.1:${drip}/f${at}.xml`,
            target: 'metadb:drip',
            every: '1s',
            settle: '0s',
          })
        ).id_watch,
      );
    for (let at = 0; at < 12; at += 1)
      made.push(
        (
          await greedy.create({
            name: `silent ${at}`,
            location: `${at % 2 === 0 ? 'mysql' : 'postgresql'}://u:p@127.0.0.1:${silent}/db`,
            options: { '--query': 'select 1 id, 2 x', '--xml-column': 'x', '--after': 'id' },
            target: 'metadb:silent',
            every: '1s',
          })
        ).id_watch,
      );
    await delay(3000);
    for (let id = 1; id <= 3; id += 1) expect(await loadSeconds(id)).toBeLessThan(10);
    const stalled = await eventually('a stalled watch', async () => (await greedy.get(made[0]!)).stalled);
    expect(stalled).toContain(`f0.xml could not be read within ${lookSeconds} s (svc.limits.look)`);
    for (const id of made) await greedyClient.fetch(`/v2/watches/${id}`, { method: 'DELETE' });
  });

  /** A watch that finds nothing. */
  const createIdle = (at: number): Promise<unknown> =>
    greedy.create({
      name: `many ${at}`,
      location: 'uploads',
      pattern: 'nothing*.xml',
      target: 'metadb:many',
      every: '1s',
    });

  it('are not held by hundreds of watches', async () => {
    for (let at = 0; at < 30; at += 1)
      await greedyClient.upload('xml', `${at}.xml`, Buffer.from(`<order><id>${at}</id></order>`));
    for (let first = 0; first < 300; first += 10)
      await Promise.all(Array.from({ length: 10 }, (_, at) => createIdle(first + at)));
    await delay(2000);
    const seconds: number[] = [];
    for (let id = 4; id <= 6; id += 1) seconds.push(await loadSeconds(id));
    process.stdout.write(`loaded after ${seconds.map((s) => s.toFixed(1)).join(', ')} s\n`);
    expect(Math.max(...seconds)).toBeLessThan(10);
  });
});

async function listening(server: Server | ReturnType<typeof createSocketServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  server.close();
}
