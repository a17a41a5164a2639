/**
 * The service on an edge runtime (workerd): the same application, with the metadata database over Hyperdrive or directly, and files
 * and logs in an object store that Node workers read, too. Jobs go into the queue; those workers run them.
 */
import packageFacts from '../../package.json' with { type: 'json' };
import { createObjectFileStore } from '../storage/object-store/file-store.ts';
import { createObjectLogStore } from '../storage/object-store/job-log.ts';
import { createObjectStoreHealth } from '../storage/object-store/health.ts';
import { createR2ObjectStore, type R2Bucket } from '../storage/object-store/r2.ts';
import { createS3ObjectStore } from '../storage/object-store/s3.ts';
import { createJsonLogger } from './system/logs.ts';
import { createOidcVerifier } from './system/oidc-verifier.ts';
import { createSecretBox, decodeKey } from './system/secret-box.ts';
import { createSystemClock } from './system/clock.ts';
import { createPostgresAccessStore, createPostgresCredentialStore } from '../metadb/access-store.ts';
import { createPostgresCatalogStore } from '../metadb/catalog-store.ts';
import { createPostgresWatchStore } from '../metadb/watch-store.ts';
import { connectPostgres, createRequestSql, type RequestSql } from '../postgres/connect.ts';
import { createPostgresIdempotencyStore } from '../metadb/idempotency-store.ts';
import { createPostgresJobStore } from '../metadb/job-store.ts';
import { everyOrganisation } from '../postgres/organisation-pools.ts';
import { createApp } from '../app.ts';
import { readConfig } from '../config/properties.ts';
import { ConfigError } from '../config/wrong-settings.ts';
import type { Config } from '../config/shape.ts';
import { nextModel } from '../service/catalog/logical-schema.ts';
import { AppError } from '../errors.ts';
import { createMask } from '../service/jobs/mask-secrets.ts';
import { docAssetNames, type ObjectStore } from '../ports/files.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { HealthComponent } from '../ports/environment.ts';
import { mergeSettings, settingOrigins } from '../config/java-properties.ts';

/** Bindings of wrangler.toml; settings are text beside them, `SVC_…` as in the environment of Node. */
export interface WorkerEnvironment {
  readonly HYPERDRIVE?: { readonly connectionString: string };
  /** used if `svc.files.store` names no S3-compatible store */
  readonly FILES?: R2Bucket;
  /** the files of the reference page */
  readonly ASSETS?: { fetch(request: Request): Promise<Response> };
  readonly [setting: string]: unknown;
}

interface ExecutionContext {
  waitUntil(work: Promise<unknown>): void;
}

interface Service {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly database: RequestSql;
}

/** connections of one request */
const maxConnections = 5;

export default createWorker();

/** The service is made at the first request, as bindings are not there before, and again while settings are missing. */
function createWorker() {
  let service: Promise<Service> | null = null;
  return {
    async fetch(request: Request, env: WorkerEnvironment, context: ExecutionContext): Promise<Response> {
      service ??= openService(env);
      let opened: Service;
      try {
        opened = await service;
      } catch (error) {
        service = null;
        return unconfigured(error);
      }
      return opened.database.run(async (end) => {
        try {
          const answer = await opened.fetch(request);
          return ended(answer, () => context.waitUntil(end()));
        } catch (error) {
          context.waitUntil(end());
          throw error;
        }
      });
    },
  };
}

async function openService(env: WorkerEnvironment): Promise<Service> {
  const settings = textsOf(env);
  const config = readConfig(
    mergeSettings(
      env.HYPERDRIVE === undefined ? {} : { 'metadb.url': env.HYPERDRIVE.connectionString },
      settings,
    ),
  );
  const url = config.metadbUrl;
  if (url === null || config.secretKey === null) {
    throw new ConfigError([
      ...(url === null ? ['metadb.url: bind HYPERDRIVE, or set SVC_METADB_URL'] : []),
      ...(config.secretKey === null
        ? ['svc.secret.key: set SVC_SECRET_KEY, the same as on the Node workers']
        : []),
    ]);
  }
  if (config.oidc !== null && config.oidc.jwks.startsWith('/'))
    throw new ConfigError(['svc.oidc.jwks: must be a URL because this runtime has no files']);
  const role = settings['SVC_DATABASE_ROLE'];
  const database = createRequestSql(() =>
    connectPostgres(url, {
      applicationName: 'conversion-job-service edge',
      max: maxConnections,
      // a pooler between gives every transaction another connection
      prepare: false,
      ...(role === undefined ? {} : { role, idOrg: everyOrganisation }),
    }),
  );
  const { sql } = database;
  const store = storeOf(env, config);
  const { limits } = config;
  const logger = createJsonLogger({
    write: (line) => console.log(line.trimEnd()),
    mask: createMask([url, config.secretKey!]),
  });
  const adapters: Adapters = {
    jobs: createPostgresJobStore(sql, {
      maxRunningPerOrg: limits.runningJobs,
      maxQueuedPerOrg: limits.queuedJobs,
      maxAttempts: limits.attempts,
      deadlineMs: limits.jobDeadlineMs,
      idempotencyKeyMs: limits.keepIdempotencyKeysMs,
    }),
    catalog: createPostgresCatalogStore(sql),
    watches: createPostgresWatchStore(sql),
    access: createPostgresAccessStore(sql),
    credentials: createPostgresCredentialStore(sql),
    idempotency: createPostgresIdempotencyStore(sql, limits.keepIdempotencyKeysMs),
    files: createObjectFileStore({ ...store, roots: null }),
    logs: createObjectLogStore(store.objects, store.prefix),
    compiler: {
      generate: async (sources) => nextModel(sources),
      compile: () =>
        Promise.reject(
          new AppError(
            'runtime_unsupported',
            'this runtime cannot compile schemas because it has no separate processes: run xsd2er as a job (POST /v2/run/cmd)',
          ),
        ),
    },
    secrets: createSecretBox(
      decodeKey(config.secretKey, 'svc.secret.key'),
      config.oldSecretKeys.map((old) => decodeKey(old, 'svc.secret.old_keys')),
    ),
    clock: createSystemClock(),
    logger,
    settings: settingOrigins({}, settings),
    health: {
      db: () => databaseHealth(database),
      diskSpace: () => Promise.resolve({ status: 'UNKNOWN' }),
      objectStore: createObjectStoreHealth(store),
      worker: () => Promise.resolve({ status: 'UP', details: { running: 0 } }),
      acceptsTraffic: () => true,
    },
    assets: {
      async read(name) {
        if (env.ASSETS === undefined || !docAssetNames.some((known) => known === name)) return null;
        const answer = await env.ASSETS.fetch(new Request(`https://assets.local/${name}`));
        return answer.ok ? new Uint8Array(await answer.arrayBuffer()) : null;
      },
    },
    runtime: { name: 'workerd', version: runtimeVersion, capabilities: { commands: true } },
    build: { name: packageFacts.name, version: packageFacts.version, time: null, git: null },
    hosts: {
      resolve: (name) =>
        Promise.reject(new AppError('runtime_unsupported', `the name ${name} cannot be resolved here`)),
    },
    transfers: null,
    targetReader: null,
    ...(config.oidc === null ? {} : { tokens: await createOidcVerifier(config.oidc) }),
  };
  return { fetch: createApp(adapters, config).fetch, database };
}

/** workerd has no version of its own: its behaviour follows the compatibility date of wrangler.toml */
const runtimeVersion = 'edge';

interface Store {
  readonly objects: ObjectStore;
  readonly prefix: string;
  /** location for people */
  readonly location: string;
}

function storeOf(env: WorkerEnvironment, { objectStore }: Config): Store {
  if (objectStore !== null) {
    const { bucket, prefix } = objectStore;
    return { objects: createS3ObjectStore(objectStore), prefix, location: `s3://${bucket}/${prefix}` };
  }
  if (env.FILES !== undefined)
    return { objects: createR2ObjectStore(env.FILES), prefix: '', location: 'FILES' };
  throw new ConfigError(['svc.files.store: bind FILES, or set SVC_FILES_STORE']);
}

/** Variables and secrets are texts, bindings are objects. */
function textsOf(env: WorkerEnvironment): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

async function databaseHealth({ sql }: RequestSql): Promise<HealthComponent> {
  try {
    await sql`select 1`;
    return { status: 'UP', details: { database: 'PostgreSQL' } };
  } catch {
    return { status: 'DOWN', details: { database: 'PostgreSQL' } };
  }
}

/** Calls `done` when the last of the body was sent, or nobody wants it any more. */
function ended(answer: Response, done: () => void): Response {
  if (answer.body === null) {
    done();
    return answer;
  }
  const reader = answer.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done: isLast, value } = await reader.read();
        if (!isLast) {
          controller.enqueue(value);
          return;
        }
        controller.close();
        done();
      } catch (error) {
        controller.error(error);
        done();
      }
    },
    async cancel(reason) {
      // the client is gone: nobody can be notified
      await reader.cancel(reason).catch(() => undefined);
      done();
    },
  });
  return new Response(body, answer);
}

/** Answers that the service is not configured. The missing settings appear only in the log, because anybody can read the answer. */
function unconfigured(error: unknown): Response {
  console.error(error instanceof Error ? error.message : String(error));
  const detail = 'the service is not configured: its log says what is missing';
  return Response.json(
    {
      type: 'urn:svc:problem:service_unavailable',
      title: 'Not available now',
      status: 503,
      detail,
      code: 'service_unavailable',
    },
    { status: 503, headers: { 'Content-Type': 'application/problem+json' } },
  );
}
