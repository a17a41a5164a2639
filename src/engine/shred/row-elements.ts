/**
 * One document after another out of a larger one (`--row-tag`): every outermost element of a name is a document of its own, the
 * elements around them are only read past. Memory: the namespaces declared around.
 */
import {
  FLAG_WHITE_SPACE,
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
} from '../xml/tokens.ts';
import { NamespaceScope } from './namespace-scope.ts';
import { rangeText } from './xml-capture.ts';

export interface RowElementName {
  /** null: of any namespace */
  readonly namespaceUri: string | null;
  readonly localName: string;
}

export interface RowElementReader {
  /** `inherited`: namespaces declared around the element, by prefix, '' for the default one */
  begin(inherited: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  /** `bytes`: of the element, in UTF-8 */
  end(bytes: number): void;
}

export interface RowElements {
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  /** attributes and text that lie outside of every row element */
  readonly outside: number;
}

export function createRowElements(
  name: RowElementName,
  names: NameTable,
  reader: RowElementReader,
): RowElements {
  return new RowElementCutter(name, names, reader);
}

class RowElementCutter implements RowElements {
  outside = 0;
  readonly #name: RowElementName;
  readonly #names: NameTable;
  readonly #reader: RowElementReader;
  /** by name id: 0 not looked at yet, 1 a row element, 2 another */
  #kinds = new Uint8Array(256);
  readonly #scope = new NamespaceScope();
  /** size of the scope before each open element around */
  readonly #marks: number[] = [];
  /** open elements of the present row element, itself included; 0 outside */
  #depth = 0;
  /** where the present row element began, when in an earlier batch; -1 */
  #beganAt = -1;

  constructor(name: RowElementName, names: NameTable, reader: RowElementReader) {
    this.#name = name;
    this.#names = names;
    this.#reader = reader;
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void {
    const { events, count } = batch;
    let from = this.#depth > 0 ? 0 : -1;
    for (let at = 0; at < count; at += 1) {
      const flags = events[at * RECORD_INTS]!;
      const kind = flags & KIND_MASK;
      if (this.#depth > 0) {
        if (kind === KIND_START) this.#depth += 1;
        else if (kind === KIND_END && (this.#depth -= 1) === 0) {
          this.#reader.consume(slice(batch, from, at + 1), (index) => locate(from + index));
          this.#reader.end(this.#bytes(batch, from, at, locate));
          this.#beganAt = -1;
          from = -1;
        }
      } else if (kind === KIND_START) {
        if (this.#isRow(events[at * RECORD_INTS + 1]!)) {
          this.#reader.begin(this.#scope.declared());
          this.#depth = 1;
          from = at;
        } else this.#marks.push(this.#scope.size);
      } else if (kind === KIND_END) this.#scope.leave(this.#marks.pop() ?? 0);
      else if (kind === KIND_NAMESPACE)
        this.#scope.declare(this.#names.localName(events[at * RECORD_INTS + 1]!), rangeText(batch, at));
      else if (kind === KIND_ATTRIBUTE || (kind === KIND_TEXT && (flags & FLAG_WHITE_SPACE) === 0))
        this.outside += 1;
    }
    if (this.#depth === 0) return;
    if (this.#beganAt < 0) this.#beganAt = locate(from).offset;
    const first = from;
    this.#reader.consume(slice(batch, first, count), (index) => locate(first + index));
  }

  #bytes(
    { events }: TokenBatch,
    from: number,
    at: number,
    locate: (recordIndex: number) => TextLocation,
  ): number {
    const [start, end] = [events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!];
    if (this.#beganAt < 0) return end - events[from * RECORD_INTS + 2]!;
    return locate(at).offset + (end - start) - this.#beganAt;
  }

  #isRow(nameId: number): boolean {
    if (nameId >= this.#kinds.length) {
      const grown = new Uint8Array(nameId * 2);
      grown.set(this.#kinds);
      this.#kinds = grown;
    }
    if (this.#kinds[nameId] === 0) {
      const { localName, namespaceUri } = this.#name;
      const isRow =
        this.#names.localName(nameId) === localName &&
        (namespaceUri === null || this.#names.namespaceUri(nameId) === namespaceUri);
      this.#kinds[nameId] = isRow ? 1 : 2;
    }
    return this.#kinds[nameId] === 1;
  }
}

function slice(batch: TokenBatch, from: number, to: number): TokenBatch {
  if (from === 0 && to === batch.count) return batch;
  return {
    ...batch,
    events: batch.events.subarray(from * RECORD_INTS, to * RECORD_INTS),
    count: to - from,
  };
}
