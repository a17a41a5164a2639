/** The frame around every tool: usage, the job, the log, the summary, the exit code. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { InputError } from '../../engine/diagnostics.ts';
import { AppError, errorCatalogue, isDiskFull, isOutage, isOutOfMemory, type Outage } from '../../errors.ts';
import { ConfigError } from '../../config/wrong-settings.ts';
import { exitCodes, leftBehind, reconcileVariable } from '../../service/jobs/worker/tool-exit.ts';
import { oneLine } from '../../service/jobs/mask-secrets.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import type { Tool } from '../../service/jobs/request/tools.ts';
import { noDetails, type Conversion } from '../reports/conversion-result.ts';
import { Interrupted, watchSignals, type Interruption } from './interruption.ts';
import {
  printSummary,
  summaryOfFailure,
  summaryOfWork,
  type RunSoFar,
  type ProcessTime,
  processTime,
} from '../reports/summary.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { createTerminal, type Terminal } from './terminal.ts';
import { parseToolArguments } from '../../service/jobs/request/read-request.ts';
import { markVariable, waitingLine, waitsVariable, type NextRun } from '../../process/successive-runs.ts';

/** `begun`: absent: with the process. */
export async function runTool(
  tool: Tool,
  argv: readonly string[],
  convert: (session: ToolSession) => Promise<Conversion>,
  begun?: ProcessTime,
): Promise<number> {
  const terminal = createTerminal();
  if (argv.includes('--help') || argv.includes('-h') || argv.length === 0) {
    const { helpOf } = await import('./help.ts');
    terminal.log(helpOf(tool, argv.includes('all')));
    return argv.length === 0 ? exitCodes.usage : exitCodes.completed;
  }
  if (argv.length === 1 && argv[0] === '--version') {
    const { readBuildInfo } = await import('../../runtime/build-info.ts');
    terminal.log(`${tool} ${(await readBuildInfo()).version}`);
    return exitCodes.completed;
  }
  let request: ToolRequest;
  try {
    request = parseToolArguments(tool, argv);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    terminal.complain(`${tool}: ${error.message}`);
    terminal.complain(`${tool} --help lists the options`);
    return exitCodes.usage;
  }
  terminal.setQuiet(request.quiet === true);
  let session: ToolSession;
  // a worker ends the jobs that it has started
  const interruption = request.jobId === undefined ? watchSignals() : null;
  try {
    // commands that only print the usage do without the session
    const { openSession } = await import('../session/tool-session.ts');
    const opening = openSession(request, {
      environment: process.env,
      log: terminal.tell,
      print: terminal.log,
      complain: terminal.complain,
      onProgress: terminal.progress,
      interruption,
      begun,
    });
    session = await (interruption === null ? opening : Promise.race([opening, interruption.whenInterrupted]));
  } catch (error) {
    if (error instanceof Interrupted && interruption !== null) {
      terminal.complain(`${tool}: ${interruption.why} before the job began`);
      // the session that is being opened may wait for a server
      process.exit(interruption.exitCode);
    }
    interruption?.release();
    const { text, again } = describe(error);
    terminal.complain(`${tool}: ${text}`);
    return again && request.jobId !== undefined ? exitCodes.tryAgain : exitCodes.failed;
  }
  try {
    if (process.env[reconcileVariable] !== undefined && !session.byHand)
      return await reconcileSession(session);
    return await runSession(tool, session, convert, { terminal, interruption });
  } finally {
    await session.close();
    interruption?.release();
  }
}

/** The job's worker queries the result of an attempt that died while it published. */
async function reconcileSession(session: ToolSession): Promise<number> {
  try {
    const { isPublished } = await import('../session/reconcile-job.ts');
    const published = await isPublished(session);
    session.log(
      published
        ? 'the attempt before had published its rows: the job is complete'
        : 'the attempt before had published nothing',
    );
    return published ? exitCodes.completed : exitCodes.notPublished;
  } catch (error) {
    session.log(`the target does not answer now: ${session.mask(describe(error).text)}`);
    return exitCodes.tryAgain;
  } finally {
    await session.finish('completed', null);
  }
}

async function runSession(
  tool: Tool,
  session: ToolSession,
  convert: (session: ToolSession) => Promise<Conversion>,
  { terminal, interruption }: { readonly terminal: Terminal; readonly interruption: Interruption | null },
): Promise<number> {
  let converting: Promise<Conversion> | null = null;
  try {
    session.log(`${tool} started, job ${session.idJob}`);
    // on Spark the application has an id of its own, once it exists
    if (session.request.engine !== 'spark') await session.report({ idApp: `local-${Date.now()}` });
    session.steps.begin('schema');
    converting = convert(session);
    const conversion = await (interruption === null
      ? converting
      : Promise.race([converting, interruption.whenInterrupted]).catch((error: unknown) =>
          // the outcome of a commit is known only when it has ended
          error instanceof Interrupted && session.committing ? converting! : Promise.reject(error as Error),
        ));
    const summary = summaryOfWork(session.soFar, conversion);
    await session.report({
      summary: { ...summary, details: conversion.details },
      messages: conversion.documents,
      progress: 1,
    });
    await session.reported();
    terminal.endProgress();
    if (interruption?.signal.aborted === true)
      session.log(`${interruption.why} when its rows had been published: the job is complete`);
    for (const line of printSummary(summary, conversion.does, session.request.out ?? null, conversion.advice))
      session.log(line);
    await session.finish('completed', null);
    if (session.request.json) terminal.log(JSON.stringify(summary));
    return exitCodes.completed;
  } catch (error) {
    terminal.endProgress();
    // a terminal's Ctrl-C ends children, too, and they may be heard of first
    await nextTurn();
    if (interruption?.signal.aborted === true)
      return await endInterrupted(tool, session, { interruption, converting, terminal });
    const { text, again, outage = null } = describe(error);
    const failure = oneLine(session.mask(text));
    session.log(`failed: ${failure}`);
    if (session.request.quiet === true) terminal.complain(`${tool}: ${failure}`);
    if (again && !session.byHand) {
      // the worker tries again, or gives this as the reason
      await session.report({ failure }).catch(() => undefined);
      const waits = await session.mayWaitFor(outage).catch(() => false);
      return waits ? exitCodes.waits : exitCodes.tryAgain;
    }
    const summary = summaryOfFailure(await withoutOwnSchema(session), 'failed', session.rejects);
    const details = { ...noDetails, rejects: session.rejects.details };
    await session.report({ failure, summary: { ...summary, details } });
    await session.finish('failed', failure);
    if (session.request.json) terminal.log(JSON.stringify(summary));
    return exitCodes.failed;
  }
}

/** Returns what is known of a run that published nothing. A schema that the run has made is removed at its end. */
async function withoutOwnSchema({ soFar, committing, idOrg, idJob, home }: ToolSession): Promise<RunSoFar> {
  if (soFar.origin === null || committing) return soFar;
  // report the failure, whatever the result of the query
  const origin = await home.adapters.catalog.findOrigin(idOrg, soFar.origin).catch(() => null);
  return origin?.id_job === idJob ? { ...soFar, origin: null, chosen: null } : soFar;
}

/** Time limit for cleaning up an interrupted run. */
const clearingMs = 5000;

/** Ends the record at once; then releases the run's resources in the target and on this machine, as far as possible. */
async function endInterrupted(
  tool: Tool,
  session: ToolSession,
  {
    interruption,
    converting,
    terminal,
  }: {
    readonly interruption: Interruption;
    readonly converting: Promise<Conversion> | null;
    readonly terminal: Terminal;
  },
): Promise<number> {
  const { why, exitCode } = interruption;
  const failure = `${why}; ${leftBehind[tool]}`;
  session.log(failure);
  const summary = summaryOfFailure(await withoutOwnSchema(session), 'killed', session.rejects);
  await session.report({ summary: { ...summary, details: noDetails } });
  await session.finish('killed', failure).catch((error: unknown) => session.log(describe(error).text));
  if (session.request.json) terminal.log(JSON.stringify(summary));
  // an open pipe would keep the process waiting
  process.stdin.destroy();
  const cleared = converting?.then(
    () => undefined,
    () => undefined,
  );
  if (cleared !== undefined && !(await settlesWithin(cleared, clearingMs))) process.exit(exitCode);
  return exitCode;
}

/** Returns one line with advice; `again`: an outage that may pass. */
function describe(error: unknown): {
  readonly text: string;
  readonly again: boolean;
  readonly outage?: Outage | null;
} {
  if (error instanceof InputError) return { text: error.message, again: false };
  if (error instanceof AppError)
    return { text: error.message, again: errorCatalogue[error.code].retryable, outage: error.outage };
  if (error instanceof ConfigError) return { text: error.message, again: false };
  const message = error instanceof Error ? error.message : String(error);
  if (isDiskFull(error))
    return {
      text: `the disk is full: make room and run the job again (${message.split('\n')[0]})`,
      again: true,
      outage: { of: 'room' },
    };
  if (isOutage(error))
    return { text: `a server that the job needs does not answer now: ${message}`, again: true };
  if (isOutOfMemory(error)) {
    const text = `out of memory (${message.split('\n')[0]}): fewer --workers, large documents in parts (--row-tag), or fewer documents in a job need less; svc.worker.memory gives jobs more`;
    return { text, again: false };
  }
  const stack = error instanceof Error ? (error.stack ?? message) : message;
  process.stderr.write(`${stack}\n`);
  return { text: `unexpected fault: ${message.split('\n')[0]}`, again: false };
}

// The start of a tool's process: one run, and under a worker those that follow it.

/** Memory above which a process exits after a run, to return it to the system. */
const maxBytes = 256 * 1024 ** 2;
/** However well it goes, a process is a new one now and then. */
const maxRuns = 200;

/** Sets the exit code of the process. */
export async function runCommand(
  tool: Tool,
  convert: (session: ToolSession) => Promise<Conversion>,
): Promise<void> {
  // the reader of the output may close it; the job goes on
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  await serveRuns(tool, (argv, begun) => runTool(tool, argv, convert, begun));
}

/** `run`: resolves to an exit code, and leaves nothing running; receives its start time, unless it is the first of the process. */
export async function serveRuns(
  tool: string,
  run: (argv: readonly string[], begun: ProcessTime | undefined) => Promise<number>,
): Promise<void> {
  let argv: readonly string[] = process.argv.slice(2);
  let begun: ProcessTime | undefined;
  let lines: NodeJS.AsyncIterator<string> | undefined;
  for (let runs = 1; ; runs += 1) {
    process.exitCode = await run(argv, begun);
    if (!mayWait(runs)) break;
    call(tool, 'waits');
    process.stdout.write(waitingLine(process.env[markVariable]!));
    lines ??= await linesOfInput();
    const line = await lines.next();
    if (line.done === true) break;
    const next = JSON.parse(line.value) as NextRun;
    begun = processTime();
    Object.assign(process.env, next.environment);
    argv = next.argv;
    call(tool, argv.join(' '));
  }
  if (process.env[waitsVariable] !== undefined) process.stdin.destroy();
}

/** Imports the module only if runs are awaited: other starts do without it. */
async function linesOfInput(): Promise<NodeJS.AsyncIterator<string>> {
  const { createInterface } = await import('node:readline');
  return createInterface({ input: process.stdin })[Symbol.asyncIterator]();
}

/** Sets the title of the process, for people who list the processes of the machine. */
function call(tool: string, what: string): void {
  process.title = `${tool} ${what}`;
}

/** Only a process of which nothing is known but that its run went well. */
function mayWait(runs: number): boolean {
  return (
    process.env[waitsVariable] !== undefined &&
    process.exitCode === exitCodes.completed &&
    runs < maxRuns &&
    // a listener for SIGTERM means that something is left to end
    process.listenerCount('SIGTERM') === 0 &&
    process.memoryUsage.rss() < maxBytes
  );
}

// Waits with a time limit, and leaves no timer behind, because a pending timer keeps the process alive.

/** Whether `work`, which must not reject, ends within `ms`. */
export async function settlesWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, ms, false);
  try {
    return await Promise.race([work.then(() => true), promise]);
  } finally {
    clearTimeout(timer);
  }
}
