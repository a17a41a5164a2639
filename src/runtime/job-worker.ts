/** A worker on this machine: the service runs it in its own process, and `npm run worker` runs it alone. */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { installation } from '../installation.ts';
import { join } from 'node:path';
import { createJobRunner, type PreparedRun } from '../process/job-runner.ts';
import { markVariable, waitsVariable } from '../process/successive-runs.ts';
import { createProcessRunner } from '../process/tool-runner.ts';
import { relayVariable } from '../storage/relay/protocol.ts';
import { createStoreServer, type StoreServer } from '../storage/relay/store-server.ts';
import type { VersionWatch } from '../metadb/migrations.ts';
import { sparkVariables } from '../config/properties.ts';
import { secretsOfAccess } from '../config/source-access.ts';
import { unlimited } from '../config/values.ts';
import { findCredential } from '../service/files/credentials.ts';
import { createMask, secretForms } from '../service/jobs/mask-secrets.ts';
import { checkStoredRequest } from '../service/jobs/request/shape.ts';
import { secretsIn, openRequest } from '../service/jobs/request/stored-request.ts';
import { createWorker, type Worker } from '../service/jobs/worker/run-jobs.ts';
import type { JobRunner } from '../ports/processes.ts';
import type { Environment } from './home.ts';
import { createPathMask } from './host-paths.ts';
import { jobFolder, type OpenedInstallation } from './open-installation.ts';
import { readWorkerIdentity } from './worker-identity.ts';

/** Shortest of two means against a missed notification of new work. */
const pollMs = 1000;
const killGraceMs = 3000;

/** `environment`: source of its SVC_ settings; the tools get them too. */
export function createJobWorker(
  opened: OpenedInstallation,
  environment: Environment,
  concurrency: number,
): Worker {
  const { adapters, config, home } = opened;
  return createWorker({
    jobs: adapters.jobs,
    runner: runnerOf(opened, environment, concurrency),
    logger: adapters.logger,
    identity: { ...readWorkerIdentity(home.directory), slots: concurrency },
    concurrency,
    leaseMs: config.limits.leaseMs,
    heartbeatMs: config.limits.heartbeatMs,
    pollMs,
    killGraceMs,
    maxAttempts: config.limits.attempts,
    outageWaitMs: config.limits.outageWaitMs,
    ...(adapters.tracer === undefined ? {} : { tracer: adapters.tracer }),
    ...(opened.version === null ? {} : { fitsDatabase: fitsDatabase(opened.version) }),
    ...(config.limits.jobRunMs === unlimited ? {} : { runLimitMs: config.limits.jobRunMs }),
  });
}

function fitsDatabase(version: VersionWatch): () => Promise<boolean> {
  return async () => (await version.check()).fault === null;
}

function runnerOf(opened: OpenedInstallation, environment: Environment, concurrency: number): JobRunner {
  const { adapters, config, given, home } = opened;
  const { idleMs } = config.worker;
  const runner =
    given.runner ??
    createProcessRunner({
      workingDirectory: home.directory,
      heapBytes: config.worker.memoryBytes,
      memoryBytes: config.limits.toolMemoryBytes,
      ...(idleMs === null ? {} : { waiting: { most: concurrency, waitMs: idleMs } }),
    });
  // tools open the service's own stores themselves
  const relay =
    given.files === undefined ? null : createStoreServer(adapters.files, join(home.directory, 'tmp'));
  const jobRunner = createJobRunner({
    runner,
    entryOf: (tool) => fileURLToPath(new URL(`bin/${tool}.mjs`, installation)),
    openLog: adapters.logs.openLog,
    environment: toolEnvironment(environment, home.directory),
    prepare: (attempt) => prepare(opened, relay, attempt),
  });
  return {
    ...jobRunner,
    async close() {
      await jobRunner.close();
      await relay?.close();
    },
  };
}

/**
 * Makes the mask of a run's log, and its way to the files. Files that a tool has copied to this machine are removed when it ends, whatever
 * the outcome. Numbers of jobs are given out again after the database was restored from a backup, so leftovers of another job with that
 * number are removed before the first attempt. An unreadable request starts no tool.
 */
async function prepare(
  opened: OpenedInstallation,
  relay: StoreServer | null,
  { idJob, epoch }: { readonly idJob: number; readonly epoch: number },
): Promise<PreparedRun> {
  const { adapters, home } = opened;
  const { request, record } = await adapters.jobs.findStoredJob(idJob);
  const mask = await maskOf(opened, record.id_org, request);
  const folder = jobFolder(home, idJob);
  await rm(folder, { recursive: true, force: true });
  if (epoch === 1) await adapters.logs.removeLog(idJob);
  const admitted = await relay?.admit(record.id_org);
  return {
    mask,
    ...(admitted === undefined ? {} : { environment: { [relayVariable]: JSON.stringify(admitted.address) } }),
    async release() {
      admitted?.end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Returns a mask that removes secrets and this machine's paths from the output of a tool and its child processes: the secrets of the
 * home and of the job's own request.
 */
async function maskOf(
  opened: OpenedInstallation,
  idOrg: number,
  request: string,
): Promise<(text: string) => string> {
  const toRun = await openRequest(request, opened.adapters.secrets);
  checkStoredRequest(toRun);
  const known = [...secretsIn(toRun), ...(await secretsOfCredential(opened, idOrg, toRun.credential))];
  // The log is masked byte by byte: a character of a secret outside ASCII has several bytes
  const maskBytes = createMask(known.flatMap(secretForms).map(inBytes));
  const hidePaths = createPathMask(opened.home, idOrg, inBytes);
  return (text) => hidePaths(opened.mask(maskBytes(text)));
}

/**
 * Returns the secrets of an organisation's own credential; those of the operator's sources are masked everywhere. The tool reports a
 * missing credential.
 */
async function secretsOfCredential(
  { adapters }: OpenedInstallation,
  idOrg: number,
  name: string | undefined,
): Promise<string[]> {
  const found = name === undefined ? null : await findCredential(adapters, [], idOrg, name);
  return found === null ? [] : secretsOfAccess(found.access).flatMap((secret) => secret.split(/[\r\n]+/));
}

/**
 * Returns the settings, and the place of Spark, but not the address of the database: tools read it from the home folder's private file.
 */
function toolEnvironment(environment: Environment, directory: string): Record<string, string> {
  const tool: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const own =
      name.startsWith('SVC_') &&
      name !== 'SVC_METADB_URL' &&
      name !== 'SVC_LAUNCHED_BY' &&
      name !== 'SVC_JOB_EPOCH' &&
      name !== relayVariable &&
      name !== markVariable &&
      name !== waitsVariable &&
      !/^SVC_(?:WEBHOOKS|OPENLINEAGE)_/.test(name);
    if ((own || sparkVariables.test(name)) && value !== undefined) tool[name] = value;
  }
  tool['SVC_HOME'] = directory;
  return tool;
}

/** A text as the log holds it: its bytes, each a character. */
function inBytes(text: string): string {
  return Buffer.from(text).toString('latin1');
}
