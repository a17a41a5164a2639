/** Start tags with their attributes, and end tags that are written in an unusual way. */
import { applyAttributeLists, failAttributeCount } from '../dtd/declaration-reader.ts';
import {
  APOSTROPHE,
  CR,
  EQUALS,
  GREATER,
  LF,
  NAME_NONE,
  QUOTE,
  SLASH,
  SPACE,
  TAB,
  attributeStops,
  isSpace,
  nameClass,
  AMPERSAND,
  LESS,
} from '../characters.ts';
import { NAME_LOCAL } from '../names/interned.ts';
import { nameAttribute, resolveAttributes, unresolved } from '../names/resolve.ts';
import { scanName } from './qualified-name.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import { FLAG_DECODED, KIND_ATTRIBUTE, RECORD_INTS } from '../tokens.ts';
import { skipMultiByte, sequenceLength, writeCodePoint } from '../utf8.ts';
import { REFERENCE_CUT, REFERENCE_ENTITY, replacementText, scanReference } from './references.ts';

/**
 * Scans the part of a start tag after the element's name, from `nameEnd` on: leaves room for the START record, appends the NAMESPACE and
 * ATTRIBUTE records, sets `context` and `emptyElement`. The records of one start tag are always in one batch. Returns the offset after
 * `>`, or -1, without changes, if the input ends inside the tag.
 */
export function scanAttributes(s: TokenizerState, nameEnd: number, element: number): number {
  const { bytes, end, raw, count: first, decodedEnd, expandedBytes, hasAttributeLists } = s;
  const { interner } = raw;
  const maxText = s.limits.xmlMaxTextBytes;
  const maxEvents = first + (s.limits.xmlMaxAttributes + 1) * RECORD_INTS;
  const serial = (s.serial = (s.serial + 1) | 0);
  if (first + RECORD_INTS > s.events.length) s.growEvents();
  let events = s.events;
  let n = first + RECORD_INTS;
  let previous = element;
  let toResolve = 0;
  let i = nameEnd;
  let c = bytes[i]!;
  for (;;) {
    const gap = i;
    while (c === SPACE || c === LF || c === TAB || c === CR) c = bytes[++i]!;
    if (c === GREATER) break;
    if (c === SLASH && bytes[i + 1] === GREATER) break;
    if (i === gap || c === SLASH || i >= end) {
      s.count = first;
      return stopInTag(s, c === SLASH ? i + 1 : i, first, decodedEnd, expandedBytes);
    }

    let name = raw.nextAttributes[previous]!;
    let from = interner.starts[name]!;
    const to = interner.ends[name]!;
    const { arena } = interner;
    const nameAt = i;
    while (from < to && arena[from] === bytes[i]) {
      from++;
      i++;
    }
    if (from !== to || nameClass[bytes[i]!] !== NAME_NONE || i === nameAt) {
      name = scanName(s, nameAt);
      if (name < 0) return stopInTag(s, end, first, decodedEnd, expandedBytes);
      raw.nextAttributes[previous] = name;
      i = s.scanEnd;
    }
    previous = name;

    c = bytes[i]!;
    if (c !== EQUALS) {
      while (isSpace(c)) c = bytes[++i]!;
      if (c !== EQUALS) return stopAtEquals(s, i, name, first, decodedEnd, expandedBytes);
    }
    c = bytes[++i]!;
    if (c !== QUOTE && c !== APOSTROPHE) {
      while (isSpace(c)) c = bytes[++i]!;
      if (c !== QUOTE && c !== APOSTROPHE) return stopAtQuote(s, i, name, first, decodedEnd, expandedBytes);
    }

    const quote = c;
    const valueAt = ++i;
    let start = i;
    c = bytes[i]!;
    for (;;) {
      while (attributeStops[c] === 0) c = bytes[++i]!;
      if (c === quote) break;
      if (c === QUOTE || c === APOSTROPHE) {
        c = bytes[++i]!;
      } else if (c >= 0x80) {
        const next = skipMultiByte(bytes, i, end);
        if (next === i) break;
        i = next;
        c = bytes[i]!;
      } else {
        break;
      }
    }
    let kind = KIND_ATTRIBUTE;
    let stop = i;
    if (c !== quote) {
      i = decodeAttributeValue(s, bytes, valueAt, i, end, quote);
      if (i < 0) return stopInTag(s, end, first, decodedEnd, expandedBytes);
      kind = KIND_ATTRIBUTE | FLAG_DECODED;
      start = s.valueStart;
      stop = s.decodedEnd;
    }
    if (stop - start > maxText) s.failTextLimit(valueAt);
    if (raw.seenIn[name] === serial) failDuplicate(s, nameAt, name);
    raw.seenIn[name] = serial;
    if (hasAttributeLists) s.tagNames[n / RECORD_INTS - first / RECORD_INTS] = name;
    if (n + 2 * RECORD_INTS > events.length) {
      s.growEvents();
      events = s.events;
    }
    if (n >= maxEvents) failAttributeCount(s, nameAt);
    let nameId = raw.attributeNames[name]!;
    const nameKind = raw.kinds[name]!;
    if (nameKind !== NAME_LOCAL) {
      toResolve |= nameKind;
      kind |= unresolved(nameKind);
      nameId = name;
    } else if (nameId < 0) {
      nameId = nameAttribute(s, name);
    }
    if (kind !== KIND_ATTRIBUTE) s.sources[n / RECORD_INTS] = valueAt;
    events[n] = kind;
    events[n + 1] = nameId;
    events[n + 2] = start;
    events[n + 3] = stop;
    n += RECORD_INTS;
    c = bytes[++i]!;
  }
  s.emptyElement = c === SLASH;
  s.count = n;
  if (hasAttributeLists) toResolve |= applyAttributeLists(s, element, first + RECORD_INTS, nameEnd);
  if (toResolve !== 0) resolveAttributes(s, first + RECORD_INTS, toResolve, nameEnd);
  if (s.count + RECORD_INTS > s.events.length) s.growEvents();
  return c === SLASH ? i + 2 : i + 1;
}

/** Discards the scanned part of an unfinished tag, or reports the fault at `at`. */
function stopInTag(
  s: TokenizerState,
  at: number,
  count: number,
  decodedEnd: number,
  expandedBytes: number,
): number {
  if (at < s.end) {
    const found = s.shown(s.bytes, at, s.end);
    if (s.bytes[at - 1] === SLASH)
      s.fail(at, 'xml_syntax', `expected ">" after "/" in a tag, found ${found}`);
    s.fail(at, 'xml_syntax', `expected white space, ">" or "/>" in a start tag, found ${found}`);
  }
  s.count = count;
  s.decodedEnd = decodedEnd;
  s.expandedBytes = expandedBytes;
  return -1;
}

function stopAtEquals(
  s: TokenizerState,
  at: number,
  name: number,
  count: number,
  decodedEnd: number,
  expandedBytes: number,
): number {
  if (at < s.end) {
    const found = s.shown(s.bytes, at, s.end);
    s.fail(
      at,
      'xml_syntax',
      `expected "=" after the attribute name "${s.raw.interner.text(name)}", found ${found}`,
    );
  }
  return stopInTag(s, at, count, decodedEnd, expandedBytes);
}

function stopAtQuote(
  s: TokenizerState,
  at: number,
  name: number,
  count: number,
  decodedEnd: number,
  expandedBytes: number,
): number {
  if (at < s.end) {
    const found = s.shown(s.bytes, at, s.end);
    s.fail(
      at,
      'xml_syntax',
      `expected a quoted value for the attribute "${s.raw.interner.text(name)}", found ${found}`,
    );
  }
  return stopInTag(s, at, count, decodedEnd, expandedBytes);
}

function failDuplicate(s: TokenizerState, at: number, name: number): never {
  return s.fail(
    at,
    'xml_duplicate_attribute',
    `the attribute "${s.raw.interner.text(name)}" occurs twice in one tag`,
  );
}

/**
 * An end tag that is not simply the expected name and `>`. Returns the offset of its `>`; -1 when the input ends inside it.
 */
export function scanUnusualEndTag(s: TokenizerState, at: number): number {
  const { bytes, end, depth } = s;
  s.pos = at;
  const nameAt = at + 2;
  if (nameAt >= end) return -1;
  const found = scanName(s, nameAt);
  if (found < 0) return -1;
  let i = s.scanEnd;
  if (depth === s.floor) {
    s.fail(
      at,
      'xml_unbalanced_entity',
      `the end tag "${s.text(nameAt, i)}" closes an element that began outside the entity`,
    );
  }
  const open = s.stackRaw[depth]!;
  if (found !== open) {
    const expected = s.raw.interner.text(open);
    s.fail(at, 'xml_mismatched_tag', `expected the end tag </${expected}>, found </${s.text(nameAt, i)}>`);
  }
  while (isSpace(bytes[i]!)) i++;
  if (i >= end) return -1;
  if (bytes[i] !== GREATER) {
    s.fail(i, 'xml_syntax', `expected ">" at the end of an end tag, found ${s.shown(bytes, i, end)}`);
  }
  return i;
}

// Attribute values that hold references, line ends or tabs: decoded and normalised.

/**
 * Decodes an attribute value: replaces references and normalises white space (XML 1.0 §3.3.3, as for CDATA). `at`: the first byte that
 * needs decoding; `fixedFaultOffset`: offset to report faults at if `bytes` is a parameter entity's replacement text. The value is
 * appended to `decoded`, from `valueStart`. Returns the offset of the closing quote, or -1 if the input ends before it.
 */
export function decodeAttributeValue(
  s: TokenizerState,
  bytes: Uint8Array,
  valueAt: number,
  at: number,
  end: number,
  quote: number,
  fixedFaultOffset: number | null = null,
): number {
  const keepsLineEnds = s.inEntity || fixedFaultOffset !== null;
  let from = valueAt;
  let i = at;
  s.valueStart = s.decodedEnd;
  for (;;) {
    let c = bytes[i]!;
    while (attributeStops[c] === 0) c = bytes[++i]!;
    if (c === quote) {
      s.appendDecoded(bytes, from, i);
      return i;
    }
    if (c === QUOTE || c === APOSTROPHE) {
      i++;
    } else if (c >= 0x80) {
      const next = skipMultiByte(bytes, i, end);
      if (next === i) {
        const refusal = sequenceLength(bytes, i, end);
        return refusal === 0 ? -1 : s.failSequence(i, refusal);
      }
      i = next;
    } else if (c === TAB || c === LF || c === CR) {
      s.appendDecoded(bytes, from, i);
      s.appendByte(SPACE);
      i++;
      if (c === CR && bytes[i] === LF && !keepsLineEnds) i++;
      from = i;
    } else if (c === AMPERSAND) {
      s.appendDecoded(bytes, from, i);
      const codePoint = scanReference(s, bytes, i, end, fixedFaultOffset ?? i);
      if (codePoint === REFERENCE_CUT) return -1;
      const after = s.scanEnd;
      if (codePoint === REFERENCE_ENTITY) expandInAttribute(s, 0, fixedFaultOffset ?? i);
      else appendCodePoint(s, codePoint);
      i = after;
      from = i;
    } else {
      if (i >= end) return -1;
      if (c === LESS)
        s.fail(
          fixedFaultOffset ?? i,
          'xml_syntax',
          'found "<" in an attribute value: expected "&lt;" or the closing quote',
        );
      s.failCharacter(i);
    }
  }
}

export function appendCodePoint(s: TokenizerState, codePoint: number): void {
  s.reserveDecoded(4);
  s.decodedEnd = writeCodePoint(codePoint, s.decoded, s.decodedEnd);
}

/** Appends the replacement text of `state.entity` as part of an attribute value. */
function expandInAttribute(s: TokenizerState, nesting: number, faultOffset: number): void {
  const entity = s.entity!;
  if (entity.external !== null && !entity.unparsed)
    s.fail(
      faultOffset,
      'xml_external_entity',
      `the entity "${entity.name}" is external, and must not be referred to in an attribute value`,
    );
  const text = replacementText(s, entity, nesting, faultOffset);
  const end = text.length - 1;
  entity.open = true;
  let from = 0;
  let i = 0;
  while (i < end) {
    const c = text[i]!;
    if (c === LESS)
      s.fail(faultOffset, 'xml_syntax', `the entity "${entity.name}" brings "<" into an attribute value`);
    if (c === TAB || c === LF || c === CR) {
      s.appendDecoded(text, from, i);
      s.appendByte(SPACE);
      from = ++i;
    } else if (c === AMPERSAND) {
      s.appendDecoded(text, from, i);
      const codePoint = scanReference(s, text, i, end, faultOffset);
      if (codePoint === REFERENCE_CUT)
        s.fail(faultOffset, 'xml_syntax', `the entity "${entity.name}" ends inside a reference`);
      from = i = s.scanEnd;
      if (codePoint === REFERENCE_ENTITY) expandInAttribute(s, nesting + 1, faultOffset);
      else appendCodePoint(s, codePoint);
    } else {
      i++;
    }
  }
  s.appendDecoded(text, from, end);
  entity.open = false;
}
