/** The state of a tokenizer, which its scanners share. */
import { codePointLabel, InputError, withVisibleCharacters } from '../../diagnostics.ts';
import type { EngineLimits } from '../../limits.ts';
import { grown, hashBytes, RawNames } from '../names/interned.ts';
import type { DocumentType, Entity, ExternalParts } from '../dtd/document-type.ts';
import { NamespaceContexts, ROOT_CONTEXT, XML_NAMESPACE } from '../names/namespace-contexts.ts';
import { LocationCounter } from '../text-location.ts';
import { beginsPage, htmlPage, isPageRoot, xhtmlNamespace } from './html-page.ts';
import type { TokenizerMemory } from './memory.ts';
import {
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
  KIND_END,
  KIND_MASK,
  KIND_START,
  KIND_TEXT,
} from '../tokens.ts';
import { codePointAt, sequenceLength, utf8Text } from '../utf8.ts';

/**
 * The result of a scanning step: the available input is used up, the state has changed and must be dispatched again (another stage or
 * another input), or the caller can continue at the present `pos`.
 */
export const NEEDS_INPUT = 0;
export const STATE_CHANGED = 1;
export const GOES_ON = 2;
export type Outcome = typeof NEEDS_INPUT | typeof STATE_CHANGED | typeof GOES_ON;

export const AT_START = 0;
export const IN_PROLOG = 1;
export const IN_CONTENT = 2;
export const IN_EPILOG = 3;
type Stage = typeof AT_START | typeof IN_PROLOG | typeof IN_CONTENT | typeof IN_EPILOG;

/** Constructs that may be suspended at a window border and continued later. */
export const IN_NOTHING = 0;
export const IN_COMMENT = 1;
export const IN_INSTRUCTION = 2;
export const IN_CDATA = 3;
type OpenConstruct = typeof IN_NOTHING | typeof IN_COMMENT | typeof IN_INSTRUCTION | typeof IN_CDATA;

/** Records of a batch, before one start tag makes it longer. */
const BATCH_RECORDS = 8000;
/** Additional records for the start tag that crosses the mark. */
const SPARE_RECORDS = 192;
/** Decoded bytes after which a batch is handed over early. */
export const DECODED_BATCH_BYTES = 256 * 1024;

/** A token that has to be held whole may be this long; text is never held whole. */
const MAX_TOKEN_BYTES = 256 * 1024 * 1024;

/** The input below an entity's replacement text, to return to at the text's end. */
interface SuspendedInput {
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly final: boolean;
  readonly floor: number;
  readonly resumeAt: number;
  readonly referenceAt: number;
  readonly entity: Entity;
}

export interface TokenizerSettings {
  readonly names: NameTable;
  readonly limits: EngineLimits;
  readonly fileName: string | undefined;
  /** position of the document's start in its file, from 1; undefined: the document begins the file */
  readonly start: Pick<TextLocation, 'line' | 'column'> | undefined;
  readonly comments: boolean;
  readonly windowBytes: number;
  readonly memory: TokenizerMemory;
  /** reads the parts outside of the document; absent: none are read */
  readonly external?: ExternalParts | undefined;
  readonly onBatch: (batch: TokenBatch) => void;
}

/**
 * The state that all scanning functions share. Plain mutable fields: the scanners copy them into locals and write these back before they
 * call anything that reads them.
 */
export class TokenizerState {
  settings: TokenizerSettings;
  readonly limits: EngineLimits;
  readonly comments: boolean;

  /** the window, or an entity's replacement text; `bytes[end]` is always 0 */
  bytes: Uint8Array;
  pos = 0;
  end = 0;
  /** nothing will follow `end` */
  final = false;
  /** depth at which the content of this input ends: 0 for the document, the depth of the reference for an entity */
  floor = 0;
  readonly suspended: SuspendedInput[] = [];

  events: Int32Array;
  /** ints in use */
  count = 0;
  readonly flushAt: number = BATCH_RECORDS * RECORD_INTS;
  decoded: Uint8Array;
  decodedEnd = 0;
  /** by record: offset in `bytes` that a decoded record came from */
  sources: Int32Array;

  stage: Stage = AT_START;
  inside: OpenConstruct = IN_NOTHING;
  readonly raw: RawNames;
  readonly contexts: NamespaceContexts = new NamespaceContexts();
  /** keyed by context * 2^26 + raw id: expanded name ids, for names that alternate between contexts */
  readonly resolved: Map<number, number> = new Map();
  depth = 0;
  /** open elements, from index 1; [0] holds the context outside the root */
  stackRaw: Int32Array;
  /** depth from which `growStack` has to be asked */
  stackCapacity: number;
  stackName: Int32Array;
  stackContext: Int32Array;
  /** namespace context in force */
  context: number;
  /** index at which the next element name is predicted */
  predictor = 0;
  /** serial of start tags, for the uniqueness of attributes; continues from document to document */
  serial = 0;
  /** if attribute lists apply: raw names of the tag's attributes, by record from 1 */
  readonly tagNames: number[] = [];
  /** by expanded name id: serial of the last start tag with that attribute */
  expandedSeenIn: Int32Array;
  documentType: DocumentType | null = null;
  /** the DTD's attribute lists may apply to some start tag */
  hasAttributeLists = false;
  standalone = false;
  /** the XML declaration says version 1.1 */
  isVersion11 = false;
  /** bytes that entity references have been replaced by, and bytes of the document seen so far */
  expandedBytes = 0;
  receivedBytes = 0;
  /** bytes of parts outside of the document that were read for it */
  externalBytes = 0;
  /** bytes of attributes that the DTD has supplied */
  defaultedBytes = 0;
  /** bytes of the text run that began in an earlier window */
  runBytes = 0;

  /** results of scanning functions that have more than one */
  scanEnd = 0;
  valueStart = 0;
  emptyElement = false;
  entity: Entity | null = null;

  private window: Uint8Array;
  private words: Uint32Array;
  locations: LocationCounter;

  constructor(settings: TokenizerSettings) {
    this.settings = settings;
    this.limits = settings.limits;
    this.comments = settings.comments;
    const { memory } = settings;
    this.window = memory.anyBytes(Math.ceil((settings.windowBytes + 1) / 4) * 4);
    this.words = new Uint32Array(this.window.buffer, this.window.byteOffset, this.window.length / 4);
    this.bytes = this.window;
    this.locations = new LocationCounter(memory.countLineFeeds, settings.start);
    this.events = memory.anyInts((BATCH_RECORDS + SPARE_RECORDS) * RECORD_INTS);
    this.sources = memory.anyInts(BATCH_RECORDS + SPARE_RECORDS);
    this.decoded = memory.anyBytes(memory.decodedBytes);
    this.raw = new RawNames(memory);
    this.stackRaw = memory.ints(memory.depth);
    this.stackName = memory.ints(memory.depth);
    this.stackContext = memory.ints(memory.depth);
    this.expandedSeenIn = memory.ints(memory.names);
    this.stackCapacity = Math.min(this.stackRaw.length, settings.limits.xmlMaxDepth + 1);
    const encoder = new TextEncoder();
    const uri = encoder.encode(XML_NAMESPACE);
    this.context = this.contexts.declare(
      ROOT_CONTEXT,
      this.internName(encoder.encode('xml')),
      this.contexts.internUri(uri, 0, uri.length),
    );
    this.stackContext[0] = this.context;
  }

  /** Raw name id of a name; -1 when it is not a qualified name. */
  internName(name: Uint8Array): number {
    return this.raw.intern(name, 0, name.length, hashBytes(name, 0, name.length));
  }

  get windowRoom(): number {
    return this.window.length - 1 - this.end;
  }

  /** Returns the free space after the bytes in the window. */
  room(): Uint8Array {
    return this.window.subarray(this.end, this.window.length - 1);
  }

  /** Notes that `length` bytes of the room have been filled. */
  received(length: number): void {
    this.end += length;
    this.receivedBytes += length;
  }

  /** Passes the records on. Their bytes may be overwritten afterwards. */
  flush(): void {
    if (this.count > 0) {
      this.measureRuns();
      const { events, count, bytes, decoded } = this;
      this.settings.onBatch({ events, count: count / RECORD_INTS, bytes, decoded });
    }
    this.count = 0;
    this.decodedEnd = 0;
  }

  private measureRuns(): void {
    const max = this.limits.xmlMaxTextBytes;
    const mayHoldOne = max < this.bytes.length + this.decodedEnd;
    this.runBytes = textRunAtEnd(this.events, this.count, this.runBytes, max, mayHoldOne);
    if (this.runBytes > max) this.failTextLimit(this.pos);
  }

  failTextLimit(at: number): never {
    return this.fail(at, 'xml_text_limit', `a value is longer than ${this.limits.xmlMaxTextBytes} bytes`);
  }

  /** Drops the scanned bytes from the window. Enlarges the window if most of it is one unfinished token. */
  shiftWindow(): void {
    const rest = this.end - this.pos;
    if (this.pos > 0) {
      this.locations.advance(this.window, this.words, this.pos);
      this.window.copyWithin(0, this.pos, this.end);
    }
    this.pos = 0;
    this.end = rest;
    if (rest * 2 > this.window.length) this.growWindow(rest);
  }

  private growWindow(rest: number): void {
    if (rest > MAX_TOKEN_BYTES)
      this.fail(
        0,
        'xml_token_limit',
        `a tag, declaration, comment or processing instruction is longer than ${MAX_TOKEN_BYTES} bytes`,
      );
    const larger = new Uint8Array(this.window.length * 2);
    larger.set(this.window.subarray(0, rest));
    this.window = larger;
    this.words = new Uint32Array(larger.buffer);
    this.bytes = larger;
  }

  /** Appends a record whose range is in `decoded`. */
  emitDecoded(kind: number, nameId: number, start: number, source: number): void {
    const record = this.count / RECORD_INTS;
    this.emit(kind, nameId, start, this.decodedEnd);
    this.sources[record] = source;
  }

  emit(kind: number, nameId: number, start: number, end: number): void {
    const n = this.count;
    if (n + RECORD_INTS > this.events.length) this.growEvents();
    const { events } = this;
    events[n] = kind;
    events[n + 1] = nameId;
    events[n + 2] = start;
    events[n + 3] = end;
    this.count = n + RECORD_INTS;
  }

  growExpanded(): void {
    this.expandedSeenIn = grown(this.expandedSeenIn);
  }

  growEvents(): void {
    this.events = grown(this.events);
    this.sources = grown(this.sources);
  }

  /** True when a batch should go out before more is decoded. */
  get batchIsFull(): boolean {
    return this.count >= this.flushAt || this.decodedEnd >= DECODED_BATCH_BYTES;
  }

  reserveDecoded(more: number): void {
    if (this.decodedEnd + more <= this.decoded.length) return;
    const larger = new Uint8Array(Math.max(this.decoded.length * 2, this.decodedEnd + more));
    larger.set(this.decoded.subarray(0, this.decodedEnd));
    this.decoded = larger;
  }

  appendByte(byte: number): void {
    this.reserveDecoded(1);
    this.decoded[this.decodedEnd++] = byte;
  }

  appendDecoded(bytes: Uint8Array, from: number, to: number): void {
    if (from >= to) return;
    this.reserveDecoded(to - from);
    if (to - from < 32) {
      const { decoded } = this;
      let out = this.decodedEnd;
      for (let i = from; i < to; i++) decoded[out++] = bytes[i]!;
      this.decodedEnd = out;
    } else {
      this.decoded.set(bytes.subarray(from, to), this.decodedEnd);
      this.decodedEnd += to - from;
    }
  }

  /** Opens room for one more level of the element stack. */
  growStack(at: number): void {
    const max = this.limits.xmlMaxDepth;
    if (this.depth > max)
      this.fail(at, 'xml_depth_limit', `elements are nested deeper than ${max} levels`, this.depth - 1);
    if (this.depth < this.stackRaw.length) return;
    this.stackRaw = grown(this.stackRaw);
    this.stackName = grown(this.stackName);
    this.stackContext = grown(this.stackContext);
    this.stackCapacity = Math.min(this.stackRaw.length, max + 1);
  }

  /** Continues in an entity's replacement text; `referenceAt` is the `&`, `resumeAt` the position after the reference. */
  enterEntity(entity: Entity, text: Uint8Array, referenceAt: number, resumeAt: number): void {
    this.flush();
    const { bytes, end, final, floor } = this;
    this.suspended.push({ bytes, end, final, floor, resumeAt, referenceAt, entity });
    entity.open = true;
    this.bytes = text;
    this.pos = 0;
    this.end = text.length - 1;
    this.final = true;
    this.floor = this.depth;
  }

  leaveEntity(): void {
    this.flush();
    const outer = this.suspended.pop()!;
    outer.entity.open = false;
    this.bytes = outer.bytes;
    this.pos = outer.resumeAt;
    this.end = outer.end;
    this.final = outer.final;
    this.floor = outer.floor;
  }

  get inEntity(): boolean {
    return this.suspended.length > 0;
  }

  text(from: number, to: number): string {
    return utf8Text(this.bytes.subarray(from, to));
  }

  /** Returns a description of the text at an offset, for a message. */
  shown(bytes: Uint8Array, at: number, end: number): string {
    if (at >= end) return 'the end';
    const length = sequenceLength(bytes, at, end);
    if (length <= 0) return `byte 0x${bytes[at]!.toString(16)}`;
    const codePoint = codePointAt(bytes, at);
    if (codePoint <= 0x20) return codePointLabel(codePoint);
    const character = String.fromCodePoint(codePoint);
    const visible = withVisibleCharacters(character);
    return visible === character ? `"${character}"` : visible;
  }

  /** Reports a sequence that `sequenceLength` refused. */
  failSequence(at: number, refusal: number): never {
    if (refusal === -2)
      return this.fail(at, 'xml_invalid_character', 'U+FFFE and U+FFFF are not XML characters');
    return this.fail(
      at,
      'xml_invalid_encoding',
      'the bytes are not valid UTF-8: expected text in UTF-8, or an XML declaration with the right encoding',
    );
  }

  /** Reports a byte that is not allowed in any text. */
  failCharacter(at: number): never {
    const label = codePointLabel(this.bytes[at]!);
    return this.fail(at, 'xml_invalid_character', `${label} is not an XML character`);
  }

  /** Place of an offset in `bytes`; inside an entity, that of the reference in the document. */
  locate(at: number): TextLocation {
    const reference = this.suspended[0];
    return this.locations.locate(
      this.window,
      reference === undefined ? at : reference.referenceAt,
      this.words,
    );
  }

  /** True if the text at `at`, which is not well-formed, begins like an HTML page. */
  private isHtmlPage(at: number): boolean {
    if (this.depth > 0 || this.stage === IN_EPILOG) {
      const isAlone = !this.contexts.declaresOther(this.stackContext[1]!, xhtmlNamespace);
      return isPageRoot(this.raw.interner.text(this.stackRaw[1]!), isAlone);
    }
    const lead = (from: number): string => this.text(from, Math.min(this.end, from + 200));
    return !this.inEntity && (beginsPage(lead(at)) || beginsPage(lead(this.pos)));
  }

  /** `depth`: of the element that it is in */
  fail(at: number, code: string, message: string, depth = this.depth): never {
    const entity = this.suspended.at(-1)?.entity;
    const page = this.isHtmlPage(at) ? `; ${htmlPage}` : '';
    const within = entity === undefined ? '' : ` (in the replacement text of the entity "${entity.name}")`;
    const { line, column } = this.locate(at);
    const path = openElementPath(this.raw, this.stackRaw, depth);
    throw new InputError({
      code,
      severity: 'error',
      message: message + within + page,
      ...(this.settings.fileName === undefined ? {} : { file: this.settings.fileName }),
      line,
      column,
      ...(path === undefined ? {} : { path }),
    });
  }
}

// The path of the open elements at the reader's position in a document, for a message.

/** the most steps of a path; only this many of the innermost elements are named */
const most = 12;

/**
 * The open elements as the document writes their names, such as `/orders/order/id`; undefined outside of the root element.
 * `stack`: name ids, from 1 to `depth`
 */
function openElementPath({ interner }: RawNames, stack: Int32Array, depth: number): string | undefined {
  if (depth === 0) return undefined;
  const first = Math.max(1, depth - most + 1);
  const names = [...stack.subarray(first, depth + 1)].map((name) => interner.text(name));
  return `${first > 1 ? '…/' : '/'}${names.join('/')}`;
}

// Measures the values that a consumer joins from several TEXT records, including across batches.

/**
 * Returns the bytes of text at the end of the batch that the next batch may continue, or the size of a value over `max`. `before`: the
 * result for the previous batch. `mayHoldOne`: `max` is so small that a value within the batch may exceed it; otherwise only the ends of
 * the batch are checked. `count`: ints of `events`.
 */
function textRunAtEnd(
  events: Int32Array,
  count: number,
  before: number,
  max: number,
  mayHoldOne: boolean,
): number {
  let run = before;
  let n = 0;
  for (; n < count; n += RECORD_INTS) {
    const kind = events[n]! & KIND_MASK;
    if (kind === KIND_TEXT) run += events[n + 3]! - events[n + 2]!;
    else if (kind === KIND_START || kind === KIND_END) {
      if (run > max) return run;
      run = 0;
      if (!mayHoldOne) break;
    }
  }
  if (n === count) return run;
  for (n = count - RECORD_INTS; n >= 0; n -= RECORD_INTS) {
    const kind = events[n]! & KIND_MASK;
    if (kind === KIND_START || kind === KIND_END) return run;
    if (kind === KIND_TEXT) run += events[n + 3]! - events[n + 2]!;
  }
  return run;
}
