/** `--engine spark`: documents become units, Spark's executors shred them (spark-task.ts), and their rows are given to the sink here, once. */
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeNewFile } from '../adapters/node/durable-file.ts';
import { mergeStatistics } from '../engine/infer/merge-statistics.ts';
import type { DocumentStatistics } from '../engine/infer/statistics.ts';
import type { BrokenRule } from '../engine/identity/broken-rules.ts';
import { AppError } from '../errors.ts';
import { noSpark } from '../jobs/submit.ts';
import type { StoredLogicalSchema } from '../ports/catalog-store.ts';
import type { RowSink } from '../ports/row-sink.ts';
import type { ConversionDetails } from './conversion.ts';
import type { InputSet } from './input-files.ts';
import type { LoadOptions } from './load-rows.ts';
import { runUnitsOnSpark, taskCommand } from './spark-application.ts';
import { withWorkFolder } from './spark-work-folder.ts';
import { doneFolder, readJson } from './spark-work.ts';
import type { SparkJob, UnitMember, UnitReport } from './spark-work.ts';
import type { ToolSession } from './tool-session.ts';

export interface LoadedApart {
  /** rows by table */
  readonly written: readonly number[];
  readonly documents: number;
  readonly bytes: number;
  readonly unknownPaths: number;
  readonly details: ConversionDetails;
  readonly statistics: DocumentStatistics | null;
}

export interface SparkLoad {
  readonly inputs: InputSet;
  readonly logical: StoredLogicalSchema;
  readonly sink: RowSink;
  readonly options: LoadOptions;
  /** SHA-256 of the documents by place; null: not to be loaded */
  readonly hashes: readonly (string | null)[] | null;
}

/** documents of a unit: what starting a process takes is shared by so many */
const maxUnitDocuments = 200;
/** bytes of a unit: at most, and at least before a job is cut into 64 */
const maxUnitBytes = 64 * 2 ** 20;
const minUnitBytes = 2 ** 20;

/** AppError `invalid_option`: there is no Spark. */
export function requireSpark({ request, home }: ToolSession): void {
  if (request.engine === 'spark' && home.config.spark.submit === null)
    throw new AppError('invalid_option', noSpark);
}

export async function loadOnSpark(session: ToolSession, load: SparkLoad): Promise<LoadedApart> {
  return withWorkFolder(session, async (work) => {
    const units = await writeUnits(work, load.inputs, (place) => load.hashes?.[place] ?? null);
    if (units > 0) {
      await writeNewFile(join(work, 'job.json'), JSON.stringify(await jobOf(session, load, units)));
      session.log(`${units} units of work for Spark`);
      await runUnitsOnSpark(session, work, units, (fraction) => session.progress(fraction));
    }
    return collect(session, work, units, load.sink, load.logical.model.tables.length);
  });
}

/** Documents in their order, cut into units; answers how many there are. `hashOf`: SHA-256 by place; null: the document is left out. */
export async function writeUnits(
  work: string,
  inputs: InputSet,
  hashOf: (place: number) => string | null,
): Promise<number> {
  const bytesOfUnit = Math.min(maxUnitBytes, Math.max(minUnitBytes, inputs.totalBytes / 64));
  let members: UnitMember[] = [];
  let bytes = 0;
  let units = 0;
  const cut = async (): Promise<void> => {
    if (members.length === 0) return;
    await writeFile(join(work, 'units', `${units}.json`), JSON.stringify(members), { mode: 0o600 });
    units += 1;
    members = [];
    bytes = 0;
  };
  let place = -1;
  for await (const { source, name, path, diskBytes } of inputs.members()) {
    place += 1;
    const sha256 = hashOf(place);
    if (sha256 === null) continue;
    if (members.length > 0 && bytes + diskBytes > bytesOfUnit) await cut();
    members.push({ ...source, name, path, sha256 });
    bytes += diskBytes;
    if (members.length >= maxUnitDocuments) await cut();
  }
  await cut();
  return units;
}

async function jobOf(session: ToolSession, load: SparkLoad, units: number): Promise<SparkJob> {
  const { keys, unmapped, extraColumns, noSamples, rowTag } = session.request;
  return {
    name: `xml2er -j ${session.idJob}`,
    command: taskCommand(session, 'spark-task'),
    units,
    logical: load.logical,
    idJob: session.idJob,
    byHand: session.byHand,
    request: { keys, unmapped, extraColumns, noSamples, ...(rowTag === undefined ? {} : { rowTag }) },
    rowTag: load.options.rowTag,
    limits: session.limits,
    archiveLimits: session.archiveLimits,
    links: session.byHand ? 'follow' : 'refuse',
    encoding: load.sink.encoding,
    widensInPlace: load.sink.widensInPlace,
    keyOffsets: [...(await load.sink.keyOffsets())],
    withStatistics: load.options.withStatistics,
  };
}

/** The rows of all units to the sink, in the order of the documents; nothing before every unit is there and has succeeded. */
async function collect(
  session: ToolSession,
  work: string,
  units: number,
  sink: RowSink,
  tables: number,
): Promise<LoadedApart> {
  const written = Array.from({ length: tables }, () => 0);
  const total = { documents: 0, bytes: 0, unknownPaths: 0, ignored: 0 };
  const unmapped = new Map<string, number>();
  const broken = new Map<string, BrokenRule>();
  const lines = new Set<string>();
  let checked = false;
  let statistics: DocumentStatistics | null = null;
  const report = (unit: number) => readJson<UnitReport>(join(doneFolder(work, unit), 'report.json'));
  for (let unit = 0; unit < units; unit += 1) {
    const { failure } = await report(unit);
    if (failure !== undefined) throw new AppError('unprocessable_input', failure);
  }
  for (let unit = 0; unit < units; unit += 1) {
    const found = await report(unit);
    total.documents += found.documents;
    total.bytes += found.bytes;
    total.unknownPaths = Math.max(total.unknownPaths, found.unknownPaths);
    total.ignored += found.details.ignored;
    for (const { xpath, count } of found.details.unmapped)
      unmapped.set(xpath, (unmapped.get(xpath) ?? 0) + count);
    checked ||= found.details.broken !== undefined;
    for (const rule of found.details.broken ?? []) {
      const key = `${rule.kind} ${rule.fault} ${rule.name}`;
      const known = broken.get(key);
      if (known === undefined) broken.set(key, rule);
      else known.count += rule.count;
    }
    for (const line of found.lines) lines.add(line);
    if (found.statistics !== null)
      statistics = statistics === null ? found.statistics : mergeStatistics(statistics, found.statistics);
    for (const misfit of found.misfits) await sink.misfit(misfit);
    for (const [table, column] of found.relaxed) sink.relax(table, column);
    await writeRows(join(doneFolder(work, unit), 'rows'), found, sink, written);
  }
  for (const line of [...lines].slice(0, 200)) session.log(line);
  const { documents, bytes, unknownPaths, ignored } = total;
  const details: ConversionDetails = {
    unmapped: [...unmapped].map(([xpath, count]) => ({ xpath, count })).slice(0, 1000),
    ignored,
    rejects: [],
    ...(checked ? { broken: [...broken.values()] } : {}),
  };
  return {
    written,
    documents,
    bytes,
    unknownPaths: Math.max(unknownPaths, unmapped.size),
    details,
    statistics,
  };
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
