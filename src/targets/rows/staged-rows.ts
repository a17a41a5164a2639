/** The parts that sinks with staged rows have in common: save modes, the outcome of opening, and errors that name the target. */
import { AppError } from '../../errors.ts';
import type {
  MergeCounts,
  MergeOrder,
  Fence,
  Published,
  SinkPlan,
  UnconvertedValue,
  UnitTarget,
} from '../../ports/row-sink.ts';
import {
  columnId,
  plainDigits,
  UnfitColumns,
  usualRoom,
  type DecimalRoom,
  type WidenedTypes,
} from './unfit-columns.ts';

/** Checks the fence immediately before rows are committed. AppError `conflict` if another worker has the job. */
export async function passFence(fence: Fence, merged?: MergeCounts): Promise<void> {
  if (!(await fence(merged)))
    throw new AppError('conflict', 'Another worker has taken over the job: nothing was published.');
}

const nothingToMerge: MergeOrder = { documents: [], missing: [], keepsHistory: false };

export abstract class StagedRowSink {
  abstract readonly label: string;
  protected plan!: SinkPlan;
  protected outcome: 'load' | 'nothing' | 'already' = 'nothing';
  /** by `columnId`: the columns that lose NOT NULL when the job publishes */
  protected readonly nullAllowed = new Set<string>();
  protected readonly unfit = new UnfitColumns();
  /** the precision limit of decimals in the target */
  protected readonly decimalRoom: DecimalRoom = usualRoom;

  /** Null for most targets, because the process that publishes the rows also writes them. */
  get units(): UnitTarget | null {
    return null;
  }

  async open(plan: SinkPlan): Promise<'load' | 'skip'> {
    this.plan = plan;
    this.prepare(plan);
    if (plan.saveMode === 'print-schema') return 'skip';
    return this.guarded(() => this.openTarget());
  }

  async publish(
    fence: Fence,
    lastKeys: ReadonlyMap<string, number>,
    merge: MergeOrder = nothingToMerge,
  ): Promise<Published> {
    if (this.outcome !== 'load') return { rows: {}, already: this.outcome === 'already', changes: [] };
    return this.guarded(() => this.publishStaged(fence, lastKeys, merge));
  }

  async unconverted({ table, column, text }: UnconvertedValue): Promise<void> {
    this.unfit.add(table, column, plainDigits(text));
  }

  /** The columns that get another type when the job publishes, because of the values so far. */
  protected get widened(): WidenedTypes {
    return this.unfit.types(this.plan.model, this.decimalRoom);
  }

  allowNull(table: number, column: number): void {
    this.nullAllowed.add(columnId(table, column));
  }

  /** Prepares what follows from the plan alone. Does not access the target. */
  protected abstract prepare(plan: SinkPlan): void;

  /** Inspects the target and prepares the staging area. Sets `outcome`. */
  protected abstract openTarget(): Promise<'load' | 'skip'>;

  /** Publishes the staged rows; called only if rows were loaded. */
  protected abstract publishStaged(
    fence: Fence,
    lastKeys: ReadonlyMap<string, number>,
    merge: MergeOrder,
  ): Promise<Published>;

  /** Converts an error of the target to an AppError that names it; returns other errors unchanged. */
  protected abstract faultOf(error: unknown): unknown;

  protected async guarded<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.faultOf(error);
    }
  }

  /**
   * Returns whether the job may load. Save modes `error` (throws `conflict`) and `ignore` (returns false) do not change tables that hold
   * rows. `findFilled` returns the names of those tables; it is called only if the save mode needs them.
   */
  protected async mayLoad(findFilled: () => Promise<readonly string[]>): Promise<boolean> {
    const { saveMode } = this.plan;
    if (saveMode !== 'error' && saveMode !== 'ignore') return true;
    const filled = await findFilled();
    if (filled.length === 0) return true;
    if (saveMode === 'ignore') return false;
    throw new AppError(
      'conflict',
      `${this.label}: ${filled.slice(0, 5).join(', ')} already hold${filled.length === 1 ? 's' : ''} rows; -S a adds to them, -S o replaces them.`,
    );
  }
}
