/** Every way the service is run: by itself, inside other servers, on the edge. All share one database. */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import * as insideExpress from '../../../examples/express.ts';
import * as insideFastify from '../../../examples/fastify.ts';
import * as insideHono from '../../../examples/hono.ts';
import * as insideNodeHttp from '../../../examples/node-http.ts';
import { openService } from '../../../src/runtime/open-service.ts';
import { startEdgeWorker } from '../../support/servers/edge-worker.ts';
import type { IdentityProvider } from '../../support/servers/identity-provider.ts';
import { createServiceHome, startService, type ServiceHome } from '../../support/service/start.ts';
import type { S3Server } from '../../support/servers/s3-server.ts';
import type { Deployment, OpenDeployment } from './session.ts';

/** small, so that what is over it arrives at once, and no connection is closed for a body that nobody reads */
export const jsonBodyLimit = '64 KiB';

/** What the deployments share. */
export interface Installation {
  readonly databaseUrl: string;
  /** base64; the key of the first home, so that each deployment opens what another has sealed */
  readonly secretKey: string;
  /** the first home: it keeps the first API key of the database */
  readonly home: ServiceHome;
  /** whose tokens are taken beside keys */
  readonly provider: IdentityProvider;
  /** null: none is to be had */
  readonly s3: S3Server | null;
}

interface Host {
  readonly server: unknown;
  close(): Promise<void>;
}

/** fetch cannot send it, and no web-standard Request can carry it */
const common = {
  traceErrorView: 'TRACE is answered by the HTTP server of Node, and cannot be sent by fetch',
};

const onEdge = {
  ...common,
  createSchema: 'nothing can be isolated in workerd: xsd2er as a job compiles elsewhere',
  exportSchema: 'workerd runs no processes',
  importSchema: 'workerd runs no processes',
  listTargetRows: 'workerd runs no processes',
  queryTarget: 'workerd runs no processes',
  listLoggers: 'the platform keeps the log',
  getLogger: 'the platform keeps the log',
  setLoggerLevel: 'the platform keeps the log',
  getLogfile: 'the platform keeps the log',
};

export function deploymentsOf(installation: () => Installation): readonly Deployment[] {
  const home = (): string => installation().home.directory;
  const adminKey = async (): Promise<string> => (await readFile(join(home(), 'admin.key'), 'utf8')).trim();
  const environment = (): Record<string, string> => ({ SVC_HOME: home(), SVC_CMD_ENABLED: 'true' });

  const inside = (
    name: string,
    startHost: (home: string, port: number) => Promise<Host>,
    prefix = '/convert',
  ): Deployment => ({
    name,
    prefix,
    unsupported: common,
    async open() {
      const host = await startHost(home(), 0);
      const url = await addressOf(host.server as Server);
      return { url, adminKey: await adminKey(), send: fetch, close: () => host.close() };
    },
  });

  return [
    {
      name: 'Node, over HTTP',
      prefix: '',
      unsupported: common,
      async open() {
        const service = await startService(installation().home);
        return {
          url: service.url,
          adminKey: service.key,
          send: fetch,
          close: async () => void (await service.end('SIGTERM')),
        };
      },
    },
    {
      name: 'in process',
      prefix: '',
      unsupported: common,
      async open() {
        const service = await openService({ environment: environment(), write: () => undefined });
        await service.start();
        return {
          url: 'http://in.process',
          adminKey: await adminKey(),
          send: async (address, init) => service.app.request(address, init),
          close: () => service.close(),
        };
      },
    },
    inside('Hono, route()', insideHono.startHost),
    inside('Hono, mount()', (folder, port) => mountedHost(folder, port)),
    inside('Express', insideExpress.startHost),
    inside('Fastify', insideFastify.startHost),
    inside('node:http', insideNodeHttp.startHost),
    {
      name: 'workerd, with a Node worker elsewhere',
      prefix: '',
      unsupported: onEdge,
      parts: ['s3 server'],
      open: () => openEdge(installation()),
    },
  ];
}

/** `mount` takes the path off the requests, as Express does. */
async function mountedHost(home: string, port: number): Promise<Host> {
  const service = await openService({
    environment: { SVC_HOME: home, SVC_CMD_ENABLED: 'true' },
    write: () => undefined,
    basePath: '/convert',
  });
  const host = new Hono().get('/', (c) => c.text('the host’s own page')).mount('/convert', service.fetch);
  await service.start();
  const server = serve({ fetch: host.fetch, hostname: '127.0.0.1', port });
  return {
    server,
    async close() {
      await service.close();
      server.close();
    },
  };
}

/** Files and logs in S3, which both read; the jobs run in a service on Node that nobody calls. */
async function openEdge({
  databaseUrl,
  secretKey,
  s3,
  home,
  provider,
}: Installation): Promise<OpenDeployment> {
  if (s3 === null) throw new Error('the edge shares its files by S3');
  const { endpoint, bucket, accessKeyId, secretAccessKey } = s3.settings;
  const settings = {
    SVC_METADB_URL: databaseUrl,
    SVC_SECRET_KEY: secretKey,
    SVC_CMD_ENABLED: 'true',
    SVC_LIMITS_JSON_BODY: jsonBodyLimit,
    ...Object.fromEntries(
      Object.entries(provider.properties).map(([name, value]) => [
        name.toUpperCase().replaceAll('.', '_'),
        value,
      ]),
    ),
    SVC_FILES_STORE: `s3://${bucket}/shared`,
    SVC_FILES_S3_ENDPOINT: endpoint,
    SVC_FILES_S3_ACCESS_KEY: accessKeyId,
    SVC_FILES_S3_SECRET_KEY: secretAccessKey,
  };
  const elsewhere = await createServiceHome();
  const worker = await openService({
    environment: { SVC_HOME: elsewhere.directory, ...settings },
    write: () => undefined,
  });
  await worker.start();
  const edge = await startEdgeWorker({ texts: settings });
  return {
    url: edge.url,
    adminKey: (await readFile(join(home.directory, 'admin.key'), 'utf8')).trim(),
    send: fetch,
    async close() {
      await edge.end();
      await worker.close();
      await elsewhere.remove();
    },
  };
}

async function addressOf(server: Server): Promise<string> {
  if (!server.listening) await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
