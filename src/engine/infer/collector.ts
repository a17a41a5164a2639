/** Takes statistics of documents in one pass; memory grows with distinct paths, not with size. */
import {
  FLAG_DECODED,
  FLAG_WHITE_SPACE,
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
import { ByteBuffer } from '../shred/byte-buffer.ts';
import { xsiNamespace } from '../shred/shredder.ts';
import { rangeText } from '../shred/xml-capture.ts';
import {
  addToSketch,
  emptyElementStatistics,
  emptyStatistics,
  emptyValueStatistics,
  forgetDigits,
  isLess,
  type AttributeStatistics,
  type DocumentStatistics,
  type ElementStatistics,
  type ValueStatistics,
} from './statistics.ts';
import { compareBytes } from './compare-bytes.ts';
import { bitsSet, noteOrder } from './sibling-order.ts';
import { CLASS_DECIMAL, classesOf } from './value-classes.ts';

export interface StatisticsCollector {
  readonly statistics: DocumentStatistics;
  beginDocument(): void;
  consume(batch: TokenBatch): void;
  endDocument(bytes: number): void;
}

/** `samples: false` keeps no value of any document (`--no-samples`). */
export function createStatisticsCollector(
  names: NameTable,
  options: { readonly samples: boolean },
): StatisticsCollector {
  return new Collector(names, options.samples);
}

/** An element of the tree of paths, with what finds its parts quickly. */
interface PathNode {
  readonly index: number;
  readonly statistics: ElementStatistics;
  readonly attributes: Map<number, AttributeStatistics>;
  /** number of the document that an attribute was last seen in */
  readonly attributeDocuments: Map<number, number>;
  readonly children: Map<number, number>;
  /** elements that have ended: what is new now, they did not have */
  ended: number;
  /** nodes of `statistics.children`, by ordinal */
  readonly targets: PathNode[];
  /** per ordinal: the siblings seen before it, as bits */
  readonly precededBy: number[][];
  lastDocument: number;
}

interface Frame {
  node: PathNode;
  nameId: number;
  /** occurrences in this element, by ordinal of the child */
  counts: number[];
  /** children seen in this element, as bits */
  seen: number[];
  hasText: boolean;
  hasChildren: boolean;
}

class Collector implements StatisticsCollector {
  readonly #statistics: DocumentStatistics = emptyStatistics();
  readonly #nodes: PathNode[] = [];
  readonly #names: NameTable;
  readonly #samples: boolean;
  readonly #roots = new Map<number, PathNode>();
  readonly #frames: Frame[] = [];
  readonly #text = new ByteBuffer(1024);
  readonly #nil: number;
  readonly #locations: ReadonlySet<number>;
  #depth = 0;

  constructor(names: NameTable, samples: boolean) {
    this.#names = names;
    this.#samples = samples;
    this.#nil = names.intern(xsiNamespace, 'nil');
    this.#locations = new Set([
      names.intern(xsiNamespace, 'schemaLocation'),
      names.intern(xsiNamespace, 'noNamespaceSchemaLocation'),
    ]);
  }

  get statistics(): DocumentStatistics {
    for (const node of this.#nodes) {
      for (const [ordinal, bits] of node.precededBy.entries())
        node.statistics.children[ordinal]!.precededBy = bitsSet(bits);
    }
    return this.#statistics;
  }

  beginDocument(): void {
    this.#depth = 0;
    this.#text.length = 0;
    this.#statistics.documents += 1;
  }

  endDocument(bytes: number): void {
    this.#statistics.bytes += bytes;
  }

  consume(batch: TokenBatch): void {
    const { events, count } = batch;
    for (let i = 0; i < count; i += 1) {
      const flags = events[i * RECORD_INTS]!;
      switch (flags & KIND_MASK) {
        case KIND_START:
          this.#start(events[i * RECORD_INTS + 1]!);
          break;
        case KIND_END:
          this.#end();
          break;
        case KIND_ATTRIBUTE:
          this.#attribute(batch, i);
          break;
        case KIND_TEXT:
          this.#textPart(batch, i, flags);
          break;
        case KIND_NAMESPACE:
          this.#namespace(batch, i);
          break;
      }
    }
  }

  #start(nameId: number): void {
    const parent = this.#frames[this.#depth - 1];
    const node = this.#depth === 0 ? this.#root(nameId) : this.#child(parent!, nameId);
    const { statistics } = node;
    statistics.count += 1;
    if (node.lastDocument !== this.#statistics.documents) {
      node.lastDocument = this.#statistics.documents;
      statistics.documents += 1;
    }
    const frame = this.#frames[this.#depth];
    if (frame === undefined) {
      this.#frames.push({ node, nameId, counts: [], seen: [], hasText: false, hasChildren: false });
    } else {
      frame.node = node;
      frame.nameId = nameId;
      frame.counts.length = 0;
      frame.seen.length = 0;
      frame.hasText = false;
      frame.hasChildren = false;
    }
    this.#depth += 1;
    this.#text.length = 0;
  }

  #root(nameId: number): PathNode {
    let node = this.#roots.get(nameId);
    if (node === undefined) {
      node = this.#newNode(nameId);
      this.#roots.set(nameId, node);
      this.#statistics.roots.push(node.index);
    }
    return node;
  }

  #child(parent: Frame, nameId: number): PathNode {
    parent.hasChildren = true;
    const { node } = parent;
    let ordinal = node.children.get(nameId);
    if (ordinal === undefined) {
      const target = this.#openAncestor(nameId) ?? this.#newNode(nameId);
      ordinal = node.targets.push(target) - 1;
      node.children.set(nameId, ordinal);
      // elements that have ended had none; those still open are counted when they end
      const minOccurs = node.ended > 0 ? 0 : Infinity;
      node.statistics.children.push({ element: target.index, minOccurs, maxOccurs: 0, precededBy: [] });
      node.precededBy.push([]);
    }
    while (parent.counts.length <= ordinal) parent.counts.push(0);
    const seen = ++parent.counts[ordinal]!;
    const child = node.statistics.children[ordinal]!;
    if (seen > child.maxOccurs) child.maxOccurs = seen;
    if (seen === 1) noteOrder(node.precededBy[ordinal]!, parent.seen, ordinal);
    return node.targets[ordinal]!;
  }

  /** Recursion: an open element of the same name is the same thing again. */
  #openAncestor(nameId: number): PathNode | undefined {
    for (let i = this.#depth - 1; i >= 0; i -= 1)
      if (this.#frames[i]!.nameId === nameId) return this.#frames[i]!.node;
    return undefined;
  }

  #newNode(nameId: number): PathNode {
    const statistics = emptyElementStatistics(
      this.#names.namespaceUri(nameId),
      this.#names.localName(nameId),
    );
    const index = this.#statistics.elements.push(statistics) - 1;
    const node: PathNode = {
      index,
      statistics,
      attributes: new Map(),
      attributeDocuments: new Map(),
      children: new Map(),
      ended: 0,
      targets: [],
      precededBy: [],
      lastDocument: 0,
    };
    this.#nodes.push(node);
    return node;
  }

  #end(): void {
    this.#depth -= 1;
    const frame = this.#frames[this.#depth]!;
    const { node } = frame;
    const { statistics } = node;
    const { children } = statistics;
    node.ended += 1;
    for (let ordinal = 0; ordinal < children.length; ordinal += 1) {
      const count = frame.counts[ordinal] ?? 0;
      const child = children[ordinal]!;
      if (count < child.minOccurs) child.minOccurs = count;
    }
    if (frame.hasChildren) {
      statistics.withChildren += 1;
      if (frame.hasText) statistics.mixed += 1;
    } else this.#value(statistics.text, this.#text.bytes, 0, this.#text.length);
    if (frame.hasText) statistics.withText += 1;
    this.#text.length = 0;
  }

  #textPart(batch: TokenBatch, at: number, flags: number): void {
    const frame = this.#frames[this.#depth - 1];
    if (frame === undefined) return;
    if ((flags & FLAG_WHITE_SPACE) === 0) frame.hasText = true;
    if (frame.hasChildren) return;
    const source = (flags & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
    this.#text.push(source, batch.events[at * RECORD_INTS + 2]!, batch.events[at * RECORD_INTS + 3]!);
  }

  #attribute(batch: TokenBatch, at: number): void {
    const { events } = batch;
    const nameId = events[at * RECORD_INTS + 1]!;
    const { node } = this.#frames[this.#depth - 1]!;
    if (nameId === this.#nil) {
      node.statistics.nil += 1;
      return;
    }
    if (this.#locations.has(nameId)) return;
    let attribute = node.attributes.get(nameId);
    if (attribute === undefined) {
      attribute = {
        namespaceUri: this.#names.namespaceUri(nameId),
        localName: this.#names.localName(nameId),
        count: 0,
        documents: 0,
        value: emptyValueStatistics(),
      };
      node.attributes.set(nameId, attribute);
      node.statistics.attributes.push(attribute);
    }
    attribute.count += 1;
    if (node.attributeDocuments.get(nameId) !== this.#statistics.documents) {
      node.attributeDocuments.set(nameId, this.#statistics.documents);
      attribute.documents += 1;
    }
    const source = (events[at * RECORD_INTS]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
    this.#value(attribute.value, source, events[at * RECORD_INTS + 2]!, events[at * RECORD_INTS + 3]!);
  }

  #namespace(batch: TokenBatch, at: number): void {
    const prefix = this.#names.localName(batch.events[at * RECORD_INTS + 1]!);
    if (prefix !== '') this.#statistics.namespaces[prefix] ??= rangeText(batch, at);
  }

  #value(value: ValueStatistics, bytes: Uint8Array, start: number, end: number): void {
    const first = value.count === value.empty;
    value.count += 1;
    if (start === end) {
      value.empty += 1;
      return;
    }
    let length = 0;
    let hash = 0x811c9dc5;
    for (let i = start; i < end; i += 1) {
      const byte = bytes[i]!;
      if ((byte & 0xc0) !== 0x80) length += 1;
      hash = Math.imul(hash ^ byte, 0x01000193);
    }
    if (first || length < value.minLength) value.minLength = length;
    if (length > value.maxLength) value.maxLength = length;
    const before = value.classes;
    value.classes = classesOf(bytes, start, end, before);
    if ((value.classes & CLASS_DECIMAL) !== 0) this.#digits(value, bytes, start, end, first);
    else if ((before & CLASS_DECIMAL) !== 0) forgetDigits(value);
    // FNV's low bits are its best; a final mix spreads them over the whole range
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    hash ^= hash >>> 12;
    addToSketch(value.sketch, hash >>> 0);
    if (this.#samples) this.#extremes(value, bytes, start, end);
  }

  #digits(value: ValueStatistics, bytes: Uint8Array, start: number, end: number, first: boolean): void {
    let point = end;
    for (let i = start; i < end; i += 1) if (bytes[i] === 46) point = i;
    const whole = point - start - (bytes[start] === 45 ? 1 : 0);
    const fraction = point === end ? 0 : end - point - 1;
    if (whole > value.wholeDigits) value.wholeDigits = whole;
    if (first || fraction < value.minFraction) value.minFraction = fraction;
    if (fraction > value.maxFraction) value.maxFraction = fraction;
  }

  /** Decodes a text only where it can be a new extreme: the bytes of UTF-8 sort as its code points do. */
  #extremes(value: ValueStatistics, bytes: Uint8Array, start: number, end: number): void {
    const numeric = (value.classes & CLASS_DECIMAL) !== 0;
    if (!numeric && value.min !== null && value.max !== null && !isPlainNumber(bytes, start, end)) {
      const known = this.#extremeBytes(value);
      // texts come after all numbers
      const above = known.minIsNumber || compareBytes(bytes, start, end, known.min) >= 0;
      if (above && !known.maxIsNumber && compareBytes(bytes, start, end, known.max) <= 0) return;
    }
    const text = shortText(bytes, start, end);
    if (value.min === null || isLess(text, value.min)) value.min = text;
    if (value.max === null || isLess(value.max, text)) value.max = text;
  }

  readonly #encoded = new WeakMap<ValueStatistics, ExtremeBytes>();

  #extremeBytes(value: ValueStatistics): ExtremeBytes {
    const known = this.#encoded.get(value);
    if (known !== undefined && known.minText === value.min && known.maxText === value.max) return known;
    const encoder = new TextEncoder();
    const [min, max] = [encoder.encode(value.min!), encoder.encode(value.max!)];
    const made = {
      minText: value.min!,
      maxText: value.max!,
      min,
      max,
      minIsNumber: isPlainNumber(min, 0, min.length),
      maxIsNumber: isPlainNumber(max, 0, max.length),
    };
    this.#encoded.set(value, made);
    return made;
  }
}

/** The extremes of a value as bytes. */
interface ExtremeBytes {
  readonly minText: string;
  readonly maxText: string;
  readonly min: Uint8Array;
  readonly max: Uint8Array;
  readonly minIsNumber: boolean;
  readonly maxIsNumber: boolean;
}

/** `-?\d+(\.\d+)?`, as `isLess` has it. */
function isPlainNumber(bytes: Uint8Array, start: number, end: number): boolean {
  let point = -1;
  const first = bytes[start] === 45 ? start + 1 : start;
  for (let i = first; i < end; i += 1) {
    const byte = bytes[i]!;
    if (byte === 46 && point < 0 && i > first && i < end - 1) point = i;
    else if (byte < 48 || byte > 57) return false;
  }
  return first < end;
}

const decoder = new TextDecoder();

/** The start of a value as text; short ASCII values, the usual ones, are put together without a decoder. */
function shortText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start <= 24) {
    let text = '';
    let at = start;
    while (at < end && bytes[at]! < 0x80) text += String.fromCharCode(bytes[at++]!);
    if (at === end) return text;
  }
  return decoder.decode(bytes.subarray(start, Math.min(end, start + 800))).slice(0, 200);
}
