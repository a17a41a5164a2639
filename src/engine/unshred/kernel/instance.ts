/**
 * The kernel for elements in WebAssembly: writes an element with all its content if it is plain and in the present blocks of the tables.
 * A refused element leaves no changes, and src/engine/unshred/element-walk.ts writes it.
 */
import * as layout from './layout.ts';
import { compileModule } from '../../compile-module.ts';
import { type RowBytes, utf8Of } from '../rows/values.ts';
import type {
  RowChild,
  WritingPlan,
  Evidence,
  FoldedChild,
  RowGroup,
  RowUse,
  WritingNode,
} from '../writing-plan.ts';
import { writeElementsWasm } from './elements-wasm.ts';

interface Exports {
  writeElement(table: number, tag: number, length: number, node: number): number;
}

interface StandingRows extends RowBytes {
  /** end of the block's cells in `cells` */
  readonly end: number;
  /** there is no block after it */
  readonly isLast: boolean;
}

/** The present position of a table. */
interface StandingTable {
  /** positioned at the next row; below 0: at the end */
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
const maxBytes = 32 * 1024 * 1024;
/** elements of a node that are left to TypeScript after one that was refused: twice as many each time */
const maxPassedOver = 64;

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
      const passed = Math.min(maxPassedOver, (this.#passedOver[node] ?? 0) * 2 + 1);
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
    const isLoaded = loaded.cells === rows.cells && memory.get(record, layout.TABLE_END) === end;
    if (isLoaded && memory.get(record, layout.TABLE_IS_LAST) === isLast) return false;
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
      if (memory.used + bytes.length * 1.25 > maxBytes) return false;
      loaded.bytesRoom = Math.ceil(bytes.length * 1.25);
      loaded.bytesAt = memory.allocate(loaded.bytesRoom);
    }
    if (loaded.cellsRoom < end * 4) {
      if (memory.used + end * 5 > maxBytes) return false;
      loaded.cellsRoom = end * 5;
      loaded.cellsAt = memory.allocate(loaded.cellsRoom);
    }
    memory.bytes.set(bytes, loaded.bytesAt);
    memory.ints.set(cells.subarray(0, end), loaded.cellsAt / 4);
    loaded.cells = cells;
    return true;
  }
}

// The nodes of the plan for the kernel for elements (layout: src/engine/unshred/kernel/layout.ts). Each node is added when it first
// occurs.

/** The addresses of names that are written often. */
type Names = Map<Uint8Array, number>;

class LearnedNodes {
  readonly #plan: WritingPlan;
  readonly #memory: ElementsMemory;
  readonly #names: Names = new Map();

  constructor(plan: WritingPlan, memory: ElementsMemory) {
    this.#plan = plan;
    this.#memory = memory;
  }

  /** Returns the address of a name. */
  nameAt(name: Uint8Array): number {
    let at = this.#names.get(name);
    if (at === undefined) this.#names.set(name, (at = this.#memory.put(name)));
    return at;
  }

  /** Returns the address of the node's record. */
  learn(index: number): number {
    const node = this.#plan.node(index);
    const { textColumn, nilColumn, typeNameColumn, anyAttributeColumn } = node.plan;
    const empty = [
      typeNameColumn,
      anyAttributeColumn,
      ...node.attributes.filter(({ isType }) => isType).map(({ column }) => column),
    ].filter((column) => column >= 0);
    const attributes = [
      ...(nilColumn < 0 ? [] : [{ tag: this.#plan.nilAttribute, column: nilColumn }]),
      ...node.attributes.filter(({ isType }) => !isType),
    ];
    const folded = node.folded.map((child) => this.#folded(child));
    const memory = this.#memory;
    return memory.putInts([
      cellOf(textColumn),
      node.isFree ? 1 : 0,
      ...this.#list(empty.map((column) => [cellOf(column)])),
      ...this.#list(attributes.map((attribute) => this.#attribute(attribute))),
      ...this.#list(node.groups.map((group) => this.#group(group))),
      ...this.#list(node.contents.map(contentOf)),
      // ends with none
      memory.putInts([...folded, 0]),
      folded.length,
    ]);
  }

  /** Writes the records into one array. Returns its address and the number of records. */
  #list(records: readonly (readonly number[])[]): [at: number, count: number] {
    return [this.#memory.putInts(records.flat()), records.length];
  }

  #attribute({ tag, column }: { readonly tag: Uint8Array; readonly column: number }): number[] {
    const [before, behind] = [utf8Of(' '), utf8Of('="')];
    const name = new Uint8Array(tag.length + 3);
    name.set(before);
    name.set(tag, 1);
    name.set(behind, 1 + tag.length);
    return [cellOf(column), this.#memory.put(name), name.length];
  }

  #group({ table, positionColumn, keyColumn, uses }: RowGroup): number[] {
    return [
      table,
      cellOf(positionColumn),
      cellOf(keyColumn),
      ...this.#list(uses.map((use) => this.#use(use))),
    ];
  }

  #use(use: RowUse): number[] {
    const children = use.children.map(({ tag, label, node, ownParentKeyColumn }) => [
      this.nameAt(tag),
      tag.length,
      this.nameAt(label),
      label.length,
      // the values are in another row
      ownParentKeyColumn < 0 ? node : -1,
    ]);
    return [
      cellOf(use.parentKeyColumn),
      cellOf(use.childKeyColumn),
      cellOf(use.elementNameColumn),
      use.byRole ? 1 : 0,
      ...this.#list(use.otherParents.map((column) => [cellOf(column)])),
      ...this.#list(children),
    ];
  }

  #folded(child: FoldedChild): number {
    const evidence = this.#plan.evidence(child.node);
    return this.#memory.putInts([
      this.nameAt(child.tag),
      child.tag.length,
      this.nameAt(child.labelBytes),
      child.labelBytes.length,
      child.node,
      cellOf(child.positionColumn),
      cellOf(child.presenceColumn),
      cellOf(child.elementNameColumn),
      ...this.#list(evidence.columns.map((column) => [cellOf(column)])),
      ...this.#list(evidence.rows.map((rows) => this.#evidentRows(rows))),
    ]);
  }

  #evidentRows({ table, parentKeyColumn, role }: Evidence['rows'][number]): number[] {
    return [
      table,
      cellOf(parentKeyColumn),
      cellOf(role?.column ?? -1),
      role === null ? 0 : this.nameAt(role.label),
      role?.label.length ?? 0,
    ];
  }
}

function contentOf({
  table,
  kind,
  parentKeyColumn,
  positionColumn,
  contentColumn,
}: WritingNode['contents'][number]): number[] {
  return [
    table,
    kind === 'wildcard' ? 1 : 0,
    cellOf(parentKeyColumn),
    cellOf(positionColumn),
    cellOf(contentColumn),
  ];
}

/** Returns a column's offset in bytes within a row's cells, or -1 if there is no column. */
function cellOf(column: number): number {
  return column < 0 ? -1 : column * 8;
}

// The growing memory of the kernel for elements. Allocations are never freed.

class ElementsMemory {
  readonly memory = new WebAssembly.Memory({ initial: 8 });
  #free = layout.HEAP_AT;
  #bytes!: Uint8Array<ArrayBuffer>;
  #ints!: Int32Array<ArrayBuffer>;

  constructor() {
    this.#look();
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes;
  }

  /** int32 by their address / 4 */
  get ints(): Int32Array<ArrayBuffer> {
    return this.#ints;
  }

  /** bytes that are allocated */
  get used(): number {
    return this.#free;
  }

  set(address: number, field: number, value: number): void {
    this.#ints[address / 4 + field] = value;
  }

  get(address: number, field: number): number {
    return this.#ints[address / 4 + field]!;
  }

  setDouble(address: number, value: number): void {
    new DataView(this.#bytes.buffer).setFloat64(address, value, true);
  }

  /** Allocates zeroed memory, including the bytes that vectors read and write beyond it. */
  allocate(bytes: number): number {
    const at = this.#free;
    this.#free = Math.ceil((at + bytes + layout.MARGIN_BYTES) / 16) * 16;
    const pages = Math.ceil((this.#free - this.memory.buffer.byteLength) / layout.PAGE_BYTES);
    if (pages > 0) {
      // a quarter more, so that it does not move often
      this.memory.grow(Math.max(pages, Math.ceil(this.memory.buffer.byteLength / layout.PAGE_BYTES / 4)));
      this.#look();
    }
    return at;
  }

  /** Copies the bytes into the memory. Returns their address. */
  put(bytes: Uint8Array): number {
    const at = this.allocate(bytes.length);
    this.#bytes.set(bytes, at);
    return at;
  }

  putInts(values: readonly number[]): number {
    const at = this.allocate(values.length * 4);
    this.#ints.set(values, at / 4);
    return at;
  }

  /** The memory moves when it grows. */
  #look(): void {
    this.#bytes = new Uint8Array(this.memory.buffer);
    this.#ints = new Int32Array(this.memory.buffer);
  }
}
