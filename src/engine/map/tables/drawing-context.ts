/** The state that the steps of one drawing share: the source, the choices made for it, and everything drawn so far. */
import type { QName, SourceChild, SourceModel } from '../../model/source-model.ts';
import type { PathPrinter, UsePrinter } from '../names/paths.ts';
import type { ColumnTypeOptions } from './column-types.ts';
import type { DrawingChoices } from './drawing-choices.ts';
import type { NodeDraft, TableDraft } from './model-builder.ts';
import type { DrawnTables, RowContext } from './drawn-tables.ts';

export interface DrawingContext {
  readonly model: SourceModel;
  /** the model with everything that the schema declares, with the same type indexes, if `model` was pruned */
  readonly declared: SourceModel;
  /** keyed by type: see PlanNode.keptBeside */
  readonly keptBeside: ReadonlyMap<number, number>;
  /** options that the types of columns depend on, besides the types of values */
  readonly columnTypes: ColumnTypeOptions;
  readonly choices: DrawingChoices;
  /** see DrawingOptions.textsByPlace */
  readonly textsByPlace: boolean;
  readonly paths: PathPrinter;
  readonly uses: UsePrinter;
  readonly tables: DrawnTables;
  readonly nodes: NodeDraft[];
  /** Returns whether the current row gets the key of a child's row in `table`, instead of the reverse. */
  holdsKey(
    row: RowContext,
    child: SourceChild,
    at: { readonly table: TableDraft; readonly name: QName; readonly isGroup: boolean },
  ): boolean;
  /** Records that a child of an element of `type` has rows of its own although it occurs at most once. */
  recordUnfolded(row: RowContext, type: number, child: SourceChild): void;
  /** Draws the content of an element of the node's type immediately. */
  fill(node: NodeDraft, row: RowContext): void;
  /** Schedules work for the time when the current drawing is complete, in the order of the calls. */
  later(work: () => void): void;
}
