/** The kernel of the tokeniser in WebAssembly, and the memory it shares with the scanners of TypeScript (layout: src/engine/xml/kernel/layout.ts). */
import { LocationCounter } from '../text-location.ts';
import {
  AT_START,
  IN_NOTHING,
  type TokenizerSettings,
  TokenizerState,
  DECODED_BATCH_BYTES,
} from '../tokenizer/state.ts';
import { compileModule } from '../../compile-module.ts';
import type { ByteInterner } from '../names/interned.ts';
import { nameClass } from '../characters.ts';
import type { TokenizerMemory } from '../tokenizer/memory.ts';
import {
  WINDOW,
  END,
  POS,
  EVENTS,
  COUNT,
  FLUSH_AT,
  EVENTS_LENGTH,
  DECODED,
  DECODED_END,
  DECODED_FULL,
  SOURCES,
  DEPTH,
  STACK_CAPACITY,
  STACK_RAW,
  STACK_NAME,
  STACK_CONTEXT,
  CONTEXT,
  PREDICTOR,
  SERIAL,
  ARENA,
  STARTS,
  ENDS,
  SLOTS,
  SLOT_MASK,
  HASHES,
  KINDS,
  ELEMENT_CONTEXTS,
  ELEMENT_NAMES,
  ATTRIBUTE_NAMES,
  SEEN_IN,
  NEXT_ATTRIBUTES,
  NEXT_ELEMENTS,
  EXPANDED_SEEN_IN,
  EXPANDED_LENGTH,
  NAME_CLASS,
  MAX_TEXT,
  MAX_ATTRIBUTES,
  TEXT_START,
  TEXT_AT,
  TAGS,
  GAPS,
  CONTROL_SLOTS,
  KERNEL_WINDOW_BYTES,
  PAGE_BYTES,
  PAGES,
  SCAN_KERNEL_BYTES,
} from './layout.ts';
import { scanContentWasm } from './scan-wasm.ts';

// Reuse of a state for one document after another: the names that it has learnt, and its memory, are made only once.

/** The most that a state may have learnt and still be reused for the next document. Most states learn far less. */
const keptNames = 1000;
const keptContexts = 256;
/** start tags, whose serials are 32-bit integers */
const keptSerial = 2 ** 30;

/**
 * True if the state may be reused for the next document. The kept data is small compared to the limits of a document's names. Only for a
 * document that ended without a fault.
 */
function isReusable({ raw, contexts, resolved, documentType, inEntity, serial }: TokenizerState): boolean {
  return (
    documentType === null &&
    !inEntity &&
    raw.interner.size <= keptNames &&
    raw.interner.longNames + contexts.longUris === 0 &&
    contexts.size <= keptContexts &&
    resolved.size <= keptNames &&
    serial < keptSerial
  );
}

/** True if a document with the settings `other` can be read with a state that has `own`. */
function areAlike(own: TokenizerSettings, other: TokenizerSettings): boolean {
  return (
    own.names === other.names &&
    own.limits === other.limits &&
    own.comments === other.comments &&
    own.windowBytes === other.windowBytes &&
    own.memory === other.memory
  );
}

/** Begins another document with compatible settings. Keeps names, namespace contexts and serials. */
function restart(s: TokenizerState, settings: TokenizerSettings): void {
  s.settings = settings;
  s.pos = 0;
  s.end = 0;
  s.final = false;
  s.floor = 0;
  s.count = 0;
  s.decodedEnd = 0;
  s.stage = AT_START;
  s.inside = IN_NOTHING;
  s.depth = 0;
  s.stackRaw[1] = 0;
  s.context = s.stackContext[0]!;
  s.predictor = 0;
  s.tagNames.length = 0;
  s.standalone = false;
  s.isVersion11 = false;
  s.expandedBytes = 0;
  s.receivedBytes = 0;
  s.externalBytes = 0;
  s.defaultedBytes = 0;
  s.runBytes = 0;
  s.emptyElement = false;
  s.entity = null;
  s.locations = new LocationCounter(settings.memory.countLineFeeds, settings.start);
}

// The kernel and its memory.

const NAMES = 8192;
const NAME_BYTES = 256 * 1024;
/** Bytes that the kernel keeps of each name's spelling in tags, in a layout of its own. */
const TAG_BYTES = 64;
const DEPTH_MAX = 1024;
const DECODED_BYTES = DECODED_BATCH_BYTES + 2 * KERNEL_WINDOW_BYTES;
/** Vectors are read and written beyond the end of an array. */
const MARGIN_BYTES = 32;
const int32Max = 0x7fffffff;

/** Serves one document at a time. */
export interface ScanKernel {
  readonly memory: TokenizerMemory;
  /** True if the kernel can continue with a state: all of it is still in the kernel's memory, and no rare feature is in use. */
  serves(s: TokenizerState): boolean;
  /** Reads content from the state as far as possible. Returns the reason for stopping. */
  scan(s: TokenizerState): number;
  readonly textStart: number;
  readonly textAt: number;
  /** Returns the state for a new document. Reuses that of the previous one if it was kept and fits. */
  begin(settings: TokenizerSettings): TokenizerState;
  /** Keeps the state of a document that ended without a fault, because its names are useful for the next one. */
  keep(s: TokenizerState): void;
  /** Forgets the document: the next one may begin. */
  reset(): void;
}

/** Returns the compiled kernel, or null if WebAssembly compiled from bytes, or its vectors, are not available. */
export function compileKernel(): WebAssembly.Module | null {
  try {
    return compileModule(scanContentWasm);
  } catch {
    return null;
  }
}

/** `memory`: memory of at least `SCAN_KERNEL_BYTES`, which others use after these bytes. Without it, the kernel creates its own. */
export function createScanKernel(module: WebAssembly.Module, memory?: WebAssembly.Memory): ScanKernel {
  return new SharedKernel(module, memory ?? new WebAssembly.Memory({ initial: PAGES, maximum: PAGES }));
}

class SharedKernel implements ScanKernel {
  readonly memory: TokenizerMemory;
  readonly #buffer: ArrayBuffer;
  readonly #control: Int32Array;
  readonly #scanContent: () => number;
  /** zeroed memory is allocated from the start, after the control block; other memory from the end */
  #zeroedEnd = PAGE_BYTES;
  #othersAt = SCAN_KERNEL_BYTES;
  // the arrays that the control block points to: another one in the state's place is one that has outgrown this memory
  #bytes: Uint8Array | null = null;
  #events: Int32Array | null = null;
  #decoded: Uint8Array | null = null;
  #stack: Int32Array | null = null;
  #kinds: Int32Array | null = null;
  #starts: Int32Array | null = null;
  #slots: Int32Array | null = null;
  #arena: Uint8Array | null = null;
  #interner: ByteInterner | null = null;
  #tags: Uint8Array | null = null;
  #expanded: Int32Array | null = null;
  /** state of the previous document */
  #kept: TokenizerState | null = null;

  constructor(module: WebAssembly.Module, memory: WebAssembly.Memory) {
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    this.#buffer = memory.buffer as ArrayBuffer;
    this.#control = new Int32Array(this.#buffer, 0, CONTROL_SLOTS);
    (exports['prepare'] as () => void)();
    this.#scanContent = exports['scanContent'] as () => number;
    const countLineFeeds = exports['countLineFeeds'] as (from: number, to: number) => number;
    this.memory = {
      names: NAMES,
      nameBytes: NAME_BYTES,
      depth: DEPTH_MAX,
      decodedBytes: DECODED_BYTES,
      ints: (length) => new Int32Array(this.#buffer, this.#allocateZeroed(length * 4), length),
      bytes: (length) => new Uint8Array(this.#buffer, this.#allocateZeroed(length), length),
      anyInts: (length) => new Int32Array(this.#buffer, this.#allocate(length * 4), length),
      anyBytes: (length) => new Uint8Array(this.#buffer, this.#allocate(length), length),
      countLineFeeds: ({ buffer, byteOffset }, from, to) =>
        buffer === this.#buffer ? countLineFeeds(byteOffset + from, byteOffset + to) : -1,
    };
    this.reset();
  }

  get textStart(): number {
    return this.#control[TEXT_START]!;
  }

  get textAt(): number {
    return this.#control[TEXT_AT]!;
  }

  begin(settings: TokenizerSettings): TokenizerState {
    const kept = this.#kept;
    this.#kept = null;
    if (kept !== null && areAlike(kept.settings, settings)) {
      restart(kept, settings);
      return kept;
    }
    if (kept !== null) this.reset();
    return new TokenizerState(settings);
  }

  keep(s: TokenizerState): void {
    if (isReusable(s) && this.serves(s)) this.#kept = s;
    else this.reset();
  }

  reset(): void {
    this.#kept = null;
    this.#control.fill(0);
    const seenNames = Math.min(this.#interner?.size ?? 0, NAMES);
    this.#tags?.fill(0, 0, seenNames * TAG_BYTES);
    new Uint8Array(this.#buffer, PAGE_BYTES, this.#zeroedEnd - PAGE_BYTES).fill(0);
    this.#bytes = null;
    this.#interner = null;
    this.#zeroedEnd = PAGE_BYTES;
    this.#othersAt = SCAN_KERNEL_BYTES;
    const classes = this.memory.bytes(nameClass.length);
    classes.set(nameClass);
    this.#control[NAME_CLASS] = classes.byteOffset;
    this.#control[GAPS] = this.memory.ints(NAMES * 2).byteOffset;
    // large, but only used and zeroed as far as the document has names
    this.#tags = this.memory.anyBytes(NAMES * TAG_BYTES);
    this.#control[TAGS] = this.#tags.byteOffset;
  }

  serves(s: TokenizerState): boolean {
    if (this.#bytes === null) this.#bind(s);
    const { raw } = s;
    return (
      s.bytes === this.#bytes &&
      s.events === this.#events &&
      s.decoded === this.#decoded &&
      s.stackRaw === this.#stack &&
      s.expandedSeenIn === this.#expanded &&
      raw.kinds === this.#kinds &&
      raw.interner.starts === this.#starts &&
      raw.interner.slots === this.#slots &&
      raw.interner.arena === this.#arena &&
      !s.hasAttributeLists
    );
  }

  scan(s: TokenizerState): number {
    const control = this.#control;
    control[END] = s.end;
    control[POS] = s.pos;
    control[COUNT] = s.count;
    control[DECODED_END] = s.decodedEnd;
    control[DEPTH] = s.depth;
    control[CONTEXT] = s.context;
    control[PREDICTOR] = s.predictor;
    control[SERIAL] = s.serial;
    const exit = this.#scanContent();
    s.pos = control[POS]!;
    s.count = control[COUNT]!;
    s.decodedEnd = control[DECODED_END]!;
    s.depth = control[DEPTH]!;
    s.context = control[CONTEXT]!;
    s.predictor = control[PREDICTOR]!;
    s.serial = control[SERIAL]!;
    return exit;
  }

  #allocateZeroed(bytes: number): number {
    const at = this.#zeroedEnd;
    this.#zeroedEnd = at + roundedUp(bytes);
    this.#checkRoom();
    return at;
  }

  #allocate(bytes: number): number {
    this.#othersAt -= roundedUp(bytes);
    this.#checkRoom();
    return this.#othersAt;
  }

  #checkRoom(): void {
    if (this.#zeroedEnd > this.#othersAt) throw new RangeError('the kernel’s memory is too small');
  }

  /** Before the first content of a document: its arrays are those that were allocated here. */
  #bind(s: TokenizerState): void {
    const control = this.#control;
    const { raw } = s;
    const { interner } = raw;
    if (s.bytes.buffer !== this.#buffer || interner.starts.buffer !== this.#buffer) return;
    this.#bytes = s.bytes;
    this.#interner = interner;
    this.#events = s.events;
    this.#decoded = s.decoded;
    this.#stack = s.stackRaw;
    this.#expanded = s.expandedSeenIn;
    this.#kinds = raw.kinds;
    this.#starts = interner.starts;
    this.#slots = interner.slots;
    this.#arena = interner.arena;
    control[WINDOW] = s.bytes.byteOffset;
    control[EVENTS] = s.events.byteOffset;
    control[FLUSH_AT] = s.flushAt;
    control[EVENTS_LENGTH] = s.events.length;
    control[DECODED] = s.decoded.byteOffset;
    control[DECODED_FULL] = DECODED_BATCH_BYTES;
    control[SOURCES] = s.sources.byteOffset;
    control[STACK_CAPACITY] = s.stackCapacity;
    control[STACK_RAW] = s.stackRaw.byteOffset;
    control[STACK_NAME] = s.stackName.byteOffset;
    control[STACK_CONTEXT] = s.stackContext.byteOffset;
    control[ARENA] = interner.arena.byteOffset;
    control[STARTS] = interner.starts.byteOffset;
    control[ENDS] = interner.ends.byteOffset;
    control[SLOTS] = interner.slots.byteOffset;
    control[SLOT_MASK] = interner.slots.length - 1;
    control[HASHES] = interner.hashes.byteOffset;
    control[KINDS] = raw.kinds.byteOffset;
    control[ELEMENT_CONTEXTS] = raw.elementContexts.byteOffset;
    control[ELEMENT_NAMES] = raw.elementNames.byteOffset;
    control[ATTRIBUTE_NAMES] = raw.attributeNames.byteOffset;
    control[SEEN_IN] = raw.seenIn.byteOffset;
    control[NEXT_ATTRIBUTES] = raw.nextAttributes.byteOffset;
    control[NEXT_ELEMENTS] = raw.nextElements.byteOffset;
    control[EXPANDED_SEEN_IN] = s.expandedSeenIn.byteOffset;
    control[EXPANDED_LENGTH] = s.expandedSeenIn.length;
    control[MAX_TEXT] = Math.min(s.limits.xmlMaxTextBytes, int32Max);
    control[MAX_ATTRIBUTES] = Math.min(s.limits.xmlMaxAttributes, s.events.length);
  }
}

function roundedUp(bytes: number): number {
  return Math.ceil((bytes + MARGIN_BYTES) / 16) * 16;
}
