/**
 * POST /v2/run/cmd: every execution is checked first, then all their jobs are stored at once, or none
 * (docs/decisions/service/workflows.md).
 */
import { AppError } from '../errors.ts';
import type { Adapters } from '../ports/adapters.ts';
import type { CatalogStore } from '../ports/stores/catalog.ts';
import type { Submission } from '../ports/stores/jobs.ts';
import { credentialSecrets } from '../files/credentials.ts';
import { newJob } from './new-job.ts';
import { checkAccess, type AccessFault, type AccessSettings } from './request/check-access.ts';
import { earlierOutputs } from './request/earlier-outputs.ts';
import {
  executionItems,
  pointerOf,
  type Execution,
  type ExecutionRequest,
  type RunCmdResponse,
} from './request/execution-request.ts';
import { sealRequest } from './request/stored-request.ts';
import { parseTarget } from './request/target.ts';
import { isTool, tools, type Tool } from './request/tools.ts';
import { storesNothing, type ToolRequest } from './request/tool-request.ts';
import { parseExecution } from './request/read-request.ts';

/** A `Config` is one. */
export interface SubmitSettings extends AccessSettings {
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
  '--engine spark: there is no Spark here: install Apache Spark 4 (pip install pyspark), and set svc.spark.submit to the path of its spark-submit';

/** Returns the line that starts a job's tool: it names only the job. */
export function commandLine(tool: string, idJob: number): string {
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
): Promise<RunCmdResponse> {
  requireCommands(settings);
  const { executions } = request;
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
  return {
    error: false,
    logPath: null,
    cmds: submitted.idJobs.map((idJob, at) => commandLine(accepted[at]!.tool, idJob)),
    jobs: submitted.idJobs,
    id_workflow: submitted.idWorkflow,
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
