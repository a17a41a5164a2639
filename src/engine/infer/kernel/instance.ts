/**
 * The kernel of the collector in WebAssembly, and the tree of paths in its memory. The kernel handles the common cases and asks TypeScript
 * about all others.
 */
import { knownChild, newFrame, newPathNode, pathParent, type Frame, type PathNode } from '../path-tree.ts';
import {
  isOtherAttribute,
  notInSchema,
  type DeclaredPlace,
  type DeclaredPlaces,
} from '../declared-places.ts';
import { isLess, sketchSize } from '../statistics.ts';
import { ALL_CLASSES } from '../value-classes.ts';
import { ValueCollector, isPlainNumber, startOf } from '../value-collector.ts';
import * as layout from './layout.ts';
import { utf8Text } from '../../xml/utf8.ts';
import { compileModule } from '../../compile-module.ts';
import type { TokenizerKernels } from '../../xml/tokenizer/fast.ts';
import { RECORD_INTS, type TokenBatch } from '../../xml/tokens.ts';
import { compileKernel, createScanKernel, type ScanKernel } from '../../xml/kernel/instance.ts';
import { TapeInMemory, kernelsAround } from '../../xml/kernel/tape.ts';
import { collectTapeWasm } from './collect-wasm.ts';

// The tree of paths in the memory of src/engine/infer/kernel/collect.as. Nodes are added as documents need them, and the whole tree is read
// back in the form of src/engine/infer/path-tree.ts.

const int32Max = 0x7fffffff;
const exactDigits = 15;
/** the most children or attributes of one element; TypeScript handles elements with more, and reports if there are too many */
const maxOfOne = 4096;

/** The facts about a node outside of the kernel's memory. */
interface Known {
  readonly address: number;
  readonly nameId: number;
  readonly parent: Known | null;
  readonly declared: DeclaredPlace;
  readonly children: Map<number, number>;
  readonly targets: Known[];
  readonly attributes: Map<number, number>;
  attributeCapacity: number;
  nil: number;
}

/** The data with which another collector can continue. */
interface TreeOfPaths {
  readonly nodes: PathNode[];
  readonly roots: Map<number, PathNode>;
}

const encoder = new TextEncoder();

class CollectedTree {
  readonly #ints: Int32Array;
  readonly #floats: Float64Array;
  readonly #bytes: Uint8Array;
  readonly #samples: boolean;
  readonly #places: DeclaredPlaces;
  readonly #end: number;
  #used: number;
  /** nodes without a value: there is room for one each */
  #owed = 0;
  /** above all: its children are the roots */
  readonly #top: Known;
  readonly #nodes: Known[] = [];
  readonly #byAddress = new Map<number, Known>();

  /** The memory from `from` on is the tree's. */
  constructor(buffer: ArrayBuffer, from: number, samples: boolean, places: DeclaredPlaces) {
    this.#ints = new Int32Array(buffer);
    this.#floats = new Float64Array(buffer);
    this.#bytes = new Uint8Array(buffer);
    this.#samples = samples;
    this.#places = places;
    this.#used = from;
    this.#end = buffer.byteLength - layout.MARGIN_BYTES;
    this.#top = this.#newNode(-1, null, notInSchema)!;
    this.#nodes.length = 0;
    this.#owed = 0;
  }

  get topAddress(): number {
    return this.#top.address;
  }

  /** Returns the ordinal of the child, which is added if it is new, or null if there is no room for it. */
  child(address: number, nameId: number): number | null {
    const node = this.#byAddress.get(address)!;
    return node.children.get(nameId) ?? this.#newChild(node, nameId);
  }

  /** Its place, as of `child`. */
  attribute(address: number, nameId: number): number | null {
    const node = this.#byAddress.get(address)!;
    return node.attributes.get(nameId) ?? this.#newAttribute(node, nameId);
  }

  addNil(address: number): void {
    this.#byAddress.get(address)!.nil += 1;
  }

  /** Gives a node its values, which has none yet. */
  makeValue(address: number): void {
    this.#owed -= 1;
    this.#ints[(address + layout.NODE_VALUE) >> 2] = this.#newValue();
  }

  /** The bytes of a value, or of its start, against the least and the greatest so far. */
  noteExtremes(value: number, from: number, to: number): void {
    const text = startOf(this.#bytes, from, to);
    const none = this.#ints[(value + layout.LEAST_LENGTH) >> 2]! < 0;
    const [least, greatest] = none ? ['', ''] : this.#extremesOf(value);
    if (none || isLess(text, least))
      this.#keep(value, layout.LEAST, layout.LEAST_LENGTH, layout.LEAST_NUMBER, text);
    if (none || isLess(greatest, text))
      this.#keep(value, layout.GREATEST, layout.GREATEST_LENGTH, layout.GREATEST_NUMBER, text);
  }

  /** A copy as of now. */
  thaw(): TreeOfPaths {
    const nodes: PathNode[] = [];
    const nodeOf = new Map<Known, PathNode>();
    for (const [index, known] of this.#nodes.entries()) {
      const node = newPathNode(
        index,
        known.nameId,
        nodeOf.get(known.parent!) ?? null,
        known.declared,
        this.#samples,
      );
      nodes.push(node);
      nodeOf.set(known, node);
    }
    for (const [index, known] of this.#nodes.entries()) this.#fill(nodes[index]!, known, nodeOf);
    const roots = this.#top.targets.map((known) => nodeOf.get(known)!);
    return { nodes, roots: new Map(roots.map((root) => [root.nameId, root])) };
  }

  /** The `depth` open elements, from `frames` on in memory, on the nodes of a thawed tree. */
  thawFrames(frames: number, depth: number, { nodes }: TreeOfPaths): Frame[] {
    const index = new Map(this.#nodes.map(({ address }, at) => [address, at]));
    return Array.from({ length: depth }, (_, level) => {
      const at = frames + (level + 1) * layout.FRAME_BYTES;
      const int = (offset: number): number => this.#ints[(at + offset) >> 2]!;
      const frame = newFrame(nodes[index.get(int(layout.FRAME_NODE))!]!);
      const counts = int(layout.FRAME_COUNTS) >> 2;
      const seen = int(layout.FRAME_SEEN) >> 2;
      if (int(layout.FRAME_COUNTED) > 0)
        frame.counts = this.#ints.slice(counts, counts + int(layout.FRAME_COUNTED));
      if (int(layout.FRAME_WORDS) > 0) frame.seen = this.#ints.slice(seen, seen + int(layout.FRAME_WORDS));
      frame.last = int(layout.FRAME_LAST);
      frame.attributes = int(layout.FRAME_ATTRIBUTES);
      frame.hasText = (int(layout.FRAME_HAS_TEXT) & layout.HAS_TEXT) !== 0;
      frame.hasOther = (int(layout.FRAME_HAS_TEXT) & layout.HAS_OTHER) !== 0;
      frame.isInRun = (int(layout.FRAME_HAS_TEXT) & layout.IN_RUN) !== 0;
      frame.hasChildren = int(layout.FRAME_HAS_TEXT) >>> 16 !== 0;
      return frame;
    });
  }

  #fill(node: PathNode, known: Known, nodeOf: ReadonlyMap<Known, PathNode>): void {
    const { address } = known;
    const int = (offset: number): number => this.#ints[(address + offset) >> 2]!;
    const float = (offset: number): number => this.#floats[(address + offset) >> 3]!;
    node.count = float(layout.NODE_COUNT);
    node.documents = int(layout.NODE_DOCUMENTS);
    node.lastDocument = int(layout.NODE_LAST_DOCUMENT);
    node.withChildren = float(layout.NODE_WITH_CHILDREN);
    node.withText = float(layout.NODE_WITH_TEXT);
    node.mixed = float(layout.NODE_MIXED);
    node.ended = float(layout.NODE_ENDED);
    node.textRuns = float(layout.NODE_TEXT_RUNS);
    node.withOthers = float(layout.NODE_WITH_OTHERS);
    node.nil = known.nil;
    if (int(layout.NODE_VALUE) !== 0) this.#fillValue(node.text, int(layout.NODE_VALUE));
    const words = int(layout.NODE_WORDS);
    for (const [ordinal, target] of known.targets.entries()) {
      const least = this.#ints[(int(layout.NODE_LEAST) >> 2) + ordinal]!;
      const preceded = (int(layout.NODE_PRECEDED) >> 2) + ordinal * words;
      const nameId = this.#ints[(int(layout.NODE_CHILD_NAMES) >> 2) + ordinal]!;
      node.ordinals.set(nameId, ordinal);
      node.children.push({
        nameId,
        target: nodeOf.get(target)!,
        minOccurs: least === int32Max ? Infinity : least,
        maxOccurs: this.#ints[(int(layout.NODE_MOST) >> 2) + ordinal]!,
        precededBy: Array.from(this.#ints.subarray(preceded, preceded + words)),
      });
    }
    for (const [nameId, index] of known.attributes) {
      const at = int(layout.NODE_ATTRIBUTES) + index * layout.ATTRIBUTE_BYTES;
      const value = new ValueCollector(this.#samples);
      this.#fillValue(value, this.#ints[(at + layout.ATTRIBUTE_VALUE) >> 2]!);
      node.attributeIndexes.set(nameId, index);
      node.attributes.push({
        nameId,
        count: this.#floats[(at + layout.ATTRIBUTE_COUNT) >> 3]!,
        documents: this.#ints[(at + layout.ATTRIBUTE_DOCUMENTS) >> 2]!,
        lastDocument: this.#ints[(at + layout.ATTRIBUTE_LAST_DOCUMENT) >> 2]!,
        isOther: this.#ints[(at + layout.ATTRIBUTE_IS_OTHER) >> 2] !== 0,
        value,
      });
    }
  }

  #fillValue(value: ValueCollector, at: number): void {
    const int = (offset: number): number => this.#ints[(at + offset) >> 2]!;
    const [min, max] = int(layout.LEAST_LENGTH) < 0 ? [null, null] : this.#extremesOf(at);
    const sketch = (at + layout.SKETCH) >> 2;
    value.restore({
      count: this.#floats[(at + layout.VALUE_COUNT) >> 3]!,
      empty: this.#floats[(at + layout.VALUE_EMPTY) >> 3]!,
      classes: int(layout.CLASSES),
      minLength: int(layout.MIN_LENGTH),
      maxLength: int(layout.MAX_LENGTH),
      wholeDigits: int(layout.WHOLE_DIGITS),
      minFraction: int(layout.MIN_FRACTION),
      maxFraction: int(layout.MAX_FRACTION),
      min,
      max,
      sketch: Array.from(this.#ints.subarray(sketch, sketch + int(layout.SKETCH_SIZE)), (hash) => hash >>> 0),
      ...(int(layout.WITH_OFFSET) === 0 ? {} : { withOffset: int(layout.WITH_OFFSET) }),
    });
  }

  #extremesOf(value: number): [string, string] {
    const text = (at: number, lengthAt: number): string =>
      utf8Text(this.#bytes.subarray(value + at, value + at + this.#ints[(value + lengthAt) >> 2]!));
    return [text(layout.LEAST, layout.LEAST_LENGTH), text(layout.GREATEST, layout.GREATEST_LENGTH)];
  }

  #keep(value: number, at: number, lengthAt: number, numberAt: number, text: string): void {
    const bytes = encoder.encode(text);
    const isNumber = isPlainNumber(bytes, 0, bytes.length);
    const digits = text.replace(/[-.]/g, '').length;
    this.#bytes.set(bytes, value + at);
    this.#ints[(value + lengthAt) >> 2] = bytes.length;
    this.#ints[((value + lengthAt) >> 2) + 1] = isNumber ? (/^(?:0|[1-9]\d*)$/.test(text) ? 3 : 1) : 0;
    this.#floats[(value + numberAt) >> 3] = isNumber && digits <= exactDigits ? Number(text) : NaN;
  }

  #newChild(node: Known, nameId: number): number | null {
    const { address } = node;
    const ordinal = node.targets.length;
    if (ordinal >= maxOfOne) return null;
    if (ordinal === this.#ints[(address + layout.NODE_CHILD_CAPACITY) >> 2] && !this.#growChildren(address))
      return null;
    const isRoot = node === this.#top;
    const declared = this.#places.of(isRoot ? null : node.declared, nameId);
    const target = isRoot
      ? this.#newNode(nameId, null, declared)
      : (knownChild(node, nameId, declared, childOf) ??
        this.#newNode(nameId, pathParent(node, nameId), declared));
    if (target === null) return null;
    const set = (column: number, value: number): void => {
      this.#ints[(this.#ints[(address + column) >> 2]! >> 2) + ordinal] = value;
    };
    set(layout.NODE_CHILD_NAMES, nameId);
    set(layout.NODE_CHILD_TARGETS, target.address);
    // elements that have ended had none; those still open are counted when they end
    set(layout.NODE_LEAST, this.#floats[(address + layout.NODE_ENDED) >> 3]! > 0 ? 0 : int32Max);
    set(layout.NODE_MOST, 0);
    node.targets.push(target);
    node.children.set(nameId, ordinal);
    this.#ints[(address + layout.NODE_CHILD_COUNT) >> 2] = ordinal + 1;
    return ordinal;
  }

  #newNode(nameId: number, parent: Known | null, declared: DeclaredPlace): Known | null {
    const address = this.#allocate(layout.NODE_BYTES + layout.VALUE_BYTES);
    if (address === null) return null;
    // the value's share is given back: it is owed
    this.#used -= layout.VALUE_BYTES;
    this.#owed += 1;
    const known: Known = {
      address,
      nameId,
      parent,
      declared,
      children: new Map(),
      targets: [],
      attributes: new Map(),
      attributeCapacity: 0,
      nil: 0,
    };
    this.#nodes.push(known);
    this.#byAddress.set(address, known);
    return known;
  }

  #growChildren(address: number): boolean {
    const at = address >> 2;
    const before = this.#ints[at + (layout.NODE_CHILD_CAPACITY >> 2)]!;
    const wordsBefore = this.#ints[at + (layout.NODE_WORDS >> 2)]!;
    const capacity = Math.max(4, before * 2);
    const words = (capacity + 31) >>> 5;
    const moved = this.#allocate(4 * capacity * (4 + words));
    if (moved === null) return false;
    for (const [n, column] of childColumns.entries()) {
      const to = (moved >> 2) + n * capacity;
      const from = this.#ints[at + (column >> 2)]! >> 2;
      this.#ints.copyWithin(to, from, from + before);
      this.#ints.fill(column === layout.NODE_LEAST ? int32Max : 0, to + before, to + capacity);
      this.#ints[at + (column >> 2)] = to << 2;
    }
    const bits = (moved >> 2) + childColumns.length * capacity;
    const bitsBefore = this.#ints[at + (layout.NODE_PRECEDED >> 2)]! >> 2;
    this.#ints.fill(0, bits, bits + capacity * words);
    for (let ordinal = 0; ordinal < before; ordinal += 1) {
      const from = bitsBefore + ordinal * wordsBefore;
      this.#ints.copyWithin(bits + ordinal * words, from, from + wordsBefore);
    }
    this.#ints[at + (layout.NODE_PRECEDED >> 2)] = bits << 2;
    this.#ints[at + (layout.NODE_WORDS >> 2)] = words;
    this.#ints[at + (layout.NODE_CHILD_CAPACITY >> 2)] = capacity;
    return true;
  }

  #newAttribute(node: Known, nameId: number): number | null {
    const { address } = node;
    const index = node.attributes.size;
    if (index >= maxOfOne) return null;
    if (index === node.attributeCapacity) {
      const capacity = Math.max(4, index * 2);
      const moved = this.#allocate(capacity * layout.ATTRIBUTE_BYTES);
      if (moved === null) return null;
      const from = this.#ints[(address + layout.NODE_ATTRIBUTES) >> 2]!;
      this.#bytes.copyWithin(moved, from, from + index * layout.ATTRIBUTE_BYTES);
      this.#ints[(address + layout.NODE_ATTRIBUTES) >> 2] = moved;
      node.attributeCapacity = capacity;
    }
    if (this.#room < layout.VALUE_BYTES) return null;
    const at = this.#ints[(address + layout.NODE_ATTRIBUTES) >> 2]! + index * layout.ATTRIBUTE_BYTES;
    this.#bytes.fill(0, at, at + layout.ATTRIBUTE_BYTES);
    this.#ints[(at + layout.ATTRIBUTE_NAME) >> 2] = nameId;
    this.#ints[(at + layout.ATTRIBUTE_IS_OTHER) >> 2] = isOtherAttribute(node.declared, nameId) ? 1 : 0;
    this.#ints[(at + layout.ATTRIBUTE_VALUE) >> 2] = this.#newValue();
    node.attributes.set(nameId, index);
    this.#ints[(address + layout.NODE_ATTRIBUTE_COUNT) >> 2] = index + 1;
    return index;
  }

  /** There is room for it. */
  #newValue(): number {
    const at = this.#used;
    this.#used += layout.VALUE_BYTES;
    this.#ints[(at + layout.CLASSES) >> 2] = ALL_CLASSES;
    this.#ints[(at + layout.LEAST_LENGTH) >> 2] = -1;
    this.#ints[(at + layout.GREATEST_LENGTH) >> 2] = -1;
    this.#floats[(at + layout.LEAST_NUMBER) >> 3] = NaN;
    this.#floats[(at + layout.GREATEST_NUMBER) >> 3] = NaN;
    const recent = (at + layout.RECENT) >> 2;
    for (let slot = 0; slot < sketchSize; slot += 1) this.#ints[recent + slot] = slot + 1;
    return at;
  }

  get #room(): number {
    return this.#end - this.#used - this.#owed * layout.VALUE_BYTES;
  }

  /** Returns the address of unused memory, or null if there is not enough. */
  #allocate(bytes: number): number | null {
    const size = Math.ceil(bytes / 16) * 16;
    if (this.#room < size) return null;
    const at = this.#used;
    this.#used += size;
    return at;
  }
}

const childColumns = [
  layout.NODE_CHILD_NAMES,
  layout.NODE_CHILD_TARGETS,
  layout.NODE_LEAST,
  layout.NODE_MOST,
] as const;

function childOf(node: Known, nameId: number): Known | null {
  const ordinal = node.children.get(nameId);
  return ordinal === undefined ? null : node.targets[ordinal]!;
}

// The memory of the kernel, and calls of it.

const FRAME_CAPACITY = 1024;
const COUNT_INTS = 256 * 1024;
const SEEN_INTS = 64 * 1024;
/** bytes that are kept of a value which arrives in several pieces; no inference looks at more */
const TEXT_BYTES = 8 * 1024;
/** Pages that are never touched cost nothing: this is some 25,000 paths with values. */
const PAGES = 1024;

interface CollectKernelOptions {
  readonly samples: boolean;
  /** pages of memory, by default enough for thousands of paths */
  readonly pages?: number;
  /** returns false for attributes that describe the document instead of being content */
  readonly isContent: (nameId: number) => boolean;
  /** the attribute, at that record, says that the element is nil */
  readonly isNil: (nameId: number, batch: TokenBatch, record: number) => boolean;
  readonly places: DeclaredPlaces;
  readonly onNamespace: (batch: TokenBatch, record: number) => void;
}

/** Returns null if WebAssembly compiled from bytes, or its vectors, are not available. */
export function createCollectKernel(options: CollectKernelOptions): CollectKernel | null {
  const scanModule = compileKernel();
  if (scanModule === null) return null;
  try {
    const pages = options.pages ?? PAGES;
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const module = compileModule(collectTapeWasm);
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    (exports['prepare'] as () => void)();
    const collect = exports['collect'] as (from: number, count: number) => number;
    return new CollectKernel(options, memory, collect, createScanKernel(scanModule, memory));
  } catch {
    return null;
  }
}

export class CollectKernel {
  /** kernels for a tokeniser whose output need not be copied */
  readonly tokenizerKernels: TokenizerKernels;
  readonly #options: CollectKernelOptions;
  readonly #collect: (from: number, count: number) => number;
  readonly #buffer: ArrayBuffer;
  readonly #control: Int32Array;
  readonly #tape: TapeInMemory;
  readonly #tree: CollectedTree;
  readonly #frames: Int32Array;
  readonly #counts: Int32Array;
  readonly #seen: Int32Array;
  #used = layout.CONTROL_AT + layout.PAGE_BYTES;

  constructor(
    options: CollectKernelOptions,
    memory: WebAssembly.Memory,
    collect: (from: number, count: number) => number,
    scanKernel: ScanKernel,
  ) {
    this.#options = options;
    this.#collect = collect;
    const buffer = memory.buffer as ArrayBuffer;
    this.#buffer = buffer;
    this.#control = new Int32Array(buffer, layout.CONTROL_AT, 64);
    this.#tape = new TapeInMemory({
      buffer,
      ints: (length) => this.#ints(length),
      bytes: (length) => new Uint8Array(buffer, this.#allocate(length), length),
    });
    this.#frames = this.#ints((FRAME_CAPACITY * layout.FRAME_BYTES) / 4);
    this.#counts = this.#ints(COUNT_INTS);
    this.#seen = this.#ints(SEEN_INTS);
    const text = this.#allocate(TEXT_BYTES);
    this.#tree = new CollectedTree(buffer, this.#used, options.samples, options.places);
    this.#set(layout.FRAMES, this.#frames.byteOffset);
    this.#set(layout.FRAME_CAPACITY, FRAME_CAPACITY);
    this.#set(layout.COUNTS_END, this.#counts.byteOffset + COUNT_INTS * 4);
    this.#set(layout.SEEN_END, this.#seen.byteOffset + SEEN_INTS * 4);
    this.#set(layout.TEXT, text);
    this.#set(layout.TEXT_CAPACITY, TEXT_BYTES);
    this.#set(layout.SAMPLES, options.samples ? 1 : 0);
    this.tokenizerKernels = kernelsAround(scanKernel);
  }

  /** `document`: its number, from 1. */
  beginDocument(document: number): void {
    this.#set(layout.DOCUMENT, document);
    this.#set(layout.DEPTH, 0);
    this.#set(layout.TEXT_LENGTH, 0);
    this.#set(layout.COUNTS_TOP, this.#counts.byteOffset);
    this.#set(layout.SEEN_TOP, this.#seen.byteOffset);
    const top = this.#frames;
    top.fill(0, 0, layout.FRAME_BYTES / 4);
    top[layout.FRAME_NODE >> 2] = this.#tree.topAddress;
    top[layout.FRAME_COUNTS >> 2] = this.#counts.byteOffset;
    top[layout.FRAME_SEEN >> 2] = this.#seen.byteOffset;
    top[layout.FRAME_LAST >> 2] = -1;
  }

  /** Handles the records of a batch. Returns the index of the first one that it has no room for, or their number if it had room for all. */
  consume(batch: TokenBatch): number {
    if (!this.#tape.bring(batch)) return 0;
    const { events, bytes, decoded } = this.#tape.offsets;
    this.#set(layout.EVENTS, events);
    this.#set(layout.BYTES, bytes);
    this.#set(layout.DECODED, decoded);
    this.#set(layout.ANSWERED, 0);
    this.#set(layout.EXTREMES_SEEN, 0);
    let next = 0;
    for (;;) {
      const exit = this.#collect(next, batch.count);
      next = this.#get(layout.NEXT);
      if (exit === 0) return batch.count;
      if (exit === layout.EXIT_NAMESPACE) {
        this.#options.onNamespace(batch, next);
        next += 1;
      } else if (!this.#answer(exit, events + next * RECORD_INTS * 4, batch, next)) return next;
    }
  }

  /** Returns the collected data, so that a collector can continue without the kernel. */
  thaw(): TreeOfPaths & { readonly frames: Frame[] } {
    const tree = this.#tree.thaw();
    const frames = this.#tree.thawFrames(this.#frames.byteOffset, this.#get(layout.DEPTH), tree);
    return { ...tree, frames };
  }

  /** False: there is no room. */
  #answer(exit: number, event: number, batch: TokenBatch, record: number): boolean {
    switch (exit) {
      case layout.EXIT_ELEMENT:
        return this.#answerOrdinal(event, this.#tree.child(this.#innermost, this.#nameOf(event)));
      case layout.EXIT_ATTRIBUTE:
        return this.#answerOrdinal(event, this.#attribute(this.#nameOf(event), batch, record));
      case layout.EXIT_VALUE:
        this.#tree.makeValue(this.#get(layout.ASKED));
        return true;
      case layout.EXIT_EXTREMES:
        this.#tree.noteExtremes(
          this.#get(layout.ASKED),
          this.#get(layout.ASKED_FROM),
          this.#get(layout.ASKED_TO),
        );
        this.#set(layout.EXTREMES_SEEN, event);
        return true;
      default:
        return false;
    }
  }

  #attribute(nameId: number, batch: TokenBatch, record: number): number | null {
    if (this.#options.isNil(nameId, batch, record)) this.#tree.addNil(this.#innermost);
    return this.#options.isContent(nameId) ? this.#tree.attribute(this.#innermost, nameId) : -1;
  }

  #answerOrdinal(event: number, ordinal: number | null): boolean {
    if (ordinal === null) return false;
    this.#set(layout.ANSWERED, event);
    this.#set(layout.ANSWER, ordinal);
    return true;
  }

  #nameOf(event: number): number {
    return new Int32Array(this.#buffer, event, RECORD_INTS)[1]!;
  }

  /** Address of the node of the innermost open element. */
  get #innermost(): number {
    return this.#frames[(this.#get(layout.DEPTH) * layout.FRAME_BYTES + layout.FRAME_NODE) >> 2]!;
  }

  #get(slot: number): number {
    return this.#control[slot >> 2]!;
  }

  #set(slot: number, value: number): void {
    this.#control[slot >> 2] = value;
  }

  #ints(length: number): Int32Array {
    return new Int32Array(this.#buffer, this.#allocate(length * 4), length);
  }

  #allocate(bytes: number): number {
    const at = this.#used;
    this.#used = at + Math.ceil((bytes + layout.MARGIN_BYTES) / 16) * 16;
    if (this.#used > this.#buffer.byteLength) throw new RangeError('the kernel’s memory is too small');
    return at;
  }
}
