/**
 * Hosts that no request may lead to, through every door that names one: inputs, watches, schemas, credentials, databases, catalogues and what they
 * answer, redirects. A trap listens at this machine's addresses, and nothing ever comes there.
 */
import { createServer as createWebServer } from 'node:http';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import { isHere } from '../../support/needs.ts';
import { startIcebergCatalogue } from '../../support/servers/iceberg-catalogue.ts';
import { startObjectServer } from '../../support/servers/object-server.ts';
import { execution, type JobAnswer, type Options, type RunAnswer } from '../../support/service/client.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { watchClient } from '../../support/service/watches.ts';

/** This machine, as resolvers and parsers of addresses take it. */
const loopbacks = [
  'localhost',
  'LOCALHOST',
  'a.localhost',
  '127.1',
  '127.0.0.1.',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '0.0.0.0',
  '0',
  '[::]',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127.0.0.1%00.example.com',
  'example.com@127.0.0.1',
];
const metadata = [
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '[::ffff:169.254.169.254]',
  '[fd00:ec2::254]',
  'metadata.google.internal',
  '100.100.100.200',
  '168.63.129.16',
];

/** A load of documents in a column. */
const rowsFrom = (address: string): unknown => ({
  executions: [
    {
      app_name: 'xml2er',
      source: {},
      target: {
        generation: [
          ['--from', address],
          ['--query', 'select 1'],
          ['-o', 'metadb:x'],
        ].map(([command, value]) => ({ command, value, enabled: 'true' })),
      },
    },
  ],
});

describe('hosts that no request may lead to', { timeout: 240_000 }, () => {
  const trial = useTrial();
  let service: RunningService;
  /** of the traps, which are one port on all addresses of this machine */
  let port: number;
  let caught = 0;
  /** may be reached, and leads where its address says */
  let web: string;

  beforeAll(async () => {
    const listen = async (host: string, at: number): Promise<Server> => {
      const server = createServer((socket) => {
        caught += 1;
        socket.destroy();
      });
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(at, host, resolve);
      });
      return trial.keep(server, (one) => new Promise((resolve) => one.close(resolve)));
    };
    port = ((await listen('127.0.0.1', 0)).address() as AddressInfo).port;
    // a machine without IPv6 is reached by no address of it
    await listen('::1', port).catch(() => null);
    const server = createWebServer(({ url }, response) => {
      const to = new URL(url!, 'http://web').searchParams.get('to');
      if (to === null) response.writeHead(200, { ETag: '"1"' }).end('<a><b>1</b></a>');
      // its bytes as they are
      else response.writeHead(302, { Location: Buffer.from(to).toString('latin1') }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    trial.keep(server, (one) => new Promise((resolve) => one.close(resolve)));
    web = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': web,
      'svc.limits.requests_per_second': '100000',
      'svc.limits.request_burst': '100000',
    });
    service = await trial.service(home);
  });

  const run = (input: string, options: Options = [['-o', 'metadb:x']]) =>
    service.client.post<RunAnswer & { code?: string }>('/v2/run/cmd', {
      executions: [execution('xml2er', input, options)],
    });
  const failed = async (input: string, options?: Options): Promise<JobAnswer> => {
    const { status, body } = await run(input, options);
    expect([input, status, body.code]).toEqual([input, 200, undefined]);
    return service.client.ended(body.jobs[0]!);
  };
  const hosts = (): string[] => [...loopbacks.map((host) => `${host}:${port}`), ...metadata];
  /** For doors that take long; all hosts go through the first ones. */
  const chosen = (): string[] => hosts().filter((_, at) => isHere('whole run') || at % 3 === 0);

  it('are refused as inputs, places of watches, schemas, databases and catalogues', async () => {
    const input = await service.client.upload('xml', 'a.xml', new TextEncoder().encode('<a/>'));
    const accepted: string[] = [];
    const code = new Set<unknown>();
    for (const host of hosts()) {
      const watch = { name: 'x', target: 'metadb:x', every: '1d' };
      for (const [path, body] of [
        ['/v2/run/cmd', { executions: [execution('xml2er', `https://${host}/a.xml`, [['-o', 'metadb:x']])] }],
        ['/v2/run/cmd', { executions: [execution('xml2er', `http://${host}/a.xml`, [['-o', 'metadb:x']])] }],
        [
          '/v2/run/cmd',
          { executions: [execution('xml2er', `sftp://ann@${host}/a.xml`, [['-o', 'metadb:x']])] },
        ],
        ['/v2/run/cmd', { executions: [execution('xml2er', input, [['--xsd', `https://${host}/a.xsd`]])] }],
        ['/v2/run/cmd', { executions: [execution('xsd2er', `https://${host}/a.xsd`)] }],
        ['/v2/run/cmd', rowsFrom(`postgresql://u:p@${host}/x`)],
        ['/v2/run/cmd', rowsFrom(`mysql://u:p@${host}/x`)],
        ['/v2/run/cmd', { executions: [execution('xml2er', input, [['-o', `mysql://u:p@${host}/x`]])] }],
        ['/v2/run/cmd', { executions: [execution('xml2er', input, [['-o', `postgresql://u:p@${host}/x`]])] }],
        [
          '/v2/run/cmd',
          { executions: [execution('xml2er', input, [['-o', `iceberg:https://${host}?namespace=n`]])] },
        ],
        ['/v2/watches', { ...watch, location: `https://${host}/a.xml` }],
        ['/v2/watches', { ...watch, location: `sftp://ann@${host}/in/` }],
        ['/v2/watches', { ...watch, location: 'uploads', target: `postgresql://u:p@${host}/x` }],
        ['/v2/schema/create', { name: 'x', xsd: [`https://${host}/a.xsd`] }],
        ['/v2/schema/create', { name: 'x', xml: [`http://${host}/a.xml`] }],
      ] as const) {
        const { status, body: answer } = await service.client.post<{ code: string }>(path, body);
        code.add(answer.code);
        if (status < 400 || status >= 500) accepted.push(`${path} ${JSON.stringify(body)} ${status}`);
      }
    }
    expect(accepted).toEqual([]);
    const refusals = [
      'host_not_allowed',
      'invalid_body',
      'invalid_option',
      'path_not_allowed',
      'target_not_allowed',
    ];
    expect([...code].filter((one) => !refusals.includes(one as string))).toEqual([]);
  });

  it('are not reached with a credential that names them', async () => {
    for (const [at, host] of chosen().entries()) {
      for (const [kind, members, location] of [
        ['s3', { endpoint: `https://${host}`, access_key: 'A', secret_key: 'S' }, 's3://bucket/a.xml'],
        ['s3', { endpoint: `http://${host}`, access_key: 'A', secret_key: 'S' }, 's3://bucket/a.xml'],
        [
          'az',
          { endpoint: `https://${host}`, access_key: 'account', token: 'sv=1&sig=x' },
          'az://container/a.xml',
        ],
        ['https', { host, token: 'T' }, `https://${host}/a.xml`],
        ['sftp', { host, user: 'ann', password: 'P' }, `sftp://ann@${host}/a.xml`],
      ] as const) {
        const name = `${kind}-${at}`;
        const made = await service.client.post('/v2/admin/credentials', { name, kind, ...members });
        if (made.status === 400) continue;
        const ran = await run(location, [
          ['--credential', name],
          ['-o', 'metadb:x'],
        ]);
        expect([host, kind, [400, 403].includes(ran.status)]).toEqual([host, kind, true]);
        const watched = await service.client.post('/v2/watches', {
          name,
          location: location.replace(/a\.xml$/, kind === 'https' ? 'a.xml' : ''),
          target: 'metadb:x',
          every: '1d',
          credential: name,
        });
        expect([host, kind, [400, 403].includes(watched.status)]).toEqual([host, kind, true]);
        const schema = await service.client.post('/v2/schema/create', {
          name: 'x',
          xml: [location],
          credential: name,
        });
        expect([host, kind, [400, 403].includes(schema.status)]).toEqual([host, kind, true]);
        await service.client.fetch(`/v2/admin/credentials/${name}`, { method: 'DELETE' });
      }
    }
  });

  it('are not followed to by redirects: of schemas', async () => {
    for (const host of chosen())
      for (const scheme of ['http', 'https']) {
        const to = `${scheme}://${host}/a.xml`;
        const address = `http://${web}/a.xml?${new URLSearchParams({ to })}`;
        const { status, body } = await service.client.post<{ code: string }>('/v2/schema/create', {
          name: 'x',
          xml: [address],
        });
        expect([to, status, body.code]).toEqual([
          to,
          expect.toBeOneOf([400, 403, 422]),
          expect.toBeOneOf(['host_not_allowed', 'unprocessable_input']),
        ]);
      }
  });

  it('are not followed to by redirects: of jobs and of watches', async () => {
    const watches = watchClient(service.client);
    for (const [at, to] of [
      `http://localhost:${port}/a.xml`,
      'http://169.254.169.254/latest/meta-data',
    ].entries()) {
      const address = `http://${web}/a.xml?${new URLSearchParams({ to })}`;
      const job = await failed(address);
      expect([job.status, job.failure]).toEqual(['F', expect.stringContaining('may not be reached')]);
      const watch = await watches.create({
        name: `away ${at}`,
        location: address,
        target: 'metadb:away',
        every: '1s',
        settle: '0s',
      });
      const { stalled } = await watches.stalled(watch.id_watch);
      expect(stalled).toContain('may not be reached');
      await service.client.fetch(`/v2/watches/${watch.id_watch}`, { method: 'DELETE' });
    }
  });

  it('are not gone to because a catalogue says so', async () => {
    const store = trial.keep(await startObjectServer(), (one) => one.end());
    let endpoint = '';
    const catalogue = trial.keep(
      await startIcebergCatalogue(store, {
        storeConfig: () => ({
          's3.endpoint': endpoint,
          's3.access-key-id': 'a',
          's3.secret-access-key': 'b',
        }),
      }),
      (one) => one.end(),
    );
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.allow.hosts': new URL(catalogue.address).host,
    });
    const { client } = await trial.service(home);
    const input = await client.upload('xml', 'a.xml', new TextEncoder().encode('<a/>'));
    for (const told of [
      `http://localhost:${port}`,
      `http://127.0.0.1:${port}`,
      'https://169.254.169.254',
      'http://10.0.0.1',
    ]) {
      endpoint = told;
      const { jobs } = await client.run([
        execution('xml2er', input, [['-o', `iceberg:${catalogue.address}?namespace=n`]]),
      ]);
      const job = await client.ended(jobs[0]!);
      expect([told, job.status, job.failure]).toEqual([
        told,
        'F',
        expect.stringMatching(/may not be reached|without TLS/),
      ]);
    }
  });

  it('have been asked for nothing', () => {
    expect(caught).toBe(0);
  });
});
