/** Gathers in one place what the threads of a load send. */
import { InputError } from '../../../engine/diagnostics.ts';
import { UnitStatistics } from '../../../engine/infer/merge-ranges.ts';
import type { DocumentStatistics } from '../../../engine/infer/statistics.ts';
import { AppError } from '../../../errors.ts';
import type { ReleaseRows, RowSink } from '../../../ports/rows/sink.ts';
import type { PassProgress } from '../../reports/progress-lines.ts';
import { addFindings, type LoadFindings } from '../findings.ts';
import type { DelegatedLoad } from '../row-loader.ts';
import type { FromThread, RowsOfTable, ThreadFault } from './messages.ts';

interface StatisticsOfUnit extends Pick<FromThread & { kind: 'unit' }, 'unit' | 'open'> {
  readonly statistics: DocumentStatistics;
}

/** Passes one message after the other to the sink. */
export class Gathering {
  readonly #sink: RowSink;
  readonly #written: number[];
  readonly #findings: LoadFindings[] = [];
  readonly #statistics: StatisticsOfUnit[] = [];
  readonly #lastKeys = new Map<string, number>();
  #fault: { readonly unit: number; readonly fault: ThreadFault } | null = null;
  readonly #done = { documents: 0, bytes: 0, rows: 0 };
  #last: Promise<unknown> = Promise.resolve();

  constructor(sink: RowSink, tables: number) {
    this.#sink = sink;
    this.#written = Array.from({ length: tables }, () => 0);
  }

  get failed(): boolean {
    return this.#fault !== null;
  }

  /** Returns whether a unit need not be begun. Units before a failed one are still begun, because the first fault must be reported. */
  needsNot(unit: number): boolean {
    return this.#fault !== null && this.#fault.unit < unit;
  }

  /** progress of the units that have ended */
  get done(): Omit<PassProgress, 'pass'> {
    return { ...this.#done };
  }

  /** Hands the rows to the sink after those before them. `own` then returns them as memory that no other thread uses. */
  rows(
    { table, rowCount }: Pick<RowsOfTable, 'table' | 'rowCount'>,
    own: () => Uint8Array,
    release: ReleaseRows,
  ): Promise<void> {
    return this.#next(async () => {
      const rows = own();
      if (typeof table !== 'number') return this.#sink.writeSide(table, rows, rowCount, release);
      this.#written[table]! += rowCount;
      this.#done.rows += rowCount;
      return this.#sink.write(table, rows, rowCount, release);
    });
  }

  unconverted({ value }: FromThread & { kind: 'unconverted' }): Promise<void> {
    return this.#next(() => this.#sink.unconverted(value));
  }

  allowNull({ table, column }: FromThread & { kind: 'allowNull' }): Promise<void> {
    return this.#next(async () => this.#sink.allowNull(table, column));
  }

  unit({ unit, statistics, open, documents, bytes }: FromThread & { kind: 'unit' }): void {
    this.#done.documents += documents;
    this.#done.bytes += bytes;
    if (statistics !== null) this.#statistics.push({ unit, statistics, open });
  }

  fail({ unit, fault }: FromThread & { kind: 'failed' }): void {
    if (this.#fault === null || unit < this.#fault.unit) this.#fault = { unit, fault };
  }

  async end({ findings, lastKeys }: FromThread & { kind: 'end' }): Promise<void> {
    await this.#last;
    this.#findings.push(findings);
    for (const [table, key] of lastKeys)
      this.#lastKeys.set(table, Math.max(key, this.#lastKeys.get(table) ?? 0));
  }

  result(withStatistics: boolean): DelegatedLoad {
    if (this.#fault !== null) throw faultOf(this.#fault.fault);
    const statistics = withStatistics ? this.#addStatistics() : null;
    const findings = addFindings(this.#findings);
    return { written: this.#written, findings, statistics, lastKeys: this.#lastKeys };
  }

  #addStatistics(): DocumentStatistics {
    const all = new UnitStatistics();
    for (const { statistics, open } of this.#statistics.toSorted((a, b) => a.unit - b.unit))
      all.add(statistics, open);
    return all.result();
  }

  #next(work: () => Promise<void>): Promise<void> {
    const next = this.#last.then(work);
    this.#last = next;
    // the caller gets this rejection from `next`; each later turn fails too, as it waits for this one
    next.catch(() => undefined);
    return next;
  }
}

function faultOf(fault: ThreadFault): Error {
  if ('diagnostic' in fault) return new InputError(fault.diagnostic);
  return new AppError(fault.code, fault.message);
}
