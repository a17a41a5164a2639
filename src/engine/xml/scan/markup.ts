/** Scans markup other than tags: comments, processing instructions, CDATA sections, and the content around the root element. */
import {
  CLOSE_BRACKET,
  CR,
  DASH,
  EXCLAMATION,
  GREATER,
  LESS,
  LF,
  QUESTION,
  AMPERSAND,
  NAME_START,
  NAME_WIDE,
  SLASH,
  isSpace,
  nameClass,
  textStops,
} from '../characters.ts';
import { scanDocumentType } from './document-type.ts';
import { scanNameEnd } from './qualified-name.ts';
import { scanCdata } from './text.ts';
import {
  GOES_ON,
  IN_COMMENT,
  IN_CONTENT,
  IN_EPILOG,
  IN_INSTRUCTION,
  IN_NOTHING,
  IN_PROLOG,
  NEEDS_INPUT,
  STATE_CHANGED,
} from '../tokenizer/state.ts';
import type { Outcome, TokenizerState } from '../tokenizer/state.ts';
import { FLAG_DECODED, KIND_COMMENT, KIND_INSTRUCTION } from '../tokens.ts';
import { codePointAt, sequenceLength, skipMultiByte } from '../utf8.ts';

const BYTE_ORDER_MARK = 0xfeff;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

const encoder = new TextEncoder();
const COMMENT_START = encoder.encode('<!--');
const CDATA_START = encoder.encode('<![CDATA[');
const DOCTYPE_START = encoder.encode('<!DOCTYPE');

/** Returns 1 if `literal` is at `at`, 0 if not, and -1 if the input ends before that is known. */
export function matches(s: TokenizerState, at: number, literal: Uint8Array): number {
  for (let i = 0; i < literal.length; i++) {
    if (at + i >= s.end) return -1;
    if (s.bytes[at + i] !== literal[i]) return 0;
  }
  return 1;
}

/** `<!` or `<?` within the root element. */
export function scanMarkup(s: TokenizerState): Outcome {
  const { bytes, pos } = s;
  if (bytes[pos + 1] === QUESTION) return scanInstruction(s);
  const comment = matches(s, pos, COMMENT_START);
  if (comment > 0) return scanComment(s, pos + 4);
  const cdata = matches(s, pos, CDATA_START);
  if (cdata > 0) {
    s.pos = pos + 9;
    return scanCdata(s);
  }
  if (comment < 0 || cdata < 0) return NEEDS_INPUT;
  return s.fail(pos, 'xml_syntax', 'expected "<!--" or "<![CDATA[" after "<!" in content');
}

/** Before and after the root element. */
export function scanOutsideRoot(s: TokenizerState): Outcome {
  const { bytes } = s;
  let { pos } = s;
  while (isSpace(bytes[pos]!)) pos++;
  s.pos = pos;
  if (pos >= s.end) return NEEDS_INPUT;
  if (bytes[pos] !== LESS) return failOutside(s, pos);
  if (pos + 1 >= s.end) return NEEDS_INPUT;
  const next = bytes[pos + 1]!;
  if (next === QUESTION) return scanInstruction(s);
  if (next === EXCLAMATION) {
    const comment = matches(s, pos, COMMENT_START);
    if (comment > 0) return scanComment(s, pos + 4);
    const doctype = matches(s, pos, DOCTYPE_START);
    if (doctype > 0) return scanDoctype(s);
    if (comment < 0 || doctype < 0) return NEEDS_INPUT;
    return failOutside(s, pos);
  }
  if (s.stage !== IN_PROLOG || next === SLASH) return failOutside(s, pos);
  s.stage = IN_CONTENT;
  return STATE_CHANGED;
}

function scanDoctype(s: TokenizerState): Outcome {
  if (s.stage === IN_EPILOG) failSecondDocument(s, s.pos);
  if (s.documentType !== null)
    s.fail(s.pos, 'xml_syntax', 'a document type declaration may stand only once, before the root element');
  return scanDocumentType(s) ? GOES_ON : NEEDS_INPUT;
}

/** Waits for the rest of a truncated character, because the fault must not depend on where the input is split. */
function failOutside(s: TokenizerState, at: number): Outcome {
  const refusal = sequenceLength(s.bytes, at, s.end);
  if (refusal === 0 && !s.final) return NEEDS_INPUT;
  if (refusal < 0) s.failSequence(at, refusal);
  const found = s.shown(s.bytes, at, s.end);
  const isMark = refusal > 0 && codePointAt(s.bytes, at) === BYTE_ORDER_MARK;
  if (s.stage !== IN_EPILOG) {
    const what = isMark
      ? ', a byte order mark, of which a document may begin with one: remove it'
      : s.bytes[at] === OPEN_BRACE || s.bytes[at] === OPEN_BRACKET
        ? ': this looks like JSON, and only XML is read'
        : '';
    return s.fail(at, 'xml_syntax', `expected the root element, found ${found}${what}`);
  }
  if (isMark || isStartTag(s, at)) failSecondDocument(s, at);
  return s.fail(
    at,
    'xml_content_after_root',
    `expected nothing but comments and processing instructions after the root element, found ${found}`,
  );
}

function isStartTag(s: TokenizerState, at: number): boolean {
  const kind = s.bytes[at] === LESS ? nameClass[s.bytes[at + 1]!] : undefined;
  return kind === NAME_START || kind === NAME_WIDE;
}

/** Reports that another document begins after the root element. */
function failSecondDocument(s: TokenizerState, at: number): never {
  return s.fail(
    at,
    'xml_second_document',
    'a second document begins here: --concatenated of xml2er reads each document of such a file by itself',
  );
}

/**
 * Scans a comment, from `from` on. Without `comments`, it may be suspended at a window border (`inside`) and continued later. With it,
 * the window holds the whole comment, as its record needs.
 */
export function scanComment(s: TokenizerState, from: number): Outcome {
  const { bytes, end } = s;
  let i = from;
  for (;;) {
    const c = bytes[i]!;
    if (c === DASH) {
      if (i + 2 >= end) return leave(s, IN_COMMENT, i);
      if (bytes[i + 1] === DASH) {
        if (bytes[i + 2] !== GREATER)
          s.fail(i, 'xml_syntax', 'found "--" in a comment: expected "-->", or no two dashes in a row');
        break;
      }
      i++;
    } else if (textStops[c] === 0 || c === LESS || c === AMPERSAND || c === CLOSE_BRACKET || c === CR) {
      i++;
    } else {
      const next = pastSpecial(s, i);
      if (next < 0) return leave(s, IN_COMMENT, i);
      i = next;
    }
  }
  if (s.comments) emitNormalised(s, KIND_COMMENT, 0, from, i);
  s.inside = IN_NOTHING;
  s.pos = i + 3;
  return GOES_ON;
}

/** A processing instruction; `pos` is at its `<?`. */
function scanInstruction(s: TokenizerState): Outcome {
  const { bytes, end, pos } = s;
  const nameEnd = scanNameEnd(s, bytes, pos + 2, end, pos + 2);
  if (nameEnd >= end) return NEEDS_INPUT;
  const target = s.text(pos + 2, nameEnd);
  checkTarget(s, target, pos + 2);
  const next = bytes[nameEnd]!;
  if (!isSpace(next)) {
    if (next !== QUESTION || (bytes[nameEnd + 1] !== GREATER && nameEnd + 1 < end))
      s.fail(
        nameEnd,
        'xml_syntax',
        `expected white space or "?>" after a processing instruction's target, found ${s.shown(bytes, nameEnd, end)}`,
      );
    if (nameEnd + 1 >= end) return NEEDS_INPUT;
  }
  let dataAt = nameEnd;
  while (isSpace(bytes[dataAt]!)) dataAt++;
  return scanInstructionData(s, dataAt, target);
}

/** Refuses `xml` and names with a colon (XML 1.0 §2.6, Namespaces in XML 1.0 §7). */
function checkTarget(s: TokenizerState, target: string, at: number): void {
  if (target === 'xml' && s.stage === IN_EPILOG) failSecondDocument(s, at - 2);
  if (/^xml$/i.test(target))
    s.fail(
      at,
      'xml_syntax',
      'an XML declaration may stand only at the very start, and no processing instruction may be named so',
    );
  if (target.includes(':'))
    s.fail(
      at,
      'xml_bad_qualified_name',
      `the target "${target}" of a processing instruction must not have a colon`,
    );
}

export function scanInstructionData(s: TokenizerState, from: number, target: string): Outcome {
  const { bytes, end } = s;
  let i = from;
  for (;;) {
    const c = bytes[i]!;
    if (c === QUESTION) {
      if (i + 1 >= end) return leave(s, IN_INSTRUCTION, i);
      if (bytes[i + 1] === GREATER) break;
      i++;
    } else if (textStops[c] === 0 || c === LESS || c === AMPERSAND || c === CLOSE_BRACKET || c === CR) {
      i++;
    } else {
      const next = pastSpecial(s, i);
      if (next < 0) return leave(s, IN_INSTRUCTION, i);
      i = next;
    }
  }
  if (s.comments) emitNormalised(s, KIND_INSTRUCTION, s.settings.names.intern('', target), from, i);
  s.inside = IN_NOTHING;
  s.pos = i + 2;
  return GOES_ON;
}

function leave(s: TokenizerState, construct: typeof IN_COMMENT | typeof IN_INSTRUCTION, at: number): Outcome {
  if (!s.comments) {
    s.inside = construct;
    s.pos = at;
  }
  return NEEDS_INPUT;
}

/** Past multi-byte sequences; -1 at the end of the input. */
function pastSpecial(s: TokenizerState, at: number): number {
  const { bytes, end } = s;
  if (at >= end) return -1;
  if (bytes[at]! < 0x80) s.failCharacter(at);
  const next = skipMultiByte(bytes, at, end);
  if (next > at) return next;
  const refusal = sequenceLength(bytes, at, end);
  return refusal === 0 ? -1 : s.failSequence(at, refusal);
}

function emitNormalised(s: TokenizerState, kind: number, nameId: number, from: number, to: number): void {
  const text = s.bytes.subarray(from, to);
  if (s.inEntity || !text.includes(CR)) {
    s.emit(kind, nameId, from, to);
    return;
  }
  const start = s.decodedEnd;
  s.reserveDecoded(to - from);
  for (let i = from; i < to; i++) {
    const byte = s.bytes[i]!;
    if (byte !== CR) s.appendByte(byte);
    else if (s.bytes[i + 1] !== LF) s.appendByte(LF);
  }
  s.emitDecoded(kind | FLAG_DECODED, nameId, start, from);
}
