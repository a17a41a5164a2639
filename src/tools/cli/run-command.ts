/** The start of a tool's process: one run, and under a worker those that follow it. */
import {
  markVariable,
  waitingLine,
  waitsVariable,
  type NextRun,
} from '../../adapters/processes/successive-runs.ts';
import { exitCodes } from '../../jobs/worker/tool-exit.ts';
import type { Tool } from '../../jobs/request/tools.ts';
import { processTime, type ProcessTime } from '../reports/step-times.ts';
import type { Conversion } from '../reports/conversion-result.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { runTool } from './run-tool.ts';

/** Memory above which a process exits after a run, to return it to the system. */
const mostBytes = 256 * 1024 ** 2;
/** However well it goes, a process is a new one now and then. */
const mostRuns = 200;

/** Sets the exit code of the process. */
export async function runCommand(
  tool: Tool,
  convert: (session: ToolSession) => Promise<Conversion>,
): Promise<void> {
  // the reader of the output may close it; the job goes on
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  await runSuccessively(tool, (argv, begun) => runTool(tool, argv, convert, begun));
}

/** `run`: resolves to an exit code, and leaves nothing running; receives its start time, unless it is the first of the process. */
export async function runSuccessively(
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
    runs < mostRuns &&
    // a listener for SIGTERM means that something is left to end
    process.listenerCount('SIGTERM') === 0 &&
    process.memoryUsage.rss() < mostBytes
  );
}
