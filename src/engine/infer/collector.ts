/**
 * Collects statistics of documents in one pass: first in TypeScript, and with a kernel in WebAssembly once the documents are large enough
 * for it. Memory grows with the number of distinct paths, not with the size of the documents.
 */
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
  ElementsByType,
  noteOrder,
} from './declared-places.ts';
import { emptyStatistics, type DocumentStatistics } from './statistics.ts';
import { ValueCollector } from './value-collector.ts';
import {
  type TokenizerKernels,
  createKernelThreshold,
  createTokenizerKernels,
} from '../xml/tokenizer/fast.ts';
import { createCollectKernel, type CollectKernel } from './kernel/instance.ts';
import { mergeStatistics } from './merge-statistics.ts';

// The collector in TypeScript.

/** The initial state of a collector that continues the work of another. */
interface Collected {
  readonly nodes: PathNode[];
  readonly roots: Map<number, PathNode>;
  /** frames of the elements that are open */
  readonly frames: Frame[];
  readonly documents: number;
  readonly namespaces: Record<string, string>;
}

class PlainCollector {
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
interface NotContent {
  readonly nil: number;
  readonly all: ReadonlySet<number>;
}

function notContentOf(names: NameTable): NotContent {
  const nil = names.intern(xsiNamespace, 'nil');
  const all = new Set([
    nil,
    names.intern(xsiNamespace, 'schemaLocation'),
    names.intern(xsiNamespace, 'noNamespaceSchemaLocation'),
  ]);
  return { nil, all };
}

/** True if the value at the record is a boolean, and true (XSD Part 2 §3.2.2). */
function isTrue(batch: TokenBatch, record: number): boolean {
  const value = rangeText(batch, record).trim();
  return value === 'true' || value === '1';
}

/** The first of each prefix. */
function noteNamespace(
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

// The collector with the kernel, until the kernel's memory is full. Its result is the same as that of the collector in TypeScript.

interface KernelCollectorOptions {
  readonly samples: boolean;
  readonly places?: DeclaredPlaces;
  readonly kernelPages?: number;
}

class KernelCollector {
  readonly tokenizerKernels: TokenizerKernels;
  readonly #names: NameTable;
  readonly #samples: boolean;
  readonly #places: DeclaredPlaces;
  readonly #kernel: CollectKernel;
  readonly #namespaces: Record<string, string>;
  #documents = 0;
  #bytes = 0;
  /** continues after the kernel has run out of room */
  #successor: PlainCollector | null = null;

  private constructor(
    names: NameTable,
    samples: boolean,
    places: DeclaredPlaces,
    kernel: CollectKernel,
    namespaces: Record<string, string>,
  ) {
    this.#names = names;
    this.#samples = samples;
    this.#places = places;
    this.#kernel = kernel;
    this.#namespaces = namespaces;
    this.tokenizerKernels = kernel.tokenizerKernels;
  }

  /** Returns null if WebAssembly is not available. */
  static create(
    names: NameTable,
    { samples, places = noDeclaredPlaces, kernelPages }: KernelCollectorOptions,
  ): KernelCollector | null {
    const notContent = notContentOf(names);
    const namespaces: Record<string, string> = {};
    const kernel = createCollectKernel({
      samples,
      ...(kernelPages === undefined ? {} : { pages: kernelPages }),
      isContent: (nameId) => !notContent.all.has(nameId),
      isNil: (nameId, batch, record) => nameId === notContent.nil && isTrue(batch, record),
      places,
      onNamespace: (batch, record) => noteNamespace(namespaces, batch, record, names),
    });
    return kernel === null ? null : new KernelCollector(names, samples, places, kernel, namespaces);
  }

  get statistics(): DocumentStatistics {
    if (this.#successor !== null) {
      const { statistics } = this.#successor;
      return { ...statistics, bytes: statistics.bytes + this.#bytes };
    }
    const { nodes, roots } = this.#kernel.thaw();
    return {
      ...emptyStatistics(),
      documents: this.#documents,
      bytes: this.#bytes,
      namespaces: { ...this.#namespaces },
      elements: nodes.map((node) => elementStatistics(node, this.#names)),
      roots: Array.from(roots.values(), ({ index }) => index),
    };
  }

  beginDocument(): void {
    if (this.#successor !== null) return this.#successor.beginDocument();
    this.#documents += 1;
    this.#kernel.beginDocument(this.#documents);
  }

  consume(batch: TokenBatch): void {
    if (this.#successor !== null) return this.#successor.consume(batch);
    const handled = this.#kernel.consume(batch);
    if (handled === batch.count) return;
    this.#successor = new PlainCollector(this.#names, this.#samples, this.#places, {
      ...this.#kernel.thaw(),
      documents: this.#documents,
      namespaces: this.#namespaces,
    });
    this.#successor.consume(batch, handled);
  }

  endDocument(bytes: number): void {
    if (this.#successor !== null) return this.#successor.endDocument(bytes);
    this.#bytes += bytes;
  }
}

// The collector that readers of documents use, which chooses between the two.

export interface StatisticsCollector {
  /** statistics of all documents so far */
  readonly statistics: DocumentStatistics;
  /** Kernels for the tokeniser whose batches are passed in, if there is a choice. Their output need not be copied. */
  tokenizerKernels(): TokenizerKernels;
  /** `inherited`: namespaces declared around a document that is a part of a larger one */
  beginDocument(inherited?: ReadonlyMap<string, string>): void;
  consume(batch: TokenBatch): void;
  endDocument(bytes: number): void;
}

export interface StatisticsCollectorOptions {
  /** false: no value of any document is kept (`--no-samples`) */
  readonly samples: boolean;
  /** elements of one name are counted separately if the places have different types; default: only names decide */
  readonly places?: DeclaredPlaces;
  /**
   * The number of records in the documents' first batches together from which on WebAssembly counts the common cases (default 1024:
   * creating the kernel costs more than it saves below that). Infinity: only TypeScript is used. The statistics are the same.
   */
  readonly kernelFrom?: number;
  /** pages of the kernel's memory; when they are full, TypeScript continues */
  readonly kernelPages?: number;
}

const usualKernelFrom = 1024;

export function createStatisticsCollector(
  names: NameTable,
  options: StatisticsCollectorOptions,
): StatisticsCollector {
  const { types } = options.places ?? noDeclaredPlaces;
  const byName = new Collector(names, options);
  return types.size === 0 ? byName : new CollectorByType(names, types, byName, new Collector(names, options));
}

/** Counts documents twice: elements by their names, and by their names and the types that xsi:type gives them. */
class CollectorByType implements StatisticsCollector {
  readonly #elements: ElementsByType;
  readonly #byName: Collector;
  readonly #byType: Collector;

  constructor(names: NameTable, types: ReadonlySet<string>, byName: Collector, byType: Collector) {
    this.#elements = new ElementsByType(names, types);
    this.#byName = byName;
    this.#byType = byType;
  }

  get statistics(): DocumentStatistics {
    const { statistics } = this.#byName;
    return this.#elements.hasRenamed ? { ...statistics, byType: this.#byType.statistics } : statistics;
  }

  tokenizerKernels(): TokenizerKernels {
    return this.#byName.tokenizerKernels();
  }

  beginDocument(inherited?: ReadonlyMap<string, string>): void {
    this.#elements.beginDocument(inherited);
    this.#byName.beginDocument();
    this.#byType.beginDocument();
  }

  consume(batch: TokenBatch): void {
    this.#byName.consume(batch);
    this.#byType.consume(this.#elements.rename(batch));
  }

  endDocument(bytes: number): void {
    this.#byName.endDocument(bytes);
    this.#byType.endDocument(bytes);
  }
}

/** Documents are counted by TypeScript, until they are worth a kernel: from then on it counts all. */
class Collector implements StatisticsCollector {
  readonly #names: NameTable;
  readonly #options: StatisticsCollectorOptions;
  readonly #first: PlainCollector;
  #second: KernelCollector | null = null;
  #kernelFrom: number;
  /** records of documents that TypeScript has counted */
  #records = 0;
  readonly #kernelPays = createKernelThreshold();
  readonly #otherKernels = createTokenizerKernels();
  /** a document has begun but has no records yet */
  #begins = false;
  /** one is being counted, and has to be by who began with it */
  #isOpen = false;

  constructor(names: NameTable, options: StatisticsCollectorOptions) {
    this.#names = names;
    this.#first = new PlainCollector(names, options.samples, options.places);
    this.#options = options;
    this.#kernelFrom = options.kernelFrom ?? usualKernelFrom;
  }

  get statistics(): DocumentStatistics {
    if (this.#second === null) return this.#first.statistics;
    const later = this.#second.statistics;
    return this.#first.documents === 0 ? later : mergeStatistics(this.#first.statistics, later);
  }

  tokenizerKernels(): TokenizerKernels {
    return {
      take: (firstBytes) => {
        if (!this.#kernelPays(firstBytes)) return null;
        this.#makeKernel();
        return (this.#second?.tokenizerKernels ?? this.#otherKernels).take(firstBytes);
      },
      giveBack: (kernel) => (this.#second?.tokenizerKernels ?? this.#otherKernels).giveBack(kernel),
    };
  }

  beginDocument(): void {
    this.#begins = true;
  }

  consume(batch: TokenBatch): void {
    if (this.#begins) {
      this.#records += batch.count;
      if (this.#records >= this.#kernelFrom) this.#makeKernel();
      this.#begin();
    }
    this.#serving.consume(batch);
  }

  endDocument(bytes: number): void {
    if (this.#begins) this.#begin();
    this.#serving.endDocument(bytes);
    this.#isOpen = false;
  }

  get #serving(): PlainCollector | KernelCollector {
    return this.#second ?? this.#first;
  }

  #begin(): void {
    this.#begins = false;
    this.#isOpen = true;
    this.#serving.beginDocument();
  }

  #makeKernel(): void {
    if (this.#second !== null || this.#kernelFrom === Infinity) return;
    if (this.#isOpen && !this.#begins) return;
    this.#kernelFrom = Infinity;
    this.#second = KernelCollector.create(this.#names, this.#options);
  }
}
