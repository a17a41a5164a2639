/** The tree of paths in the memory of src/engine/infer/kernel/collect.as: made known to it step by step, and given back as src/engine/infer/path-tree.ts has it. */
import { knownChild, newFrame, newPathNode, pathParent, type Frame, type PathNode } from '../path-tree.ts';
import {
  isOtherAttribute,
  notInSchema,
  type DeclaredPlace,
  type DeclaredPlaces,
} from '../declared-places.ts';
import { isLess, sketchSize } from '../statistics.ts';
import { ALL_CLASSES } from '../values/classes.ts';
import { ValueCollector } from '../values/collector.ts';
import { isPlainNumber, startOf } from '../values/extremes.ts';
import * as layout from './layout.ts';
import { utf8Text } from '../../xml/utf8.ts';

const int32Max = 0x7fffffff;
const exactDigits = 15;
/** the most children or attributes of one element; TypeScript handles elements with more, and reports if there are too many */
const mostOfOne = 4096;

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
export interface TreeOfPaths {
  readonly nodes: PathNode[];
  readonly roots: Map<number, PathNode>;
}

const encoder = new TextEncoder();

export class CollectedTree {
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
    if (ordinal >= mostOfOne) return null;
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
    if (index >= mostOfOne) return null;
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
