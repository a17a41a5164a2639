/** Applies the attribute-list declarations of a DTD to a start tag: white space of tokenised types, default values. */
import { SPACE } from '../characters.ts';
import type { AttributeDefinition } from './document-type.ts';
import { NAME_LOCAL } from '../names/raw-names.ts';
import { nameAttribute, unresolved } from '../names/resolve.ts';
import { countDefault } from '../scan/references.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import { FLAG_DECODED, FLAG_DEFAULTED, KIND_ATTRIBUTE, RECORD_INTS } from '../tokens.ts';

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
