/**
 * Opens and closes the rows of elements and of pieces of content: opens them below the rows that the plan defines, and notes the columns
 * left empty when it closes them.
 */
import { partOf, type CompiledNode, type CompiledPlan, type CompiledTable } from '../compiled-plan.ts';
import type { PlanEdge } from '../../model/relational-model.ts';
import { FRAME_ROW, type ShredState } from '../open-elements.ts';
import type { OpenRows } from '../open-rows.ts';
import type { WalkContext } from './context.ts';

export class ElementRows {
  /** NOT NULL columns left empty, as `table/column` indexes; the consumer empties it */
  readonly nullAllowed: { readonly table: number; readonly column: number }[] = [];
  readonly #nullAllowedSeen = new Set<number>();
  readonly #context: WalkContext;
  readonly #plan: CompiledPlan;
  readonly #rows: OpenRows;
  readonly #state: ShredState;

  constructor(context: WalkContext) {
    this.#context = context;
    this.#plan = context.plan;
    this.#rows = context.rows;
    this.#state = context.state;
  }

  /** `parentFrame` -1: the row of the document's root. */
  open(
    { table }: CompiledNode,
    { parentKeyColumn, childKeyColumn }: Pick<PlanEdge, 'parentKeyColumn' | 'childKeyColumn'>,
    parentFrame: number,
    position: number,
  ): number {
    // before the row is opened, because bytes written after its start are discarded when it closes
    if (childKeyColumn !== undefined)
      this.#rows.setKey(
        this.#state.frame(parentFrame, FRAME_ROW),
        childKeyColumn,
        this.#rows.nextNumber(table),
      );
    const row = this.#rows.open(table);
    if (parentFrame >= 0) {
      if (parentKeyColumn >= 0)
        this.#rows.setKey(row, parentKeyColumn, this.#rows.number(this.#state.frame(parentFrame, FRAME_ROW)));
      if (table.positionColumn >= 0) this.#rows.setInteger(row, table.positionColumn, position);
    }
    return row;
  }

  /** A row that hangs one to one from its head's: of a member of a substitution group, of a derived type. */
  openSubtype(node: CompiledNode, parentKeyColumn: number, headRow: number): number {
    const row = this.#rows.open(node.table);
    this.#rows.setKey(row, parentKeyColumn, this.#rows.number(headRow));
    return row;
  }

  /** Closes the innermost row. */
  close(): void {
    const row = this.#rows.top();
    const table = this.#rows.table(row);
    for (let i = 0; i < table.required.length; i += 1) {
      const column = table.required[i]!;
      if (!this.#rows.isSet(row, column)) this.allowNull(table, column);
    }
    this.#rows.close(this.#context.extra);
  }

  /** Notes that a NOT NULL column was left empty, the first time. */
  allowNull(table: CompiledTable, column: number): void {
    const identity = table.index * 65_536 + column;
    if (this.#nullAllowedSeen.has(identity)) return;
    this.#nullAllowedSeen.add(identity);
    const part = partOf(table, column);
    this.nullAllowed.push({ table: part.index, column: column - part.start });
  }

  /** Adds a row for a run of text or for content that a wildcard allows. */
  addContent(table: number, parentRow: number, position: number, content: Uint8Array, length: number): void {
    const compiled = this.#plan.tables[table]!;
    const parent = this.#rows.number(parentRow);
    const row = this.#rows.open(compiled);
    this.#rows.setKey(row, compiled.parentKeyColumn, parent);
    this.#rows.setInteger(row, compiled.positionColumn, position);
    this.#rows.setRaw(row, compiled.contentColumn, content, 0, length);
    this.#rows.close(this.#context.extra);
  }
}
