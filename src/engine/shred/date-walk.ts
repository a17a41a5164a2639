/**
 * Reads documents only for the values of some date columns. It makes no rows, so that reading the beginning of documents is cheap. It
 * finds the same values that a shredder writes into these columns. Memory: the open elements, and the folded children that their rows
 * have had.
 */
import { factsOf } from '../model/facts.ts';
import { xsiNamespace } from '../model/name-labels.ts';
import { peekMember } from '../model/packed/reader.ts';
import type { PlanEdge, PlanNode, RelationalModel } from '../model/relational-model.ts';
import { isSameName } from '../model/source-model.ts';
import { rowColumns, rowTables } from '../model/wide-rows.ts';
import { itemByName } from '../xml/names/interned.ts';
import {
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type NameTable,
  type TokenBatch,
} from '../xml/tokens.ts';
import { utf8Text } from '../xml/utf8.ts';
import { ByteBuffer } from './byte-buffer.ts';
import { csvEncoder } from './row-output.ts';
import { conversionFor, UNCONVERTED, type ValueConversion } from './conversion.ts';
import { NamespaceScope } from './namespace-scope.ts';
import { rangeText, sourceOf } from './xml-capture.ts';

/** A column, by indexes of the model. */
export type ColumnPlace = readonly [table: number, column: number];

interface DateColumn {
  readonly place: ColumnPlace;
  /** conversion of a truth-value column, which never accepts a date */
  readonly asFlag: ValueConversion;
}

/** A row that would be open. */
interface Row {
  readonly table: number;
  /** marks of folded children it has had, and columns with keys of rows below: -1 for the first, and so on */
  had: Set<number> | null;
}

const noDates: readonly undefined[] = [];

export class DateWalk {
  /** the root of the document is none of the model's: nothing of it is looked at */
  isOther = false;
  readonly #model: RelationalModel;
  readonly #names: NameTable;
  readonly #onDate: (place: ColumnPlace, text: string) => void;
  readonly #marks: readonly number[];
  readonly #asked: ReadonlyMap<number, readonly ColumnPlace[]>;
  readonly #root: (nameId: number) => PlanEdge | null;
  readonly #edges: (((nameId: number) => PlanEdge | null) | undefined)[] = [];
  readonly #attributes: (((nameId: number) => { column: number } | null) | undefined)[] = [];
  /** indexed by the row's table, then by column */
  readonly #dates: (readonly (DateColumn | undefined)[] | undefined)[] = [];
  readonly #scope = new NamespaceScope();
  readonly #xsiType: number;
  // arrays of the open elements, indexed by depth from 0
  readonly #nodes: number[] = [];
  readonly #rows: Row[] = [];
  readonly #scopes: number[] = [];
  readonly #texts: (DateColumn | undefined)[] = [];
  #depth = 0;
  /** open elements that have no place in the plan, within one another */
  #passed = 0;
  readonly #text = new ByteBuffer(64);
  readonly #unused = new ByteBuffer(64);

  /** Calls `onDate` with each value of a column of `places`, in document order. */
  constructor(
    model: RelationalModel,
    names: NameTable,
    places: readonly ColumnPlace[],
    onDate: (place: ColumnPlace, text: string) => void,
  ) {
    this.#model = model;
    this.#names = names;
    this.#onDate = onDate;
    this.#marks = factsOf(model).marks;
    this.#asked = Map.groupBy(places, ([table]) => table);
    this.#root = itemByName(names, model.roots);
    this.#xsiType = names.intern(xsiNamespace, 'type');
  }

  /** `inherited`: namespaces declared around a document that is a part of a larger one. */
  beginDocument(inherited?: ReadonlyMap<string, string>): void {
    this.isOther = false;
    this.#depth = 0;
    this.#passed = 0;
    this.#text.clear();
    this.#scope.leave(0);
    for (const [prefix, uri] of inherited ?? []) this.#scope.declare(prefix, uri);
  }

  /** `first`: index of the first record that has not been handled. */
  consume(batch: TokenBatch, first = 0): void {
    const { events, count } = batch;
    for (let at = first; at < count; at += 1) {
      const kind = events[at * RECORD_INTS]! & KIND_MASK;
      if (kind === KIND_START) at = this.#start(batch, at);
      else if (kind === KIND_END) this.#end();
      else if (kind === KIND_TEXT && this.#passed === 0 && this.#texts[this.#depth - 1] !== undefined)
        this.#text.push(sourceOf(batch, at), events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
    }
  }

  /** Handles a START with its declarations and attributes. Returns the index of its last record. */
  #start(batch: TokenBatch, at: number): number {
    const { events, count } = batch;
    const kindAt = (record: number): number =>
      record < count ? events[record * RECORD_INTS]! & KIND_MASK : KIND_END;
    let attributes = at + 1;
    while (kindAt(attributes) === KIND_NAMESPACE) attributes += 1;
    let behind = attributes;
    while (kindAt(behind) === KIND_ATTRIBUTE) behind += 1;
    const nameId = events[at * RECORD_INTS + 1]!;
    const row = this.#passed > 0 ? null : this.#open(nameId);
    if (row === null) {
      this.#passed += 1;
      return behind - 1;
    }
    const frame = this.#depth - 1;
    this.#scopes[frame] = this.#scope.size;
    for (let i = at + 1; i < attributes; i += 1)
      this.#scope.declare(this.#names.localName(events[i * RECORD_INTS + 1]!), rangeText(batch, i));
    for (let i = attributes; i < behind; i += 1)
      if (events[i * RECORD_INTS + 1] === this.#xsiType) this.#setType(frame, rangeText(batch, i));
    const node = this.#nodes[frame]!;
    const { table } = this.#rows[frame]!;
    const dates = this.#datesOf(table);
    this.#texts[frame] = dates[this.#model.nodes[node]!.textColumn];
    if (dates.length > 0)
      for (let i = attributes; i < behind; i += 1) {
        const column = this.#attributeColumn(node, events[i * RECORD_INTS + 1]!);
        const [start, end] = [events[i * RECORD_INTS + 2]!, events[i * RECORD_INTS + 3]!];
        this.#tell(dates[column], sourceOf(batch, i), start, end);
      }
    this.#text.length = 0;
    return behind - 1;
  }

  /** The row of an element that the plan has a place for, which is open now; null: there is none. */
  #open(nameId: number): Row | null {
    const frame = this.#depth;
    const parent = this.#nodes[frame - 1];
    const above = this.#rows[frame - 1];
    const edge =
      parent === undefined || frame === 0
        ? this.#root(nameId)
        : (this.#edges[parent] ??= itemByName(this.#names, this.#model.nodes[parent]!.edges))(nameId);
    if (edge === null) {
      if (frame === 0) this.isOther = true;
      return null;
    }
    const node = this.#model.nodes[edge.node]!;
    if (frame > 0 && !hasRoom(above!, node, edge, this.#marks[edge.node]!)) return null;
    const row = frame === 0 || node.opensRow ? { table: node.table, had: null } : above!;
    this.#nodes[frame] = edge.node;
    this.#rows[frame] = row;
    this.#depth += 1;
    return row;
  }

  /** Gives the element the type that xsi:type names. If xsi:type is a column, it changes nothing. */
  #setType(frame: number, written: string): void {
    const node = this.#nodes[frame]!;
    if (this.#attributeColumn(node, this.#xsiType) >= 0) return;
    const name = this.#scope.resolve(written.replaceAll(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''));
    const edges = this.#model.nodes[node]!.typeEdges;
    const edge = name === null ? undefined : edges.find((one) => isSameName(one.name, name));
    if (edge === undefined) return;
    this.#nodes[frame] = edge.node;
    if (edge.parentKeyColumn >= 0)
      this.#rows[frame] = { table: this.#model.nodes[edge.node]!.table, had: null };
  }

  #end(): void {
    if (this.#passed > 0) {
      this.#passed -= 1;
      return;
    }
    const frame = this.#depth - 1;
    const { bytes, length } = this.#text;
    this.#tell(this.#texts[frame], bytes, 0, length);
    this.#text.clear();
    this.#scope.leave(this.#scopes[frame]!);
    this.#depth = frame;
  }

  #tell(date: DateColumn | undefined, source: Uint8Array, start: number, end: number): void {
    if (date === undefined) return;
    this.#unused.length = 0;
    if (date.asFlag(source, start, end, this.#unused) === UNCONVERTED)
      this.#onDate(date.place, utf8Text(source.subarray(start, end)));
  }

  #attributeColumn(node: number, nameId: number): number {
    const known = (this.#attributes[node] ??= itemByName(this.#names, this.#model.nodes[node]!.attributes));
    return known(nameId)?.column ?? -1;
  }

  #datesOf(table: number): readonly (DateColumn | undefined)[] {
    return (this.#dates[table] ??= this.#findDates(table));
  }

  #findDates(table: number): readonly (DateColumn | undefined)[] {
    const model = this.#model;
    if (!rowTables(model, table).some((part) => this.#asked.has(part))) return noDates;
    return rowColumns(model, table, (part) => peekMember(part, 'columns')).map((one) => {
      const place = this.#asked.get(one.table)?.find(([, column]) => column === one.at);
      if (place === undefined) return undefined;
      const { column } = one;
      const flag = { ...column, type: { ...column.type, kind: 'boolean' as const } };
      return { place, asFlag: conversionFor(flag, csvEncoder) };
    });
  }
}

/** True if the parent row has room for the child. Reserves the room. */
function hasRoom(row: Row, node: PlanNode, { head, childKeyColumn }: PlanEdge, mark: number): boolean {
  if (childKeyColumn === undefined && node.opensRow) return true;
  const had = (row.had ??= new Set());
  const key = childKeyColumn === undefined ? mark : -1 - childKeyColumn;
  if (had.has(key)) return false;
  // a member of a substitution group gets its key from its head's row
  if (childKeyColumn === undefined || (node.opensRow && head === undefined)) had.add(key);
  return true;
}
