/** One job of a bench on Spark, and what the processors spent on it: on the tool, on all that Spark started, and on the target's server. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { chmod, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BenchDatabase } from '../database.ts';
import { serverSeconds, watchTree } from './processes.ts';

/** Seconds of a processor, where nothing else is said. */
export interface JobRun {
  /** from the tool's start to its exit, by the clock */
  readonly seconds: number;
  /** of these, the life of the application; 0 for the local engine */
  readonly application: number;
  /** of the last pass */
  readonly tasks: number;
  /** the tool's own process, that of the machine that publishes, from the load on: what is before is the same for all jobs */
  readonly publishing: number;
  /** all processes that it has started: Java, Python, and the engine, of driver and executors */
  readonly there: number;
  /** of `there`, the engine's processes by pass: `pieces`, `hashes`, `load` */
  readonly engine: Readonly<Record<string, number>>;
  /** the server, until executors were done, and from then on */
  readonly server: { readonly filling: number; readonly publishing: number };
}

export interface BenchInput {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  readonly options: readonly string[];
}

/** What a job tells of itself at its end, as far as it is read here. */
interface Summary {
  readonly rows: number;
  readonly steps: readonly { readonly name: string; readonly cpu_seconds: number }[];
}

export interface SparkBench {
  readonly database: BenchDatabase;
  readonly directory: string;
  /** path of spark-submit */
  readonly submit: string;
  /** told of results that are not what was written */
  readonly disagree: (line: string) => void;
}

/** `units`: that the input is cut into; null: as the settings have it. */
export async function runOnSpark(
  bench: SparkBench,
  input: BenchInput,
  options: readonly string[],
  units: number | null,
): Promise<JobRun> {
  const times = join(bench.directory, 'engine-times');
  await rm(times, { force: true });
  const rangeBytes: Readonly<Record<string, string>> =
    units === null ? {} : { SVC_SPARK_RANGE_BYTES: String(Math.ceil(input.bytes / units) + 1) };
  const run = await runJob(bench, input, [...options, '--engine', 'spark'], {
    SVC_SPARK_SUBMIT: bench.submit,
    SVC_SPARK_WORK: join(bench.directory, 'spark'),
    SVC_SPARK_CONF: 'spark.ui.enabled=false',
    SVC_SPARK_NODE: await engineProgram(bench.directory, times),
    ...rangeBytes,
  });
  return { ...run, engine: engineSeconds(times) };
}

export async function runJob(
  { database, disagree }: SparkBench,
  { path, rows, options }: BenchInput,
  more: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<JobRun> {
  await database.sql.unsafe('DROP SCHEMA IF EXISTS bench_spark CASCADE');
  const [setting] = await database.sql`SELECT current_setting('data_directory') AS folder`;
  const server = (): number => serverSeconds(String(setting!['folder']));
  const { file, args, env } = database.tool(path, ...options, ...more);
  const [started, before] = [performance.now(), server()];
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env, ...environment },
  });
  const ended = new Promise<number | null>((settle, fail) => child.once('error', fail).once('close', settle));
  const watch = watchTree(child.pid!);
  let filled = before;
  let application = 0;
  let tasks = 0;
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    last = line;
    tasks = Number(/(\d+) units of work for Spark/.exec(line)?.[1] ?? tasks);
    const uptime = /stopped SparkContext \(Uptime: (\d+) ms\)/.exec(line);
    if (uptime === null) continue;
    application += Number(uptime[1]) / 1000;
    filled = server();
  }
  const code = await ended;
  const there = watch.end();
  if (code !== 0) throw new Error(`xml2er ended with ${code}: ${last}`);
  const summary = JSON.parse(last) as Summary;
  if (more.includes('-o') && summary.rows !== rows) disagree(`${path}: ${summary.rows} rows, not ${rows}`);
  return {
    seconds: (performance.now() - started) / 1000,
    application,
    tasks,
    publishing: summary.steps
      .filter(({ name }) => name !== 'start' && name !== 'schema')
      .reduce((sum, step) => sum + step.cpu_seconds, 0),
    there,
    engine: {},
    server: { filling: filled - before, publishing: server() - filled },
  };
}

/** Node as executors start it, which tells what it has spent. */
async function engineProgram(directory: string, times: string): Promise<string> {
  const program = join(directory, 'engine.sh');
  const hook = fileURLToPath(new URL('engine-times.mjs', import.meta.url));
  const script = `#!/bin/sh\nENGINE_TIMES='${times}' NODE_OPTIONS='--import=${hook}' exec '${process.execPath}' "$@"\n`;
  await writeFile(program, script);
  await chmod(program, 0o755);
  return program;
}

/** By pass: the last that each process told. */
function engineSeconds(times: string): Record<string, number> {
  const spent = new Map<number, { readonly pass: string; readonly seconds: number }>();
  for (const line of readFileSync(times, 'utf8').trimEnd().split('\n')) {
    const { pid, pass, seconds } = JSON.parse(line) as { pid: number; pass: string; seconds: number };
    spent.set(pid, { pass, seconds });
  }
  const passes: Record<string, number> = {};
  for (const { pass, seconds } of spent.values()) passes[pass] = (passes[pass] ?? 0) + seconds;
  return passes;
}
