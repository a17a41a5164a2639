/** A reader of characters for the declarations of a DTD and of XML, with their common parts: names, white space, literals. */
import {
  APOSTROPHE,
  CR,
  GREATER,
  LF,
  QUOTE,
  isPublicIdCharacter,
  isSpace,
  NAME_NONE,
  NAME_WIDE,
  isWideNamePart,
  nameClass,
  SPACE,
} from '../characters.ts';
import type { ExternalReference, AttributeDefinition } from './document-type.ts';
import { longNameLength, NAME_LOCAL } from '../names/interned.ts';
import { checkNameCount } from '../names/count-limits.ts';
import { scanNameEnd } from '../scan/qualified-name.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import { codePointAt, sequenceLength, utf8Text } from '../utf8.ts';
import { nameAttribute, unresolved } from '../names/resolve.ts';
import { countDefault } from '../scan/references.ts';
import { FLAG_DECODED, FLAG_DEFAULTED, KIND_ATTRIBUTE, RECORD_INTS } from '../tokens.ts';

/** Thrown when the window ends inside a declaration: it is read again, from its start, with more input. */
export class IncompleteDeclaration extends Error {}

/** The origin of a text outside of the document. */
interface TextOrigin {
  /** see `ExternalPart.base`; null: the document */
  readonly base: string | null;
  /**
   * XML 1.0, 2.8: in the external subset and in external parameter entities, references may be within declarations, and sections may be
   * conditional
   */
  readonly isExternal: boolean;
  /** number of the text's first line; null: unknown */
  readonly line: number | null;
}

const inDocument: TextOrigin = { base: null, isExternal: false, line: null };

/** Reads declarations, character by character: of the document (`faultOffset` null), of a part of the DTD outside of it, or of a parameter entity's replacement text. */
export class DeclarationReader {
  readonly origin: TextOrigin;
  readonly state: TokenizerState;
  readonly bytes: Uint8Array;
  readonly end: number;
  /** the place to report faults at, if not where they are found */
  readonly faultOffset: number | null;
  pos: number;

  constructor(
    state: TokenizerState,
    bytes: Uint8Array,
    pos: number,
    end: number,
    faultOffset: number | null,
    origin: TextOrigin = inDocument,
  ) {
    this.origin = origin;
    this.state = state;
    this.bytes = bytes;
    this.pos = pos;
    this.end = end;
    this.faultOffset = faultOffset;
  }

  get atEnd(): boolean {
    return this.pos >= this.end;
  }

  faultOffsetOf(at: number): number {
    return this.faultOffset ?? at;
  }

  fail(code: string, message: string, at: number = this.pos): never {
    if (at >= this.end && this.faultOffset === null) throw new IncompleteDeclaration();
    return this.state.fail(this.faultOffsetOf(at), code, `${message}${this.#whereOutside(at)}`);
  }

  #whereOutside(at: number): string {
    const { base, line } = this.origin;
    if (base === null) return '';
    if (line === null) return ` (in ${base})`;
    return ` (in ${base}, line ${this.lineOf(at)!})`;
  }

  /** Returns the line number of a place in the part outside of the document, or null if it is unknown. */
  lineOf(at: number): number | null {
    let { line } = this.origin;
    if (line !== null) for (let i = 0; i < at; i += 1) if (this.bytes[i] === LF) line += 1;
    return line;
  }

  failExpected(expected: string): never {
    return this.fail(
      'xml_syntax',
      `expected ${expected}, found ${this.state.shown(this.bytes, this.pos, this.end)}`,
    );
  }

  /** The byte at `pos`; the end of the window counts as a fault. */
  peek(expected: string): number {
    if (this.atEnd) this.failExpected(expected);
    return this.bytes[this.pos]!;
  }

  /** True if all of `literal` is at the present position. */
  stands(literal: string): boolean {
    for (let i = 0; i < literal.length; i++)
      if (this.pos + i >= this.end || this.bytes[this.pos + i] !== literal.charCodeAt(i)) return false;
    return true;
  }

  /** Reads `literal` if it is at the present position. */
  accept(literal: string): boolean {
    for (let i = 0; i < literal.length; i++) {
      if (this.pos + i >= this.end) {
        if (this.faultOffset === null) throw new IncompleteDeclaration();
        return false;
      }
      if (this.bytes[this.pos + i] !== literal.charCodeAt(i)) return false;
    }
    this.pos += literal.length;
    return true;
  }

  expect(literal: string): void {
    if (!this.accept(literal)) this.failExpected(`"${literal}"`);
  }

  skipSpace(): boolean {
    const from = this.pos;
    while (this.pos < this.end && isSpace(this.bytes[this.pos]!)) this.pos++;
    return this.pos > from;
  }

  requireSpace(): void {
    if (!this.skipSpace()) this.failExpected('white space');
  }

  /** `Name`. */
  name(): string {
    const from = this.pos;
    if (this.atEnd) this.failExpected('a name');
    const to = scanNameEnd(this.state, this.bytes, from, this.end, this.faultOffsetOf(from));
    if (to >= this.end) this.fail('xml_syntax', 'the text ends inside a declaration', this.end);
    if (to - from > this.state.limits.xmlMaxNameBytes)
      this.fail('xml_name_limit', `a name is longer than ${this.state.limits.xmlMaxNameBytes} bytes`);
    if (to - from > longNameLength) {
      this.state.internName(this.bytes.slice(from, to));
      checkNameCount(this.state, this.faultOffsetOf(from));
    }
    this.pos = to;
    return this.text(from, to);
  }

  /** A name without a colon, as Namespaces in XML 1.0 §7 wants for entities, notations and targets. */
  plainName(): string {
    const at = this.pos;
    const name = this.name();
    if (name.includes(':'))
      this.fail('xml_bad_qualified_name', `the name "${name}" must not have a colon here`, at);
    return name;
  }

  /** Raw name id of a qualified name. */
  qualifiedName(): number {
    const at = this.pos;
    const name = this.name();
    const bytes = new TextEncoder().encode(name);
    const id = this.state.internName(bytes);
    if (id < 0) this.fail('xml_bad_qualified_name', `"${name}" is not a qualified name`, at);
    return id;
  }

  /** `Nmtoken`. */
  nameToken(): void {
    const from = this.pos;
    while (this.pos < this.end) {
      const kind = nameClass[this.bytes[this.pos]!]!;
      if (kind === NAME_NONE) break;
      if (kind !== NAME_WIDE) {
        this.pos++;
        continue;
      }
      const length = this.sequence();
      if (!isWideNamePart(codePointAt(this.bytes, this.pos))) break;
      this.pos += length;
    }
    if (this.atEnd || this.pos === from) this.failExpected('a name token');
  }

  /** Length of the valid character at `pos`. */
  sequence(): number {
    const length = sequenceLength(this.bytes, this.pos, this.end);
    if (length === 0) this.fail('xml_invalid_encoding', 'the text ends inside a character', this.end);
    if (length < 0) this.state.failSequence(this.faultOffsetOf(this.pos), length);
    const byte = this.bytes[this.pos]!;
    if (byte < 0x20 && !isSpace(byte)) this.state.failCharacter(this.faultOffsetOf(this.pos));
    return length;
  }

  /** A quoted literal: sets `pos` behind it and returns the range between the quotes. */
  literal(what: string): { from: number; to: number } {
    const quote = this.peek(what);
    if (quote !== QUOTE && quote !== APOSTROPHE) this.failExpected(what);
    const from = ++this.pos;
    while (this.peek('a closing quote') !== quote) this.pos += this.sequence();
    return { from, to: this.pos++ };
  }

  publicId(): string {
    const { from, to } = this.literal('a quoted public identifier');
    for (let i = from; i < to; i++) {
      if (!isPublicIdCharacter(this.bytes[i]!))
        this.fail(
          'xml_syntax',
          `${this.state.shown(this.bytes, i, to)} is not allowed in a public identifier`,
          i,
        );
    }
    return this.text(from, to)
      .trim()
      .replaceAll(/[ \t\r\n]+/g, ' ');
  }

  /** Reads `ExternalID`, and `PublicID` if `systemOptional`. Returns null if there is none. */
  externalId(systemOptional: boolean): ExternalReference | null {
    const { base } = this.origin;
    if (this.accept('SYSTEM')) {
      this.requireSpace();
      return { publicId: null, systemId: this.#systemId(), base };
    }
    if (!this.accept('PUBLIC')) return null;
    this.requireSpace();
    const publicId = this.publicId();
    const spaced = this.skipSpace();
    if (systemOptional && this.peek('">"') === GREATER) return { publicId, systemId: null, base };
    if (!spaced) this.failExpected('white space');
    return { publicId, systemId: this.#systemId(), base };
  }

  #systemId(): string {
    const { from, to } = this.literal('a quoted system identifier');
    return this.text(from, to);
  }

  comment(): void {
    for (;;) {
      this.peek('"-->"');
      if (this.accept('--')) {
        if (!this.accept('>'))
          this.fail('xml_syntax', 'found "--" in a comment: expected "-->"', this.pos - 2);
        return;
      }
      this.pos += this.sequence();
    }
  }

  /** Reads an instruction after its `<?`. */
  instruction(): void {
    const at = this.pos;
    const target = this.plainName();
    if (/^xml$/i.test(target))
      this.fail('xml_syntax', 'an XML declaration is allowed only at the very start', at);
    if (this.accept('?>')) return;
    this.requireSpace();
    while (!this.accept('?>')) {
      this.peek('"?>"');
      this.pos += this.sequence();
    }
  }

  text(from: number, to: number): string {
    return utf8Text(this.bytes.subarray(from, to));
  }

  /** Returns the bytes of a range with line ends normalised, unless they already were. */
  normalised(from: number, to: number): Uint8Array {
    const range = this.bytes.subarray(from, to);
    if (this.faultOffset !== null || !range.includes(CR)) return range;
    return range
      .filter((byte, i) => byte !== CR || range[i + 1] !== LF)
      .map((byte) => (byte === CR ? LF : byte));
  }
}

/** A growing array of bytes. */
export class ByteList {
  #bytes: Uint8Array = new Uint8Array(256);
  #length = 0;

  add(bytes: Uint8Array, from: number, to: number): void {
    this.#reserve(to - from);
    this.#bytes.set(bytes.subarray(from, to), this.#length);
    this.#length += to - from;
  }

  addByte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = byte;
  }

  /** Returns all bytes, followed by one 0 byte. */
  withNul(): Uint8Array {
    const all = new Uint8Array(this.#length + 1);
    all.set(this.#bytes.subarray(0, this.#length));
    return all;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + more));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

// Applies the attribute-list declarations of a DTD to a start tag: white space of tokenised types, default values.

/** The size that is counted for a supplied attribute in addition to its value. */
const DEFAULT_OVERHEAD_BYTES = 16;

export function failAttributeCount(s: TokenizerState, at: number): never {
  const max = s.limits.xmlMaxAttributes;
  return s.fail(at, 'xml_attribute_limit', `an element has more than ${max} attributes`);
}

/**
 * Applies the DTD's attribute lists to the start tag whose attribute records begin at `first`: collapses white space in values
 * of tokenised types and appends defaults. Returns the kinds of names that still have to be resolved.
 */
export function applyAttributeLists(s: TokenizerState, element: number, first: number, at: number): number {
  const list = s.documentType?.attributeLists.get(element);
  if (list === undefined) return 0;
  for (let n = first, i = 1; n < s.count; n += RECORD_INTS, i++)
    if (list.definitions.get(s.tagNames[i]!)?.tokenized === true) collapse(s, n);
  let kinds = 0;
  for (const definition of list.defaults)
    if (s.raw.seenIn[definition.name] !== s.serial)
      kinds |= appendDefault(s, definition, definition.defaultValue!, at);
  if ((s.count - first) / RECORD_INTS > s.limits.xmlMaxAttributes) failAttributeCount(s, at);
  return kinds;
}

function appendDefault(
  s: TokenizerState,
  definition: AttributeDefinition,
  value: Uint8Array,
  at: number,
): number {
  const { raw } = s;
  const { name } = definition;
  const start = s.decodedEnd;
  countDefault(s, value.length + DEFAULT_OVERHEAD_BYTES, at);
  const nameKind = raw.kinds[name]!;
  let nameId = raw.attributeNames[name]!;
  if (nameKind !== NAME_LOCAL) nameId = name;
  else if (nameId < 0) nameId = nameAttribute(s, name);
  s.appendDecoded(value, 0, value.length);
  s.emitDecoded(KIND_ATTRIBUTE | FLAG_DECODED | FLAG_DEFAULTED | unresolved(nameKind), nameId, start, at);
  return nameKind;
}

/** Drops leading and trailing spaces of a value and makes one of several (XML 1.0 §3.3.3). */
function collapse(s: TokenizerState, record: number): void {
  const { events } = s;
  const bytes = (events[record]! & FLAG_DECODED) === 0 ? s.bytes : s.decoded;
  const value = collapseSpaces(bytes, events[record + 2]!, events[record + 3]!);
  if (value === null) return;
  if ((events[record]! & FLAG_DECODED) === 0) s.sources[record / RECORD_INTS] = events[record + 2]!;
  events[record] = events[record]! | FLAG_DECODED;
  events[record + 2] = s.decodedEnd;
  s.appendDecoded(value, 0, value.length);
  events[record + 3] = s.decodedEnd;
}

/** The collapsed value; null when it is the same. */
export function collapseSpaces(bytes: Uint8Array, from: number, to: number): Uint8Array | null {
  const out = new Uint8Array(to - from);
  let length = 0;
  let pending = false;
  for (let i = from; i < to; i++) {
    const byte = bytes[i]!;
    if (byte === SPACE) {
      pending = length > 0;
    } else {
      if (pending) out[length++] = SPACE;
      pending = false;
      out[length++] = byte;
    }
  }
  return length === to - from ? null : out.subarray(0, length);
}
