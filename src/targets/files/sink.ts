/**
 * Writes rows into files that wait in the staging folder of a target until one step publishes them: the common base of sinks of folders and
 * of tables.
 */
import { randomBytes } from 'node:crypto';
import { fileFault } from '../../storage/staging/durable-file.ts';
import type { HandedRows, StagedFiles } from '../../storage/staging/staged-files.ts';
import { codesTable, sideTableNames } from '../../engine/model/side-tables.ts';
import type {
  MergeCounts,
  Fence,
  RowEncoding,
  SideTable,
  UnitFile,
  UnitTarget,
} from '../../ports/row-sink.ts';
import { passFence, StagedRowSink } from '../rows/staged-rows.ts';
import { keptCodes, type CodesBefore, type KeptCodes, encodedRows } from './folder/table-columns.ts';
import { decideStep, stagingPrefix, type HeldPlace, type StagedStep } from './place/journal.ts';
import { createFileUnits, tableName, type UnitRules } from './units.ts';

export abstract class StagedFileSink<
  Step extends StagedStep,
  Held extends HeldPlace<Step, unknown>,
> extends StagedRowSink {
  abstract readonly encoding: RowEncoding;
  readonly widensInPlace = false;
  protected held: Held | null = null;
  /** name of the staging folder; '' if there is none, or if a decided step needs it */
  protected staging = '';
  protected files: StagedFiles | null = null;
  /** names of the files that this process writes, by table */
  protected readonly names = new Map<string, string>();
  /** files that executors have written, by table */
  protected readonly adopted = new Map<string, UnitFile[]>();
  #units: UnitTarget | null = null;

  /** Returns a new name for a file of the table. `unit`: the number of an executor's unit; null for this process. */
  protected abstract fileNameFor(table: string, unit: number | null): string;

  /** Adds rows to a file of this process. */
  protected abstract writeFile(table: string, name: string, rows: HandedRows): Promise<void>;

  /** The rules for executors; null if only this process writes files. */
  protected abstract unitRules(): UnitRules | null;

  /** Ends work that still runs, and closes resources other than the files. */
  protected abstract endWork(): Promise<void>;

  /** the name, in messages, of the place where files are made */
  protected abstract readonly localLabel: string;

  override get units(): UnitTarget | null {
    if (this.#units !== null) return this.#units;
    const rules = this.unitRules();
    if (rules === null) return null;
    const { model } = this.plan;
    return (this.#units = createFileUnits({
      ...rules,
      model,
      take: async (file, path, unit) => {
        const table = tableName(model, file.table);
        const name = this.fileNameFor(table, unit);
        await this.files!.adopt(path, name);
        const adopted = this.adopted.get(table) ?? [];
        adopted.push({ ...file, name });
        this.adopted.set(table, adopted);
      },
      nullAllowed: this.nullAllowed,
      unfit: this.unfit,
      guarded: (work) => this.guarded(work),
    }));
  }

  async write(table: number, ...rows: HandedRows): Promise<void> {
    await this.writeRows(this.plan.model.tables[table]!.name, ...rows);
  }

  async writeSide(table: SideTable, ...rows: HandedRows): Promise<void> {
    await this.writeRows(sideTableNames[table], ...rows);
  }

  protected async writeRows(table: string, ...rows: HandedRows): Promise<void> {
    let name = this.names.get(table);
    if (name === undefined) this.names.set(table, (name = this.fileNameFor(table, null)));
    await this.guarded(() => this.writeFile(table, name, rows));
  }

  protected isWritten(table: string): boolean {
    return this.names.has(table) || this.adopted.has(table);
  }

  /** Returns the rows that `_codes` will have. */
  protected keptCodes(before: CodesBefore): Promise<KeptCodes> {
    return keptCodes(this.plan, before, (table) => this.isWritten(table));
  }

  protected async writeCodes(rows: NonNullable<KeptCodes['rows']>): Promise<void> {
    await this.writeRows(codesTable.name, ...encodedRows(rows, this.encoding, codesTable.columns));
  }

  /** Returns the name of the staging folder, which does not exist yet. */
  protected nameStaging(): string {
    this.staging = `${stagingPrefix}${this.plan.idJob}-${randomBytes(4).toString('hex')}`;
    return this.staging;
  }

  /** Publishes the step, unless another worker has the job or another job has the target. */
  protected async decide(step: Step, fence: Fence, merged?: MergeCounts): Promise<void> {
    await decideStep(this.held!, step, () => passFence(fence, merged));
    // from here on the step needs the staged files, even if this process dies
    this.outcome = 'nothing';
    this.staging = '';
  }

  async abort(): Promise<void> {
    this.outcome = 'nothing';
    await this.files?.settle();
    const { held } = this;
    if (held === null) return;
    this.held = null;
    await this.guarded(async () => {
      try {
        await this.endWork();
        if (this.staging !== '') await held.discard(this.staging);
      } finally {
        await held.release();
      }
    });
  }

  close(): Promise<void> {
    return this.abort();
  }

  protected override faultOf(error: unknown): unknown {
    return fileFault(error, this.localLabel);
  }
}
