/** Attribute values that hold references, line ends or tabs: decoded and normalised. */
import { AMPERSAND, APOSTROPHE, CR, LESS, LF, QUOTE, SPACE, TAB, attributeStops } from '../characters.ts';
import { REFERENCE_CUT, REFERENCE_ENTITY, replacementText, scanReference } from './references.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import { sequenceLength, skipMultiByte, writeCodePoint } from '../utf8.ts';

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
