/** Everything `createApp` is given, in memory, with handles to steer it. */
import { createCompressor } from '../../../src/runtime/system/compressor.ts';
import { createServiceLog, type WrittenLog } from '../../../src/runtime/system/logs.ts';
import { issueKey } from '../../../src/service/access/keys.ts';
import { createApp } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/properties.ts';
import type { Config } from '../../../src/config/shape.ts';
import type { Scope, SecretBox } from '../../../src/ports/stores/access.ts';
import type { Adapters } from '../../../src/ports/adapters.ts';
import type { JobStore } from '../../../src/ports/stores/jobs.ts';
import type { HealthComponent, Logger } from '../../../src/ports/environment.ts';
import { createMemoryAccessStore, type MemoryAccessStore } from './access.ts';
import { createMemoryCatalogStore } from './catalog.ts';
import { createMemoryCredentialStore } from './credentials.ts';
import {
  createMemoryFileStore,
  createMemoryLogStore,
  type MemoryFileStore,
  type MemoryLogStore,
} from './files.ts';
import { createMemoryIdempotencyStore, type MemoryIdempotencyStore } from './idempotency.ts';
import { createMemorySchemaCompiler } from './schema-compiler.ts';
import { createMemoryJobStore } from './jobs.ts';
import { createMemoryWatchStore, type MemoryWatchStore } from './watches.ts';

export interface MemoryHealth {
  db: HealthComponent;
  diskSpace: HealthComponent;
  worker: HealthComponent;
  acceptsTraffic: boolean;
}

export interface LogLine {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface MemoryAdapters extends Adapters {
  readonly access: MemoryAccessStore;
  readonly watches: MemoryWatchStore;
  readonly files: MemoryFileStore;
  readonly logs: MemoryLogStore;
  readonly idempotency: MemoryIdempotencyStore;
  readonly time: { nowMs: number };
  readonly healthStates: MemoryHealth;
  readonly logLines: LogLine[];
  readonly serviceLog: WrittenLog;
}

/** Organisations 1 and 2 exist; the clock stands still until `time.nowMs` is moved. */
export function createMemoryAdapters(): MemoryAdapters {
  const time = { nowMs: 1_790_000_000_000 };
  const clock = { nowMs: () => time.nowMs };
  const jobs = createMemoryJobStore(clock);
  const access = createMemoryAccessStore(clock);
  access.addOrg({ id_org: 1, name: 'default' });
  access.addOrg({ id_org: 2, name: 'other' });
  const files = createMemoryFileStore();
  const logLines: LogLine[] = [];
  const healthStates: MemoryHealth = {
    db: { status: 'UP', details: { database: 'PostgreSQL' } },
    diskSpace: { status: 'UP', details: { total: 100, free: 60, threshold: 10 } },
    worker: { status: 'UP', details: { running: 0 } },
    acceptsTraffic: true,
  };
  const serviceLog = createServiceLog(() => undefined);
  return {
    jobs,
    access,
    credentials: createMemoryCredentialStore(clock),
    idempotency: createMemoryIdempotencyStore(clock),
    catalog: createMemoryCatalogStore(clock, (idSch) => usesOrigin(jobs, idSch)),
    watches: createMemoryWatchStore(clock),
    files,
    logs: createMemoryLogStore(),
    compiler: createMemorySchemaCompiler(files),
    secrets: createMemorySecretBox(),
    clock,
    compressor: createCompressor(),
    logger: createMemoryLogger(logLines),
    log: serviceLog,
    settings: [
      { name: 'cmd.enabled', source: 'systemEnvironment', value: null },
      { name: 'metadb.url', source: 'backend.properties', value: null },
      { name: 'svc.oidc.scope_claim', source: 'default', value: 'scope' },
    ],
    health: {
      db: async () => healthStates.db,
      diskSpace: async () => healthStates.diskSpace,
      worker: async () => healthStates.worker,
      acceptsTraffic: () => healthStates.acceptsTraffic,
    },
    assets: {
      read: async (name) => (name === 'swagger-ui.css' ? new TextEncoder().encode('.swagger-ui{}') : null),
    },
    runtime: { name: 'test', version: '1', capabilities: { commands: true } },
    build: {
      name: 'conversion-job-service',
      version: '1.0.0',
      time: 1_789_000_000_000,
      git: { branch: 'main', commit: { id: 'ee27ec5', time: null } },
    },
    hosts: { resolve: async () => ['192.0.2.1'] },
    transfers: null,
    targetReader: null,
    serviceLog,
    time,
    healthStates,
    logLines,
  };
}

async function usesOrigin(jobs: JobStore, idSch: number): Promise<boolean> {
  for (const idOrg of [1, 2]) {
    const { content } = await jobs.listRuns(idOrg, [idSch], 0, 500);
    if (content.some(({ record }) => record.end_date === null)) return true;
  }
  return false;
}

export function createMemoryLogger(lines: LogLine[]): Logger {
  const write =
    (level: LogLine['level']) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
      void lines.push({ level, message, fields });
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

/** Reversible and different at each call, and no secret at all. */
function createMemorySecretBox(): SecretBox {
  let calls = 0;
  return {
    seal: async (plain) => `${(calls += 1)}:${btoa(encodeURIComponent(plain))}`,
    open: async (sealed) => decodeURIComponent(atob(sealed.slice(sealed.indexOf(':') + 1))),
  };
}

export interface TestApp {
  readonly app: ReturnType<typeof createApp>;
  readonly adapters: MemoryAdapters;
  readonly config: Config;
  /** a key of organisation 1 with every scope */
  readonly key: string;
  newKey(
    idOrg: number,
    scopes: readonly Scope[],
    expiresAt?: number,
  ): Promise<{ key: string; idKey: string }>;
  /** Sends with the key of organisation 1, unless `headers` say otherwise. */
  send(path: string, init?: RequestInit & { key?: string | null }): Promise<Response>;
}

const everyScope: readonly Scope[] = [
  'jobs:read',
  'jobs:run',
  'schemas:read',
  'schemas:write',
  'files:upload',
  'rows:read',
  'migrate',
  'admin',
];

export async function createTestApp(
  properties: Readonly<Record<string, string>> = { 'cmd.enabled': 'true' },
  change: Partial<Adapters> = {},
): Promise<TestApp> {
  const adapters = createMemoryAdapters();
  const config = readConfig(properties);
  const app = createApp({ ...adapters, ...change }, config);
  const newKey: TestApp['newKey'] = async (idOrg, scopes, expiresAt) =>
    await issueKey(adapters.access, { idOrg, name: 'test', scopes, expiresAt: expiresAt ?? null });
  const { key } = await newKey(1, everyScope);
  return {
    app,
    adapters,
    config,
    key,
    newKey,
    send: async (path, { key: other, ...init } = {}) => {
      const headers = new Headers(init.headers);
      if (other !== null && !headers.has('Authorization'))
        headers.set('Authorization', `Bearer ${other ?? key}`);
      return await app.request(path, { ...init, headers });
    },
  };
}
