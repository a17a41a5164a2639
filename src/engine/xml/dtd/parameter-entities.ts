/** Replaces references to parameter entities within declarations and entity values. Only external parts may have these (XML 1.0, 2.8). */
import {
  AMPERSAND,
  APOSTROPHE,
  GREATER,
  HASH,
  PERCENT,
  QUOTE,
  SEMICOLON,
  SPACE,
  isSpace,
} from '../characters.ts';
import { scanNameEnd } from '../scan/qualified-name.ts';
import { REFERENCE_CUT, replacementText, scanCharacterReference } from '../scan/references.ts';
import { writeCodePoint } from '../utf8.ts';
import { ByteList } from './byte-list.ts';
import { DeclarationReader } from './declaration-reader.ts';
import type { DocumentType, Entity } from './document-type.ts';
import { readExternal } from './external/parts.ts';

/** The parameter entity that the reference at `pos` names; null: it is not declared. */
export function reference(reader: DeclarationReader, documentType: DocumentType): Entity | null {
  const at = reader.pos++;
  const name = reader.plainName();
  reader.expect(';');
  const entity = documentType.parameterEntities.get(name);
  if (entity !== undefined) return entity;
  if (reader.state.standalone && !reader.origin.isExternal)
    reader.fail('xml_undeclared_entity', `the parameter entity "${name}" is not declared`, at);
  lacks(reader, documentType);
  return null;
}

/** Returns the text of the entity that the reference at `pos` names; see `parameterText`. */
export function referencedText(
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
): Uint8Array | null {
  const at = reader.pos;
  const entity = reference(reader, documentType);
  return entity === null ? null : parameterText(reader, documentType, entity, nesting, at);
}

/** Returns the replacement text and a 0 byte, and counts it. Returns null if the entity is external and not read. */
export function parameterText(
  reader: DeclarationReader,
  documentType: DocumentType,
  entity: Entity,
  nesting: number,
  at: number,
): Uint8Array | null {
  const { state } = reader;
  const faultOffset = reader.faultOffsetOf(at);
  if (entity.text === null) {
    const found = readExternal(state, documentType, entity.external!, faultOffset);
    if (found === null) {
      lacks(reader, documentType);
      return null;
    }
    entity.text = found.text;
    entity.base = found.part.base;
    entity.line = 1 + found.linesBefore;
  }
  return replacementText(state, entity, nesting, faultOffset);
}

/** Notes that declarations may be missing, so that later ones may be declared differently (XML 1.0, 5.1). */
function lacks({ state }: DeclarationReader, documentType: DocumentType): void {
  documentType.incomplete = true;
  documentType.ignoresDeclarations ||= !state.standalone;
}

/**
 * Returns a reader of the declaration that begins here, with references to parameter entities replaced, each with a space around it (XML
 * 1.0, 4.4.8). Returns `reader` if there are none, and null if a part of the declaration is unknown, so that all of it was skipped.
 */
export function expanded(
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
): DeclarationReader | null {
  const { pos, origin } = reader;
  if (!hasReference(reader)) return reader;
  const out = new ByteList();
  const isKnown = expandInto(out, reader, documentType, nesting, true);
  if (!isKnown) return null;
  const bytes = out.withNul();
  // lines of the expansion are none of the part
  return new DeclarationReader(reader.state, bytes, 0, bytes.length - 1, reader.faultOffsetOf(pos), {
    ...origin,
    line: null,
  });
}

/** True if the declaration at `pos` refers to a parameter entity, outside of literals. */
function hasReference({ bytes, pos, end }: DeclarationReader): boolean {
  for (let i = pos; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === GREATER) return false;
    if (byte === PERCENT && !isSpace(bytes[i + 1]!)) return true;
    if (byte !== QUOTE && byte !== APOSTROPHE) continue;
    const close = bytes.indexOf(byte, i + 1);
    if (close < 0 || close >= end) return false;
    i = close;
  }
  return false;
}

/** Reads a declaration, or all of a parameter entity's text within one. Returns false if a part of it is unknown. */
function expandInto(
  out: ByteList,
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
  isDeclaration: boolean,
): boolean {
  const { bytes, end, state } = reader;
  let isKnown = true;
  let from = reader.pos;
  while (reader.pos < end) {
    const byte = bytes[reader.pos]!;
    if (byte === QUOTE || byte === APOSTROPHE) {
      const close = bytes.indexOf(byte, reader.pos + 1);
      reader.pos = close < 0 || close >= end ? end : close + 1;
    } else if (byte === PERCENT && !isSpace(bytes[reader.pos + 1]!) && reader.pos + 1 < end) {
      const at = reader.pos;
      out.add(bytes, from, at);
      const entity = reference(reader, documentType);
      const text = entity === null ? null : parameterText(reader, documentType, entity, nesting, at);
      from = reader.pos;
      if (entity === null || text === null) {
        isKnown = false;
        continue;
      }
      entity.open = true;
      out.addByte(SPACE);
      const origin = { base: entity.base, isExternal: true, line: null };
      const inner = new DeclarationReader(state, text, 0, text.length - 1, reader.faultOffsetOf(at), origin);
      isKnown = expandInto(out, inner, documentType, nesting + 1, false) && isKnown;
      out.addByte(SPACE);
      entity.open = false;
    } else {
      reader.pos += 1;
      if (byte === GREATER && isDeclaration) {
        out.add(bytes, from, reader.pos);
        return isKnown;
      }
    }
  }
  if (isDeclaration) reader.failExpected('">"');
  out.add(bytes, from, reader.pos);
  return isKnown;
}

interface ValueContext {
  readonly documentType: DocumentType;
  readonly nesting: number;
  /** offset to report faults at */
  readonly at: number;
}

/** false: a part of it is not known. */
export function addValue(
  out: ByteList,
  reader: DeclarationReader,
  value: Uint8Array,
  { documentType, nesting, at }: ValueContext,
): boolean {
  const { state } = reader;
  const faultOffset = reader.faultOffsetOf(at);
  const character = new Uint8Array(4);
  let isKnown = true;
  let copied = 0;
  let i = 0;
  while (i < value.length) {
    const byte = value[i]!;
    if (byte === PERCENT) {
      if (!reader.origin.isExternal)
        reader.fail(
          'xml_syntax',
          'a parameter entity reference may not stand within a declaration of the internal subset',
          at,
        );
      out.add(value, copied, i);
      const nul = new ByteList();
      nul.add(value, 0, value.length);
      const inner = new DeclarationReader(state, nul.withNul(), i, value.length, faultOffset, reader.origin);
      const entity = reference(inner, documentType);
      const text = entity === null ? null : parameterText(inner, documentType, entity, nesting, i);
      copied = i = inner.pos;
      if (entity === null || text === null) {
        isKnown = false;
        continue;
      }
      entity.open = true;
      const within = { documentType, nesting: nesting + 1, at };
      isKnown = addValue(out, reader, text.subarray(0, -1), within) && isKnown;
      entity.open = false;
      continue;
    }
    if (byte === AMPERSAND && value[i + 1] === HASH) {
      const codePoint = scanCharacterReference(state, value, i, value.length, faultOffset);
      if (codePoint === REFERENCE_CUT)
        reader.fail('xml_syntax', 'expected ";" at the end of a character reference', at);
      out.add(value, copied, i);
      out.add(character, 0, writeCodePoint(codePoint, character, 0));
      copied = i = state.scanEnd;
      continue;
    }
    if (byte === AMPERSAND) {
      const nameEnd = scanNameEnd(state, value, i + 1, value.length, faultOffset);
      if (nameEnd >= value.length || value[nameEnd] !== SEMICOLON)
        reader.fail('xml_syntax', 'expected ";" at the end of a reference', at);
    }
    i++;
  }
  out.add(value, copied, value.length);
  return isKnown;
}
