/** `npm run bench -- --growth`: how the cost of a job grows with the size of a document, the number of files, and of tables. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchDatabase } from './database.ts';
import { generateInput } from './inputs.ts';
import { measure, median, type Measured } from './measured-process.ts';
import { renderTable, significant } from './report.ts';

export interface GrowthSeries {
  readonly megabytes: readonly number[];
  readonly files: readonly number[];
  readonly tables: readonly number[];
  readonly rounds: number;
}

interface GrowthInput {
  /** file or folder */
  readonly path: string;
  readonly bytes: number;
  /** what each contestant has to make of it */
  readonly rows: number;
  readonly documents: number;
  readonly tables: number;
}

/** bytes of all files of a series of files together */
const filesBytes = 10e6;

/** Answers lines of markdown; `disagree` is told of results that are not what was written. */
export async function benchGrowth(
  database: BenchDatabase,
  directory: string,
  series: GrowthSeries,
  disagree: (line: string) => void,
): Promise<string[]> {
  const lines: string[] = [];
  const add = async (
    title: string,
    unit: string,
    steps: readonly number[],
    make: (step: number) => Promise<GrowthInput>,
  ): Promise<void> => {
    const rows: string[][] = [];
    for (const step of steps) {
      console.error(`  ${step} ${unit}`);
      rows.push(await measureStep(database, series.rounds, step, await make(step), disagree));
    }
    const head = [title, 'new model, s', 'known model, s', 'CPU s', 'MB/s', `CPU ms per ${unit}`, 'peak MB'];
    lines.push('', ...renderTable(head, rows));
  };
  await add('one document, MB', 'MB', series.megabytes, async (megabytes) => {
    const { path, bytes, counts } = await generateInput('element', megabytes * 1e6, directory);
    return { path, bytes, rows: counts.rows + 1, documents: 1, tables: 4 };
  });
  await add('files, 10 MB in all', 'file', series.files, (files) => manyFiles(directory, files));
  await add('tables, 20 rows each', 'table', series.tables, (tables) => manyTables(directory, tables));
  return lines.slice(1);
}

/** A job that makes its model from the documents, then jobs that find it there. */
async function measureStep(
  database: BenchDatabase,
  rounds: number,
  step: number,
  input: GrowthInput,
  disagree: (line: string) => void,
): Promise<string[]> {
  const target = ['-o', 'metadb:bench_growth', '-S', 'o'];
  const run = async (...args: readonly string[]): Promise<Measured> => {
    await database.sql.unsafe('DROP SCHEMA IF EXISTS bench_growth CASCADE');
    const measured = await measure(database.tool(input.path, ...target, ...args));
    const { rows, documents, tables } = measured.printed;
    if (rows !== input.rows || documents !== input.documents)
      disagree(
        `${step}: ${String(rows)} rows of ${String(documents)} documents, not ${input.rows} of ${input.documents}`,
      );
    const filled = Object.keys((tables ?? {}) as object).length;
    if (filled > input.tables) disagree(`${step}: ${filled} tables, not ${input.tables}`);
    return measured;
  };
  const made = await run();
  const known: Measured[] = [];
  for (let round = 0; round < rounds; round += 1)
    known.push(await run('-x', String(made.printed['origin']), '-e', 'd'));
  const seconds = median(known.map(({ wallSeconds }) => wallSeconds));
  const cpuSeconds = median(known.map((measured) => measured.processCpuSeconds ?? 0));
  const peaks = known.flatMap(({ peakBytes }) => (peakBytes === null ? [] : [peakBytes]));
  return [
    String(step),
    significant(made.wallSeconds),
    significant(seconds),
    significant(cpuSeconds),
    significant(input.bytes / 1e6 / seconds),
    significant((cpuSeconds * 1000) / step),
    peaks.length === 0 ? '–' : (Math.max(...peaks) / 1e6).toFixed(0),
  ];
}

/** Documents that are alike, in a folder. */
export async function manyFiles(directory: string, files: number): Promise<GrowthInput> {
  const path = join(directory, `files-${files}`);
  await mkdir(path);
  const items = Math.max(1, Math.round(filesBytes / files / 60));
  let bytes = 0;
  for (let file = 0; file < files; file += 1) {
    const lines = Array.from({ length: items }, (_, n) => `<item id="${n}"><name>name ${n}</name></item>\n`);
    const text = `<items number="${file}">\n${lines.join('')}</items>\n`;
    bytes += text.length;
    await writeFile(join(path, `${file}.xml`), text);
  }
  return { path, bytes, rows: files * (items + 1), documents: files, tables: 2 };
}

/** One document whose repeated elements have as many names as tables are wanted. */
async function manyTables(directory: string, tables: number): Promise<GrowthInput> {
  const path = join(directory, `tables-${tables}.xml`);
  const rowsPerTable = 20;
  const parts = ['<all>\n'];
  for (let row = 0; row < rowsPerTable; row += 1) {
    for (let table = 1; table < tables; table += 1)
      parts.push(`<kind${table} id="${row}"><name>name ${row}</name><size>${table}</size></kind${table}>\n`);
  }
  parts.push('</all>\n');
  const text = parts.join('');
  await writeFile(path, text);
  return { path, bytes: text.length, rows: 1 + rowsPerTable * (tables - 1), documents: 1, tables };
}
