/**
 * `npm run bench -- --lakehouse`: a document into a folder of Delta or Iceberg tables beside the same rows as Parquet, and beside Spark's own XML source
 * that writes Delta, by processor seconds of the whole tool.
 */
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BenchDatabase } from '../database.ts';
import { generateInput } from '../inputs.ts';
import { measure, median, type Command, type Measured } from '../measured-process.ts';
import { renderTable, significant } from '../report.ts';

export interface LakehouseSeries {
  readonly megabytes: number;
  readonly rounds: number;
  /** a Python that has pyspark, and jars of delta-spark for it; null: without Spark */
  readonly spark: { readonly python: string; readonly jars: string } | null;
}

const peer = fileURLToPath(new URL('../peers/spark_xml.py', import.meta.url));

const formats = ['parquet', 'delta', 'iceberg', 'delta,iceberg'] as const;

/** Answers lines of markdown; `disagree` is told of results that are not what was written. */
export async function benchLakehouse(
  database: BenchDatabase,
  directory: string,
  { megabytes, rounds, spark }: LakehouseSeries,
  disagree: (line: string) => void,
): Promise<string[]> {
  const { path, counts } = await generateInput('element', megabytes * 1e6, directory);
  const made = await measure(database.tool(path, '-o', join(directory, 'model'), '-f', 'csv'));
  const origin = String(made.printed['origin']);
  const contestants: [name: string, folder: string, command: Command][] = formats.map((format) => {
    const folder = join(directory, format);
    return [format, folder, database.tool(path, '-o', folder, '-f', format, '-x', origin, '-e', 'd')];
  });
  const sparkRuns: Measured[] = [];
  const orders = ((made.printed['tables'] ?? {}) as Readonly<Record<string, number>>)['order'];
  const runs = new Map<string, Measured[]>(contestants.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    if (spark !== null) {
      console.error('  spark');
      const folder = join(directory, 'spark-delta');
      await rm(folder, { recursive: true, force: true });
      const run = await measure({
        file: spark.python,
        args: [peer, path, 'order', 'delta', folder, spark.jars],
      });
      sparkRuns.push(run);
      if (run.printed.rows !== orders) disagree(`spark: ${run.printed.rows} orders, not ${orders}`);
    }
    for (const [name, folder, command] of contestants) {
      console.error(`  ${name}`);
      await rm(folder, { recursive: true, force: true });
      const run = await measure(command);
      runs.get(name)!.push(run);
      const { rows } = run.printed;
      if (rows !== counts.rows + 1) disagree(`${name}: ${String(rows)} rows, not ${counts.rows + 1}`);
    }
  }
  const cpu = (name: string): number =>
    median(runs.get(name)!.map(({ processCpuSeconds }) => processCpuSeconds ?? 0));
  const tables = Object.keys((made.printed['tables'] ?? {}) as object).length;
  const rows = await Promise.all(
    contestants.map(async ([name, folder]) => {
      const seconds = cpu(name);
      const commits = await commitsIn(folder);
      const perCommit = ((seconds - cpu('parquet')) * 1000) / commits;
      return [
        name,
        significant(median(runs.get(name)!.map(({ wallSeconds }) => wallSeconds))),
        significant(seconds),
        significant(seconds / cpu('parquet')),
        ...(commits === 0 ? ['', ''] : [String(commits), perCommit.toFixed(0)]),
      ];
    }),
  );
  const lines = renderTable(
    [
      `${megabytes} MB, ${tables} tables`,
      'seconds',
      'CPU s',
      '× Parquet',
      'commits',
      'CPU ms more per commit',
    ],
    rows,
  );
  return sparkRuns.length === 0 ? lines : [...lines, '', ...besideSpark(sparkRuns, cpu('delta'))];
}

/** Versions of tables, those beside the rows' included. */
async function commitsIn(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  return files.filter((path) => /\/(?:_delta_log\/\d+\.json|metadata\/v\d+\.metadata\.json)$/.test(path))
    .length;
}

/** `own`: CPU seconds of ours. */
function besideSpark(runs: readonly Measured[], own: number): string[] {
  const of = (name: string): number => median(runs.map(({ printed }) => Number(printed[name])));
  const ratio = (seconds: number): string => significant(seconds / own);
  const work = of('startCpu') + of('writeCpu');
  return renderTable(
    ['Spark’s XML source into Delta', 'CPU s', '× ours'],
    [
      ['start and write, with a schema that is known', significant(work), ratio(work)],
      ['write alone, with a schema that is known', significant(of('writeCpu')), ratio(of('writeCpu'))],
      [
        'start, a look for the schema, and write',
        significant(work + of('schemaCpu')),
        ratio(work + of('schemaCpu')),
      ],
    ],
  );
}
