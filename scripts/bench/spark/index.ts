/**
 * `SPARK_SUBMIT=… npm run bench -- --spark`: what a job on Spark spends, and where, for each target: on the machine that publishes, on
 * executors, which have this machine's cores (`local[*]`), and on a PostgreSQL; and what that says for a terabyte.
 */
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { BenchDatabase } from '../database.ts';
import { manyFiles } from '../growth.ts';
import { generateInput } from '../inputs.ts';
import { measure, median } from '../measured-process.ts';
import { renderTable, significant } from '../report.ts';
import { copyAlone } from './copy-alone.ts';
import { measureCutting } from './pieces.ts';
import { runJob, runOnSpark, type BenchInput, type JobRun, type SparkBench } from './runs.ts';
import {
  keyConnections,
  renderTerabyte,
  serverCores,
  type FixedCosts,
  type TargetCosts,
} from './terabyte.ts';

export interface SparkSeries {
  /** path of spark-submit */
  readonly submit: string;
  readonly files: readonly number[];
  /** of the file that shows what a task costs */
  readonly ranges: readonly number[];
  /** of the file that shows what a MB costs, beside one of an eighth */
  readonly megabytes: number;
  readonly rounds: number;
}

const cores = availableParallelism();
/** of a file that shows what a MB costs, and of the smaller one: what they cost is in no difference of the two */
const units = 8;
const peer = fileURLToPath(new URL('../peers/spark_xml.py', import.meta.url));

interface Target {
  readonly name: string;
  readonly options: readonly string[];
  readonly isServer: boolean;
}

function targetsIn(directory: string): readonly Target[] {
  const folders = ['csv', 'parquet', 'delta', 'iceberg'].map((format) => ({
    name: format,
    options: ['-o', join(directory, `spark-${format}`), '-f', format, '--keys', 'hash'],
    isServer: false,
  }));
  const servers = ['--keys hash', '--keys sequence', '--keys sequence --indexes none'].map((options) => ({
    name: `PostgreSQL, ${options}`,
    options: ['-o', 'metadb:bench_spark', ...options.split(' ')],
    isServer: true,
  }));
  return [...folders, ...servers].map((target) => ({
    ...target,
    options: [...target.options, '-S', 'o', '-e', 'd'],
  }));
}

/** Answers lines of markdown; `disagree` is told of results that are not what was written. */
export async function benchSpark(
  database: BenchDatabase,
  directory: string,
  series: SparkSeries,
  disagree: (line: string) => void,
): Promise<string[]> {
  const bench: SparkBench = { database, directory, submit: series.submit, disagree };
  await mkdir(join(directory, 'spark'));
  const targets = targetsIn(directory);
  const { files, fixed } = await measureTasks(bench, series, targets[0]!);

  const large = await generateInput('element', series.megabytes * 1e6, directory);
  const small = await generateInput('element', (series.megabytes / 8) * 1e6, directory);
  const options = await withModel(database, large.path, ['--row-tag', 'order']);
  const inputs = [small, large].map(({ path, bytes, counts }) => ({
    path,
    bytes,
    rows: counts.rows,
    options,
  }));
  const found: MeasuredTarget[] = [];
  for (const target of targets) {
    console.error(`  ${series.megabytes} MB into ${target.name}`);
    found.push(await measureTarget(bench, series.rounds, target, inputs as [BenchInput, BenchInput]));
  }
  const parquet = targets.find(({ name }) => name === 'parquet')!;
  const bySequence = (name: string): Target => ({
    ...parquet,
    name,
    options: parquet.options.map((option) => (option === 'hash' ? 'sequence' : option)),
  });
  const whole = await withModel(database, large.path, []);
  console.error(`  ${series.megabytes} MB into parquet, in two other ways`);
  const measured = found.find(({ costs }) => costs.name === 'parquet')!;
  const ways = [
    { ...measured, costs: { ...measured.costs, name: '`--row-tag`, `--keys hash`' } },
    await measureTarget(
      bench,
      series.rounds,
      bySequence('`--row-tag`, `--keys sequence`'),
      inputs as [BenchInput, BenchInput],
    ),
    await measureTarget(
      bench,
      series.rounds,
      bySequence('as one document, in ranges'),
      // its root has a row of its own
      inputs.map((input) => ({ ...input, options: whole, rows: input.rows + 1 })) as [BenchInput, BenchInput],
    ),
  ];
  const rangeBytes = Math.ceil(large.bytes / units) + 1;
  const cutting = await measureCutting(large.path, rangeBytes);
  const perMegabyte = (seconds: number): string => significant((seconds * 1e9) / large.bytes);
  return [
    ...files,
    '',
    `A job ${significant(fixed.job)} s by the clock, and one here ${significant(fixed.here)} s; a task more ${ms(fixed.task)} ms of one core: Java, Python and the engine, which is warm; a unit more ${ms(fixed.unit)} ms of the machine that publishes.`,
    '',
    ...renderTargets(found),
    '',
    ...renderTable(
      ['places to cut at, ms of one core for a MB', 'executors', 'the machine that publishes'],
      [
        ['in pieces', perMegabyte(cutting.pieces), perMegabyte(cutting.together)],
        ['in one pass, without Spark', '', perMegabyte(cutting.onePass)],
      ],
    ),
    '',
    ...(await besideSparksOwn(bench, large.path, inputs[1]!, ways)),
    '',
    `A PostgreSQL of ${serverCores} cores, keys over ${keyConnections} connections, tasks of 256 MiB:`,
    '',
    ...renderTerabyte(
      found.map(({ costs }) => costs),
      fixed,
    ),
  ];
}

const ms = (seconds: number): string => significant(seconds * 1000);

/** A job, a task and a file, apart from their bytes. */
async function measureTasks(
  bench: SparkBench,
  { files, ranges, rounds }: SparkSeries,
  { options }: Target,
): Promise<{ readonly files: string[]; readonly fixed: FixedCosts }> {
  const page = join(bench.directory, 'page.xml');
  await writeFile(page, `<items number="0">${'<item id="0"><name>name 0</name></item>'.repeat(2)}</items>`);
  const model = await withModel(bench.database, page, []);
  console.error('  one small file');
  const small = { path: page, bytes: 100, rows: 3, options: model };
  const job = await medianRun(rounds, () => runOnSpark(bench, small, options, null));
  const jobHere = await medianRun(rounds, () => runJob(bench, small, options));
  const rows: string[][] = [];
  for (const count of files) {
    console.error(`  ${count} files`);
    const many = { ...(await manyFiles(bench.directory, count)), options: model };
    const here = await medianRun(rounds, () => runJob(bench, many, options));
    const there = await medianRun(rounds, () => runOnSpark(bench, many, options, null));
    const seconds = [here.seconds, there.seconds, there.application];
    rows.push([String(count), String(there.tasks), ...seconds.map(significant)]);
  }
  const cut = await generateInput('element', 64e6, bench.directory);
  const rowTag = await withModel(bench.database, cut.path, ['--row-tag', 'order']);
  const runs: JobRun[] = [];
  for (const count of ranges) {
    console.error(`  64 MB in ${count} ranges`);
    const input = { path: cut.path, bytes: cut.bytes, rows: cut.counts.rows, options: rowTag };
    runs.push(await medianRun(rounds, () => runOnSpark(bench, input, options, count)));
  }
  const [few, many] = [runs[0]!, runs.at(-1)!];
  const more = many.tasks - few.tasks;
  // each range is a task of the pass that looks for it, and one of the load
  const perUnit = (pick: (run: JobRun) => number): number =>
    more > 0 ? Math.max(0, pick(many) - pick(few)) / more : 0;
  const head = ['files, 10 MB in all', 'tasks', 'here, s', 'on Spark, s', 'of it in Spark, s'];
  const fixed = {
    job: job.seconds,
    here: jobHere.seconds,
    task: perUnit(({ there }) => there) / 2,
    unit: perUnit(({ publishing }) => publishing),
  };
  return { files: renderTable(head, rows), fixed };
}

interface MeasuredTarget {
  readonly costs: TargetCosts;
  /** of the machine that publishes, for the larger file */
  readonly publishing: number;
  /** seconds of one core for a MB, by pass */
  readonly engine: Readonly<Record<string, number>>;
  /** of the server, for plain COPY of the same rows; null: another target */
  readonly copyAlone: number | null;
}

/** What the larger of two files costs more, cut into as many units. */
async function measureTarget(
  bench: SparkBench,
  rounds: number,
  { name, options, isServer }: Target,
  [small, large]: readonly [BenchInput, BenchInput],
): Promise<MeasuredTarget> {
  // a target that is there, and what is in it, are no part of what a MB costs
  const run = async (input: BenchInput): Promise<JobRun> => {
    if (!isServer) await rm(options[1]!, { recursive: true, force: true });
    return runOnSpark(bench, input, options, units);
  };
  const few = await medianRun(rounds, () => run(small));
  const copied = isServer ? await copyAlone(bench.database, cores) : 0;
  const many = await medianRun(rounds, () => run(large));
  const copiedMore = isServer ? (await copyAlone(bench.database, cores)) - copied : 0;
  if (!isServer) await rm(options[1]!, { recursive: true });
  const more = (large.bytes - small.bytes) / 1e6;
  const perMegabyte = (pick: (run: JobRun) => number): number => Math.max(0, pick(many) - pick(few)) / more;
  const server = {
    filling: perMegabyte((run) => run.server.filling),
    keys: perMegabyte((run) => run.server.publishing),
  };
  const engine = Object.fromEntries(
    Object.keys(many.engine).map((pass) => [pass, perMegabyte((run) => run.engine[pass] ?? 0)]),
  );
  return {
    costs: {
      name,
      executors: Object.values(engine).reduce((sum, pass) => sum + pass, 0),
      publishing: perMegabyte((run) => run.publishing),
      server: isServer ? server : null,
    },
    publishing: many.publishing,
    engine,
    copyAlone: isServer ? copiedMore / more : null,
  };
}

function renderTargets(found: readonly MeasuredTarget[]): string[] {
  const head = [
    'into',
    'the machine that publishes, s in all',
    'ms a GB',
    'executors, ms a MB: rows',
    'places to cut at',
    'SHA-256',
    'PostgreSQL, ms a MB: COPY',
    'keys',
    'plain COPY ÷ ours',
  ];
  return renderTable(
    head,
    found.map(
      ({ costs: { name, publishing: perMegabyte, server }, publishing, engine, copyAlone: alone }) => [
        name,
        significant(publishing),
        (perMegabyte * 1e6).toFixed(0),
        ...['load', 'pieces', 'hashes'].map((pass) => (engine[pass] === undefined ? '' : ms(engine[pass]))),
        server === null ? '' : ms(server.filling),
        server === null ? '' : ms(server.keys),
        server === null ? '' : significant(alone! / server.filling),
      ],
    ),
  );
}

/** Spark's own XML source into Parquet: as nested rows, and as tables. */
async function besideSparksOwn(
  { submit, directory, disagree }: SparkBench,
  path: string,
  { bytes }: BenchInput,
  ours: readonly MeasuredTarget[],
): Promise<string[]> {
  const python = join(dirname(submit), 'python3');
  const rate = (seconds: number): number => bytes / 1e6 / seconds;
  const theirs: number[] = [];
  let orders: unknown;
  for (const form of ['parquet', 'tables']) {
    console.error(`  Spark’s own XML source: ${form}`);
    const folder = join(directory, `spark-own-${form}`);
    const { printed } = await measure({ file: python, args: [peer, path, 'order', form, folder] });
    orders ??= printed.rows;
    if (printed.rows !== orders)
      disagree(`Spark’s own source: ${printed.rows} orders, and ${String(orders)}`);
    theirs.push(rate(Number(printed['writeCpu'])));
    await rm(folder, { recursive: true });
  }
  return renderTable(
    ['the same file to Parquet', 'MB/s of one core', '× Spark’s source, nested', '× Spark’s source, tables'],
    [
      ...ours.map(({ costs: { name, executors } }) => [
        `this engine, ${name}`,
        significant(1 / executors),
        ...theirs.map((other) => significant(1 / executors / other)),
      ]),
      ...['nested', 'tables'].map((form, at) => [
        `Spark’s source, ${form}`,
        significant(theirs[at]!),
        '',
        '',
      ]),
    ],
  );
}

/** Statistics of the input make the model that the runs load by; answers the options that name it. */
async function withModel(
  database: BenchDatabase,
  path: string,
  options: readonly string[],
): Promise<readonly string[]> {
  const { file, args, env } = database.tool(path, '-e', 's', ...options);
  const { stdout } = await promisify(execFile)(file, args, { env: { ...process.env, ...env } });
  const { origin } = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as { origin: number };
  return [...options, '-x', String(origin)];
}

/** Each figure apart from the others: what disturbs one run disturbs not all of them. */
async function medianRun(rounds: number, run: () => Promise<JobRun>): Promise<JobRun> {
  const runs: JobRun[] = [];
  for (let round = 0; round < rounds; round += 1) runs.push(await run());
  const of = (pick: (one: JobRun) => number): number => median(runs.map(pick));
  const passes = Object.keys(runs[0]!.engine);
  return {
    seconds: of((one) => one.seconds),
    application: of((one) => one.application),
    tasks: runs[0]!.tasks,
    publishing: of((one) => one.publishing),
    there: of((one) => one.there),
    engine: Object.fromEntries(passes.map((pass) => [pass, of((one) => one.engine[pass] ?? 0)])),
    server: {
      filling: of((one) => one.server.filling),
      publishing: of((one) => one.server.publishing),
    },
  };
}
