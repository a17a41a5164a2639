/**
 * The part of a plan that the kernel knows: the elements and attributes that documents have used so far, with their nodes, tables and
 * columns.
 */
import * as layout from './layout.ts';
import type { PlanEdge, PlanNode, Column, ColumnRole } from '../../model/relational-model.ts';
import { ByteBuffer } from '../byte-buffer.ts';
import { jsonRoom, isNumber, memberPrefix } from '../json-line-members.ts';
import type { CompiledPlan, CompiledTable } from '../compiled-plan.ts';
import { isJsonEncoding, type EncodingName, type RowEncoder } from '../row-output.ts';
import type { KernelMemory } from './layout.ts';
import { holdsNames } from '../../model/source-model.ts';
import { isCollapsed } from '../../model/white-space.ts';

/** Elements and attributes that can be learned: three quarters of it. */
const EDGE_COUNT = 16 * 1024;
/** Columns of the tables that rows are written to, and those of them that must have a value. */
const COLUMN_COUNT = 64 * 1024;
/** Heads of substitution groups that can be learned, by the edges that lead to them. */
const HEAD_COUNT = 4 * 1024;
const LABEL_BYTES = 256 * 1024;
const CONSTANT_BYTES = 32 * 1024;
/** Digits of a document's key: a number below 2^63. */
const KEY_BYTES = 20;
/** Used as a size: the TypeScript code writes the rows of the table. */
const NEVER = 0x20000000;

/** Start and length of a constant value. */
type ByteRange = readonly [at: number, length: number];

const noBytes: ByteRange = [0, 0];

const utf8 = new TextEncoder();

export class LearnedPlan {
  readonly #plan: CompiledPlan;
  readonly #encoder: RowEncoder;
  /** null: rows are not lines of JSON */
  readonly #members: LearnedMembers | null;
  readonly #nodes: Int32Array;
  readonly #knownNodes: Uint8Array;
  readonly #tables: Int32Array;
  readonly #knownTables: Uint8Array;
  readonly #learnedTables: CompiledTable[] = [];
  /** documents have used more tables than there is room for, so the kernel cannot tell what belongs to the other tables */
  #isFull = false;
  readonly #columns: Int32Array;
  #columnsUsed = 0;
  /** the indexes of those columns that have the document's key in every row */
  readonly #documentColumns: Int32Array;
  readonly #control: Int32Array;
  readonly #required: Int32Array;
  #requiredUsed = 0;
  readonly #edges: Int32Array;
  #edgesUsed = 0;
  readonly #heads: Int32Array;
  /** numbers of heads, by node and column of the parent's key */
  readonly #headNumbers = new Map<string, number>();
  readonly #labels: Uint8Array;
  #labelsUsed = 0;
  readonly #labelRanges = new Map<string, ByteRange>();
  /** NULL, then the document's key, then the values of the extra columns */
  readonly #constants: Uint8Array;
  readonly #nullLength: number;
  /** offset of the document's key in the constants */
  readonly #documentAt: number;
  #extra: readonly (string | null)[] = [];
  #extraRanges: readonly ByteRange[] = [];

  /** Returns the most bytes that a plan needs. */
  static bytesFor(plan: CompiledPlan, encoding: EncodingName): number {
    const ints =
      plan.nodes.length * layout.NODE_INTS +
      plan.tables.length * layout.TABLE_INTS +
      COLUMN_COUNT * (layout.COLUMN_INTS + 2) +
      EDGE_COUNT * layout.EDGE_INTS +
      HEAD_COUNT * layout.HEAD_INTS;
    const members = isJsonEncoding(encoding) ? LearnedMembers.bytesFor(COLUMN_COUNT) : 0;
    return ints * 4 + LABEL_BYTES + CONSTANT_BYTES + members + 16 * layout.MARGIN_BYTES;
  }

  constructor(
    plan: CompiledPlan,
    { encoder, encoding }: { readonly encoder: RowEncoder; readonly encoding: EncodingName },
    memory: KernelMemory,
  ) {
    this.#plan = plan;
    this.#encoder = encoder;
    this.#nodes = memory.ints(plan.nodes.length * layout.NODE_INTS);
    this.#knownNodes = new Uint8Array(plan.nodes.length);
    this.#tables = memory.ints(plan.tables.length * layout.TABLE_INTS);
    this.#knownTables = new Uint8Array(plan.tables.length);
    this.#columns = memory.ints(COLUMN_COUNT * layout.COLUMN_INTS);
    this.#required = memory.ints(COLUMN_COUNT);
    this.#documentColumns = memory.ints(COLUMN_COUNT);
    this.#edges = memory.ints(EDGE_COUNT * layout.EDGE_INTS);
    for (let at = 0; at < this.#edges.length; at += layout.EDGE_INTS) {
      this.#edges[at + layout.EDGE_NAME] = -1;
      this.#edges[at + layout.EDGE_NEXT] = this.#edges.byteOffset;
    }
    this.#heads = memory.ints(HEAD_COUNT * layout.HEAD_INTS);
    this.#labels = memory.bytes(LABEL_BYTES);
    this.#constants = memory.bytes(CONSTANT_BYTES);
    this.#members = isJsonEncoding(encoding) ? new LearnedMembers(COLUMN_COUNT, memory) : null;
    const none = this.#encoded(null);
    this.#constants.set(none);
    this.#nullLength = none.length;
    this.#documentAt = none.length + layout.MARGIN_BYTES;
    const { control } = memory;
    this.#control = control;
    control[layout.NODES] = this.#nodes.byteOffset;
    control[layout.TABLES] = this.#tables.byteOffset;
    control[layout.COLUMNS] = this.#columns.byteOffset;
    control[layout.REQUIRED] = this.#required.byteOffset;
    control[layout.EDGES] = this.#edges.byteOffset;
    control[layout.EDGE_MASK] = EDGE_COUNT - 1;
    control[layout.HEADS] = this.#heads.byteOffset;
    control[layout.DOCUMENT_KEY] = this.#constants.byteOffset + this.#documentAt;
    control[layout.DOCUMENT_COLUMNS] = this.#documentColumns.byteOffset;
  }

  get isFull(): boolean {
    return this.#isFull;
  }

  /** Key of the document, in digits, that rows are of from now on. */
  setDocument(key: string): void {
    for (let at = 0; at < key.length; at += 1) this.#constants[this.#documentAt + at] = key.charCodeAt(at);
    if (key.length === this.#control[layout.DOCUMENT_KEY_LENGTH]) return;
    this.#control[layout.DOCUMENT_KEY_LENGTH] = key.length;
    const count = this.#control[layout.DOCUMENT_COLUMN_COUNT]!;
    for (let at = 0; at < count; at += 1)
      this.#columns[this.#documentColumns[at]! * layout.COLUMN_INTS + layout.COLUMN_DEFAULT_LENGTH] =
        key.length;
  }

  /** Values of the columns of role extra, in their order, from now on. */
  setExtra(extra: readonly (string | null)[]): void {
    if (extra.length === this.#extra.length && extra.every((value, index) => value === this.#extra[index]))
      return;
    this.#extra = extra;
    let used = this.#documentAt + KEY_BYTES + layout.MARGIN_BYTES;
    this.#extraRanges = extra.map((value): ByteRange => {
      const bytes = this.#encoded(value);
      if (used + bytes.length > CONSTANT_BYTES) return [0, NEVER];
      this.#constants.set(bytes, used);
      used += bytes.length;
      return [this.#constants.byteOffset + used - bytes.length, bytes.length];
    });
    for (const table of this.#learnedTables) this.#setConstants(table);
  }

  learnNode(index: number): void {
    if (this.#knownNodes[index] === 1) return;
    this.#knownNodes[index] = 1;
    const { plan, table, seenSlot, takesText, showsNothing, space } = this.#plan.nodes[index]!;
    this.#nodes.set(
      [
        table.index,
        (plan.opensRow ? layout.OPENS_ROW : 0) |
          (takesText ? layout.TAKES_TEXT : 0) |
          (showsNothing ? layout.SHOWS_NOTHING : 0) |
          (space >= 0 ? layout.SETS_SPACE : 0) |
          (isLeaf(plan) ? layout.LEAF : 0),
        seenSlot,
        plan.textColumn,
        plan.textTable,
        plan.presenceColumn,
        plan.foldedPositionColumn,
        plan.elementNameColumn,
      ],
      index * layout.NODE_INTS,
    );
    this.learnTable(table.index);
    if (plan.textTable >= 0) this.learnTable(plan.textTable);
  }

  learnTable(index: number): void {
    if (this.#knownTables[index] === 1) return;
    this.#knownTables[index] = 1;
    const table = this.#plan.tables[index]!;
    if (this.#columnsUsed + table.columns.length > COLUMN_COUNT) {
      this.#isFull = true;
      return;
    }
    if (this.#members?.learn(index, this.#columnsUsed, table.columns) === false) {
      this.#isFull = true;
      return;
    }
    this.#learnedTables.push(table);
    this.#tables.set(
      [
        table.columns.length,
        this.#columnsUsed,
        isWide(table) ? NEVER : table.slotCount,
        table.rowKeyColumn,
        table.positionColumn,
        table.parentKeyColumn,
        table.contentColumn,
        this.#requiredUsed,
        table.required.length,
        0,
      ],
      index * layout.TABLE_INTS,
    );
    for (const [index, column] of table.columns.entries()) {
      const { conversion, first, second, flags, plainScale } = columnForm(
        column,
        this.#plan.scalesDecimals,
        table.keepsOffset[index] === 1,
      );
      const at = this.#columnsUsed * layout.COLUMN_INTS;
      this.#columns.set([conversion, first, second, flags, 0, 0, 0, plainScale], at);
      if (column.role === 'document')
        this.#documentColumns[this.#control[layout.DOCUMENT_COLUMN_COUNT]!++] = this.#columnsUsed;
      this.#columnsUsed += 1;
    }
    this.#required.set(table.required, this.#requiredUsed);
    this.#requiredUsed += table.required.length;
    this.#setConstants(table);
  }

  /** `parent`: ROOT_NODE for a root element; `label`: value of the column that names the element, in its own row or its head's. */
  learnElement(parent: number, nameId: number, edge: PlanEdge, label: string | null): void {
    const range = label === null ? noBytes : this.#rangeOfLabel(label);
    if (range === null) return;
    const { node, parentKeyColumn, head, childKeyColumn = -1 } = edge;
    const number = head === undefined ? 0 : this.#numberOfHead(parent, edge, head);
    if (number < 0) return;
    this.learnNode(node);
    const childKey = head === undefined ? childKeyColumn : layout.FIRST_HEAD - number;
    this.#learnEdge([parent, nameId, node, parentKeyColumn, ...range], childKey);
  }

  /**
   * Returns the number of the head of a substitution group's member, if the head has a row of its own. Returns -1 if the TypeScript code
   * must write the two rows.
   */
  #numberOfHead(
    parent: number,
    edge: PlanEdge,
    { node, parentKeyColumn }: NonNullable<PlanEdge['head']>,
  ): number {
    const identity = `${node}/${parentKeyColumn}`;
    const known = this.#headNumbers.get(identity);
    const number = known ?? this.#headNumbers.size;
    const head = this.#plan.nodes[node]!;
    const member = this.#plan.nodes[edge.node]!;
    const isUsual =
      parent !== layout.ROOT_NODE &&
      edge.childKeyColumn === undefined &&
      edge.parentKeyColumn >= 0 &&
      member.plan.opensRow &&
      head.plan.elementNameColumn >= 0 &&
      head.table !== member.table;
    if (!isUsual || number >= HEAD_COUNT) return -1;
    if (known === undefined) {
      this.#headNumbers.set(identity, number);
      this.#heads.set([node, parentKeyColumn], number * layout.HEAD_INTS);
      this.learnNode(node);
    }
    return number;
  }

  learnAttribute(node: number, nameId: number, column: number): void {
    this.#learnEdge([node + layout.ATTRIBUTE_OF, nameId, column, -1, ...noBytes], -1);
  }

  /** Returns the NOT NULL columns that the kernel has left empty for the first time. */
  takeNullAllowed(): (readonly [table: number, column: number])[] {
    const nullAllowed: (readonly [number, number])[] = [];
    for (const table of this.#learnedTables) {
      const first = this.#tables[table.index * layout.TABLE_INTS + layout.TABLE_FIRST_COLUMN]!;
      for (const column of table.required) {
        const at = (first + column) * layout.COLUMN_INTS + layout.COLUMN_RELAXED;
        if (this.#columns[at] !== 1) continue;
        this.#columns[at] = 2;
        nullAllowed.push([table.index, column]);
      }
    }
    return nullAllowed;
  }

  /** Sets the constants of columns without a value, and the length of a row that has no other values. */
  #setConstants(table: CompiledTable): void {
    const at = table.index * layout.TABLE_INTS;
    const first = this.#tables[at + layout.TABLE_FIRST_COLUMN]!;
    let bytes = isWide(table) ? NEVER : (this.#members?.rowBytes(table.index) ?? table.columns.length);
    let extraAt = 0;
    const { byteOffset } = this.#constants;
    for (const [index, { role }] of table.columns.entries()) {
      let range: ByteRange = [byteOffset, this.#nullLength];
      if (role === 'extra') range = this.#extraRanges[extraAt++] ?? range;
      else if (role === 'document') range = [byteOffset + this.#documentAt, KEY_BYTES];
      const [start, length] = range;
      bytes = Math.min(NEVER, bytes + (this.#members === null ? length : this.#jsonBytes(range)));
      const column = (first + index) * layout.COLUMN_INTS;
      this.#columns.set([start, length], column + layout.COLUMN_DEFAULT);
      // the key has room for its longest form
      if (start === byteOffset + this.#documentAt)
        this.#columns[column + layout.COLUMN_DEFAULT_LENGTH] = this.#control[layout.DOCUMENT_KEY_LENGTH]!;
    }
    this.#tables[at + layout.TABLE_BASE_BYTES] = bytes;
  }

  #jsonBytes([at, length]: ByteRange): number {
    if (length === NEVER) return NEVER;
    const start = at - this.#constants.byteOffset;
    return jsonRoom(this.#constants, start, start + length);
  }

  #learnEdge(edge: readonly [node: number, nameId: number, ...rest: number[]], childKey: number): void {
    const edges = this.#edges;
    const [node, nameId] = edge;
    let slot = (Math.imul(node, 0x9e3779b1) + Math.imul(nameId, 0x85ebca6b)) & 0x7fffffff;
    slot = (slot ^ (slot >>> 15)) & (EDGE_COUNT - 1);
    for (;;) {
      const at = slot * layout.EDGE_INTS;
      const name = edges[at + layout.EDGE_NAME]!;
      if (name === nameId && edges[at + layout.EDGE_NODE] === node) return;
      if (name < 0) break;
      slot = (slot + 1) & (EDGE_COUNT - 1);
    }
    if (this.#edgesUsed * 4 >= EDGE_COUNT * 3) return;
    this.#edgesUsed += 1;
    edges.set(edge, slot * layout.EDGE_INTS);
    edges[slot * layout.EDGE_INTS + layout.EDGE_CHILD_KEY] = childKey;
  }

  #rangeOfLabel(label: string): ByteRange | null {
    const known = this.#labelRanges.get(label);
    if (known !== undefined) return known;
    const bytes = this.#encoded(label);
    if (this.#labelsUsed + bytes.length > LABEL_BYTES) return null;
    const range: ByteRange = [this.#labels.byteOffset + this.#labelsUsed, bytes.length];
    this.#labels.set(bytes, this.#labelsUsed);
    this.#labelsUsed += bytes.length;
    this.#labelRanges.set(label, range);
    return range;
  }

  #encoded(value: string | null): Uint8Array {
    const out = new ByteBuffer(64);
    if (value === null) this.#encoder.pushNull(out);
    else {
      const bytes = utf8.encode(value);
      this.#encoder.pushText(out, bytes, 0, bytes.length);
    }
    return out.bytes.subarray(0, out.length);
  }
}

/** Folded, and its text is all that it has a column for. */
function isLeaf(node: PlanNode): boolean {
  return (
    !node.opensRow &&
    node.textColumn >= 0 &&
    node.presenceColumn < 0 &&
    node.foldedPositionColumn < 0 &&
    node.elementNameColumn < 0
  );
}

/** True if rows are written to several tables. The kernel does not write such rows. */
function isWide(table: CompiledTable): boolean {
  return table.parts.length > 1;
}

// Selects the conversion of src/engine/shred/kernel/shred.as for a column, and its parameters. The kernel has the common conversions of
// src/engine/shred/conversion.ts.

/** Digits and exponent that a value can have together without coming near the bounds of the type. */
const realDigits = 36;
const doubleDigits = 290;

interface ColumnForm {
  readonly conversion: number;
  /** text: most characters, -1 for any number; integers: digits of the highest; decimal: precision, -1 without; floats: see above */
  readonly first: number;
  /** text: fewest characters; decimal: scale */
  readonly second: number;
  readonly flags: number;
  /** digits after the point in the printed form; -1: any number; SHORTEST_SCALE less n: as many as the value needs, at least n */
  readonly plainScale: number;
}

const integerKinds: ReadonlySet<Column['type']['kind']> = new Set(['smallint', 'integer', 'bigint']);
const integerDigits = { smallint: 5, integer: 10, bigint: 19 } as const;

/** `scalesDecimals`: see the settings of a walk; `keepsOffset`: the offset of a value is written to the next column */
function columnForm(column: Column, scalesDecimals: boolean, keepsOffset: boolean): ColumnForm {
  const { type, sourceType, keepsForm } = column;
  const form = (conversion: number, first = 0, second = 0): ColumnForm => ({
    conversion,
    first,
    second,
    flags: (isCollapsed(column) ? layout.COLLAPSES : 0) | (keepsForm === true ? layout.KEEPS_FORM : 0),
    plainScale: plainScaleOf(column, scalesDecimals),
  });
  if (holdsNames(sourceType) || hasRareForm(column)) return form(layout.CONVERT_OTHERS);
  if (type.list === true) return listForm(column);
  switch (type.kind) {
    case 'text':
      return form(layout.CONVERT_TEXT, type.length ?? -1, type.fixed === true ? type.length : 0);
    case 'boolean':
      return form(layout.CONVERT_BOOLEAN);
    case 'smallint':
    case 'integer':
    case 'bigint':
      return form(layout.CONVERT_INTEGER, integerDigits[type.kind]);
    case 'numeric':
      return form(layout.CONVERT_DECIMAL, type.precision ?? -1, type.scale ?? 0);
    case 'real':
      return form(layout.CONVERT_FLOAT, realDigits);
    case 'double':
      return form(layout.CONVERT_FLOAT, doubleDigits);
    case 'date':
      return form(layout.CONVERT_DATE);
    case 'time':
      return form(layout.CONVERT_TIME);
    case 'timestamp':
      return form(layout.CONVERT_TIMESTAMP);
    case 'timestamptz':
      return form(keepsOffset ? layout.CONVERT_TIMESTAMP_OFFSET : layout.CONVERT_TIMESTAMP_UTC);
  }
}

/** Returns the form of a list column. Its items may have any form that fits. */
function listForm({ type }: Column): ColumnForm {
  const [conversion, first, second] = itemForm(type);
  const isOther = conversion === layout.CONVERT_OTHERS;
  return {
    conversion: isOther ? conversion : layout.CONVERT_LIST + conversion,
    first,
    second,
    flags: 0,
    plainScale: -1,
  };
}

function itemForm(type: Column['type']): readonly [conversion: number, first: number, second: number] {
  switch (type.kind) {
    case 'text':
      return [layout.CONVERT_TEXT, type.length ?? -1, 0];
    case 'smallint':
    case 'integer':
    case 'bigint':
      return [layout.CONVERT_INTEGER, integerDigits[type.kind], 0];
    case 'numeric':
      return [layout.CONVERT_DECIMAL, type.precision ?? -1, type.scale ?? 0];
    case 'real':
      return [layout.CONVERT_FLOAT, realDigits, 0];
    case 'double':
      return [layout.CONVERT_FLOAT, doubleDigits, 0];
    default:
      return [layout.CONVERT_OTHERS, 0, 0];
  }
}

/** True if values are compared with forms that the kernel does not know. */
function hasRareForm({ type, keepsForm, writtenAs }: Column): boolean {
  if (keepsForm !== true || writtenAs === undefined) return false;
  return (
    type.list === true || type.kind === 'double' || writtenAs.digits === true || writtenAs.whole !== undefined
  );
}

function plainScaleOf({ type, keepsForm, writtenAs }: Column, scalesDecimals: boolean): number {
  if (writtenAs !== undefined && !integerKinds.has(type.kind))
    return layout.SHORTEST_SCALE - (writtenAs.fraction ?? 0);
  if (type.precision !== undefined) return type.scale ?? 0;
  return scalesDecimals && keepsForm === true ? layout.SHORTEST_SCALE : -1;
}

// The members of JSON Lines that the kernel knows. For each learned column: the bytes before its values, and the values' form.

/** Names of all columns with the bytes around them. */
const PREFIX_BYTES = 4 * 1024 * 1024;
/** The most bytes that a value needs beyond its own: quotes, or a zero before a point. */
const AROUND_BYTES = 3;
/** Keys and places, which are counted here. */
const counted: ReadonlySet<ColumnRole> = new Set([
  'row_key',
  'parent_key',
  'child_key',
  'position',
  'folded_position',
  'document',
]);
/** the end of a line */
const END_BYTES = 2;

class LearnedMembers {
  readonly #members: Int32Array;
  readonly #prefixes: Uint8Array;
  #prefixesUsed = 0;
  /** indexed by table */
  readonly #rowBytes: number[] = [];

  /** Returns the most bytes that this number of columns needs. */
  static bytesFor(columnCount: number): number {
    return columnCount * layout.MEMBER_INTS * 4 + PREFIX_BYTES + 2 * layout.MARGIN_BYTES;
  }

  constructor(columnCount: number, memory: KernelMemory) {
    this.#members = memory.ints(columnCount * layout.MEMBER_INTS);
    this.#prefixes = memory.bytes(PREFIX_BYTES);
    memory.control[layout.MEMBERS] = this.#members.byteOffset;
  }

  /** The columns of a row of `table`, `first` being the number of the first among all; false: there is no room for them. */
  learn(table: number, first: number, columns: readonly Column[]): boolean {
    let used = this.#prefixesUsed;
    for (const [at, column] of columns.entries()) {
      const prefix = memberPrefix(column.name, at === 0);
      if (used + prefix.length > this.#prefixes.length) return false;
      this.#prefixes.set(prefix, used);
      const member = (first + at) * layout.MEMBER_INTS;
      this.#members[member] = this.#prefixes.byteOffset + used;
      this.#members[member + 1] = prefix.length;
      this.#members[member + 2] = memberForm(column);
      used += prefix.length;
    }
    this.#rowBytes[table] = used - this.#prefixesUsed + columns.length * AROUND_BYTES + END_BYTES;
    this.#prefixesUsed = used;
    return true;
  }

  /** Returns the bytes of a row of the table without its values. */
  rowBytes(table: number): number {
    return this.#rowBytes[table]!;
  }
}

function memberForm({ role, type }: Column): number {
  if (type.list === true) return layout.MEMBER_LIST + formOf(type.kind);
  return counted.has(role) && isNumber(type.kind) ? layout.MEMBER_DIGITS : formOf(type.kind);
}

function formOf(kind: Column['type']['kind']): number {
  if (kind === 'boolean') return layout.MEMBER_BOOLEAN;
  return isNumber(kind) ? layout.MEMBER_NUMBER : layout.MEMBER_TEXT;
}
