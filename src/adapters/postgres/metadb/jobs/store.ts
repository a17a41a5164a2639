/** The job store on PostgreSQL: `svc.job` is the record, the queue and the rule book. */
import type { JobStore } from '../../../../ports/stores/jobs.ts';
import { isReachedServer, noteReachedServer } from './reached-servers.ts';
import type { Sql } from '../../client/connect.ts';
import { createJobNotifications, type JobNotifications } from './notifications.ts';
import {
  beginCommit,
  checkClaim,
  claimJob,
  finish,
  handBack,
  heartbeat,
  reap,
  report,
  readJobRequest,
  settleCommit,
} from './queue.ts';
import { findJob, findWorkflow, listJobs, listWorkflowJobs, listWorkflows, requestKill } from './queries.ts';
import { countWaitingOrganisations, listEnded, queueAgeMs } from './figures.ts';
import {
  countByStatus,
  findRun,
  listIds,
  listLatestLoads,
  listRuns,
  removeJob,
  sumLoadedRows,
} from './runs.ts';
import {
  readInTransaction,
  withinOrganisation,
  type OrganisationReader,
} from '../../client/organisation-scope.ts';
import { rerun, startByHand, submit } from './submission.ts';
import type { JobStoreSettings } from './settings.ts';

const defaultJobStoreSettings: JobStoreSettings = {
  maxRunningPerOrg: 4,
  maxQueuedPerOrg: 10_000,
  maxAttempts: 3,
  deadlineMs: 24 * 3_600_000,
  retryDelayMs: 2_000,
  idempotencyKeyMs: 24 * 3_600_000,
};

/** The job store with the parts that neighbouring stores share; `close` ends the connection that waits for work. */
export interface PostgresJobStore extends JobStore {
  readonly notifications: JobNotifications;
  readonly settings: JobStoreSettings;
  close(): Promise<void>;
}

/** `read` runs read-only queries; absent: in transactions on the same pool. The caller keeps ownership of the pool. */
export function createPostgresJobStore(
  sql: Sql,
  options: Partial<JobStoreSettings> = {},
  read: OrganisationReader = readInTransaction(sql),
): PostgresJobStore {
  const settings = { ...defaultJobStoreSettings, ...options };
  const notifications = createJobNotifications(sql);
  /** a request for one organisation sees only that organisation's rows; workers access all organisations */
  const within = <T>(idOrg: number, work: (tx: Sql) => Promise<T>, mode?: string): Promise<T> =>
    withinOrganisation(sql, idOrg, work, mode);
  return {
    notifications,
    settings,
    submit: (submission) => within(submission.idOrg, (tx) => submit(tx, settings, submission)),
    findJob: (idOrg, idJob) => read(idOrg, (tx) => findJob(tx, idOrg, idJob)),
    listJobs: (idOrg, page, size) => read(idOrg, (tx) => listJobs(tx, idOrg, page, size)),
    listWorkflowJobs: (idOrg, idWorkflow, page, size) =>
      read(idOrg, (tx) => listWorkflowJobs(tx, idOrg, idWorkflow, page, size)),
    rerunJob: (idOrg, idJob, traceparent) =>
      within(idOrg, (tx) => rerun(tx, settings, idOrg, idJob, traceparent)),
    requestKill: (idOrg, idJob) => within(idOrg, (tx) => requestKill(tx, idOrg, idJob)),
    claimJob: (worker, leaseMs, extra = false) => claimJob(sql, settings, worker, leaseMs, extra),
    startByHand: (job, idOrg, worker, leaseMs) =>
      within(idOrg, (tx) => startByHand(tx, job, idOrg, worker, leaseMs)),
    heartbeat: (held, leaseMs) => heartbeat(sql, held, leaseMs),
    checkClaim: (held) => checkClaim(sql, held),
    findStoredJob: (idJob) => readJobRequest(sql, idJob),
    report: (held, progress) => report(sql, held, progress),
    beginCommit: (held, summary) => beginCommit(sql, held, summary),
    settleCommit: (held) => settleCommit(sql, held),
    finish: (held, status, failure) => finish(sql, held, status, failure),
    handBack: (held, delayMs, failure, outage) => handBack(sql, settings, held, delayMs, failure, outage),
    noteReachedServer: (idOrg, server) => within(idOrg, (tx) => noteReachedServer(tx, idOrg, server)),
    isReachedServer: (idOrg, server) => read(idOrg, (tx) => isReachedServer(tx, idOrg, server)),
    reap: () => reap(sql, settings),
    waitForWork: (timeoutMs, signal) => notifications.waitForWork(timeoutMs, signal),
    waitForKill: (idJob, timeoutMs, signal) => notifications.waitForKill(idJob, timeoutMs, signal),
    waitForEnd: (idWorkflow, timeoutMs, signal) => notifications.waitForEnd(idWorkflow, timeoutMs, signal),
    listWorkflows: (idOrg, page, size) => read(idOrg, (tx) => listWorkflows(tx, idOrg, page, size)),
    // one snapshot for the workflow and its jobs
    findWorkflow: (idOrg, idWorkflow) =>
      within(idOrg, (tx) => findWorkflow(tx, idOrg, idWorkflow), 'isolation level repeatable read read only'),
    countByStatus: () => countByStatus(sql),
    listEnded: (sinceMs) => listEnded(sql, sinceMs),
    queueAgeMs: () => queueAgeMs(sql),
    countWaitingOrganisations: () => countWaitingOrganisations(sql),
    listRuns: (idOrg, idSchs, page, size) => read(idOrg, (tx) => listRuns(tx, idOrg, idSchs, page, size)),
    findRun: (idOrg, idJob) => read(idOrg, (tx) => findRun(tx, idOrg, idJob)),
    listIds: (idOrg) => read(idOrg, (tx) => listIds(tx, idOrg)),
    sumLoadedRows: (idOrg, idSchs) => read(idOrg, (tx) => sumLoadedRows(tx, idOrg, idSchs)),
    listLatestLoads: (idOrg, idSchs) => read(idOrg, (tx) => listLatestLoads(tx, idOrg, idSchs)),
    removeJob: (idOrg, idJob) => within(idOrg, (tx) => removeJob(tx, idOrg, idJob)),
    close: () => notifications.close(),
  };
}
