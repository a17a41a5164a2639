/** A worker on this machine: the service runs it in its own process, and `npm run worker` runs it alone. */
import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { installation } from '../installation.ts';
import { markVariable, waitsVariable } from '../process/successive-runs.ts';
import { createProcessRunner } from '../process/tool-runner.ts';
import type { VersionWatch } from '../metadb/migrations.ts';
import { sparkVariables } from '../config/properties.ts';
import { secretsOfAccess } from '../config/source-access.ts';
import { unlimited } from '../config/values.ts';
import { findCredential } from '../service/files/credentials.ts';
import { createMask, secretForms } from '../service/jobs/mask-secrets.ts';
import { checkStoredRequest } from '../service/jobs/request/shape.ts';
import { secretsIn, openRequest } from '../service/jobs/request/stored-request.ts';
import { createWorker, type Worker } from '../service/jobs/worker/run-jobs.ts';
import type { ProcessRunner } from '../ports/processes.ts';
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
  const { idleMs } = config.worker;
  const runner = createProcessRunner({
    entryOf: (tool) => fileURLToPath(new URL(`bin/${tool}.mjs`, installation)),
    openLog: opened.openLog,
    workingDirectory: home.directory,
    environment: toolEnvironment(environment, home.directory),
    maskOf: (idJob) => maskOf(opened, idJob),
    heapBytes: config.worker.memoryBytes,
    memoryBytes: config.limits.toolMemoryBytes,
    ...(idleMs === null ? {} : { waiting: { most: concurrency, waitMs: idleMs } }),
  });
  return createWorker({
    jobs: adapters.jobs,
    runner: clearing(runner, opened),
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

/**
 * Wraps a runner so that files that a tool has copied to this machine are removed when it ends, whatever the outcome. Numbers of jobs
 * are given out again after the database was restored from a backup, so leftovers of another job with that number are removed before
 * the first attempt.
 */
function clearing(runner: ProcessRunner, { home, adapters }: OpenedInstallation): ProcessRunner {
  return {
    ...runner,
    async start(command) {
      const folder = jobFolder(home, command.idJob);
      await rm(folder, { recursive: true, force: true });
      if (command.epoch === 1) await adapters.files.removeLog(command.idJob);
      const started = await runner.start(command);
      const ended = started.ended.finally(() => rm(folder, { recursive: true, force: true }));
      return { ...started, ended };
    },
  };
}

/**
 * Returns a mask that removes secrets and this machine's paths from the output of a tool and its child processes: the secrets of the
 * home and of the job's own request. An unreadable request starts no tool.
 */
async function maskOf(opened: OpenedInstallation, idJob: number): Promise<(text: string) => string> {
  const { jobs, secrets } = opened.adapters;
  const { request, record } = await jobs.findStoredJob(idJob);
  const toRun = await openRequest(request, secrets);
  checkStoredRequest(toRun);
  const known = [
    ...secretsIn(toRun),
    ...(await secretsOfCredential(opened, record.id_org, toRun.credential)),
  ];
  // The log is masked byte by byte: a character of a secret outside ASCII has several bytes
  const maskBytes = createMask(known.flatMap(secretForms).map(inBytes));
  const hidePaths = createPathMask(opened.home, record.id_org, inBytes);
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
