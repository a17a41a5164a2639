/** XSD addresses whose servers drip, never end, or lead in a circle: the request fails in time, others' schemas are made meanwhile, and the service keeps its memory. */
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { isHere } from '../../support/needs.ts';
import {
  createServiceClient,
  type Problem,
  type SchemaAnswer,
  type ServiceClient,
} from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';

const open = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">';
const whole = `${open}<xs:element name="note" type="xs:string"/></xs:schema>`;
const junk = Buffer.alloc(64 * 1024, '<!-- x -->');

/** The most memory that the process has had, in MB. */
const peakOf = async (pid: number): Promise<number> =>
  Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'latin1'))![1]) / 1000;

describe('an XSD address of a hostile server', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let origin: string;
  let own: ServiceClient;
  const organisations: ServiceClient[] = [];
  const drips: ServerResponse[] = [];
  let isDripping = true;

  const create = (client: ServiceClient, path: string) =>
    client.post<Problem & SchemaAnswer>('/v2/schema/create', { name: path.slice(1), xsd: [origin + path] });

  beforeAll(async () => {
    const web: Server = createServer((request, response) => {
      const path = request.url!;
      if (path === '/whole.xsd') response.end(whole);
      else if (path === '/drip.xsd' && !isDripping) response.writeHead(404).end();
      else if (path === '/drip.xsd') {
        drips.push(response);
        response.write(open);
        const timer = setInterval(() => response.write(' '), 500);
        response.on('close', () => clearInterval(timer));
      } else if (path === '/endless.xsd') {
        response.write(open);
        const send = (): void => {
          while (!response.destroyed && response.write(junk));
        };
        response.on('drain', send);
        send();
      } else response.writeHead(302, { Location: '/circle.xsd' }).end();
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    trial.keep(web, async () => {
      web.closeAllConnections();
      web.close();
    });
    origin = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    home = await trial.home({ 'svc.allow.hosts': new URL(origin).host });
    service = await trial.service(home);
    own = service.client;
    for (const name of ['a', 'b', 'c']) {
      const { body: org } = await own.post<{ id_org: number }>('/v2/admin/orgs', { name });
      const { body } = await own.post<{ key: string }>('/v2/admin/keys', {
        name,
        scopes: ['schemas:write', 'schemas:read'],
        id_org: org.id_org,
      });
      organisations.push(createServiceClient(service.url, body.key));
    }
  });

  it('that drips delays no other organisation, and is given up in time', async () => {
    const started = Date.now();
    const dripping = organisations.flatMap((client) => [
      create(client, '/drip.xsd'),
      create(client, '/drip.xsd'),
    ]);
    await new Promise((resolve) => setTimeout(resolve, 2000));
    let given = 0;
    for (const one of dripping) void one.then(() => (given += 1));
    expect((await create(own, '/whole.xsd')).status).toBe(201);
    const { body } = await own.post<SchemaAnswer>('/v2/schema/create', {
      name: 'x',
      xml: [`${origin}/whole.xsd`],
    });
    expect(body.root_elements).toEqual(['schema']);
    // none of the others has made room meanwhile
    expect(given).toBe(0);
    // in 30 s, which test/unit/runtime/fetching-compiler.test.ts does not wait for
    if (!isHere('whole run')) {
      isDripping = false;
      for (const response of drips) response.destroy();
      expect((await Promise.all(dripping)).map(({ status }) => status)).toEqual(dripping.map(() => 400));
      return;
    }
    for (const { status, body: problem } of await Promise.all(dripping)) {
      expect([status, problem.code]).toEqual([503, 'service_unavailable']);
      expect(problem.detail).toContain('cannot be fetched within 30 s');
    }
    expect(Date.now() - started).toBeLessThan(45_000);
  });

  it('that never ends is left once the set is too large', async () => {
    const { status, body } = await create(own, '/endless.xsd');
    expect([status, body.detail]).toEqual([413, 'the schema documents have more than 268435456 bytes']);
  });

  it('that leads in a circle is left after a few addresses', async () => {
    const { status, body } = await create(own, '/circle.xsd');
    expect([status, body.detail]).toEqual([422, expect.stringContaining('too many redirects')]);
  });

  it('costs the service no memory, and leaves no file and no process', async () => {
    expect(await peakOf(service.pid)).toBeLessThan(400);
    expect(
      (await readdir(join(home.directory, 'tmp'))).filter((name) => name.startsWith('addresses-')),
    ).toEqual([]);
    await eventually('the processes that fetch end', async () => {
      const children = await readFile(`/proc/${service.pid}/task/${service.pid}/children`, 'latin1');
      const commands = await Promise.all(
        children.split(' ').map((pid) => readFile(`/proc/${pid.trim()}/cmdline`, 'latin1').catch(() => '')),
      );
      return commands.some((command) => command.includes('service/fetch')) ? null : true;
    });
  });
});
