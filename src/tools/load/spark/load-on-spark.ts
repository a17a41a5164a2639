/** `--engine spark`: documents become units, Spark's executors shred them (src/tools/load/spark/load-task.ts), and their rows are given to the sink here, once. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { writeNewFile } from '../../../adapters/file-staging/durable-file.ts';
import { InputError } from '../../../engine/diagnostics.ts';
import { addStatistics } from '../../../engine/infer/merge-statistics.ts';
import { emptyStatistics, type DocumentStatistics } from '../../../engine/infer/statistics.ts';
import { AppError } from '../../../errors.ts';
import { noSpark } from '../../../jobs/submit.ts';
import type { StoredLogicalSchema } from '../../../ports/stores/catalog.ts';
import type { RowSink } from '../../../ports/rows/sink.ts';
import type { InputSet } from '../../inputs/list-files.ts';
import { addFindings, type LoadFindings } from '../findings.ts';
import type { DelegatedLoad, LoadOptions } from '../row-loader.ts';
import { loadingJob } from '../order.ts';
import { runUnitsOnSpark, taskCommand } from './application.ts';
import { withWorkFolder } from './work-folder.ts';
import { doneFolder, failureOf, readJson } from './work.ts';
import { writeUnits } from './units.ts';
import type { SparkJob, UnitReport } from './work.ts';
import type { ToolSession } from '../../session/tool-session.ts';

export interface SparkLoad {
  readonly inputs: InputSet;
  readonly logical: StoredLogicalSchema;
  readonly sink: RowSink;
  readonly options: LoadOptions;
  /** SHA-256 of the documents by input index; null: not to be loaded */
  readonly hashes: readonly (string | null)[] | null;
}

/** AppError `invalid_option`: there is no Spark. */
export function requireSpark({ request, home }: ToolSession): void {
  if (request.engine === 'spark' && home.config.spark.submit === null)
    throw new AppError('invalid_option', noSpark);
}

/** What `Loader.probe` does where a job runs here: for `--on-error skip`, before any document is read for its rows. */
export async function probeOnSpark(session: ToolSession, load: Omit<SparkLoad, 'hashes'>): Promise<void> {
  const { rejects } = load.options;
  await onSpark(
    session,
    load,
    true,
    (inputIndex) => (rejects.has(inputIndex) ? null : ''),
    async (work, units) => {
      for await (const report of reportsOf(work, units))
        for (const [inputIndex, diagnostic] of report.rejects)
          await rejects.add(inputIndex, new InputError(diagnostic));
    },
  );
}

export async function loadOnSpark(session: ToolSession, load: SparkLoad): Promise<DelegatedLoad> {
  const hashOf = (inputIndex: number): string | null => load.hashes?.[inputIndex] ?? null;
  return onSpark(session, load, false, hashOf, (work, units) =>
    collect(work, units, load.sink, load.logical.model.tables.length),
  );
}

/** `hashOf`: see `UnitPlan`. `use` is called when all units have been done. */
async function onSpark<Answer>(
  session: ToolSession,
  load: Omit<SparkLoad, 'hashes'>,
  probe: boolean,
  hashOf: (inputIndex: number) => string | null,
  use: (work: string, units: number) => Promise<Answer>,
): Promise<Answer> {
  return withWorkFolder(session, async (work) => {
    const { inputs, options } = load;
    const units = await writeUnits(session, work, { inputs, rowTag: options.rowTag, hashOf });
    if (units > 0) {
      await writeNewFile(join(work, 'job.json'), JSON.stringify(await jobOf(session, load, units, probe)));
      session.log(`${units} units of work for Spark${probe ? ': faults of documents' : ''}`);
      await runUnitsOnSpark(session, work, units, (fraction) => session.progress(fraction));
    }
    return use(work, units);
  });
}

async function jobOf(
  session: ToolSession,
  load: Omit<SparkLoad, 'hashes'>,
  units: number,
  probe: boolean,
): Promise<SparkJob> {
  const { logical, sink, options } = load;
  return {
    ...loadingJob(session, sink, options),
    name: `xml2er -j ${session.idJob}`,
    command: taskCommand(session, 'spark-task'),
    units,
    probe,
    logical,
    keyOffsets: [...(await sink.keyOffsets())],
  };
}

/** The rows of all units to the sink, in the order of the documents; nothing before every unit is there and has succeeded. */
async function collect(work: string, units: number, sink: RowSink, tables: number): Promise<DelegatedLoad> {
  const written = Array.from({ length: tables }, () => 0);
  const findings: LoadFindings[] = [];
  let statistics: DocumentStatistics | null = null;
  // that none has failed is known before any row is written
  for await (const report of reportsOf(work, units)) void report;
  let unit = -1;
  for await (const found of reportsOf(work, units)) {
    unit += 1;
    if (found.findings !== null) findings.push(found.findings);
    if (found.statistics !== null) {
      statistics ??= emptyStatistics();
      addStatistics(statistics, found.statistics);
    }
    for (const unconverted of found.unconvertedValues) await sink.unconverted(unconverted);
    for (const [table, column] of found.nullAllowed) sink.allowNull(table, column);
    await writeRows(join(doneFolder(work, unit), 'rows'), found, sink, written);
  }
  // keys of documents follow from their content
  return { written, findings: addFindings(findings), statistics, lastKeys: new Map() };
}

/** In the order of the documents. AppError `unprocessable_input`: the reason of the first unit that has failed. */
async function* reportsOf(work: string, units: number): AsyncIterable<UnitReport> {
  for (let unit = 0; unit < units; unit += 1) {
    const report = await readJson<UnitReport>(join(doneFolder(work, unit), 'report.json'));
    if (report.failure !== undefined) throw failureOf(report.failure);
    yield report;
  }
}

async function writeRows(
  path: string,
  { chunks }: UnitReport,
  sink: RowSink,
  written: number[],
): Promise<void> {
  const file = await open(path, 'r');
  try {
    for (const [table, size, rowCount] of chunks) {
      const rows = new Uint8Array(size);
      let read = 0;
      while (read < size) {
        const { bytesRead } = await file.read(rows, read, size - read);
        if (bytesRead === 0) throw new Error(`${path}: staged rows are cut short`);
        read += bytesRead;
      }
      if (typeof table === 'number') {
        written[table] = (written[table] ?? 0) + rowCount;
        await sink.write(table, rows, rowCount);
      } else await sink.writeSide(table, rows, rowCount);
    }
  } finally {
    await file.close();
  }
}
