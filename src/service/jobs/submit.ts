/**
 * The verbs on jobs that clients ask for: run, run again, wait, kill. For POST /v2/run/cmd every execution is checked first, then all their
 * jobs are stored at once, or none (docs/decisions/service/workflows.md).
 */
import { AppError } from '../../errors.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { CatalogStore } from '../../ports/stores/catalog.ts';
import type { Submission, Submitted, JobRun, JobStore } from '../../ports/stores/jobs.ts';
import { credentialSecrets } from '../files/credentials.ts';
import { newJob } from './new-job.ts';
import { checkAccess, type AccessFault, type AccessSettings } from './request/check-access.ts';
import {
  earlierOutputs,
  executionItems,
  pointerOf,
  type Execution,
  type ExecutionRequest,
  type RunCmdResponse,
  type RerunJobResponse,
} from './request/execution-request.ts';
import { sealRequest } from './request/stored-request.ts';
import { parseTarget } from './request/target.ts';
import { isTool, tools, type Tool } from './request/tools.ts';
import { storesNothing, type ToolRequest } from './request/tool-request.ts';
import { parseExecution } from './request/read-request.ts';
import { terminalStatuses, type JobStatus, type JobRecord } from './record.ts';
import { pause } from './worker/waiting.ts';

/** A `Config` is one. */
interface SubmitSettings extends AccessSettings {
  readonly commandsEnabled: boolean;
  readonly limits: { readonly executions: number };
  /** `conf`: Spark's settings for all jobs */
  readonly spark: { readonly submit: string | null; readonly conf: Readonly<Record<string, string>> };
}

/** The caller of a submission. */
export interface Caller {
  readonly idOrg: number;
  /** trace of the request (W3C Trace Context) */
  readonly traceparent?: string;
}

/** The advice if Spark is requested but not installed. */
export const noSpark =
  '--engine spark: Spark is not installed: install Apache Spark 4 (pip install pyspark), and set svc.spark.submit to the path of its spark-submit';

/** Returns the line that starts a job's tool: it names only the job. */
function commandLine(tool: string, idJob: number): string {
  return `${tool} -j ${idJob}`;
}

/**
 * `idempotency`: the Idempotency-Key header and a hash of the body, null without the header.
 * AppError `commands_disabled`; `unknown_option`, `invalid_option`, `path_not_allowed`, `input_not_found`, `target_not_allowed`,
 * `host_not_allowed` with every complaint's JSON pointer; `idempotency_key_reused` from the store.
 */
export async function submitCommands(
  adapters: Pick<Adapters, 'jobs' | 'catalog' | 'files' | 'secrets' | 'credentials'>,
  settings: SubmitSettings,
  caller: Caller,
  request: ExecutionRequest,
  idempotency: Submission['idempotency'],
): Promise<SubmittedCommands> {
  requireCommands(settings);
  const { executions } = request;
  // before the checks, because inputs of the first request may have been removed since
  const earlier = idempotency === null ? null : await adapters.jobs.findSubmission(caller.idOrg, idempotency);
  if (earlier !== null) return submittedCommands(earlier, executions);
  if (executions.length === 0 || executions.length > settings.limits.executions) {
    const detail = `a request has 1 to ${settings.limits.executions} executions`;
    throw new AppError('invalid_body', detail, { errors: [{ pointer: '/executions', detail }] });
  }
  const faults: AccessFault[] = [];
  const requests: (ToolRequest | null)[] = [];
  for (const [index, execution] of executions.entries()) {
    requests.push(await readExecution(adapters, settings, caller.idOrg, execution, index, requests, faults));
  }
  if (faults.length > 0) throw accessError(faults);

  const accepted = requests.filter((one) => one !== null);
  await checkOwners(adapters.catalog, caller.idOrg, accepted);
  const submitted = await adapters.jobs.submit({
    idOrg: caller.idOrg,
    workflowName: request.name ?? null,
    jobs: await Promise.all(
      accepted.map(async (one) =>
        newJob(
          one,
          await sealRequest(one, adapters.secrets),
          settings.spark.conf,
          await credentialSecrets(adapters, settings.sources, caller.idOrg, one.credential),
        ),
      ),
    ),
    idempotency,
    ...(caller.traceparent === undefined ? {} : { traceparent: caller.traceparent }),
  });
  return submittedCommands(submitted, executions);
}

interface SubmittedCommands {
  readonly answer: RunCmdResponse;
  /** true: an earlier request with the same idempotency key made the jobs */
  readonly replayed: boolean;
}

/** `executions`: those of the request, one for each job. */
function submittedCommands(
  { idJobs, idWorkflow, replayed }: Submitted,
  executions: readonly Execution[],
): SubmittedCommands {
  return {
    answer: {
      error: false,
      logPath: null,
      cmds: idJobs.map((idJob, at) => commandLine(executions[at]!.app_name, idJob)),
      jobs: idJobs,
      id_workflow: idWorkflow,
    },
    replayed,
  };
}

export function requireCommands(settings: Pick<SubmitSettings, 'commandsEnabled'>): void {
  if (settings.commandsEnabled) return;
  throw new AppError(
    'commands_disabled',
    'running commands is off: set cmd.enabled=true in backend.properties, or SVC_CMD_ENABLED=true in the environment, and restart',
  );
}

async function readExecution(
  adapters: Pick<Adapters, 'catalog' | 'files' | 'secrets' | 'credentials'>,
  settings: SubmitSettings,
  idOrg: number,
  execution: Execution,
  index: number,
  earlier: readonly (ToolRequest | null)[],
  faults: AccessFault[],
): Promise<ToolRequest | null> {
  const tool = execution.app_name;
  if (!isTool(tool)) {
    const detail = `there is no tool of that name: the tools are ${tools.join(', ')}`;
    faults.push({ pointer: `/executions/${index}/app_name`, code: 'invalid_option', detail });
    return null;
  }
  const items = executionItems(execution, index);
  const request = parse(tool, items, index, faults);
  if (request === null) return null;
  const pointer = (long: string, at?: number): string => pointerOf(items, tool, long, index, at);

  if (request.originId !== undefined && 'ref' in request.originId) {
    const source = earlier[request.originId.ref];
    // A null one has complaints of its own already
    if (source && (storesNothing(source) || (source.tool !== 'xsd2er' && source.tool !== 'xml2er'))) {
      faults.push({
        pointer: pointer('--origin'),
        code: 'invalid_option',
        detail: `execution ${request.originId.ref} makes no schema`,
      });
    }
  }
  const inputPointers = items.filter(({ flag }) => flag === null).map((item) => `${item.pointer}/command`);
  if (request.engine === 'spark' && settings.spark.submit === null)
    faults.push({ pointer: pointer('--engine'), code: 'invalid_option', detail: noSpark });
  const ownNames = new Set(earlier.flatMap((one) => one?.name ?? []));
  const outputs = await earlierOutputs(adapters.files, idOrg, earlier);
  faults.push(
    ...(await checkAccess(adapters, settings, idOrg, request, inputPointers, pointer, ownNames, outputs)),
  );
  return request;
}

function parse(
  tool: Tool,
  items: Parameters<typeof parseExecution>[1],
  index: number,
  faults: AccessFault[],
): ToolRequest | null {
  try {
    return parseExecution(tool, items, index);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    faults.push(...error.errors.map((fault) => ({ ...fault, code: error.code })));
    return null;
  }
}

/**
 * AppError `target_not_owned` if a SQL schema of the metadata database belongs to another organisation. No name is taken before a job
 * loads.
 */
export async function checkOwners(
  catalog: Pick<CatalogStore, 'ownsTargetSchema'>,
  idOrg: number,
  requests: readonly ToolRequest[],
): Promise<void> {
  const texts = requests.flatMap(({ out, in: source }) => [out, source]).filter((text) => text !== undefined);
  for (const text of new Set(texts)) {
    const target = parseTarget(text);
    if ('fault' in target || target.kind !== 'metadb') continue;
    await catalog.ownsTargetSchema(idOrg, target.sqlSchema);
  }
}

/** Returns one error for all faults. A refused host is a matter of permission, and is reported only if nothing else is wrong. */
export function accessError(faults: readonly AccessFault[]): AppError {
  const first = faults.find(({ code }) => code !== 'host_not_allowed') ?? faults[0]!;
  return new AppError(first.code, first.detail, {
    errors: faults.map(({ pointer, detail }) => ({ pointer, detail })),
  });
}

// GET /v2/run/rerun/{id_job}: runs the same job again, in a workflow of its own.

/**
 * Runs a job again. A run that moved rows uses the same logical schema again. AppError `commands_disabled`, `not_found`,
 * `job_not_terminal`; `conflict` for exports and imports, which no queue runs, and if the logical schema no longer exists.
 */
export async function rerunJob(
  adapters: { readonly jobs: JobStore },
  settings: { readonly commandsEnabled: boolean },
  caller: Caller,
  idJob: number,
): Promise<RerunJobResponse> {
  requireCommands(settings);
  const run = await adapters.jobs.findRun(caller.idOrg, idJob);
  const record = run?.record;
  if (record?.job_type === 'Export' || record?.job_type === 'Import')
    throw new AppError('conflict', 'an export or import is run again by sending its request again');
  if (record != null && record.id_watch !== undefined)
    throw new AppError(
      'conflict',
      `job ${idJob} belongs to watch ${record.id_watch}, which loads each file once: retry its rejected files by POST /v2/watches/${record.id_watch}/run with {"retry": true}`,
    );
  const gone = run === null ? null : deletedLogicalSchema(run);
  if (gone !== null)
    throw new AppError(
      'conflict',
      `job ${idJob} ran with logical schema ${gone}, which was deleted since: send its request again with an existing schema`,
    );
  const rerun = await adapters.jobs.rerunJob(caller.idOrg, idJob, caller.traceparent);
  return {
    error: false,
    id_job: rerun.idJob,
    id_parent_job: idJob,
    cmds: [commandLine(rerun.tool, rerun.idJob)],
    jobs: [rerun.idJob],
  };
}

/** Returns the logical schema that the run's summary names and the record no longer does; null if it exists, or rows were not moved. */
function deletedLogicalSchema({ record, summary }: JobRun): number | null {
  const movesRows =
    record.job_type === 'Write' || record.job_type === 'Unload' || record.parm_path_output !== null;
  if (!movesRows || record.job_type === 'Schema' || record.id_lschma !== null) return null;
  const { logical } = (summary ?? {}) as { readonly logical?: unknown };
  return typeof logical === 'number' ? logical : null;
}

// Waits for the jobs of a workflow to end, so that the submitter needs no loop.

interface JobWait {
  /** longest waiting time */
  readonly forMs: number;
  /** aborting returns the current states at once */
  readonly signal: AbortSignal;
}

/** interval between two polls if ends are not notified: short jobs are seen at once, long ones cost a query a second */
const [shortestPauseMs, longestPauseMs] = [50, 1000];

/** Returns the states of the jobs, in their order, when all have ended or the time is up. A job that no longer exists counts as lost. */
export async function waitForJobs(
  jobs: Pick<JobStore, 'listWorkflowJobs' | 'waitForEnd'>,
  idOrg: number,
  idWorkflow: number,
  idJobs: readonly number[],
  { forMs, signal }: JobWait,
): Promise<readonly JobStatus[]> {
  const until = performance.now() + forMs;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const leftMs = until - performance.now();
    const looked = new AbortController();
    // before the look: an end that comes while it is under way is heard
    const ended = jobs.waitForEnd(
      idWorkflow,
      Math.max(0, Math.min(pauseMs, leftMs)),
      AbortSignal.any([signal, looked.signal]),
    );
    const found = await jobs.listWorkflowJobs(idOrg, idWorkflow, 0, idJobs.length);
    const statusOf = new Map(found?.content.map(({ id_job: idJob, status }) => [idJob, status]));
    const statuses = idJobs.map((idJob) => statusOf.get(idJob) ?? 'lost');
    const running = statuses.filter((status) => !terminalStatuses.has(status)).length;
    if (leftMs <= 0 || signal.aborted || running === 0) {
      looked.abort();
      return statuses;
    }
    // if many jobs end one by one, one poll sees several of them
    if (running > 1) await pause(Math.min(shortestPauseMs, leftMs), signal);
    await ended;
  }
}

// POST /v2/executions/kill/{id_job}: requests the end of a job. Its worker ends the process group.

/** The record after the request; a terminal job stays as it is. AppError `not_found`. */
export async function killJob(
  adapters: { readonly jobs: JobStore },
  caller: Caller,
  idJob: number,
): Promise<JobRecord> {
  const record = await adapters.jobs.requestKill(caller.idOrg, idJob);
  if (record === null) throw new AppError('not_found', 'there is no such job');
  return record;
}
