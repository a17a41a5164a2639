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
  NAME_NONE,
  SPACE,
  TAB,
} from '../characters.ts';
import { scanNameEnd, scanName } from './qualified-name.ts';
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
  type Outcome,
  type TokenizerState,
  IN_CDATA,
} from '../tokenizer/state.ts';
import {
  FLAG_DECODED,
  KIND_COMMENT,
  KIND_INSTRUCTION,
  FLAG_WHITE_SPACE,
  KIND_END,
  KIND_START,
  KIND_TEXT,
} from '../tokens.ts';
import { codePointAt, sequenceLength, skipMultiByte } from '../utf8.ts';
import { DeclarationReader, IncompleteDeclaration } from '../dtd/declaration-reader.ts';
import { readExternalSubset } from '../dtd/external-subset.ts';
import { type ExternalReference, createDocumentType } from '../dtd/document-type.ts';
import { readSubset } from '../dtd/internal-subset.ts';
import { resolveElement } from '../names/resolve.ts';
import { scanAttributes, scanUnusualEndTag, appendCodePoint } from './tags.ts';
import { REFERENCE_CUT, REFERENCE_ENTITY, replacementText, scanReference } from './references.ts';

const BYTE_ORDER_MARK = 0xfeff;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

const encoder = new TextEncoder();
const COMMENT_START = encoder.encode('<!--');
const CDATA_START = encoder.encode('<![CDATA[');
const DOCTYPE_START = encoder.encode('<!DOCTYPE');

/** Returns 1 if `literal` is at `at`, 0 if not, and -1 if the input ends before that is known. */
function matches(s: TokenizerState, at: number, literal: Uint8Array): number {
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
    s.fail(s.pos, 'xml_syntax', 'a document type declaration is allowed only once, before the root element');
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
  const isLastMark = isMark && s.final && isBlank(s, at + 3);
  if (!isLastMark && (isMark || isStartTag(s, at))) failSecondDocument(s, at);
  const what = isLastMark ? ', a byte order mark, which may only begin a document: remove it' : '';
  return s.fail(
    at,
    'xml_content_after_root',
    `expected nothing but comments and processing instructions after the root element, found ${found}${what}`,
  );
}

/** Whether only white space follows. */
function isBlank({ bytes, end }: TokenizerState, from: number): boolean {
  return bytes.subarray(from, end).every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
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
      'an XML declaration is allowed only at the very start, and no processing instruction may have this name',
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

// The document type declaration.

/**
 * Reads the whole document type declaration at `pos`: its internal subset, and then the external one if it is available. Returns false,
 * without changes, if the input ends inside it.
 */
function scanDocumentType(s: TokenizerState): boolean {
  const { decodedEnd, expandedBytes, externalBytes } = s;
  let external: ExternalReference | null = null;
  let hasInternal = false;
  const reader = new DeclarationReader(s, s.bytes, s.pos + '<!DOCTYPE'.length, s.end, null);
  const documentType = createDocumentType();
  s.documentType = documentType;
  try {
    reader.requireSpace();
    reader.qualifiedName();
    const spaced = reader.skipSpace();
    const next = reader.peek('">"');
    if (next === 0x53 || next === 0x50) {
      if (!spaced) reader.failExpected('white space');
      external = reader.externalId(false);
      if (external === null) reader.failExpected('"SYSTEM", "PUBLIC", "[" or ">"');
      reader.skipSpace();
    }
    if (reader.accept('[')) {
      hasInternal = true;
      readSubset(reader, documentType, 0);
      reader.expect(']');
      reader.skipSpace();
    }
    reader.expect('>');
  } catch (error) {
    if (!(error instanceof IncompleteDeclaration)) throw error;
    s.documentType = null;
    s.decodedEnd = decodedEnd;
    s.expandedBytes = expandedBytes;
    s.externalBytes = externalBytes;
    return false;
  }
  if (external !== null) readExternalSubset(s, documentType, external, !hasInternal);
  s.hasAttributeLists = documentType.attributeLists.size > 0;
  s.pos = reader.pos;
  return true;
}

// The main loop of the portable tokenizer: tags and text of the root element.

/**
 * The hot loop: text, end tags and start tags without attributes. Everything else is handled by other functions, with the state written
 * back first, so that rare cases neither lengthen nor deoptimise this function.
 */
export function scanContent(s: TokenizerState): Outcome {
  const { bytes, end, raw, flushAt, floor, hasAttributeLists } = s;
  const { interner } = raw;
  const maxText = s.limits.xmlMaxTextBytes;
  const { inEntity } = s;
  const whiteText = inEntity ? KIND_TEXT : KIND_TEXT | FLAG_WHITE_SPACE;
  let { pos, count: n, depth, context, predictor, events } = s;
  for (;;) {
    if (n >= flushAt) {
      s.pos = pos;
      s.count = n;
      s.flush();
      n = 0;
    }
    let c = bytes[pos]!;
    if (c !== LESS) {
      // The usual line end of a Windows file needs no decoding: the text begins at its LF.
      if (c === CR && bytes[pos + 1] === LF && !inEntity) c = bytes[++pos]!;
      const start = pos;
      let kind = whiteText;
      while (c === SPACE || c === LF || c === TAB) c = bytes[++pos]!;
      if (c !== LESS) {
        kind = KIND_TEXT;
        for (;;) {
          while (textStops[c] === 0) c = bytes[++pos]!;
          if (c === LESS) break;
          if (c >= 0x80) {
            const next = skipMultiByte(bytes, pos, end);
            if (next === pos) break;
            pos = next;
            c = bytes[pos]!;
          } else if (c === CLOSE_BRACKET && pos + 1 < end && bytes[pos + 1] !== CLOSE_BRACKET) {
            c = bytes[++pos]!;
          } else {
            break;
          }
        }
      }
      if (c !== LESS || pos - start > maxText) {
        s.count = n;
        s.depth = depth;
        s.context = context;
        s.predictor = predictor;
        const outcome = scanSpecialText(s, start, pos);
        if (outcome !== GOES_ON) return outcome;
        pos = s.pos;
        n = s.count;
        events = s.events;
        continue;
      }
      events[n] = kind;
      events[n + 1] = 0;
      events[n + 2] = start;
      events[n + 3] = pos;
      n += 4;
    }

    c = bytes[pos + 1]!;
    if (c === SLASH) {
      const name = s.stackRaw[depth]!;
      const { arena } = interner;
      let from = interner.starts[name]!;
      const to = interner.ends[name]!;
      let i = pos + 2;
      while (from < to && arena[from] === bytes[i]) {
        from++;
        i++;
      }
      if (from !== to || bytes[i] !== GREATER || depth === floor) {
        s.count = n;
        s.depth = depth;
        s.context = context;
        s.predictor = predictor;
        i = scanUnusualEndTag(s, pos);
        if (i < 0) return NEEDS_INPUT;
      }
      i++;
      events[n] = KIND_END;
      events[n + 1] = s.stackName[depth]!;
      events[n + 2] = pos;
      events[n + 3] = i;
      n += 4;
      pos = i;
      depth--;
      context = s.stackContext[depth]!;
      predictor = name * 2 + 1;
      if (depth === 0) break;
      continue;
    }
    if (c === EXCLAMATION || c === QUESTION) {
      s.pos = pos;
      s.count = n;
      s.depth = depth;
      s.context = context;
      s.predictor = predictor;
      const outcome = scanMarkup(s);
      if (outcome !== GOES_ON) return outcome;
      pos = s.pos;
      n = s.count;
      events = s.events;
      continue;
    }

    let name = raw.nextElements[predictor]!;
    let from = interner.starts[name]!;
    let to = interner.ends[name]!;
    let i = pos + 1;
    const { arena } = interner;
    while (from < to && arena[from] === bytes[i]) {
      from++;
      i++;
    }
    if (from !== to || nameClass[bytes[i]!] !== NAME_NONE || i === pos + 1) {
      s.pos = pos;
      s.count = n;
      s.depth = depth;
      s.context = context;
      s.predictor = predictor;
      name = scanName(s, pos + 1);
      if (name < 0) return NEEDS_INPUT;
      raw.nextElements[predictor] = name;
      i = s.scanEnd;
    }
    let isEmpty = false;
    let nameId: number;
    const record = n;
    if (bytes[i] === GREATER && !hasAttributeLists) {
      i++;
      n += 4;
      nameId =
        raw.elementContexts[name] === context
          ? raw.elementNames[name]!
          : resolveElement(s, name, context, pos);
    } else {
      s.pos = pos;
      s.count = n;
      s.depth = depth;
      s.context = context;
      s.predictor = predictor;
      i = scanAttributes(s, i, name);
      if (i < 0) return NEEDS_INPUT;
      n = s.count;
      events = s.events;
      context = s.context;
      isEmpty = s.emptyElement;
      nameId =
        raw.elementContexts[name] === context
          ? raw.elementNames[name]!
          : resolveElement(s, name, context, pos);
    }
    events[record] = KIND_START;
    events[record + 1] = nameId;
    events[record + 2] = pos;
    events[record + 3] = i;
    depth++;
    if (depth >= s.stackCapacity) {
      s.depth = depth;
      s.growStack(pos);
    }
    predictor = name * 2;
    if (isEmpty) {
      events[n] = KIND_END;
      events[n + 1] = nameId;
      events[n + 2] = pos;
      events[n + 3] = i;
      n += 4;
      pos = i;
      depth--;
      context = s.stackContext[depth]!;
      predictor++;
      if (depth === 0) break;
      continue;
    }
    s.stackRaw[depth] = name;
    s.stackName[depth] = nameId;
    s.stackContext[depth] = context;
    pos = i;
  }
  s.pos = pos;
  s.count = n;
  s.depth = 0;
  s.context = context;
  s.predictor = predictor;
  s.stage = IN_EPILOG;
  return STATE_CHANGED;
}

// Text that has to be decoded: references, line ends, CDATA sections, and the limit on its length.

/** Decoded text is handed over in records of about this size, so that it never has to be held whole. */
const DECODED_RECORD_BYTES = 64 * 1024;

/** A text record in the making: raw while nothing in it needs decoding, then a range of `decoded`. */
interface TextRun {
  /** start of the text in the input */
  start: number;
  /** first byte not yet copied */
  from: number;
  decodedStart: number;
  isDecoded: boolean;
  /** holds something that came from a reference or CDATA */
  isLiteral: boolean;
}

function beginRun(s: TokenizerState, start: number, isLiteral: boolean): TextRun {
  return { start, from: start, decodedStart: s.decodedEnd, isDecoded: false, isLiteral };
}

/** Copies the bytes read up to `at`; the run continues at `next`. */
function copyRun(s: TokenizerState, run: TextRun, at: number, next: number): void {
  s.appendDecoded(s.bytes, run.from, at);
  run.isDecoded = true;
  run.from = next;
}

/** Appends the run's record, if it holds anything, up to `at`. */
function endRun(s: TokenizerState, run: TextRun, at: number): void {
  let bytes = s.bytes;
  let { start } = run;
  let stop = at;
  if (run.isDecoded) {
    s.appendDecoded(bytes, run.from, at);
    bytes = s.decoded;
    start = run.decodedStart;
    stop = s.decodedEnd;
  }
  if (stop === start) return;
  if (stop - start > s.limits.xmlMaxTextBytes) s.failTextLimit(run.start);
  const white = !run.isLiteral && !s.inEntity && isWhiteSpace(bytes, start, stop) ? FLAG_WHITE_SPACE : 0;
  if (run.isDecoded) s.emitDecoded(KIND_TEXT | FLAG_DECODED | white, 0, start, run.start);
  else s.emit(KIND_TEXT | white, 0, start, stop);
}

function isWhiteSpace(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const c = bytes[i]!;
    if (c !== SPACE && c !== LF && c !== TAB && c !== CR) return false;
  }
  return true;
}

/** Ends the record at the border of the input. The bytes after `at` are scanned again with more input. */
function stopRun(s: TokenizerState, run: TextRun, at: number): Outcome {
  endRun(s, run, at);
  s.pos = at;
  return NEEDS_INPUT;
}

/** Scans text that has other than plain characters, from `start` on; all before `at` is known to be plain. Emits one record if possible. */
export function scanSpecialText(s: TokenizerState, start: number, at: number): Outcome {
  const { bytes, end } = s;
  const keepsLineEnds = s.inEntity;
  let run = beginRun(s, start, false);
  let i = at;
  for (;;) {
    let c = bytes[i]!;
    while (textStops[c] === 0) c = bytes[++i]!;
    if (c === LESS) {
      endRun(s, run, i);
      s.pos = i;
      return GOES_ON;
    }
    if (c === AMPERSAND) {
      const codePoint = scanReference(s, bytes, i, end, i);
      if (codePoint === REFERENCE_CUT) return stopRun(s, run, i);
      const after = s.scanEnd;
      if (codePoint !== REFERENCE_ENTITY) {
        copyRun(s, run, i, after);
        appendCodePoint(s, codePoint);
        run.isLiteral = true;
      } else if (s.entity!.plain) {
        const text = replacementText(s, s.entity!, 0, i);
        copyRun(s, run, i, after);
        s.appendDecoded(text, 0, text.length - 1);
        run.isLiteral = true;
      } else {
        const entity = s.entity!;
        const text = replacementText(s, entity, 0, i);
        endRun(s, run, i);
        s.enterEntity(entity, text, i, after);
        return STATE_CHANGED;
      }
      i = after;
    } else if (c === CR && keepsLineEnds) {
      i++;
    } else if (c === CR) {
      if (i + 1 >= end && !s.final) return stopRun(s, run, i);
      const next = bytes[i + 1] === LF ? i + 2 : i + 1;
      copyRun(s, run, i, next);
      s.appendByte(LF);
      i = next;
    } else if (c === CLOSE_BRACKET) {
      const held = heldBrackets(s, i);
      if (held < 0) return stopRun(s, run, i);
      if (held === 3) s.fail(i, 'xml_syntax', 'found "]]>" in text: expected "]]&gt;"');
      i += held;
    } else if (c >= 0x80) {
      const next = skipMultiByte(bytes, i, end);
      if (next === i) {
        const refusal = sequenceLength(bytes, i, end);
        if (refusal !== 0) s.failSequence(i, refusal);
        return stopRun(s, run, i);
      }
      i = next;
    } else {
      if (i >= end) return stopRun(s, run, i);
      s.failCharacter(i);
    }
    if (s.decodedEnd - run.decodedStart > DECODED_RECORD_BYTES) {
      endRun(s, run, i);
      if (s.batchIsFull) s.flush();
      run = beginRun(s, i, false);
    }
  }
}

/** Handles a `]`. Returns 3 for `]]>`, otherwise the number of brackets that can be skipped, or -1 if that depends on further input. */
function heldBrackets(s: TokenizerState, at: number): number {
  const { bytes, end } = s;
  if (at + 1 >= end) return s.final ? 1 : -1;
  if (bytes[at + 1] !== CLOSE_BRACKET) return 1;
  if (at + 2 >= end) return s.final ? 1 : -1;
  return bytes[at + 2] === GREATER ? 3 : 1;
}

/** The inside of a CDATA section, from `pos` on. */
export function scanCdata(s: TokenizerState): Outcome {
  const { bytes, end } = s;
  const keepsLineEnds = s.inEntity;
  let run = beginRun(s, s.pos, true);
  let i = s.pos;
  s.inside = IN_CDATA;
  for (;;) {
    const c = bytes[i]!;
    if (textStops[c] === 0 || c === LESS || c === AMPERSAND || (c === CR && keepsLineEnds)) {
      i++;
    } else if (c === CLOSE_BRACKET) {
      const held = heldBrackets(s, i);
      if (held < 0) return stopRun(s, run, i);
      if (held === 3) {
        endRun(s, run, i);
        s.inside = IN_NOTHING;
        s.pos = i + 3;
        return GOES_ON;
      }
      i++;
    } else if (c === CR) {
      if (i + 1 >= end && !s.final) return stopRun(s, run, i);
      const next = bytes[i + 1] === LF ? i + 2 : i + 1;
      copyRun(s, run, i, next);
      s.appendByte(LF);
      i = next;
      if (s.decodedEnd - run.decodedStart > DECODED_RECORD_BYTES) {
        endRun(s, run, i);
        if (s.batchIsFull) s.flush();
        run = beginRun(s, i, true);
      }
    } else if (c >= 0x80) {
      const next = skipMultiByte(bytes, i, end);
      if (next === i) {
        const refusal = sequenceLength(bytes, i, end);
        if (refusal !== 0) s.failSequence(i, refusal);
        return stopRun(s, run, i);
      }
      i = next;
    } else {
      if (i >= end) return stopRun(s, run, i);
      s.failCharacter(i);
    }
  }
}
