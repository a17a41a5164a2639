/** Qualified names of elements and attributes. */
import { hashStep } from '../names/interned.ts';
import { checkNameCount } from '../names/count-limits.ts';
import {
  AMPERSAND,
  LESS,
  NAME_NONE,
  NAME_START,
  NAME_WIDE,
  isWideNamePart,
  isWideNameStart,
  nameClass,
} from '../characters.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import { codePointAt, sequenceLength } from '../utf8.ts';

/**
 * Reads a qualified name of the document and interns it. Sets `scanEnd`.
 * Returns its raw name id, or -1 when the input ends before the name does.
 */
export function scanName(s: TokenizerState, at: number): number {
  const { bytes, end } = s;
  const nameEnd = scanNameEnd(s, bytes, at, end, at);
  if (nameEnd >= end) return -1;
  if (nameEnd - at > s.limits.xmlMaxNameBytes)
    s.fail(at, 'xml_name_limit', `a name is longer than ${s.limits.xmlMaxNameBytes} bytes`);
  let hash = 0;
  for (let i = at; i < nameEnd; i++) hash = hashStep(hash, bytes[i]!);
  const name = s.raw.intern(bytes, at, nameEnd, hash);
  if (name < 0) {
    s.fail(
      at,
      'xml_bad_qualified_name',
      `"${s.text(at, nameEnd)}" is not a qualified name: expected a local name, or a prefix, one colon and a local name`,
    );
  }
  checkNameCount(s, at);
  s.scanEnd = nameEnd;
  return name;
}

/**
 * Returns the end of the `Name` (XML 1.0 §2.3) at `at`, or `end` if the input ends before the name's end is known. `faultOffset`: offset
 * to report faults at.
 */
export function scanNameEnd(
  s: TokenizerState,
  bytes: Uint8Array,
  at: number,
  end: number,
  faultOffset: number,
): number {
  if (at >= end) return end;
  const first = nameClass[bytes[at]!]!;
  if (first !== NAME_START && first !== NAME_WIDE) failName(s, bytes, at, end, faultOffset);
  let i = at;
  let kind: number = first;
  while (kind !== NAME_NONE) {
    if (kind === NAME_WIDE) {
      const length = sequenceLength(bytes, i, end);
      if (length === 0) return end;
      if (length < 0) return s.failSequence(faultOffset, length);
      const codePoint = codePointAt(bytes, i);
      if (!(i === at ? isWideNameStart(codePoint) : isWideNamePart(codePoint))) {
        if (i === at) failName(s, bytes, at, end, faultOffset);
        return i;
      }
      i += length;
    } else {
      i++;
    }
    kind = i < end ? nameClass[bytes[i]!]! : NAME_NONE;
  }
  return i;
}

function failName(s: TokenizerState, bytes: Uint8Array, at: number, end: number, faultOffset: number): never {
  const shown = s.shown(bytes, at, end);
  const before = at > 0 ? bytes[at - 1] : undefined;
  const advice =
    before === AMPERSAND
      ? '; an "&" that is meant as text is written &amp;'
      : before === LESS
        ? '; a "<" that is meant as text is written &lt;'
        : '';
  return s.fail(faultOffset, 'xml_syntax', `expected a name, found ${shown}${advice}`);
}
