/**
 * The shredder's kernel in WebAssembly, and the memory that it shares with src/engine/shred/shredder.ts and the tokeniser's kernel. The
 * kernel handles the common cases. At anything else it stops, src/engine/shred/shredder.ts handles that one event on the same memory, and
 * the kernel continues.
 */
import * as layout from './layout.ts';
import { sideTableDefinitions } from '../../model/side-tables.ts';
import { ByteBuffer } from '../byte-buffer.ts';
import {
  type EncodingName,
  rowFormFor,
  type RowForm,
  type JobIdentity,
  type RowOutput,
  type RowEncoder,
} from '../row-output.ts';
import { partText, type PartsOfFile, type PartProgress } from '../row-tag/parts.ts';
import type { KernelMemory } from './layout.ts';
import { compileModule } from '../../compile-module.ts';
import type { PlanEdge } from '../../model/relational-model.ts';
import type { TokenizerKernels } from '../../xml/tokenizer/fast.ts';
import type { TokenBatch } from '../../xml/tokens.ts';
import { compileKernel, createScanKernel, type ScanKernel } from '../../xml/kernel/instance.ts';
import { TAPE_BYTES, TapeInMemory, kernelsAround } from '../../xml/kernel/tape.ts';
import type { CompiledPlan } from '../compiled-plan.ts';
import type { WantedPrefixes } from '../walk/content-prefixes.ts';
import { FRAME_INTS, ROW_INTS, type ShredState } from '../open-elements.ts';
import { LearnedPlan } from './learned-plan.ts';
import { shredTapeWasm } from './shred-wasm.ts';

// Rows of `_documents` in the kernel's memory, for the parts of a larger document. The rows differ only in key, number and size.

const ROW_BYTES = 32 * 1024;
const PIECE_BYTES = 4 * 1024;
const PIECES = 4;
const QUOTE = 34;

/** Bytes that the rows need in the kernel's memory. */
const PART_DOCUMENTS_BYTES: number = ROW_BYTES + PIECE_BYTES + 8 * PIECES + 4 * layout.MARGIN_BYTES;

class PartDocuments {
  readonly #control: Int32Array;
  readonly #form: RowForm;
  readonly #rows: Uint8Array;
  readonly #pieces: Uint8Array;
  readonly #ranges: Int32Array;
  readonly #job: JobIdentity;
  #name: string | null = null;
  #loadedAt = '';
  #fits = false;

  constructor(encoding: EncodingName, job: JobIdentity, memory: KernelMemory) {
    const { control } = memory;
    this.#control = control;
    this.#form = rowFormFor(encoding, sideTableDefinitions.documents.columns);
    this.#job = job;
    this.#rows = memory.bytes(ROW_BYTES);
    this.#pieces = memory.bytes(PIECE_BYTES);
    this.#ranges = memory.ints(PIECES * 2);
    control[layout.DOCUMENTS] = this.#rows.byteOffset;
    control[layout.DOCUMENTS_CAPACITY] = ROW_BYTES;
    control[layout.DOCUMENT_PIECES] = this.#ranges.byteOffset;
  }

  /** The rows that follow are of these parts. False: there is no room for their name. */
  describe({ name, loadedAt }: Pick<PartsOfFile, 'name' | 'loadedAt'>): boolean {
    if (name === this.#name && loadedAt === this.#loadedAt) return this.#fits;
    this.#name = name;
    this.#loadedAt = loadedAt;
    const pieces = this.#piecesOf(name, loadedAt);
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    this.#fits = bytes <= PIECE_BYTES;
    if (!this.#fits) return false;
    let used = 0;
    for (const [index, piece] of pieces.entries()) {
      this.#pieces.set(piece, used);
      this.#ranges.set([this.#pieces.byteOffset + used, piece.length], index * 2);
      used += piece.length;
    }
    this.#control[layout.DOCUMENTS_ROOM] = bytes;
    return true;
  }

  /** Passes the rows to the output. Returns their number. */
  handTo(output: RowOutput): number {
    const count = this.#control[layout.DOCUMENTS_PENDING]!;
    if (count > 0) output.documents(this.#rows, this.#control[layout.DOCUMENTS_LENGTH]!, count);
    this.#control[layout.DOCUMENTS_LENGTH] = 0;
    this.#control[layout.DOCUMENTS_PENDING] = 0;
    return count;
  }

  #piecesOf(name: string, loadedAt: string): Uint8Array[] {
    const form = this.#form;
    const out = new ByteBuffer(1024);
    const ends: number[] = [];
    form.begin(out, 0);
    ends.push(out.length);
    const part = new TextEncoder().encode(partText(name, 0));
    form.text(out, 1, part, 0, part.length);
    // the number is at the end of the name, possibly before a quote
    const quotes = out.bytes[out.length - 1] === QUOTE ? 1 : 0;
    ends.push(out.length - 1 - quotes);
    form.nothing(out, 2);
    form.begin(out, 3);
    ends.push(out.length);
    form.ascii(out, 4, loadedAt);
    form.begin(out, 5);
    out.pushInteger(this.#job.idJob);
    form.ascii(out, 6, this.#job.jobUuid);
    form.end(out);
    ends.push(out.length);
    return ends.map((end, index) =>
      out.bytes.slice(index === 0 ? 0 : ends[index - 1]! + (index === 2 ? 1 : 0), end),
    );
  }
}

const FRAME_COUNT = 1024;
const ROW_COUNT = 1024;
const SLOT_INTS = 64 * 1024;
const ARENA_BYTES = 512 * 1024;
const TEXT_BYTES = 224 * 1024;
/** for the prefixes that are looked for, each with its length */
const PREFIX_BYTES = 1024;
const FIXED_BYTES =
  (FRAME_COUNT * FRAME_INTS + ROW_COUNT * ROW_INTS + SLOT_INTS) * 4 +
  ARENA_BYTES +
  TEXT_BYTES +
  TAPE_BYTES +
  PREFIX_BYTES +
  PART_DOCUMENTS_BYTES +
  32 * layout.MARGIN_BYTES;
const modes: Readonly<Record<EncodingName, number>> = {
  'copy-text': layout.MODE_COPY,
  tsv: layout.MODE_COPY,
  csv: layout.MODE_CSV,
  words: layout.MODE_WORDS,
  'json-lines': layout.MODE_JSON_LINES,
};
/** A plan that needs more is walked without the kernel. */
const MAX_PAGES = 4096;

interface ShredKernelOptions {
  readonly plan: CompiledPlan;
  readonly state: ShredState;
  readonly output: RowOutput;
  readonly encoder: RowEncoder;
  readonly encoding: EncodingName;
  /** name id of xsi:type */
  readonly xsiType: number;
  /** name id of xml:space */
  readonly xmlSpace: number;
  readonly job: JobIdentity;
}

/** Serves one shredder. */
export interface ShredKernel {
  /** The memory for tokens: a tokeniser that writes into it saves a copy. */
  readonly tokenizerKernels: TokenizerKernels;
  /**
   * Before the first batch of a document. `keyBase` is added to numbers of rows; `documentKey`, in digits, and `extra` are the values of the
   * columns of these roles.
   */
  beginDocument(keyBase: bigint, documentKey: string, extra: readonly (string | null)[]): void;
  /** Sets the prefixes that the kernel looks for. It leaves texts that use one of them to the TypeScript code. */
  lookForPrefixes(prefixes: WantedPrefixes): void;
  /** True if the kernel can read the batch at all. Makes the batch accessible to the kernel. */
  reaches(batch: TokenBatch): boolean;
  /** True if the batch is in the kernel's memory, so that the kernel can read parts there. */
  holds(batch: TokenBatch): boolean;
  /** True if the state is in the kernel's memory or can be brought there. */
  serves(): boolean;
  /**
   * Handles the records from `from` on, of `count`, until one that it does not support. Returns the index of that record. `scopeSize`:
   * namespace declarations in force.
   */
  run(from: number, count: number, scopeSize: number): number;
  /**
   * Does the same as `run` when no document is open: reads consecutive parts as long as they are alike, and writes their rows of
   * `_documents`. `lastDocument`: number of the previous document, if keys are numbers.
   */
  runParts(
    from: number,
    count: number,
    scopeSize: number,
    parts: PartsOfFile,
    lastDocument: number,
  ): PartProgress;
  /** The number of the last document that `runParts` has begun, and the base that is added to the numbers of its rows. */
  readonly lastPart: { readonly document: number; readonly keyBase: bigint };
  /** Returns the NOT NULL columns that the kernel's rows left empty for the first time. */
  takeNullAllowed(): (readonly [table: number, column: number])[];
  /** Learns the node of an element that TypeScript has opened, with its row in `table`, so that the kernel can handle its content. */
  learnOpened(node: number, table: number): void;
  /** Learns an edge to a child element. `label`: value of the element name column. */
  learnElement(parent: number, nameId: number, edge: PlanEdge, label: string | null): void;
  learnAttribute(node: number, nameId: number, column: number): void;
}

interface Exports {
  shred(from: number, count: number): number;
  shredParts(from: number, count: number): number;
  setFile(digits: number): void;
}

/** Returns null if WebAssembly compiled from bytes, or its vectors, are not available, or if the plan is too large. */
export function createShredKernel(options: ShredKernelOptions): ShredKernel | null {
  const { plan, output } = options;
  const perTable = 64 + output.bufferBytes + 2 * layout.MARGIN_BYTES;
  const bytes = FIXED_BYTES + LearnedPlan.bytesFor(plan, options.encoding) + plan.tables.length * perTable;
  const pages = 1 + Math.ceil((layout.CONTROL_AT + bytes) / layout.PAGE_BYTES);
  const scanModule = pages > MAX_PAGES ? null : compileKernel();
  if (scanModule === null) return null;
  try {
    // pages that are never touched cost nothing
    const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
    const module = compileModule(shredTapeWasm);
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    (exports['prepare'] as () => void)();
    return new SharedKernel(
      options,
      memory,
      exports as unknown as Exports,
      createScanKernel(scanModule, memory),
    );
  } catch {
    return null;
  }
}

class SharedKernel implements ShredKernel {
  readonly tokenizerKernels: TokenizerKernels;
  readonly #state: ShredState;
  readonly #output: RowOutput;
  readonly #exports: Exports;
  readonly #buffer: ArrayBuffer;
  readonly #control: Int32Array;
  readonly #keyBase: BigInt64Array;
  readonly #keyTexts: Int32Array;
  readonly #documentNumber: Float64Array;
  readonly #partDocuments: PartDocuments;
  readonly #fileDigits: Uint8Array;
  /** SHA-256 of the file, as far as the kernel knows it */
  #fileSha256: string | null = null;
  readonly #plan: LearnedPlan;
  #used = layout.CONTROL_AT + layout.PAGE_BYTES;
  // the state's arrays, here
  readonly #frames: Int32Array<ArrayBuffer>;
  readonly #rows: Int32Array<ArrayBuffer>;
  readonly #slots: Int32Array<ArrayBuffer>;
  readonly #arena: Uint8Array<ArrayBuffer>;
  readonly #text: Uint8Array<ArrayBuffer>;
  readonly #tape: TapeInMemory;
  readonly #prefixes: Uint8Array;

  constructor(
    { plan, state, output, encoder, encoding, xsiType, xmlSpace, job }: ShredKernelOptions,
    memory: WebAssembly.Memory,
    exports: Exports,
    scanKernel: ScanKernel,
  ) {
    this.#state = state;
    this.#output = output;
    this.#exports = exports;
    const buffer = memory.buffer as ArrayBuffer;
    this.#buffer = buffer;
    const control = new Int32Array(buffer, layout.CONTROL_AT, layout.CONTROL_SLOTS);
    this.#control = control;
    this.#keyBase = new BigInt64Array(buffer, layout.CONTROL_AT + layout.KEY_BASE * 4, 1);
    this.#documentNumber = new Float64Array(buffer, layout.CONTROL_AT + layout.DOCUMENT_NUMBER * 4, 1);
    const area: KernelMemory = {
      control,
      ints: (length) => new Int32Array(buffer, this.#allocate(length * 4), length),
      bytes: (length) => new Uint8Array(buffer, this.#allocate(length), length),
    };
    this.#frames = area.ints(FRAME_COUNT * FRAME_INTS);
    this.#rows = area.ints(ROW_COUNT * ROW_INTS);
    this.#slots = area.ints(SLOT_INTS);
    this.#arena = area.bytes(ARENA_BYTES);
    this.#text = area.bytes(TEXT_BYTES);
    this.#tape = new TapeInMemory({ ...area, buffer });
    this.#plan = new LearnedPlan(plan, { encoder, encoding }, area);
    this.#partDocuments = new PartDocuments(encoding, job, area);
    this.#fileDigits = area.bytes(64);
    const tableCount = plan.tables.length;
    control[layout.TABLE_COUNT] = tableCount;
    const lastNumbers = new Float64Array(buffer, this.#allocate(tableCount * 8), tableCount);
    lastNumbers.set(state.lastNumbers);
    state.lastNumbers = lastNumbers;
    const keyTexts = area.ints(tableCount * layout.KEY_TEXT_INTS);
    this.#keyTexts = keyTexts;
    const starts = area.ints(tableCount);
    const lengths = area.ints(tableCount);
    const pending = area.ints(tableCount);
    const buffers = Array.from({ length: tableCount }, () => area.bytes(output.bufferBytes));
    for (const [index, { byteOffset }] of buffers.entries()) starts[index] = byteOffset;
    output.moveTo(buffers, lengths, pending);
    control[layout.FRAMES] = this.#frames.byteOffset;
    control[layout.FRAME_CAPACITY] = FRAME_COUNT;
    control[layout.ROWS] = this.#rows.byteOffset;
    control[layout.ROW_CAPACITY] = ROW_COUNT;
    control[layout.SLOTS] = this.#slots.byteOffset;
    control[layout.SLOT_CAPACITY] = SLOT_INTS;
    control[layout.ARENA] = this.#arena.byteOffset;
    control[layout.ARENA_CAPACITY] = ARENA_BYTES;
    control[layout.TEXT] = this.#text.byteOffset;
    control[layout.TEXT_CAPACITY] = TEXT_BYTES;
    control[layout.LAST_NUMBERS] = lastNumbers.byteOffset;
    control[layout.KEY_TEXTS] = keyTexts.byteOffset;
    control[layout.OUT_STARTS] = starts.byteOffset;
    control[layout.OUT_LENGTHS] = lengths.byteOffset;
    control[layout.OUT_PENDING] = pending.byteOffset;
    control[layout.OUT_CAPACITY] = output.bufferBytes;
    control[layout.MODE] = modes[encoding];
    control[layout.SEPARATOR] = encoder.separator;
    control[layout.XSI_TYPE] = xsiType;
    control[layout.XML_SPACE] = xmlSpace;
    this.#prefixes = area.bytes(PREFIX_BYTES);
    control[layout.PREFIXES] = this.#prefixes.byteOffset;
    this.tokenizerKernels = kernelsAround(scanKernel);
  }

  beginDocument(keyBase: bigint, documentKey: string, extra: readonly (string | null)[]): void {
    if (this.#keyBase[0] !== keyBase) this.#keyTexts.fill(0);
    this.#keyBase[0] = keyBase;
    this.#plan.setDocument(documentKey);
    this.#plan.setExtra(extra);
  }

  reaches(batch: TokenBatch): boolean {
    if (!this.#tape.bring(batch)) return false;
    const { events, bytes, decoded } = this.#tape.offsets;
    this.#control[layout.EVENTS] = events;
    this.#control[layout.BYTES] = bytes;
    this.#control[layout.DECODED] = decoded;
    return true;
  }

  lookForPrefixes(prefixes: WantedPrefixes): void {
    let used = 0;
    let count = prefixes === 'any' ? -1 : prefixes.length;
    for (const prefix of prefixes === 'any' ? [] : prefixes) {
      if (prefix.length > 255 || used + 1 + prefix.length > PREFIX_BYTES) {
        count = -1;
        break;
      }
      this.#prefixes[used] = prefix.length;
      this.#prefixes.set(prefix, used + 1);
      used += 1 + prefix.length;
    }
    this.#control[layout.PREFIX_COUNT] = count;
  }

  holds(batch: TokenBatch): boolean {
    return this.#tape.holds(batch) && this.reaches(batch);
  }

  get lastPart(): { readonly document: number; readonly keyBase: bigint } {
    return { document: this.#documentNumber[0]!, keyBase: this.#keyBase[0]! };
  }

  serves(): boolean {
    const state = this.#state;
    if (this.#plan.isFull) return false;
    if (state.frames !== this.#frames) {
      if (state.depth * 2 > FRAME_COUNT) return false;
      this.#frames.set(state.frames.subarray(0, state.depth * FRAME_INTS));
      state.frames = this.#frames;
    }
    if (state.rows !== this.#rows) {
      if (state.rowTop * 2 > ROW_COUNT) return false;
      this.#rows.set(state.rows.subarray(0, (state.rowTop + 1) * ROW_INTS));
      state.rows = this.#rows;
      state.rowNumbers = new Float64Array(this.#buffer, this.#rows.byteOffset, this.#rows.length / 2);
    }
    if (state.slots !== this.#slots) {
      if (state.slotTop * 2 > SLOT_INTS) return false;
      this.#slots.set(state.slots.subarray(0, state.slotTop));
      state.slots = this.#slots;
    }
    return moveBack(state.arena, this.#arena) && moveBack(state.text, this.#text);
  }

  run(from: number, count: number, scopeSize: number): number {
    this.#enter(scopeSize);
    let next = from;
    while (this.#exports.shred(next, count) === layout.EXIT_TABLE_FULL) {
      this.#output.hand(this.#control[layout.FULL_TABLE]!);
      next = this.#control[layout.NEXT]!;
    }
    return this.#left();
  }

  runParts(
    from: number,
    count: number,
    scopeSize: number,
    parts: PartsOfFile,
    lastDocument: number,
  ): PartProgress {
    const control = this.#control;
    const rows = this.#partDocuments;
    if (!rows.describe(parts)) return { next: from, ended: 0, openFrom: -1, depth: 0 };
    this.#enter(scopeSize);
    this.#setFile(parts.sha256);
    control[layout.PART_NUMBER] = parts.number;
    control[layout.PART_SPACE] = parts.inherited.preservesSpace === true ? 1 : 0;
    this.#documentNumber[0] = lastDocument;
    let next = from;
    let ended = 0;
    while (this.#exports.shredParts(next, count) === layout.EXIT_TABLE_FULL) {
      const table = control[layout.FULL_TABLE]!;
      if (table === layout.DOCUMENTS_TABLE) ended += rows.handTo(this.#output);
      else this.#output.hand(table);
      next = control[layout.NEXT]!;
    }
    ended += rows.handTo(this.#output);
    next = this.#left();
    const { depth } = this.#state;
    // the keys of the open part's rows that TypeScript writes may not continue those of the previous part
    if (depth > 0 && parts.sha256 !== null) this.#keyTexts.fill(0);
    return { next, ended, openFrom: depth > 0 ? control[layout.PART_FROM]! : -1, depth };
  }

  #setFile(sha256: string | null): void {
    this.#control[layout.HASHED] = sha256 === null ? 0 : 1;
    if (sha256 === null || sha256 === this.#fileSha256) return;
    this.#fileSha256 = sha256;
    new TextEncoder().encodeInto(sha256, this.#fileDigits);
    this.#exports.setFile(this.#fileDigits.byteOffset);
  }

  #enter(scopeSize: number): void {
    const state = this.#state;
    const control = this.#control;
    control[layout.SCOPE_SIZE] = scopeSize;
    control[layout.DEPTH] = state.depth;
    control[layout.ROW_TOP] = state.rowTop;
    control[layout.SLOT_TOP] = state.slotTop;
    control[layout.ARENA_LENGTH] = state.arena.length;
    control[layout.TEXT_LENGTH] = state.text.length;
  }

  /** Returns the index of the first record that has not been handled. */
  #left(): number {
    const state = this.#state;
    const control = this.#control;
    state.depth = control[layout.DEPTH]!;
    state.rowTop = control[layout.ROW_TOP]!;
    state.slotTop = control[layout.SLOT_TOP]!;
    state.arena.length = control[layout.ARENA_LENGTH]!;
    state.text.length = control[layout.TEXT_LENGTH]!;
    return control[layout.NEXT]!;
  }

  takeNullAllowed(): (readonly [table: number, column: number])[] {
    if (this.#control[layout.RELAXED] === 0) return [];
    this.#control[layout.RELAXED] = 0;
    return this.#plan.takeNullAllowed();
  }

  learnOpened(node: number, table: number): void {
    this.#plan.learnNode(node);
    this.#plan.learnTable(table);
  }

  learnElement(parent: number, nameId: number, edge: PlanEdge, label: string | null): void {
    this.#plan.learnElement(parent, nameId, edge, label);
  }

  learnAttribute(node: number, nameId: number, column: number): void {
    this.#plan.learnAttribute(node, nameId, column);
  }

  #allocate(bytes: number): number {
    const at = this.#used;
    this.#used = at + Math.ceil((bytes + layout.MARGIN_BYTES) / 16) * 16;
    if (this.#used > this.#buffer.byteLength) throw new RangeError('the kernel’s memory is too small');
    return at;
  }
}

/** Moves rows that had outgrown the kernel’s memory back into it, once they fill less than half of it. */
function moveBack(buffer: ByteBuffer, home: Uint8Array<ArrayBuffer>): boolean {
  if (buffer.bytes === home) return true;
  if (buffer.length * 2 > home.length) return false;
  home.set(buffer.bytes.subarray(0, buffer.length));
  buffer.bytes = home;
  return true;
}
