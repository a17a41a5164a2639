/** `npm run bench -- --lakehouse`: a document into a folder of Delta or Iceberg tables beside the same rows as Parquet, by processor seconds of the whole tool. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchDatabase } from '../database.ts';
import { generateInput } from '../inputs.ts';
import { measure, median, type Command, type Measured } from '../measured-process.ts';
import { renderTable, significant } from '../report.ts';

export interface LakehouseSeries {
  readonly megabytes: number;
  readonly rounds: number;
}

const formats = ['parquet', 'delta', 'iceberg', 'delta,iceberg'] as const;

/** Answers lines of markdown; `disagree` is told of results that are not what was written. */
export async function benchLakehouse(
  database: BenchDatabase,
  directory: string,
  { megabytes, rounds }: LakehouseSeries,
  disagree: (line: string) => void,
): Promise<string[]> {
  const { path, counts } = await generateInput('element', megabytes * 1e6, directory);
  const made = await measure(database.tool(path, '-o', join(directory, 'model'), '-f', 'csv'));
  const origin = String(made.printed['origin']);
  const contestants: [name: string, folder: string, command: Command][] = formats.map((format) => {
    const folder = join(directory, format);
    return [format, folder, database.tool(path, '-o', folder, '-f', format, '-x', origin, '-e', 'd')];
  });
  const runs = new Map<string, Measured[]>(contestants.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, folder, command] of contestants) {
      console.error(`  ${name}`);
      await rm(folder, { recursive: true, force: true });
      const run = await measure(command);
      runs.get(name)!.push(run);
      const { rows } = run.printed;
      if (rows !== counts.rows + 1) disagree(`${name}: ${String(rows)} rows, not ${counts.rows + 1}`);
    }
  const cpu = (name: string): number =>
    median(runs.get(name)!.map(({ processCpuSeconds }) => processCpuSeconds ?? 0));
  const tables = Object.keys((made.printed['tables'] ?? {}) as object).length;
  const rows = contestants.map(([name]) => {
    const seconds = cpu(name);
    const isTable = name !== 'parquet';
    const perTable = ((seconds - cpu('parquet')) * 1000) / tables;
    return [
      name,
      significant(median(runs.get(name)!.map(({ wallSeconds }) => wallSeconds))),
      significant(seconds),
      significant(seconds / cpu('parquet')),
      isTable ? perTable.toFixed(0) : '',
    ];
  });
  return renderTable(
    [`${megabytes} MB, ${tables} tables`, 'seconds', 'CPU s', '× Parquet', 'CPU ms more per table'],
    rows,
  );
}
