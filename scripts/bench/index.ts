/**
 * `npm run bench`: our engine and the peers found on this machine, in turns, each run a process of its own; prints medians,
 * ratios and peak memory as markdown, and ends with 1 when contestants disagree about what a document holds.
 *
 *   --megabytes N     size of each document (50)      --rounds N        runs of each contestant (3)
 *   --slow-megabytes N  for peers below 5 MB/s (2)    --only parse,load,back,workers,databases,other  parts (all)
 *   --cpu             compare parsers by the processor time they took: for a machine that is shared
 *   --api             requests against the service instead: list and record endpoints, submission, 10,000 jobs in the list
 *   --growth          how cost grows instead: --growth-megabytes 10,100,1000 --growth-files 1,… --growth-tables 10,…
 *   --spark           jobs on Spark instead (SPARK_SUBMIT names spark-submit): --spark-files 1,… --spark-ranges 8,… --spark-megabytes 512
 *   --lakehouse       a document into Delta and Iceberg tables beside Parquet instead, and beside Spark's XML source (SPARK_PYTHON names a
 *                     Python with pyspark, DELTA_JARS the jars of delta-spark and delta-storage for it, by commas)
 *   --standards       the largest documents of real standards, every way there and back, instead: --standards-only netex,ubl (all)
 *   --readme          put the table of goals, or what --standards found, into docs/explanation/performance.md, or what --spark found into docs/explanation/performance-on-spark.md
 *   --install-peers   fetch Python peers and saxes into the system's temporary folder, and do nothing else
 */
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { benchApi } from './api.ts';
import { openBenchDatabase, type BenchDatabase } from './database.ts';
import { goalsOf } from './goals.ts';
import { benchGrowth } from './growth.ts';
import { generateInput, shapes } from './inputs.ts';
import type { BenchInput } from './inputs.ts';
import { measure } from './measured-process.ts';
import type { Command, Measured } from './measured-process.ts';
import { openDatabases, type OpenDatabases } from './targets/databases.ts';
import { benchLakehouse } from './targets/lakehouse.ts';
import { benchWorkers } from './targets/workers.ts';
import { benchStandards } from './targets/standards.ts';
import { contestants as names } from './names.ts';
import { findPeers, installPeers } from './peers.ts';
import type { Peers } from './peers.ts';
import { putIntoPage } from './measured-page.ts';
import { benchSpark } from './spark/index.ts';
import { Results, renderGoals, renderMachine, renderProcessor, renderRates } from './report.ts';
import { benchWriteBack } from './write-back.ts';
import { scriptOptions } from '../options.ts';

const options = scriptOptions(import.meta.filename, {
  megabytes: { type: 'string', default: '50' },
  'slow-megabytes': { type: 'string', default: '2' },
  rounds: { type: 'string', default: '3' },
  only: { type: 'string', default: 'parse,load,back,workers,databases,other' },
  cpu: { type: 'boolean', default: false },
  api: { type: 'boolean', default: false },
  'api-seconds': { type: 'string', default: '2' },
  growth: { type: 'boolean', default: false },
  'growth-megabytes': { type: 'string', default: '10,100,1000' },
  'growth-files': { type: 'string', default: '1,100,1000,10000' },
  'growth-tables': { type: 'string', default: '10,100,1000,5000' },
  spark: { type: 'boolean', default: false },
  lakehouse: { type: 'boolean', default: false },
  standards: { type: 'boolean', default: false },
  'standards-only': { type: 'string', default: '' },
  'spark-files': { type: 'string', default: '1,100,10000' },
  'spark-ranges': { type: 'string', default: '8,64' },
  'spark-megabytes': { type: 'string', default: '512' },
  'spark-rounds': { type: 'string', default: '1' },
  readme: { type: 'boolean', default: false },
  'install-peers': { type: 'boolean', default: false },
});

const results = new Results();
const disagreements: string[] = [];
const rounds = Number(options.rounds);
const megabytes = Number(options.megabytes);
const parts = options.only.split(',');

const script = (name: string, ...args: readonly string[]): Command => ({
  file: process.execPath,
  args: [join(import.meta.dirname, 'runs', name), ...args],
});

function expectSame(name: string, what: string, found: unknown, expected: number): void {
  if (found === undefined || found === expected) return;
  disagreements.push(`${name} found ${String(found)} ${what} where there are ${expected}`);
}

async function contest(
  name: string,
  input: BenchInput,
  command: Command,
  column?: string,
): Promise<Measured> {
  process.stderr.write(`  ${name}, ${column ?? input.shape}\n`);
  const run = await measure(command, options.cpu ? 'cpu' : 'wall');
  results.add(name, column ?? input.shape, input.bytes, run);
  expectSame(name, 'elements', run.printed.elements, input.counts.elements);
  expectSame(name, 'attributes', run.printed.attributes, input.counts.attributes);
  return run;
}

async function parse(inputs: readonly BenchInput[], peers: Peers): Promise<void> {
  for (const input of inputs) {
    const textBytes = new Set<unknown>();
    for (const [name, way] of [
      [names.tokenise, 'fast'],
      [names.plain, 'plain'],
    ] as const) {
      const { printed } = await contest(name, input, script('tokenise.ts', way, input.path));
      textBytes.add(printed['textBytes']);
    }
    for (const { name, command } of peers.parsers) {
      const { printed } = await contest(name, input, command(input.path));
      if (printed['textBytes'] !== undefined) textBytes.add(printed['textBytes']);
    }
    if (textBytes.size > 1)
      disagreements.push(`${input.shape}: ${[...textBytes].join(', ')} bytes of text were found`);
  }
}

interface LoadStage {
  readonly inputs: readonly BenchInput[];
  readonly small: BenchInput;
  readonly onePage: string;
  readonly peers: Peers;
  readonly database: Awaited<ReturnType<typeof openBenchDatabase>>;
}

async function load({ inputs, small, peers, database }: LoadStage, round: number): Promise<void> {
  for (const input of inputs) {
    for (const [rows, statistics, ...kernels] of [
      [names.copyBytes, names.statistics],
      [names.plainCopyBytes, names.plainStatistics, 'plain'],
    ] as const) {
      const run = await contest(rows, input, script('copy-bytes.ts', input.path, ...kernels));
      expectSame(rows, 'rows', run.printed.rows, input.counts.rows + 1);
      const seconds = Number(run.printed['inferSeconds']);
      results.add(statistics, input.shape, input.bytes, { ...run, seconds, wallSeconds: seconds });
    }
    const schema = `bench_${input.shape}`;
    const target = ['-o', `metadb:${schema}`];
    await database.dropTarget(schema);
    // what it is compared with makes no indexes
    const bare = [...target, '--indexes', 'none'];
    const inferred = await contest(names.infer, input, database.tool(input.path, ...bare));
    const known = [input.path, '-x', String(inferred.printed['origin']), '-e', 'd'];
    await database.dropTarget(schema);
    await contest(names.indexed, input, database.tool(...known, ...target));
    await database.dropTarget(schema);
    await contest(names.load, input, database.tool(...known, ...bare));
    if (round === 0) expectSame(names.load, 'rows', await database.countRows(schema), input.counts.rows + 1);
    await contest(names.sha256, input, script('sha256.ts', input.path));
    await database.dropTarget('bench_statistics');
    const both = [...known.slice(0, 3), '-e', 'a', '-o', 'metadb:bench_statistics', '--indexes', 'none'];
    await contest(names.statisticsToo, input, database.tool(...both));
    await database.dropTarget('bench_statistics');
    const copyAlone = await database.prepareCopyAlone(schema);
    for (const [name, connections] of [
      [names.copyAlone, 'one'],
      [names.copyAtOnce, 'many'],
    ] as const) {
      process.stderr.write(`  ${name}, ${input.shape}\n`);
      const seconds = await copyAlone.run(connections);
      results.add(name, input.shape, input.bytes, { seconds, wallSeconds: seconds, peakBytes: null });
    }
  }
  const element = inputs[0]!;
  for (const { name, slow, command } of peers.loaders) {
    const input = slow ? small : element;
    const { printed } = await contest(name, input, command(input.path, database.url));
    expectSame(name, 'rows', printed.rows, input.counts.rows);
  }
}

async function other({ small, onePage, database }: LoadStage): Promise<void> {
  const page: BenchInput = {
    ...small,
    path: onePage,
    bytes: 0,
    counts: { elements: 2, attributes: 0, rows: 1 },
  };
  const target = ['-o', 'metadb:bench_page', '-S', 'o'];
  await contest(names.onePage, page, database.tool(onePage, ...target), 'one page');
  const corpus = process.env['CORPUS_DIR'] ?? join(import.meta.dirname, '../../../shared/corpus');
  const sets = [
    [names.netex, 'netex/xsd', 'NeTEx_publication.xsd'],
    [names.fpml, 'fpml/files-fpml/schemas/fpml5-10/confirmation', 'fpml-main-5-10.xsd'],
  ] as const;
  for (const [name, folder, entry] of sets) {
    if (!existsSync(join(corpus, folder))) continue;
    await contest(name, page, script('xsd-compile.ts', join(corpus, folder), entry), 'XSD set');
  }
}

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'conversion-bench-'));
  const peers = await findPeers(directory);
  for (const line of peers.skipped) console.error(`skipped: ${line}`);
  console.error(`writing documents of ${megabytes} MB into ${directory}`);
  const inputs: BenchInput[] = [];
  for (const shape of shapes) inputs.push(await generateInput(shape, megabytes * 1e6, directory));
  const small = await generateInput('element', Number(options['slow-megabytes']) * 1e6, directory);
  const onePage = join(directory, 'page.xml');
  await writeFile(onePage, '<?xml version="1.0"?>\n<page><title>One page</title></page>\n');
  const database = parts.some((part) => part !== 'parse') ? await openBenchDatabase(directory) : null;
  let others: OpenDatabases | null = null;
  try {
    // the first run of a tool makes the metadata database ready
    if (database !== null) await measure(database.tool(onePage, '-o', 'metadb:bench_page', '-S', 'o'));
    if (database !== null && parts.includes('databases')) {
      const disagree = (line: string): void => void disagreements.push(line);
      others = await openDatabases({ input: inputs[0]!, database, directory, results, disagree }, (line) =>
        console.error(`skipped: ${line}`),
      );
    }
    for (let round = 0; round < rounds; round++) {
      console.error(`round ${round + 1} of ${rounds}`);
      if (parts.includes('parse')) await parse(inputs, peers);
      if (database === null) continue;
      const stage = { inputs, small, onePage, peers, database };
      if (parts.includes('load')) await load(stage, round);
      if (parts.includes('back'))
        results.parquetSize = await benchWriteBack(contest, inputs[0]!, database, directory);
      if (parts.includes('workers')) await benchWorkers(contest, inputs[0]!, database, directory);
      await others?.round();
      if (parts.includes('other')) await other(stage);
    }
  } finally {
    await others?.close();
    await database?.close();
    await rm(directory, { recursive: true, force: true });
  }
  print(peers);
}

function print(peers: Peers): void {
  const parsers = peers.parsers.map(({ name }) => name);
  const base = parsers[0] ?? names.tokenise;
  const heading = { byCpu: options.cpu, rounds, megabytes, columns: shapes, base };
  const loading = [
    names.copyBytes,
    names.plainCopyBytes,
    names.statistics,
    names.plainStatistics,
    names.load,
    names.indexed,
    names.statisticsToo,
    names.infer,
    names.sha256,
    names.copyAlone,
    names.copyAtOnce,
    names.writeBack,
    names.mariadb,
    names.loadData,
    names.sqlite,
    names.sqliteImport,
    names.tsv,
    names.parquet,
    names.duckdbParquet,
    names.jsonLines,
    names.writeBackParquet,
    names.rowTag,
    names.tsvTwo,
    names.rowTagTwo,
  ];
  const tables = [
    renderRates(results, [names.tokenise, names.plain, ...parsers], heading),
    renderRates(results, [...loading, ...peers.loaders.map(({ name }) => name)], {
      ...heading,
      base: names.copyAlone,
    }),
    renderGoals(goalsOf(results, base)),
  ];
  const lines = [
    renderMachine(heading),
    ...tables.filter((table) => table.length > 0).flatMap((table) => ['', ...table]),
  ];
  console.log(lines.join('\n'));
  if (options.readme) putIntoPage('goals', [renderMachine(heading), '', ...tables.at(-1)!]);
  reportDisagreements();
}

async function api(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'conversion-bench-'));
  try {
    const lines = await benchApi(directory, Number(options['api-seconds']) * 1000);
    console.log([renderProcessor(), '', ...lines].join('\n'));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** What is measured instead of the contest: it has a database and a folder of its own. */
async function alone(
  bench: (database: BenchDatabase, directory: string, disagree: (line: string) => void) => Promise<string[]>,
): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'conversion-bench-'));
  const database = await openBenchDatabase(directory);
  try {
    const lines = await bench(database, directory, (line) => disagreements.push(line));
    const page = [renderProcessor(), '', ...lines];
    console.log(page.join('\n'));
    return page;
  } finally {
    await database.close();
    await rm(directory, { recursive: true, force: true });
    reportDisagreements();
  }
}

async function growth(): Promise<void> {
  const series = {
    megabytes: numbers(options['growth-megabytes']),
    files: numbers(options['growth-files']),
    tables: numbers(options['growth-tables']),
    rounds,
  };
  await alone(async (database, directory, disagree) => {
    const page = join(directory, 'page.xml');
    await writeFile(page, '<page/>');
    // the first run of a tool makes the metadata database ready
    await measure(database.tool(page, '-o', 'metadb:bench_page', '-S', 'o'));
    return benchGrowth(database, directory, series, disagree);
  });
}

async function spark(): Promise<void> {
  const submit = process.env['SPARK_SUBMIT'];
  if (submit === undefined) throw new Error('SPARK_SUBMIT must name spark-submit');
  const series = {
    submit,
    files: numbers(options['spark-files']),
    ranges: numbers(options['spark-ranges']),
    megabytes: Number(options['spark-megabytes']),
    rounds: Number(options['spark-rounds']),
  };
  const page = await alone((database, directory, disagree) =>
    benchSpark(database, directory, series, disagree),
  );
  if (options.readme) putIntoPage('spark', page);
}

async function lakehouse(): Promise<void> {
  const { SPARK_PYTHON: python, DELTA_JARS: jars } = process.env;
  const spark = python === undefined || jars === undefined ? null : { python, jars };
  if (spark === null) console.error('Spark: left out, as SPARK_PYTHON or DELTA_JARS is not set');
  await alone((database, directory, disagree) =>
    benchLakehouse(database, directory, { megabytes, rounds, spark }, disagree),
  );
}

async function standards(): Promise<void> {
  const only = options['standards-only'].split(',').filter(Boolean);
  const page = await alone((database, directory, disagree) =>
    benchStandards(database, directory, { megabytes, rounds, only }, disagree),
  );
  if (options.readme) putIntoPage('standards', page);
}

function numbers(list: string): number[] {
  return list.split(',').filter(Boolean).map(Number);
}

function reportDisagreements(): void {
  for (const line of disagreements) console.error(`DISAGREE: ${line}`);
  if (disagreements.length > 0) process.exitCode = 1;
}

if (options['install-peers']) await installPeers();
else if (options.growth) await growth();
else if (options.api) await api();
else if (options.spark) await spark();
else if (options.lakehouse) await lakehouse();
else if (options.standards) await standards();
else await main();
