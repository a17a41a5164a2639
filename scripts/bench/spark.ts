/**
 * `SPARK_SUBMIT=… npm run bench -- --spark`: what a job on Spark costs beside one without: per job, per task, per file and per MB, on
 * this machine's cores (`local[*]`), and what that says for a terabyte.
 */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { BenchDatabase } from './database.ts';
import { manyFiles } from './growth.ts';
import { generateInput } from './inputs.ts';
import { median } from './measured-process.ts';
import { renderTable, significant } from './report.ts';

export interface SparkSeries {
  /** path of spark-submit */
  readonly submit: string;
  readonly files: readonly number[];
  readonly ranges: readonly number[];
  /** of the file that is cut into ranges */
  readonly megabytes: number;
  readonly rounds: number;
}

interface SparkRun {
  /** of the tool, from start to exit */
  readonly seconds: number;
  /** of these, the life of the Spark application; 0 for the local engine */
  readonly application: number;
  readonly tasks: number;
  /** processor time of the tool, as it tells of its steps: that of the machine that publishes */
  readonly publishing: number;
}

/** What a job tells of itself at its end, as far as it is read here. */
interface Summary {
  readonly rows: number;
  readonly steps: readonly { readonly name: string; readonly cpu_seconds: number }[];
}

interface Input {
  readonly path: string;
  readonly rows: number;
  readonly options: readonly string[];
}

const cores = availableParallelism();
/** of a task, where nobody says otherwise */
const rangeBytes = 256 * 2 ** 20;
const terabyte = 1e12;

/** Answers lines of markdown; `disagree` is told of results that are not what was written. */
export async function benchSpark(
  database: BenchDatabase,
  directory: string,
  series: SparkSeries,
  disagree: (line: string) => void,
): Promise<string[]> {
  const work = join(directory, 'spark');
  await mkdir(work);
  const measure = (
    input: Input,
    more: readonly string[],
    environment: Readonly<Record<string, string>> = {},
  ) =>
    medianRun(series.rounds, async () => {
      await database.sql.unsafe('DROP SCHEMA IF EXISTS bench_spark CASCADE');
      const settings = { SVC_SPARK_SUBMIT: series.submit, SVC_SPARK_WORK: work, ...environment };
      return runOnce(database, input, more, settings, disagree);
    });
  const load = ['-o', 'metadb:bench_spark', '-S', 'o', '-e', 'd', '--keys', 'hash'];
  const onSpark = ['--engine', 'spark', '--spark-conf', 'spark.ui.enabled=false'];

  const page = join(directory, 'page.xml');
  await writeFile(page, `<items number="0">${'<item id="0"><name>name 0</name></item>'.repeat(2)}</items>`);
  const small = await withModel(database, { path: page, rows: 3, options: [] });
  console.error('  one small file');
  const job = await measure(small, [...load, ...onSpark]);
  const jobHere = await measure(small, load);

  const filesRows: string[][] = [];
  const files: (readonly [count: number, run: SparkRun])[] = [];
  for (const count of series.files) {
    console.error(`  ${count} files`);
    const { path, rows } = await manyFiles(directory, count);
    const input = { path, rows, options: small.options };
    const here = await measure(input, load);
    const run = await measure(input, [...load, ...onSpark]);
    files.push([count, run]);
    filesRows.push([
      String(count),
      String(run.tasks),
      ...[here.seconds, run.seconds, run.application].map(significant),
    ]);
  }

  const large = await generateInput('element', series.megabytes * 1e6, directory);
  const document = { path: large.path, rows: large.counts.rows, options: ['--row-tag', 'order'] };
  const cut = await withModel(database, document);
  // uncut, the file is one document, whose root has a row too
  const uncut = await withModel(database, { ...document, rows: large.counts.rows + 1, options: [] });
  console.error(`  one file of ${series.megabytes} MB`);
  const whole = await measure(cut, load);
  const rangeRows: string[][] = [];
  const ranges: SparkRun[] = [];
  for (const count of series.ranges) {
    console.error(`  ${count} ranges`);
    const size = { SVC_SPARK_RANGE_BYTES: String(Math.ceil(large.bytes / count) + 1) };
    const run = await measure(count === 1 ? uncut : cut, [...load, ...onSpark], size);
    ranges.push(run);
    const rate = large.bytes / 1e6 / run.application;
    rangeRows.push([
      String(count),
      String(run.tasks),
      ...[run.seconds, run.application, rate].map(significant),
    ]);
  }
  console.error('  statistics alone');
  const middle = series.ranges[series.ranges.length >> 1]!;
  const size = { SVC_SPARK_RANGE_BYTES: String(Math.ceil(large.bytes / middle) + 1) };
  const statistics = await measure(cut, ['-e', 's', ...onSpark], size);
  const costs = costsOf(job, files, ranges, large.bytes / 1e6);
  const targetRows: string[][] = [];
  for (const format of ['csv', 'jsonl', 'parquet', 'delta', 'iceberg']) {
    console.error(`  a folder of ${format}`);
    const target = ['-o', join(directory, `spark-${format}`), '-f', format, '-S', 'o', '--keys', 'hash'];
    const run = await measure(cut, [...target, ...onSpark], size);
    const here = (run.publishing - job.publishing) / (large.bytes / 1e6);
    targetRows.push([format, significant(run.seconds), ms(Math.max(0, here))]);
  }
  return [
    ...renderTable(
      ['files, 10 MB in all', 'tasks', 'here, s', 'on Spark, s', 'of it in Spark, s'],
      filesRows,
    ),
    '',
    ...renderTable(
      [`ranges of ${series.megabytes} MB`, 'tasks', 'load, s', 'of it in Spark, s', 'there, MB/s'],
      rangeRows,
    ),
    '',
    `Without Spark a small file takes ${significant(jobHere.seconds)} s and this large one ${significant(whole.seconds)} s; statistics of it alone take ${significant(statistics.seconds)} s on Spark, in ${middle} ranges.`,
    '',
    ...renderCosts(costs),
    '',
    `Into folders, in ${middle} ranges:`,
    '',
    ...renderTable(['format', 'load, s', 'a MB of input on the machine that publishes'], targetRows),
  ];
}

interface Costs {
  /** seconds */
  readonly job: number;
  /** of one core, seconds */
  readonly task: number;
  readonly file: number;
  /** of one core of an executor, and of the machine that publishes; seconds */
  readonly megabyteThere: number;
  readonly megabyteHere: number;
}

function costsOf(
  job: SparkRun,
  files: readonly (readonly [number, SparkRun])[],
  ranges: readonly SparkRun[],
  megabytes: number,
): Costs {
  const byTasks = ranges.toSorted((a, b) => a.tasks - b.tasks);
  // where every core has work, what more tasks take is their own
  const busy = byTasks.filter(({ tasks }) => tasks >= 2 * cores);
  const [few, many] = [busy[0] ?? byTasks[0]!, byTasks.at(-1)!];
  const task =
    many.tasks > few.tasks ? ((many.application - few.application) * cores) / (many.tasks - few.tasks) : 0;
  const [first, last] = [files[0]!, files.at(-1)!];
  const tasksOfFiles = ((last[1].tasks - first[1].tasks) * task) / cores;
  const file =
    last[0] > first[0] ? (last[1].seconds - first[1].seconds - tasksOfFiles) / (last[0] - first[0]) : 0;
  const busyCores = Math.min(cores, few.tasks);
  const there = ((few.application - job.application) * busyCores - few.tasks * task) / megabytes;
  const here = median(ranges.map((run) => run.publishing - job.publishing));
  return {
    job: job.seconds,
    task: Math.max(0, task),
    file: Math.max(0, file),
    megabyteThere: Math.max(0, there),
    megabyteHere: Math.max(0, here / megabytes),
  };
}

const ms = (seconds: number): string => `${significant(seconds * 1000)} ms`;
const hours = (seconds: number): string => `${significant(seconds / 3600)} h`;

function renderCosts({ job, task, file, megabyteThere, megabyteHere }: Costs): string[] {
  const tasks = Math.ceil(terabyte / rangeBytes);
  const inSpark = (executorCores: number): number =>
    job + (tasks * task + (terabyte / 1e6) * megabyteThere) / executorCores;
  const publishing = (terabyte / 1e6) * megabyteHere;
  return [
    `A job ${significant(job)} s; a task ${ms(task)} and a MB ${ms(megabyteThere)} of one core; a file ${ms(file)}; a MB of input ${ms(megabyteHere)} of one core of the machine that publishes.`,
    '',
    `One TB in ${tasks} ranges of 256 MiB:`,
    '',
    ...renderTable(
      ['cores of executors', 'in Spark', 'publishing'],
      [16, 64, 256].map((count) => [String(count), hours(inSpark(count)), hours(publishing)]),
    ),
  ];
}

/** Statistics of the input make the model that the runs load by. */
async function withModel(database: BenchDatabase, input: Input): Promise<Input> {
  const { file, args, env } = database.tool(input.path, '-e', 's', ...input.options);
  const { stdout } = await promisify(execFile)(file, args, { env: { ...process.env, ...env } });
  const { origin } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as { origin: number };
  return { ...input, options: [...input.options, '-x', String(origin)] };
}

async function runOnce(
  database: BenchDatabase,
  { path, rows, options }: Input,
  more: readonly string[],
  environment: Readonly<Record<string, string>>,
  disagree: (line: string) => void,
): Promise<SparkRun> {
  const { file, args, env } = database.tool(path, ...options, ...more);
  const started = performance.now();
  const { stdout } = await promisify(execFile)(file, args, {
    env: { ...process.env, ...env, ...environment },
    maxBuffer: 2 ** 28,
  });
  const seconds = (performance.now() - started) / 1000;
  const summary = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Summary;
  if (more.includes('-o') && summary.rows !== rows) disagree(`${path}: ${summary.rows} rows, not ${rows}`);
  const uptimes = [...stdout.matchAll(/stopped SparkContext \(Uptime: (\d+) ms\)/g)];
  const tasks = [...stdout.matchAll(/(\d+) units of work for Spark/g)].at(-1)?.[1] ?? '0';
  return {
    seconds,
    application: uptimes.reduce((sum, [, uptime]) => sum + Number(uptime) / 1000, 0),
    tasks: Number(tasks),
    publishing: summary.steps.reduce((sum, step) => sum + step.cpu_seconds, 0),
  };
}

async function medianRun(rounds: number, run: () => Promise<SparkRun>): Promise<SparkRun> {
  const runs: SparkRun[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await run());
  return runs.toSorted((a, b) => a.seconds - b.seconds)[(rounds - 1) >> 1]!;
}
