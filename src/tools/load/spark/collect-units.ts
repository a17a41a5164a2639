/**
 * Collects the results of units on Spark in the order of the documents: findings and statistics, and rows in the target or for the
 * sink.
 */
import { UnitStatistics } from '../../../engine/infer/merge-ranges.ts';
import type { RowSink } from '../../../ports/rows/sink.ts';
import type { UnitReceipt, UnitToken, UnsettledUnits } from '../../../ports/rows/units.ts';
import type { RelationalModel } from '../../../engine/model/relational-model.ts';
import { openUnit, type UnitPlace } from '../../targets/units.ts';
import { addFindings, type LoadFindings } from '../findings.ts';
import type { DelegatedLoad } from '../row-loader.ts';
import { copyRowFile } from './row-file.ts';
import { doneFolder, readReport, type RowFile, type UnitReport } from './work.ts';

/** The destination of rows that are not in the target yet: the sink, or one unit of the target each. */
export interface UnitsDone {
  readonly work: string;
  readonly units: number;
  readonly sink: RowSink;
  /** null: the sink takes no units */
  readonly token: UnitToken | null;
  readonly log: (line: string) => void;
}

/** Yields reports in the order of the documents. AppError `unprocessable_input`: the reason of the first unit that has failed. */
export async function* reportsOf(work: string, units: number): AsyncIterable<UnitReport> {
  for (let unit = 0; unit < units; unit += 1) {
    yield await readReport<UnitReport>(work, unit);
  }
}

/** Units that are to be written again, as those of other units have decided their types; null: none. */
export async function unsettledOf(
  work: string,
  units: number,
  sink: RowSink,
): Promise<UnsettledUnits | null> {
  const receipts: UnitReceipt[] = [];
  for await (const { rows } of reportsOf(work, units))
    if (rows !== null && 'receipt' in rows) receipts.push(rows.receipt);
  // this machine writes the rows of the others, into a sink that accepts them unchanged
  return receipts.length < units ? null : sink.units!.unsettled(receipts);
}

/** Collects units, after every unit exists and has succeeded. */
export async function collectUnits(done: UnitsDone, model: RelationalModel): Promise<DelegatedLoad> {
  const { work, units, sink, token } = done;
  const written = model.tables.map(() => 0);
  const findings: LoadFindings[] = [];
  const receipts: UnitReceipt[] = [];
  const lastKeys = new Map<string, number>();
  let statistics: UnitStatistics | null = null;
  // make sure that no unit has failed before any row is written
  for await (const report of reportsOf(work, units)) void report;
  const count = (table: number | string, rows: number): void => {
    if (typeof table === 'number') written[table] = (written[table] ?? 0) + rows;
  };
  let unit = -1;
  let copiedHere = 0;
  for await (const report of reportsOf(work, units)) {
    unit += 1;
    if (report.findings !== null) findings.push(report.findings);
    // units ascend, and so do their keys
    for (const [table, key] of report.lastKeys) lastKeys.set(table, key);
    if (report.statistics !== null) {
      statistics ??= new UnitStatistics();
      statistics.add(report.statistics, report.open);
    }
    const rows = report.rows!;
    if ('receipt' in rows) {
      receipts.push(rows.receipt);
    } else if (token === null) {
      await copyRowFile(doneFolder(work, unit), rows.file, sink);
      for (const [table, , rowCount] of rows.file.chunks) count(table, rowCount);
    } else {
      copiedHere += 1;
      if (copiedHere === 1) done.log(`rows of a unit did not come from its executor: ${rows.why}`);
      const folder = doneFolder(work, unit);
      receipts.push(await copyUnit(token, { unit, model, folder }, rows.file));
    }
  }
  for (const { rows } of receipts) for (const [table, rowCount] of rows) count(table, rowCount);
  if (copiedHere > 0)
    done.log(`${copiedHere} of ${units} units were copied into the target from this machine`);
  if (token !== null) await sink.units!.adopt(receipts, (one) => doneFolder(work, one));
  return { written, findings: addFindings(findings), statistics: statistics?.result() ?? null, lastKeys };
}

/**
 * Copies the rows of a unit as an executor would have done. If an executor had done so without being able to report it, its rows count.
 */
async function copyUnit(token: UnitToken, place: UnitPlace, file: RowFile): Promise<UnitReceipt> {
  const into = await openUnit(token, place);
  try {
    await copyRowFile(place.folder, file, into);
    const note = await into.commit((receipt) => JSON.stringify({ rows: { receipt } }));
    return (JSON.parse(note) as { readonly rows: { readonly receipt: UnitReceipt } }).rows.receipt;
  } finally {
    await into.close();
  }
}
