/** The tokenizer in TypeScript alone: bytes of a document, in any pieces, to batches of tokens. */
import { DeclarationReader, IncompleteDeclaration } from '../dtd/declaration-reader.ts';
import { isSpace } from '../characters.ts';
import {
  IN_PROLOG,
  NEEDS_INPUT,
  STATE_CHANGED,
  type Outcome,
  TokenizerState,
  AT_START,
  IN_CDATA,
  IN_COMMENT,
  IN_CONTENT,
  IN_EPILOG,
  IN_INSTRUCTION,
  IN_NOTHING,
  type TokenizerSettings,
} from './state.ts';
import { usualDeclarationBytes } from '../encoding/detection.ts';
import { defaultEngineLimits, type EngineLimits } from '../../limits.ts';
import type { ExternalParts } from '../dtd/document-type.ts';
import { createEncodingReader, type EncodingReader, type Utf8Sink } from '../encoding/reader.ts';
import { createNameTable } from '../names/interned.ts';
import { scanContent, scanComment, scanInstructionData, scanOutsideRoot, scanCdata } from '../scan/markup.ts';
import { plainMemory, type TokenizerMemory } from './memory.ts';
import {
  FLAG_DECODED,
  RECORD_INTS,
  type NameTable,
  type TextLocation,
  type TokenBatch,
  type XmlTokenizer,
} from '../tokens.ts';

// The XML declaration at the start of a document.

const LEAD = '<?xml';

/**
 * Reads the XML declaration (XML 1.0 §2.8), if the document has one. In a document of version 1.1, the encoding reader normalises the
 * line ends of 1.1; any other version 1.x is read by the rules of 1.0.
 */
function scanXmlDeclaration(s: TokenizerState): Outcome {
  const { bytes, end } = s;
  const usual = usualDeclarationBytes(bytes);
  if (usual > 0 && usual <= end) return begin(s, usual);
  for (let i = 0; i < LEAD.length; i++) {
    if (i >= end && !s.final) return NEEDS_INPUT;
    if (bytes[i] !== LEAD.charCodeAt(i)) return begin(s, 0);
  }
  if (LEAD.length >= end && !s.final) return NEEDS_INPUT;
  if (!isSpace(bytes[LEAD.length]!)) return begin(s, 0);
  const reader = new DeclarationReader(s, bytes, LEAD.length, end, null);
  try {
    read(reader);
  } catch (error) {
    if (error instanceof IncompleteDeclaration) return NEEDS_INPUT;
    throw error;
  }
  return begin(s, reader.pos);
}

function begin(s: TokenizerState, pos: number): Outcome {
  s.pos = pos;
  s.stage = IN_PROLOG;
  return STATE_CHANGED;
}

function read(reader: DeclarationReader): void {
  reader.requireSpace();
  reader.expect('version');
  const version = readValue(reader);
  if (!/^1\.[0-9]+$/.test(version))
    reader.fail('xml_unsupported_version', `expected the version "1.0", found "${version}"`, reader.pos - 1);
  reader.state.isVersion11 = version === '1.1';
  let spaced = reader.skipSpace();
  if (spaced && reader.accept('encoding')) {
    const encoding = readValue(reader);
    if (!/^[A-Za-z][A-Za-z0-9._-]*$/.test(encoding))
      reader.fail('xml_syntax', `"${encoding}" is not the name of an encoding`, reader.pos - 1);
    spaced = reader.skipSpace();
  }
  if (spaced && reader.accept('standalone')) {
    const standalone = readValue(reader);
    if (standalone !== 'yes' && standalone !== 'no')
      reader.fail(
        'xml_syntax',
        `expected "yes" or "no" for standalone, found "${standalone}"`,
        reader.pos - 1,
      );
    reader.state.standalone = standalone === 'yes';
    reader.skipSpace();
  }
  if (!reader.accept('?>')) reader.failExpected('"?>" at the end of the XML declaration');
}

function readValue(reader: DeclarationReader): string {
  reader.skipSpace();
  reader.expect('=');
  reader.skipSpace();
  const { from, to } = reader.literal('a quoted value');
  return reader.text(from, to);
}

// The tokenizer.

export interface XmlTokenizerOptions {
  /** names interned so far, shared between documents; a new table without it */
  readonly names?: NameTable;
  readonly limits?: EngineLimits;
  /** named in errors */
  readonly fileName?: string;
  /** line and column of the document in its file, from 1, which errors and places are counted from; default 1, 1 */
  readonly start?: Pick<TextLocation, 'line' | 'column'>;
  /** also report comments and processing instructions */
  readonly comments?: boolean;
  /** encoding known from outside the document; takes precedence over the byte order mark and the XML declaration */
  readonly encoding?: string;
  /** bytes in memory at a time, unless one token is longer; default 64 KiB */
  readonly windowBytes?: number;
  /** reads the parts outside of the document: its external DTD subset and external entities; absent: none are read */
  readonly external?: ExternalParts | undefined;
  readonly onBatch: (batch: TokenBatch) => void;
}

const WINDOW_BYTES: number = 64 * 1024;

/** Reads the content of the root element as far as possible. */
type ScanContent = (s: TokenizerState) => Outcome;

/**
 * Creates a non-validating XML 1.0 (fifth edition) processor with Namespaces in XML 1.0, over bytes in any encoding, as a push source of
 * token batches. Memory does not depend on the document's length. External entities and the external DTD subset are read if `external`
 * provides them. Documents of version 1.1 are read by the rules of 1.0. After an `InputError` the tokenizer must not be used.
 */
export function createXmlTokenizer(options: XmlTokenizerOptions): XmlTokenizer {
  return createTokenizerOn(new TokenizerState(settingsOf(options, plainMemory)), scanContent, options);
}

/** Returns the settings for the options. Missing options have their defaults. */
export function settingsOf(
  options: XmlTokenizerOptions,
  memory: TokenizerMemory,
  maxWindowBytes: number = Infinity,
): TokenizerSettings {
  return {
    names: options.names ?? createNameTable(),
    limits: options.limits ?? defaultEngineLimits,
    fileName: options.fileName,
    start: options.start,
    comments: options.comments ?? false,
    windowBytes: Math.min(options.windowBytes ?? WINDOW_BYTES, maxWindowBytes),
    memory,
    external: options.external,
    onBatch: options.onBatch,
  };
}

/** Does the same as `createXmlTokenizer`, on a given state that has read no document yet and with a given content scanner. */
export function createTokenizerOn(
  state: TokenizerState,
  scanContent: ScanContent,
  { encoding }: Pick<XmlTokenizerOptions, 'encoding'>,
): XmlTokenizer {
  return new StateTokenizer(state, scanContent, encoding);
}

/** A class because one is created for every document, even a small one: its own closures and getters would cost more than their work. */
class StateTokenizer implements XmlTokenizer, Utf8Sink {
  readonly names: NameTable;
  bytesRead = 0;
  readonly #state: TokenizerState;
  readonly #scanContent: ScanContent;
  readonly #encodingReader: EncodingReader;

  constructor(state: TokenizerState, scanContent: ScanContent, encoding: string | undefined) {
    this.names = state.settings.names;
    this.#state = state;
    this.#scanContent = scanContent;
    this.#encodingReader = createEncodingReader(encoding, this);
  }

  write(chunk: Uint8Array): void {
    this.bytesRead += chunk.length;
    this.#encodingReader.write(chunk);
  }

  room(): Uint8Array | null {
    if (!this.#encodingReader.passesOn) return null;
    if (this.#state.windowRoom === 0) makeRoom(this.#state, this.#scanContent);
    return this.#state.room();
  }

  filled(length: number): void {
    this.bytesRead += length;
    this.#state.received(length);
  }

  end(): void {
    const state = this.#state;
    this.#encodingReader.end();
    state.final = true;
    scan(state, this.#scanContent);
    checkComplete(state);
  }

  locate(recordIndex: number): TextLocation {
    const { events, sources } = this.#state;
    const n = recordIndex * RECORD_INTS;
    const isDecoded = (events[n]! & FLAG_DECODED) !== 0;
    return this.#state.locate(isDecoded ? sources[recordIndex]! : events[n + 2]!);
  }

  /** Called by the reader of encodings, like `skip` and `fail`. */
  take(bytes: Uint8Array, from: number, to: number): void {
    feed(this.#state, this.#scanContent, bytes, from, to);
  }

  skip(bytes: number): void {
    this.#state.locations.skip(bytes);
  }

  fail(code: string, message: string): never {
    const state = this.#state;
    scan(state, this.#scanContent);
    return state.fail(state.end, code, message);
  }
}

/** Fills the window; scans it whenever it is full, so that pieces of any size cost the same. */
function feed(
  s: TokenizerState,
  scanContent: ScanContent,
  bytes: Uint8Array,
  from: number,
  to: number,
): void {
  let at = from;
  while (at < to) {
    if (s.windowRoom === 0) makeRoom(s, scanContent);
    const taken = Math.min(s.windowRoom, to - at);
    s.bytes.set(bytes.subarray(at, at + taken), s.end);
    s.received(taken);
    at += taken;
  }
}

function makeRoom(s: TokenizerState, scanContent: ScanContent): void {
  scan(s, scanContent);
  s.shiftWindow();
}

/** Scans the window as far as possible, and passes on the records. */
function scan(s: TokenizerState, scanContent: ScanContent): void {
  s.bytes[s.end] = 0;
  for (;;) {
    if (step(s, scanContent) !== NEEDS_INPUT) continue;
    if (!s.inEntity) break;
    checkEntityComplete(s);
    s.leaveEntity();
  }
  s.flush();
}

function step(s: TokenizerState, scanContent: ScanContent): Outcome {
  switch (s.inside) {
    case IN_CDATA:
      return scanCdata(s);
    case IN_COMMENT:
      return scanComment(s, s.pos);
    case IN_INSTRUCTION:
      return scanInstructionData(s, s.pos, '');
    default:
  }
  if (s.stage === IN_CONTENT) return scanContent(s);
  return s.stage === AT_START ? scanXmlDeclaration(s) : scanOutsideRoot(s);
}

/** An entity's replacement text must be content by itself (XML 1.0 §4.3.2). */
function checkEntityComplete(s: TokenizerState): void {
  if (s.pos < s.end || s.inside !== IN_NOTHING)
    s.fail(s.pos, 'xml_unbalanced_entity', 'markup that begins in an entity must end in it');
  if (s.depth > s.floor) {
    const open = s.raw.interner.text(s.stackRaw[s.depth]!);
    s.fail(s.pos, 'xml_unbalanced_entity', `the element "${open}" begins in an entity and must end in it`);
  }
}

function checkComplete(s: TokenizerState): void {
  if (s.stage === IN_EPILOG && s.inside === IN_NOTHING && s.pos >= s.end) return;
  const code = 'xml_unexpected_end';
  if (s.inside === IN_COMMENT) s.fail(s.end, code, 'the document ends inside a comment: expected "-->"');
  if (s.inside === IN_CDATA) s.fail(s.end, code, 'the document ends inside a CDATA section: expected "]]>"');
  if (s.inside === IN_INSTRUCTION)
    s.fail(s.end, code, 'the document ends inside a processing instruction: expected "?>"');
  if (s.pos < s.end) s.fail(s.end, code, `the document ends inside ${describeUnfinished(s)}`);
  if (s.receivedBytes === 0) s.fail(s.end, code, 'the document is empty');
  if (s.stage !== IN_CONTENT) s.fail(s.end, code, 'the document ends without a root element');
  const open = s.raw.interner.text(s.stackRaw[s.depth]!);
  s.fail(s.end, code, `the document ends inside the element "${open}": expected </${open}>`);
}

function describeUnfinished(s: TokenizerState): string {
  const lead = s.text(s.pos, Math.min(s.end, s.pos + 9));
  if (lead.startsWith('<!--')) return 'a comment: expected "-->"';
  if (lead.startsWith('<!DOCTYPE')) return 'the document type declaration';
  if (lead.startsWith('<![')) return 'a CDATA section: expected "]]>"';
  if (lead.startsWith('<?')) return 'a processing instruction: expected "?>"';
  if (lead.startsWith('</')) return 'an end tag: expected ">"';
  if (lead.startsWith('<')) return 'a start tag: expected ">"';
  return lead.startsWith('&') ? 'a reference: expected ";"' : 'a character';
}
