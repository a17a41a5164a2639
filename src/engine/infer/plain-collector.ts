/** Collects statistics of documents in one pass, in TypeScript only. Memory grows with distinct paths, not with size. */
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
import { ByteBuffer } from '../shred/rows/byte-buffer.ts';
import { xsiNamespace } from '../model/name-labels.ts';
import { rangeText } from '../shred/xml-capture.ts';
import {
  childOf,
  elementStatistics,
  grown,
  knownChild,
  newFrame,
  newPathNode,
  pathParent,
  type Frame,
  type PathNode,
} from './path-tree.ts';
import {
  isOtherAttribute,
  noDeclaredPlaces,
  type DeclaredPlace,
  type DeclaredPlaces,
} from './declared-places.ts';
import { noteOrder } from './sibling-order.ts';
import { emptyStatistics, type DocumentStatistics } from './statistics.ts';
import { ValueCollector } from './values/collector.ts';

/** The initial state of a collector that continues the work of another. */
export interface Collected {
  readonly nodes: PathNode[];
  readonly roots: Map<number, PathNode>;
  /** frames of the elements that are open */
  readonly frames: Frame[];
  readonly documents: number;
  readonly namespaces: Record<string, string>;
}

export class PlainCollector {
  readonly #nodes: PathNode[];
  readonly #names: NameTable;
  readonly #samples: boolean;
  readonly #places: DeclaredPlaces;
  readonly #roots: Map<number, PathNode>;
  readonly #frames: Frame[];
  /** the text of the innermost element: a range of the batch if possible, otherwise joined here */
  readonly #text = new ByteBuffer(1024);
  #source: Uint8Array | null = null;
  #from = 0;
  #to = 0;
  readonly #namespaces: Record<string, string>;
  readonly #notContent: NotContent;
  #depth: number;
  #documents: number;
  #bytes = 0;

  constructor(
    names: NameTable,
    samples: boolean,
    places: DeclaredPlaces = noDeclaredPlaces,
    from: Collected = nothing(),
  ) {
    this.#names = names;
    this.#samples = samples;
    this.#places = places;
    this.#notContent = notContentOf(names);
    this.#nodes = from.nodes;
    this.#roots = from.roots;
    this.#frames = from.frames;
    this.#depth = from.frames.length;
    this.#documents = from.documents;
    this.#namespaces = from.namespaces;
  }

  get documents(): number {
    return this.#documents;
  }

  get statistics(): DocumentStatistics {
    return {
      ...emptyStatistics(),
      documents: this.#documents,
      bytes: this.#bytes,
      namespaces: { ...this.#namespaces },
      elements: this.#nodes.map((node) => elementStatistics(node, this.#names)),
      roots: Array.from(this.#roots.values(), ({ index }) => index),
    };
  }

  beginDocument(): void {
    // a truncated document has left its elements open
    for (const frame of this.#frames) {
      frame.counts.fill(0);
      frame.seen.fill(0);
    }
    this.#depth = 0;
    this.#clearText();
    this.#documents += 1;
  }

  endDocument(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Handles the records from `from` on. */
  consume(batch: TokenBatch, from = 0): void {
    const { events, count } = batch;
    const ints = count * RECORD_INTS;
    for (let at = from * RECORD_INTS; at < ints; at += RECORD_INTS) {
      const flags = events[at]!;
      switch (flags & KIND_MASK) {
        case KIND_START:
          this.#start(events[at + 1]!);
          break;
        case KIND_END:
          this.#end();
          break;
        case KIND_ATTRIBUTE:
          this.#attribute(batch, at);
          break;
        case KIND_TEXT:
          this.#textPart(batch, at, flags);
          break;
        case KIND_NAMESPACE:
          noteNamespace(this.#namespaces, batch, at / RECORD_INTS, this.#names);
          break;
      }
    }
    // the batch's buffers are the tokeniser's again
    if (this.#source !== null) this.#keepText();
  }

  #start(nameId: number): void {
    const depth = this.#depth;
    const node = depth === 0 ? this.#root(nameId) : this.#child(this.#frames[depth - 1]!, nameId);
    node.count += 1;
    if (node.lastDocument !== this.#documents) {
      node.lastDocument = this.#documents;
      node.documents += 1;
    }
    if (depth === this.#frames.length) this.#frames.push(newFrame(node));
    const frame = this.#frames[depth]!;
    frame.node = node;
    frame.last = -1;
    frame.attributes = 0;
    frame.hasText = false;
    frame.hasOther = false;
    frame.isInRun = false;
    frame.hasChildren = false;
    this.#depth = depth + 1;
    this.#clearText();
  }

  #root(nameId: number): PathNode {
    let node = this.#roots.get(nameId);
    if (node === undefined) {
      node = this.#newNode(nameId, null, this.#places.of(null, nameId));
      this.#roots.set(nameId, node);
    }
    return node;
  }

  #child(parent: Frame, nameId: number): PathNode {
    const { node } = parent;
    const { children } = node;
    parent.hasChildren = true;
    parent.isInRun = false;
    // children mostly repeat, or come in the order of their first occurrence
    let ordinal = parent.last;
    if (ordinal < 0 || children[ordinal]!.nameId !== nameId) {
      ordinal += 1;
      if (ordinal >= children.length || children[ordinal]!.nameId !== nameId)
        ordinal = node.ordinals.get(nameId) ?? this.#newChild(node, nameId);
    }
    parent.last = ordinal;
    if (ordinal >= parent.counts.length) parent.counts = grown(parent.counts, ordinal);
    const seen = parent.counts[ordinal]! + 1;
    parent.counts[ordinal] = seen;
    const child = children[ordinal]!;
    if (seen > child.maxOccurs) child.maxOccurs = seen;
    if (seen === 1) {
      if (ordinal >>> 5 >= parent.seen.length) parent.seen = grown(parent.seen, ordinal >>> 5);
      noteOrder(child.precededBy, parent.seen, (children.length + 31) >>> 5, ordinal);
    }
    return child.target;
  }

  #newChild(node: PathNode, nameId: number): number {
    const declared = this.#places.of(node.declared, nameId);
    const known = knownChild(node, nameId, declared, childOf);
    const ordinal = node.children.push({
      nameId,
      target: known ?? this.#newNode(nameId, pathParent(node, nameId), declared),
      // elements that have ended had none; those still open are counted when they end
      minOccurs: node.ended > 0 ? 0 : Infinity,
      maxOccurs: 0,
      precededBy: [],
    });
    node.ordinals.set(nameId, ordinal - 1);
    return ordinal - 1;
  }

  #newNode(nameId: number, parent: PathNode | null, declared: DeclaredPlace): PathNode {
    const node = newPathNode(this.#nodes.length, nameId, parent, declared, this.#samples);
    this.#nodes.push(node);
    return node;
  }

  #end(): void {
    this.#depth -= 1;
    const frame = this.#frames[this.#depth]!;
    const { node, counts } = frame;
    const { children } = node;
    node.ended += 1;
    for (let ordinal = 0; ordinal < children.length; ordinal += 1) {
      // a child that only occurred in other elements may be beyond the counts of this one
      const count = ordinal < counts.length ? counts[ordinal]! : 0;
      const child = children[ordinal]!;
      if (count < child.minOccurs) child.minOccurs = count;
      if (count > 0) counts[ordinal] = 0;
    }
    if (frame.hasChildren) {
      frame.seen.fill(0);
      node.withChildren += 1;
      if (frame.hasText) node.mixed += 1;
    } else if (this.#source === null) node.text.add(this.#text.bytes, 0, this.#text.length);
    else node.text.add(this.#source, this.#from, this.#to);
    if (frame.hasText) node.withText += 1;
    this.#clearText();
  }

  #textPart(batch: TokenBatch, at: number, flags: number): void {
    if (this.#depth === 0) return;
    const frame = this.#frames[this.#depth - 1]!;
    if ((flags & FLAG_WHITE_SPACE) === 0) frame.hasText = true;
    const from = batch.events[at + 2]!;
    const to = batch.events[at + 3]!;
    if (!frame.isInRun && to > from) {
      frame.isInRun = true;
      frame.node.textRuns += 1;
    }
    if (frame.hasChildren) return;
    const source = (flags & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
    if (this.#source === null && this.#text.length === 0) {
      this.#source = source;
      this.#from = from;
      this.#to = to;
      return;
    }
    if (this.#source !== null) this.#keepText();
    this.#text.push(source, from, to);
  }

  #keepText(): void {
    this.#text.push(this.#source!, this.#from, this.#to);
    this.#source = null;
  }

  #clearText(): void {
    this.#source = null;
    this.#text.length = 0;
  }

  #attribute(batch: TokenBatch, at: number): void {
    const { events } = batch;
    const nameId = events[at + 1]!;
    const frame = this.#frames[this.#depth - 1]!;
    const { node } = frame;
    let attribute = node.attributes[frame.attributes];
    if (attribute === undefined || attribute.nameId !== nameId) {
      if (nameId === this.#notContent.nil && isTrue(batch, at / RECORD_INTS)) node.nil += 1;
      const index = node.attributeIndexes.get(nameId) ?? this.#newAttribute(node, nameId);
      if (index < 0) return;
      frame.attributes = index;
      attribute = node.attributes[index]!;
    }
    frame.attributes += 1;
    attribute.count += 1;
    if (attribute.isOther && !frame.hasOther) {
      frame.hasOther = true;
      node.withOthers += 1;
    }
    if (attribute.lastDocument !== this.#documents) {
      attribute.lastDocument = this.#documents;
      attribute.documents += 1;
    }
    const source = (events[at]! & FLAG_DECODED) === 0 ? batch.bytes : batch.decoded;
    attribute.value.add(source, events[at + 2]!, events[at + 3]!);
  }

  /** Its place; -1 for those that are no content. */
  #newAttribute(node: PathNode, nameId: number): number {
    if (this.#notContent.all.has(nameId)) return -1;
    const value = new ValueCollector(this.#samples);
    const isOther = isOtherAttribute(node.declared, nameId);
    const count = node.attributes.push({ nameId, count: 0, documents: 0, lastDocument: 0, isOther, value });
    node.attributeIndexes.set(nameId, count - 1);
    return count - 1;
  }
}

/** Attributes that are no content: of xsi:nil alone something is counted. */
export interface NotContent {
  readonly nil: number;
  readonly all: ReadonlySet<number>;
}

export function notContentOf(names: NameTable): NotContent {
  const nil = names.intern(xsiNamespace, 'nil');
  const all = new Set([
    nil,
    names.intern(xsiNamespace, 'schemaLocation'),
    names.intern(xsiNamespace, 'noNamespaceSchemaLocation'),
  ]);
  return { nil, all };
}

/** True if the value at the record is a boolean, and true (XSD Part 2 §3.2.2). */
export function isTrue(batch: TokenBatch, record: number): boolean {
  const value = rangeText(batch, record).trim();
  return value === 'true' || value === '1';
}

/** The first of each prefix. */
export function noteNamespace(
  namespaces: Record<string, string>,
  batch: TokenBatch,
  record: number,
  names: NameTable,
): void {
  const prefix = names.localName(batch.events[record * RECORD_INTS + 1]!);
  if (prefix !== '') namespaces[prefix] ??= rangeText(batch, record);
}

function nothing(): Collected {
  return { nodes: [], roots: new Map(), frames: [], documents: 0, namespaces: {} };
}
