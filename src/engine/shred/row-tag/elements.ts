/**
 * Reads the documents in a larger one (`--row-tag`): every outermost element of a name is a document, and the elements around them are
 * skipped. Memory: the namespaces declared around.
 */
import {
  RECORD_INTS,
  type TextLocation,
  type TokenBatch,
  FLAG_WHITE_SPACE,
  KIND_ATTRIBUTE,
  KIND_END,
  KIND_MASK,
  KIND_NAMESPACE,
  KIND_START,
  KIND_TEXT,
  type NameTable,
} from '../../xml/tokens.ts';
import { xmlNamespace } from '../../model/name-labels.ts';
import { spaceOf } from '../open-elements.ts';
import { NamespaceScope } from '../namespace-scope.ts';
import { rangeText } from '../xml-capture.ts';
import type { PartProgress, Surroundings } from './parts.ts';

// A view of a part of a token batch, for consumers that must not see the rest.

/** Some records of a batch: one for all that are handed over, as it is needed only meanwhile. */
class PartOfBatch implements TokenBatch {
  events: Int32Array = new Int32Array(0);
  count = 0;
  bytes: Uint8Array = new Uint8Array(0);
  decoded: Uint8Array = new Uint8Array(0);
  /** index in the batch of the first record */
  from = 0;
  #whole: ((recordIndex: number) => TextLocation) | null = null;
  readonly locate = (recordIndex: number): TextLocation => this.#whole!(this.from + recordIndex);

  take(batch: TokenBatch, from: number, to: number, locate: (recordIndex: number) => TextLocation): this {
    const isWhole = from === 0 && to === batch.count;
    this.events = isWhole ? batch.events : batch.events.subarray(from * RECORD_INTS, to * RECORD_INTS);
    this.count = to - from;
    this.bytes = batch.bytes;
    this.decoded = batch.decoded;
    this.from = from;
    this.#whole = locate;
    return this;
  }
}

// Row elements as documents.

export interface RowElementName {
  /** null: any namespace */
  readonly namespaceUri: string | null;
  readonly localName: string;
}

interface RowElementReader {
  begin(inherited: Surroundings): void;
  /**
   * Replaces `begin`, `consume` and `end` for the elements that follow one another from record `at` of a batch on. Returns null if the
   * caller must begin the element there.
   */
  take?(batch: TokenBatch, at: number, inherited: Surroundings): PartProgress | null;
  /** `first`: index of the first record that has not been handled */
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation, first: number): void;
  /** `bytes`: of the element, in UTF-8 */
  end(bytes: number): void;
}

interface RowElements {
  /** The next batch is the first of another document, however the one before ended. */
  begin(): void;
  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void;
  /** number of attributes and runs of text outside of all row elements */
  readonly outside: number;
}

/** Returns a test that is true if the elements with a name id are row elements. */
export function createRowElementTest(
  { namespaceUri, localName }: RowElementName,
  names: NameTable,
): (nameId: number) => boolean {
  /** by name id: 0 not tested yet, 1 a row element, 2 another element */
  let kinds = new Uint8Array(256);
  return (nameId) => {
    if (nameId >= kinds.length) {
      const grown = new Uint8Array(nameId * 2);
      grown.set(kinds);
      kinds = grown;
    }
    if (kinds[nameId] === 0) {
      const isRow =
        names.localName(nameId) === localName &&
        (namespaceUri === null || names.namespaceUri(nameId) === namespaceUri);
      kinds[nameId] = isRow ? 1 : 2;
    }
    return kinds[nameId] === 1;
  };
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
  readonly #isRow: (nameId: number) => boolean;
  readonly #names: NameTable;
  readonly #reader: RowElementReader;
  readonly #scope = new NamespaceScope();
  /** namespace declarations of the enclosing elements; null: must be collected again */
  #declared: Surroundings | null = null;
  readonly #xmlSpace: number;
  /** xml:space is `preserve`, by open element around */
  readonly #preserves: boolean[] = [];
  readonly #part = new PartOfBatch();
  /** size of the scope before each open element around */
  readonly #marks: number[] = [];
  /** open elements of the present row element, itself included; 0 outside */
  #depth = 0;
  /** start of the present row element if it began in an earlier batch; -1 otherwise */
  #beganAt = -1;
  /** the current run of text has been counted */
  #inText = false;

  constructor(name: RowElementName, names: NameTable, reader: RowElementReader) {
    this.#isRow = createRowElementTest(name, names);
    this.#names = names;
    this.#xmlSpace = names.intern(xmlNamespace, 'space');
    this.#reader = reader;
  }

  begin(): void {
    this.#scope.leave(0);
    this.#declared = null;
    this.#marks.length = 0;
    this.#preserves.length = 0;
    this.#depth = 0;
    this.#beganAt = -1;
    this.#inText = false;
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void {
    const { events, count } = batch;
    // a local variable, because reading and writing a field for every record would dominate the cost
    let depth = this.#depth;
    let from = depth > 0 ? 0 : -1;
    let first = 0;
    for (let at = 0; at < count; at += 1) {
      const flags = events[at * RECORD_INTS]!;
      const kind = flags & KIND_MASK;
      if (depth > 0) {
        if (kind === KIND_START) depth += 1;
        else if (kind === KIND_END && (depth -= 1) === 0) {
          this.#reader.consume(this.#part.take(batch, from, at + 1, locate), this.#part.locate, first);
          this.#reader.end(this.#bytes(batch, from, at, locate));
          this.#beganAt = -1;
          from = -1;
          first = 0;
        }
      } else if (kind === KIND_START) {
        this.#inText = false;
        if (this.#isRow(events[at * RECORD_INTS + 1]!)) {
          const inherited = (this.#declared ??= Object.assign(this.#scope.declared(), {
            preservesSpace: this.#preserves.at(-1) === true,
          }));
          const taken = this.#reader.take?.(batch, at, inherited) ?? null;
          if (taken === null) {
            this.#reader.begin(inherited);
            depth = 1;
            from = at;
          } else {
            ({ depth, openFrom: from } = taken);
            if (depth > 0) first = taken.next - from;
            at = taken.next - 1;
          }
        } else {
          this.#marks.push(this.#scope.size);
          this.#preserves.push(this.#preserves.at(-1) === true);
        }
      } else if (kind === KIND_END) {
        this.#inText = false;
        this.#scope.leave(this.#marks.pop() ?? 0);
        this.#preserves.pop();
        this.#declared = null;
      } else if (kind === KIND_NAMESPACE) {
        this.#scope.declare(this.#names.localName(events[at * RECORD_INTS + 1]!), rangeText(batch, at));
        this.#declared = null;
      } else if (kind === KIND_ATTRIBUTE) {
        this.outside += 1;
        if (events[at * RECORD_INTS + 1] === this.#xmlSpace) this.#setSpace(rangeText(batch, at));
      } else if (kind === KIND_TEXT && (flags & FLAG_WHITE_SPACE) === 0 && !this.#inText) {
        this.#inText = true;
        this.outside += 1;
      }
    }
    this.#depth = depth;
    if (depth === 0) return;
    if (this.#beganAt < 0) this.#beganAt = locate(from).offset;
    this.#reader.consume(this.#part.take(batch, from, count, locate), this.#part.locate, first);
  }

  /** The innermost element around has the attribute. */
  #setSpace(value: string): void {
    const space = spaceOf(value);
    if (space >= 0) this.#preserves[this.#preserves.length - 1] = space === 1;
    this.#declared = null;
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
}

// Reads a range between the tags of the elements around it. Passes on the records of the range itself and drops the records of these tags.

export type ConsumeBatch = (batch: TokenBatch, locate: (recordIndex: number) => TextLocation) => void;

export class BetweenTags {
  readonly #consume: ConsumeBatch;
  readonly #part = new PartOfBatch();
  /** number of start tags that still precede the range */
  #lead = 0;
  /** the last of them may have declarations and attributes */
  #inLead = false;
  /** end offset of the range, once it is known; Infinity before */
  #end = Infinity;

  constructor(consume: ConsumeBatch) {
    this.#consume = consume;
  }

  /** `tags`: number of start tags before the range. */
  begin(tags: number): void {
    this.#lead = tags;
    this.#inLead = tags > 0;
    this.#end = Infinity;
  }

  /** Ends the range at this offset of the document: later content at or after it does not belong to the range. */
  endAt(offset: number): void {
    this.#end = offset;
  }

  consume(batch: TokenBatch, locate: (recordIndex: number) => TextLocation): void {
    const from = this.#inLead ? this.#leadRecords(batch) : 0;
    let to = batch.count;
    if (this.#end < Infinity) while (to > from && locate(to - 1).offset >= this.#end) to -= 1;
    if (from === 0 && to === batch.count) this.#consume(batch, locate);
    else if (from < to) this.#consume(this.#part.take(batch, from, to, locate), this.#part.locate);
  }

  #leadRecords({ events, count }: TokenBatch): number {
    for (let at = 0; at < count; at += 1) {
      const kind = events[at * RECORD_INTS]! & KIND_MASK;
      if (kind === KIND_START && this.#lead > 0) this.#lead -= 1;
      else if (this.#lead === 0 && kind !== KIND_NAMESPACE && kind !== KIND_ATTRIBUTE) {
        this.#inLead = false;
        return at;
      }
    }
    return count;
  }
}
