/**
 * The kernel for elements in WebAssembly: writes an element with all its content if it is plain and in the present blocks of the tables.
 * A refused element leaves no changes, and src/engine/unshred/element-walk.ts writes it.
 */
import { compileModule } from '../../compile-module.ts';
import type { RowBytes } from '../rows/values.ts';
import type { RowChild, WritingPlan } from '../writing-plan.ts';
import { writeElementsWasm } from './elements-wasm.ts';
import * as layout from './layout.ts';
import { LearnedNodes } from './learned-nodes.ts';
import { ElementsMemory } from './memory.ts';

interface Exports {
  writeElement(table: number, tag: number, length: number, node: number): number;
}

export interface StandingRows extends RowBytes {
  /** end of the block's cells in `cells` */
  readonly end: number;
  /** there is no block after it */
  readonly isLast: boolean;
}

/** The present position of a table. */
export interface StandingTable {
  /** positioned at the next row; below 0: there are no more rows */
  readonly rows: StandingRows;
  readonly columns: number;
  readonly keyColumn: number;
  /** the least key of a later row that may have entries beside it; Infinity: there is none */
  readonly nextBeside: number;
}

/** Undefined: the table is not open; null: there are no rows to be written. */
export type StandingTables = (table: number) => StandingTable | null | undefined;

/** most bytes of an element that is written at once; TypeScript writes a longer one, and the kernel its children */
const outBytes = 32 * 1024;
/** bytes that may be written between two checks of the remaining room */
const outMargin = 256;
const scratchBytes = 256 * 1024;
/** most bytes of blocks if there are many tables; TypeScript reads the blocks that do not fit */
const mostBytes = 32 * 1024 * 1024;
/** elements of a node that are left to TypeScript after one that was refused: twice as many each time */
const mostPassedOver = 64;

interface Loaded {
  /** the block whose rows are in this memory */
  cells: Int32Array | null;
  bytesAt: number;
  bytesRoom: number;
  cellsAt: number;
  cellsRoom: number;
}

/** Returns null if WebAssembly is not available. */
export function createElementsKernel(plan: WritingPlan): ElementsKernel | null {
  try {
    const module = compileModule(writeElementsWasm);
    return new ElementsKernel(plan, module);
  } catch {
    // the walk in TypeScript does without
    return null;
  }
}

export class ElementsKernel {
  readonly #memory = new ElementsMemory();
  readonly #exports: Exports;
  readonly #nodes: LearnedNodes;
  readonly #nodesAt: number;
  readonly #tablesAt: number;
  readonly #touchedAt: number;
  readonly #outAt: number;
  /** indexed by table; undefined: not requested yet */
  readonly #loaded: (Loaded | undefined)[] = [];
  /** by node: number of elements to skip, and their number the last time */
  readonly #passOver: number[] = [];
  readonly #passedOver: number[] = [];

  constructor(plan: WritingPlan, module: WebAssembly.Module) {
    const memory = this.#memory;
    const instance = new WebAssembly.Instance(module, { env: { memory: memory.memory } });
    this.#exports = instance.exports as unknown as Exports;
    this.#nodes = new LearnedNodes(plan, memory);
    const tables = plan.model.tables.length;
    this.#nodesAt = memory.allocate(plan.model.nodes.length * 4);
    this.#tablesAt = memory.allocate(tables * layout.TABLE_BYTES_OF_RECORD);
    this.#touchedAt = memory.allocate(tables * 4);
    this.#outAt = memory.allocate(outBytes + outMargin);
    const scratch = memory.allocate(scratchBytes);
    const slots: readonly [slot: number, value: number][] = [
      [layout.NODES, this.#nodesAt],
      [layout.TABLES, this.#tablesAt],
      [layout.OUT, this.#outAt],
      [layout.OUT_LIMIT, this.#outAt + outBytes],
      [layout.SCRATCH, scratch],
      [layout.SCRATCH_LIMIT, scratch + scratchBytes],
      [layout.TOUCHED, this.#touchedAt],
    ];
    for (const [slot, value] of slots) memory.set(layout.CONTROL_AT, slot, value);
  }

  /** The output of `write`: `bytes` from `from` on. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#memory.bytes;
  }

  get from(): number {
    return this.#outAt;
  }

  /** Writes the next row of the table as that child. Returns the end of the output in `bytes`, or 0 if TypeScript must write it. */
  write(table: number, { tag, node, ownParentKeyColumn }: RowChild, standing: StandingTables): number {
    if (ownParentKeyColumn >= 0) return 0;
    const pass = this.#passOver[node] ?? 0;
    if (pass > 0) {
      this.#passOver[node] = pass - 1;
      return 0;
    }
    const tagAt = this.#nodes.nameAt(tag);
    for (;;) {
      const end = this.#exports.writeElement(table, tagAt, tag.length, node);
      if (end !== 0) {
        this.#passedOver[node] = 0;
        return end;
      }
      if (this.#mend(standing)) continue;
      const passed = Math.min(mostPassedOver, (this.#passedOver[node] ?? 0) * 2 + 1);
      this.#passOver[node] = this.#passedOver[node] = passed;
      return 0;
    }
  }

  /** Calls `taken` for each table that the last `write` read rows from, with their number. */
  forTaken(taken: (table: number, rows: number) => void): void {
    const memory = this.#memory;
    const count = memory.get(layout.CONTROL_AT, layout.TOUCHED_COUNT);
    for (let at = 0; at < count; at += 1) {
      const table = memory.get(this.#touchedAt, at);
      const record = this.#recordOf(table);
      taken(table, memory.get(record, layout.TABLE_TAKEN));
      memory.set(record, layout.TABLE_TAKEN, 0);
    }
  }

  /** Moves the table to another row that has no entries beside it. */
  stand(table: number, { cells, at }: RowBytes): void {
    const loaded = this.#loaded[table];
    if (loaded === undefined) return;
    if (loaded.cells === cells && at >= 0) this.#memory.set(this.#recordOf(table), layout.TABLE_AT, at);
    else this.leave(table);
  }

  /** The table is to be asked for again. */
  leave(table: number): void {
    if (this.#loaded[table] === undefined) return;
    const record = this.#recordOf(table);
    for (const field of [layout.TABLE_AT, layout.TABLE_END, layout.TABLE_IS_LAST])
      this.#memory.set(record, field, 0);
  }

  #recordOf(table: number): number {
    return this.#tablesAt + table * layout.TABLE_BYTES_OF_RECORD;
  }

  /** Loads the missing data. Returns false if there is none to load. */
  #mend(standing: StandingTables): boolean {
    const memory = this.#memory;
    const subject = memory.get(layout.CONTROL_AT, layout.SUBJECT);
    switch (memory.get(layout.CONTROL_AT, layout.WHY)) {
      case layout.WHY_UNKNOWN_NODE:
        memory.set(this.#nodesAt, subject, this.#nodes.learn(subject));
        return true;
      case layout.WHY_ENDED:
        return this.#bring(subject, standing(subject));
      default:
        return false;
    }
  }

  #bring(table: number, standing: StandingTable | null | undefined): boolean {
    if (standing === undefined) return false;
    const memory = this.#memory;
    const loaded = (this.#loaded[table] ??= {
      cells: null,
      bytesAt: 0,
      bytesRoom: -1,
      cellsAt: 0,
      cellsRoom: -1,
    });
    const record = this.#recordOf(table);
    if (standing === null || standing.rows.at < 0) {
      memory.set(record, layout.TABLE_AT, -1);
      return true;
    }
    const { rows, columns, keyColumn, nextBeside } = standing;
    const { at, end } = rows;
    const isLast = rows.isLast ? 1 : 0;
    // the table was already there, and the element needs rows of the next block
    const isThere = loaded.cells === rows.cells && memory.get(record, layout.TABLE_END) === end;
    if (isThere && memory.get(record, layout.TABLE_IS_LAST) === isLast) return false;
    if (loaded.cells !== rows.cells && !this.#load(loaded, rows)) return false;
    const values: readonly [field: number, value: number][] = [
      [layout.TABLE_BYTES, loaded.bytesAt],
      [layout.TABLE_CELLS, loaded.cellsAt],
      [layout.TABLE_AT, at],
      [layout.TABLE_END, end],
      [layout.TABLE_STRIDE, columns * 2],
      [layout.TABLE_KEY, keyColumn * 8],
      [layout.TABLE_HAS_BESIDE, nextBeside === Infinity ? 0 : 1],
      [layout.TABLE_IS_LAST, isLast],
    ];
    for (const [field, value] of values) memory.set(record, field, value);
    memory.setDouble(record + layout.TABLE_NEXT_BESIDE, nextBeside);
    return true;
  }

  #load(loaded: Loaded, { bytes, cells, end }: StandingRows): boolean {
    const memory = this.#memory;
    loaded.cells = null;
    // a quarter more, because blocks differ in size
    if (loaded.bytesRoom < bytes.length) {
      if (memory.used + bytes.length * 1.25 > mostBytes) return false;
      loaded.bytesRoom = Math.ceil(bytes.length * 1.25);
      loaded.bytesAt = memory.allocate(loaded.bytesRoom);
    }
    if (loaded.cellsRoom < end * 4) {
      if (memory.used + end * 5 > mostBytes) return false;
      loaded.cellsRoom = end * 5;
      loaded.cellsAt = memory.allocate(loaded.cellsRoom);
    }
    memory.bytes.set(bytes, loaded.bytesAt);
    memory.ints.set(cells.subarray(0, end), loaded.cellsAt / 4);
    loaded.cells = cells;
    return true;
  }
}
