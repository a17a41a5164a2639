/** Documents of the library as units that are files: what executors and the machine that publishes do of them, and the same by the sink alone. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { RowSink, SinkPlan, UnitReceipt, UnitToken } from '../../../src/ports/row-sink.ts';
import { openUnit } from '../../../src/tools/targets/units.ts';
import { at, libraryModel } from '../../unit/engine/sql/library-model.ts';
import { libraryRows, writeLibrary, type LibraryRows } from '../targets/library-rows.ts';

/** of the library's row: a date */
export const founded = 3;

/** Of one job, a document each. */
export function unitsOf(idJob: number, count: number): LibraryRows[] {
  const units: LibraryRows[] = [];
  for (let unit = 0; unit < count; unit += 1)
    units.push(libraryRows(idJob, 1, units.at(-1)?.lastKeys ?? new Map()));
  return units;
}

export interface DoneUnit {
  readonly folder: string;
  readonly receipt: UnitReceipt;
}

export interface Unconverted {
  readonly unit: number;
  readonly text: string;
  /** that of the library's founding */
  readonly table?: number;
  readonly column?: number;
}

/** What an executor does, in a folder of its own. */
export async function writeUnit(
  work: string,
  token: UnitToken,
  rows: LibraryRows,
  unit: number,
  odd: readonly Unconverted[] = [],
): Promise<DoneUnit> {
  const folder = join(work, `${unit}-${Math.random()}`);
  await mkdir(folder, { recursive: true });
  // as it reaches executors
  const told = JSON.parse(JSON.stringify(token)) as UnitToken;
  const into = await openUnit(told, { unit, model: libraryModel, folder });
  try {
    await writeLibrary({ ...bound(into), encoding: encodingOf(token) } as RowSink, rows);
    for (const { text, table = at.library, column = founded } of odd.filter((one) => one.unit === unit))
      await into.unconverted({ table, column, rowKey: 1, text });
    const note = await into.commit((receipt) => JSON.stringify(receipt));
    return { folder, receipt: JSON.parse(note) as UnitReceipt };
  } finally {
    await into.close();
  }
}

function bound(into: Pick<RowSink, 'write' | 'writeSide'>): Pick<RowSink, 'write' | 'writeSide'> {
  return { write: into.write.bind(into), writeSide: into.writeSide.bind(into) };
}

function encodingOf(token: UnitToken): RowSink['encoding'] {
  const { format } = token as unknown as { readonly format: string };
  if (format === 'parquet') return 'words';
  return format === 'jsonl' ? 'json-lines' : format === 'csv' ? 'csv' : 'tsv';
}

/** Units by executors, again as long as the target wants any; answers the number of passes, what was published, and what was told of the units. */
export async function loadUnits(
  work: string,
  sink: RowSink,
  plan: SinkPlan,
  units: readonly LibraryRows[],
  odd: readonly Unconverted[] = [],
) {
  expect(await sink.open(plan)).toBe('load');
  const target = sink.units!;
  let token = (await target.begin(units.length)) as UnitToken;
  let wanted: readonly number[] = units.map((_, unit) => unit);
  const done: DoneUnit[] = [];
  const receipts = (): UnitReceipt[] => done.map(({ receipt }) => receipt);
  let passes = 0;
  for (;;) {
    passes += 1;
    for (const unit of wanted) done[unit] = await writeUnit(work, token, units[unit]!, unit, odd);
    const unsettled = await target.unsettled(receipts());
    if (unsettled === null) break;
    ({ token, units: wanted } = unsettled);
  }
  await target.adopt(receipts(), (unit) => done[unit]!.folder);
  const published = await sink.publish(async () => true, units.at(-1)!.lastKeys);
  await sink.close();
  return { passes, published, receipts: receipts() };
}

/** The same by the sink itself. */
export async function loadHere(
  sink: RowSink,
  plan: SinkPlan,
  units: readonly LibraryRows[],
  odd: readonly Unconverted[] = [],
) {
  expect(await sink.open(plan)).toBe('load');
  for (const rows of units) await writeLibrary(sink, rows);
  for (const { text, table = at.library, column = founded } of odd)
    await sink.unconverted({ table, column, rowKey: 1, text });
  const published = await sink.publish(async () => true, units.at(-1)!.lastKeys);
  await sink.close();
  return published;
}
