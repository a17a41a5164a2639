/** Character and entity references. */
import { HASH, SEMICOLON, SPACE, isXmlCharacter } from '../characters.ts';
import type { Entity } from '../dtd/document-type.ts';
import { readExternal } from '../dtd/external-parts.ts';
import { scanNameEnd } from './qualified-name.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import { utf8Text } from '../utf8.ts';

/** `scanReference`: the input ends inside the reference. */
export const REFERENCE_CUT = -1;
/** `scanReference`: a reference to a declared entity, left in `state.entity`. */
export const REFERENCE_ENTITY = -2;

/** Entities within entities, at most; libraries in wide use stop at 40. */
const MAX_ENTITY_NESTING = 64;
/** Documents this short may not amplify: the ratio counts only beyond it. */
const FREE_EXPANSION_BYTES = 64 * 1024;

const encoder = new TextEncoder();
/** Names of the predefined entities with their `;`, by the characters that they represent. */
const predefined: readonly (readonly [number, Uint8Array])[] = [
  [0x26, encoder.encode('amp;')],
  [0x3c, encoder.encode('lt;')],
  [0x3e, encoder.encode('gt;')],
  [0x22, encoder.encode('quot;')],
  [0x27, encoder.encode('apos;')],
];

/**
 * Reads the reference whose `&` is at `at`. Returns a code point, or one of the constants above. Sets `scanEnd` to the position after the
 * `;`. `faultOffset`: offset to report faults at.
 */
export function scanReference(
  s: TokenizerState,
  bytes: Uint8Array,
  at: number,
  end: number,
  faultOffset: number,
): number {
  if (bytes[at + 1] === HASH) return scanCharacterReference(s, bytes, at, end, faultOffset);
  for (const [codePoint, name] of predefined) {
    let i = 0;
    while (i < name.length && at + 1 + i < end && bytes[at + 1 + i] === name[i]) i++;
    if (i < name.length) continue;
    s.scanEnd = at + 1 + i;
    return codePoint;
  }
  const nameEnd = scanNameEnd(s, bytes, at + 1, end, faultOffset);
  if (nameEnd >= end) return REFERENCE_CUT;
  if (bytes[nameEnd] !== SEMICOLON)
    s.fail(
      faultOffset,
      'xml_syntax',
      `expected ";" at the end of a reference, found ${s.shown(bytes, nameEnd, end)}; an "&" that is meant as text is written &amp;`,
    );
  const name = utf8Text(bytes.subarray(at + 1, nameEnd));
  s.scanEnd = nameEnd + 1;
  s.entity = findEntity(s, name, faultOffset);
  return REFERENCE_ENTITY;
}

/** Does the same as `scanReference` for `&#…;`. */
export function scanCharacterReference(
  s: TokenizerState,
  bytes: Uint8Array,
  at: number,
  end: number,
  faultOffset: number,
): number {
  let i = at + 2;
  const radix = bytes[i] === 0x78 ? 16 : 10;
  if (radix === 16) i++;
  const digitsAt = i;
  let codePoint = 0;
  for (; i < end; i++) {
    const digit = digitValue(bytes[i]!);
    if (digit < 0 || digit >= radix) break;
    codePoint = Math.min(codePoint * radix + digit, 0x110000);
  }
  if (i >= end) return REFERENCE_CUT;
  if (i === digitsAt || bytes[i] !== SEMICOLON)
    s.fail(
      faultOffset,
      'xml_syntax',
      `expected digits and ";" in a character reference, found ${s.shown(bytes, i, end)}`,
    );
  if (!isXmlCharacter(codePoint)) {
    const text = utf8Text(bytes.subarray(at, i + 1));
    const isControl = codePoint > 0 && codePoint < SPACE;
    if (isControl && s.isVersion11)
      s.fail(
        faultOffset,
        'xml_version_1_1',
        `${text} refers to a control character, which XML 1.1 allows and XML 1.0 does not; documents of XML 1.1 are read, but not their control characters: replace them in the document`,
      );
    s.fail(faultOffset, 'xml_invalid_character', `${text} does not refer to an XML character`);
  }
  s.scanEnd = i + 1;
  return codePoint;
}

function digitValue(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function findEntity(s: TokenizerState, name: string, faultOffset: number): Entity {
  const entity = s.documentType?.generalEntities.get(name);
  // XML 1.0, 4.1, "Entity Declared"
  if (entity !== undefined && !(s.standalone && entity.isDeclaredOutside)) return entity;
  if (entity !== undefined)
    s.fail(
      faultOffset,
      'xml_undeclared_entity',
      `the entity "${name}" is declared outside the document, which has standalone="yes": remove that, or declare the entity in the document`,
    );
  const refused = [...(s.documentType?.refused ?? [])];
  const where =
    refused.length > 0
      ? `; a part of the DTD that may declare it is not read: ${refused.slice(0, 3).join('; ')}`
      : s.documentType?.incomplete === true
        ? '; external parts of the DTD are not read'
        : '; write the character itself, or its number as in &#160;, or declare the entity in a DTD';
  return s.fail(faultOffset, 'xml_undeclared_entity', `the entity "${name}" is not declared${where}`);
}

/** Counts attributes supplied by the DTD: by ratio only, as they are cheap and long documents may have many. */
export function countDefault(s: TokenizerState, bytes: number, faultOffset: number): void {
  const { xmlMaxEntityAmplification: maxRatio } = s.limits;
  s.defaultedBytes += bytes;
  if (s.defaultedBytes > FREE_EXPANSION_BYTES && s.defaultedBytes > maxRatio * s.receivedBytes)
    s.fail(
      faultOffset,
      'xml_entity_amplification_limit',
      `attribute defaults amount to more than ${maxRatio} times the document`,
    );
}

/** Returns the replacement text of an entity that is about to be expanded. Refuses forbidden entities, and text beyond the limits. */
export function replacementText(
  s: TokenizerState,
  entity: Entity,
  nesting: number,
  faultOffset: number,
): Uint8Array {
  const { name } = entity;
  if (entity.unparsed)
    s.fail(
      faultOffset,
      'xml_unparsed_entity',
      `the entity "${name}" is not text: it must not be referred to here`,
    );
  const text = entity.text ?? externalReplacement(s, entity, faultOffset);
  if (entity.open) s.fail(faultOffset, 'xml_entity_recursion', `the entity "${name}" refers to itself`);
  if (nesting + s.suspended.length >= MAX_ENTITY_NESTING)
    s.fail(
      faultOffset,
      'xml_entity_depth_limit',
      `entities are nested deeper than ${MAX_ENTITY_NESTING} levels`,
    );
  countExpansion(s, text.length - 1, faultOffset);
  return text;
}

/** XML 1.0, 4.4.3: includes an external entity if it may be read. */
function externalReplacement(s: TokenizerState, entity: Entity, faultOffset: number): Uint8Array {
  const documentType = s.documentType!;
  const found = readExternal(s, documentType, entity.external!, faultOffset);
  if (found === null) {
    const why = [...documentType.refused].at(-1) ?? 'external entities are not read';
    return s.fail(
      faultOffset,
      'xml_external_entity',
      `the entity "${entity.name}" is external, and not read: ${why}`,
    );
  }
  entity.base = found.part.base;
  return (entity.text = found.text);
}

function countExpansion(s: TokenizerState, bytes: number, faultOffset: number): void {
  const { xmlMaxEntityExpansionBytes: maxBytes, xmlMaxEntityAmplification: maxRatio } = s.limits;
  s.expandedBytes += bytes;
  if (s.expandedBytes > maxBytes)
    s.fail(faultOffset, 'xml_entity_expansion_limit', `entities expand to more than ${maxBytes} bytes`);
  if (
    s.expandedBytes > FREE_EXPANSION_BYTES &&
    s.expandedBytes > maxRatio * (s.receivedBytes + s.externalBytes)
  )
    s.fail(
      faultOffset,
      'xml_entity_amplification_limit',
      `entities expand to more than ${maxRatio} times the document`,
    );
}
