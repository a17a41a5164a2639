/** One run of the transfer program: its job record, its log, its answer. */
import { AppError, isOutage } from '../../errors.ts';
import { createMask } from '../jobs/mask-secrets.ts';
import { answerWithin, backOffMs, pause } from '../jobs/worker/waiting.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Claim } from '../../ports/stores/jobs.ts';
import type { TransferCommand, TransferProgram, TransferRequest } from '../../ports/processes.ts';
import { shownParams, engineDefaults } from '../jobs/new-job.ts';
import { shellWord } from '../jobs/request/tool-request.ts';
import type { MetadbFields } from './metadata-database.ts';

export type TransferAdapters = Pick<
  Adapters,
  'jobs' | 'catalog' | 'files' | 'clock' | 'logger' | 'transfers' | 'hosts'
>;

/** A `Config` is one. */
export interface TransferSettings {
  readonly allowedHosts: readonly string[];
  readonly plainPasswordHosts: readonly string[];
  readonly migration: { readonly azcopyBinary: string; readonly passwordHosts: readonly string[] };
  readonly limits: {
    readonly leaseMs: number;
    readonly heartbeatMs: number;
    readonly transferTimeMs: number;
  };
}

/** The caller of a transfer, and the id of its request in the log. */
export interface TransferCaller {
  readonly idOrg: number;
  readonly requestId: string;
}

export interface PlannedRun {
  readonly command: TransferCommand;
  readonly request: TransferRequest;
  /** texts that no log, record or answer may contain */
  readonly secrets: readonly string[];
  /** the service's own metadata database: the program may name the job there */
  readonly ownDatabase: boolean;
  /** the original request, for the record */
  readonly asked: AskedTransfer;
  readonly idSch: number | null;
}

/** `answer`: the object in the last line of the program's output; null when the run failed. */
interface EndedRun {
  readonly answer: Readonly<Record<string, unknown>> | null;
  /** error code that a failed run reports for programs, such as `not_found` */
  readonly code: string | null;
}

const never: AbortSignal = new AbortController().signal;

/** AppError `runtime_unsupported` if no program can be run. */
export function requireProgram({ transfers }: Pick<TransferAdapters, 'transfers'>): TransferProgram {
  if (transfers !== null) return transfers;
  throw new AppError(
    'runtime_unsupported',
    'this runtime cannot export or import schemas because it cannot start processes',
  );
}

/** Runs a transfer. A failed run is not an exception: it is reported in the log under the request id, and in the job record. */
export async function runTransfer(
  adapters: TransferAdapters,
  settings: TransferSettings,
  caller: TransferCaller,
  plan: PlannedRun,
): Promise<EndedRun> {
  const { jobs } = adapters;
  const transfers = requireProgram(adapters);
  const mask = createMask(plan.secrets);
  const claim = await jobs.startByHand(
    {
      jobType: plan.command === 'export' ? 'Export' : 'Import',
      tool: 'migrate',
      ...shownTransfer(plan.command, plan.asked, mask),
      // the request may hold secrets; it is repeated by sending it again, not by a rerun
      request: JSON.stringify({ tool: 'migrate', command: plan.command }),
      idSch: plan.idSch,
      idParentJob: null,
    },
    caller.idOrg,
    transfers.identity,
    settings.limits.leaseMs,
  );
  const log = (message: string, fields: Readonly<Record<string, unknown>> = {}): void =>
    adapters.logger.info(message, { request_id: caller.requestId, job: claim.idJob, ...fields });
  const ended = new AbortController();
  const killed = keepLease(adapters, settings, claim, ended.signal);
  const stop = new AbortController();
  void killed.then((wasKilled) => {
    if (wasKilled) stop.abort();
  });
  let run: EndedRun & { readonly failure: string | null };
  let late = false;
  const { transferTimeMs } = settings.limits;
  const deadline = setTimeout(() => {
    late = true;
    stop.abort();
  }, transferTimeMs);
  try {
    await jobs.report(claim, { idApp: `local-${adapters.clock.nowMs()}` });
    const request = plan.ownDatabase ? { ...plan.request, id_job: claim.idJob } : plan.request;
    const { code, lastLine } = await transfers.run(plan.command, request, {
      signal: stop.signal,
      onLine: (line) => log('migration', { line: mask(line) }),
    });
    run = readAnswer(code, lastLine);
  } catch (error) {
    run = { answer: null, code: null, failure: error instanceof Error ? error.message : String(error) };
  }
  clearTimeout(deadline);
  ended.abort();
  if (late && run.failure !== null)
    run = { ...run, failure: `it took longer than ${transferTimeMs / 1000} s (svc.limits.migration_time)` };
  const failure = run.failure === null ? null : mask(run.failure);
  if (failure !== null)
    adapters.logger.warn('migration failed', { request_id: caller.requestId, job: claim.idJob, failure });
  const origin = plan.command === 'import' && plan.ownDatabase ? newestOrigin(run.answer) : null;
  await record(adapters, settings.limits.leaseMs, claim, origin, failure, await killed);
  return run;
}

/** Sends heartbeats until the run has ended; returns whether it was asked to end. */
async function keepLease(
  { jobs }: TransferAdapters,
  { limits }: TransferSettings,
  claim: Claim,
  ended: AbortSignal,
): Promise<boolean> {
  // a kill is noticed within two seconds, because nothing else reports it
  const everyMs = Math.min(limits.heartbeatMs, 2000);
  for (;;) {
    await pause(everyMs, ended);
    if (ended.aborted) return false;
    // a connection that is dead without knowing it must not keep the others from being asked
    const answer = await answerWithin(jobs.heartbeat(claim, limits.leaseMs), limits.leaseMs / 4);
    if (answer === 'kill') return true;
    if (answer !== 'lost') continue;
    // an import ends its record when it stores its data, and only has to report it after that
    const ends = await answerWithin(jobs.findJob(claim.idOrg, claim.idJob), limits.leaseMs / 4);
    if (ends !== null) return ends.status !== 'completed';
  }
}

function readAnswer(
  code: number | null,
  lastLine: string | null,
): EndedRun & { readonly failure: string | null } {
  const answer = parseObject(lastLine ?? '');
  if (code === 0 && answer?.['error'] === false) return { answer, code: null, failure: null };
  const stated = answer?.['failure'];
  const how = code === null ? 'was ended by a signal' : `ended with exit code ${code}`;
  return {
    answer: null,
    code: typeof answer?.['code'] === 'string' ? answer['code'] : null,
    failure: typeof stated === 'string' ? stated : `the migration program ${how} and gave no answer`,
  };
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** The last of the versions that were imported. */
function newestOrigin(answer: EndedRun['answer']): number | null {
  const ids = answer?.['origin_ids'];
  const id = typeof ids === 'string' ? Number(ids.split(', ').at(-1)) : Number.NaN;
  return Number.isSafeInteger(id) ? id : null;
}

/** Retries during outages of the database, for as long as the lease lasts. A failure changes nothing about the transfer itself. */
async function record(
  { jobs, logger }: TransferAdapters,
  leaseMs: number,
  claim: Claim,
  idSch: number | null,
  failure: string | null,
  killed: boolean,
): Promise<void> {
  const giveUpAt = performance.now() + leaseMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (idSch !== null) await jobs.report(claim, { idSch });
      await jobs.report(claim, failure === null ? { progress: 1 } : { failure });
      await jobs.finish(claim, failure === null ? 'completed' : killed ? 'killed' : 'failed', failure);
      return;
    } catch (error) {
      logger.warn('the result of the job cannot be recorded now', { job: claim.idJob, error: String(error) });
      if (!isOutage(error) || performance.now() > giveUpAt) return;
      await pause(backOffMs(attempt, 100, 2000), never);
    }
  }
}

// Formats a run of the transfer program for its job record: as requested, with secrets masked.

/** Members of either request; absent and '' say nothing. */
interface AskedTransfer extends MetadbFields {
  readonly origin_id?: string;
  readonly output_path?: string;
  readonly az_output_path?: string;
  readonly input_path?: string;
  readonly az_input_path?: string;
}

interface ShownTransfer {
  /** the words that follow `migrate` in a shell */
  readonly params: string;
  readonly paramsJson: string;
  readonly inputPath: string | null;
  readonly outputPath: string | null;
}

const members = [
  'origin_id',
  'output_path',
  'az_output_path',
  'input_path',
  'az_input_path',
  'metadb_host',
  'metadb_port',
  'metadb_user',
  'metadb_db',
  'metadb_password',
] as const satisfies readonly (keyof AskedTransfer)[];

/** `params_json.action` has the members as given, and `in` and `out` as every job has them. `mask` knows the secrets of the run. */
export function shownTransfer(
  command: TransferCommand,
  asked: AskedTransfer,
  mask: (text: string) => string,
): ShownTransfer {
  const inputPath = withoutQuery(asked.az_input_path) ?? (asked.input_path || null);
  const outputPath = withoutQuery(asked.az_output_path) ?? (asked.output_path || null);
  const given = members.flatMap((name) =>
    asked[name] ? [[name, mask(shownMember(name, asked[name]))] as const] : [],
  );
  const action = {
    command,
    ...(inputPath === null ? {} : { in: inputPath }),
    ...(outputPath === null ? {} : { out: outputPath }),
    ...Object.fromEntries(given),
  };
  const words = given.flatMap(([name, value]) => [flags[name] ?? `--${name.replaceAll('_', '-')}`, value]);
  return {
    params: [command, ...words].map(shellWord).join(' '),
    paramsJson: shownParams(action, engineDefaults),
    inputPath,
    outputPath,
  };
}

const flags: Readonly<Record<string, string>> = { origin_id: '-x', output_path: '-o', input_path: '-i' };

/** Removes the query of an address, because it is the access token. */
function withoutQuery(location: string | undefined): string | null {
  return location ? (location.split('?')[0] ?? null) : null;
}

function shownMember(name: (typeof members)[number], value: string): string {
  if (name === 'metadb_password') return '***';
  return name.startsWith('az_') ? `${withoutQuery(value)}?***` : value;
}

// Limits the transfers of one organisation that run at once in this process: each is a program of its own, and its caller waits for it.

export interface Slots {
  /** Does the work once there is a slot. AppError `too_many_requests` if too many wait already. */
  within<T>(idOrg: number, work: () => Promise<T>): Promise<T>;
}

const retryAfterSeconds = 5;

/** `running` and `waiting`: limits for one organisation; `what`: noun for the work, in the plural. */
export function createSlots({
  running,
  waiting,
  what = 'exports and imports',
}: {
  readonly running: number;
  readonly waiting: number;
  readonly what?: string;
}): Slots {
  const byOrg = new Map<number, { taken: number; readonly queue: (() => void)[] }>();

  async function take(idOrg: number): Promise<void> {
    const slots = byOrg.get(idOrg) ?? { taken: 0, queue: [] };
    byOrg.set(idOrg, slots);
    if (slots.taken < running) {
      slots.taken += 1;
      return;
    }
    if (slots.queue.length >= waiting)
      throw new AppError('too_many_requests', `too many ${what} of this organisation wait`, {
        headers: { 'Retry-After': String(retryAfterSeconds) },
      });
    await new Promise<void>((resolve) => slots.queue.push(resolve));
  }

  /** The slot goes to who has waited for longest. */
  function giveUp(idOrg: number): void {
    const slots = byOrg.get(idOrg)!;
    const next = slots.queue.shift();
    if (next !== undefined) next();
    else if (slots.taken > 1) slots.taken -= 1;
    else byOrg.delete(idOrg);
  }

  return {
    async within(idOrg, work) {
      await take(idOrg);
      try {
        return await work();
      } finally {
        giveUp(idOrg);
      }
    },
  };
}
