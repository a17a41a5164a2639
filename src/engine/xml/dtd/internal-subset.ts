/** Reads the subsets of a DTD: entities, attribute lists, parameter entities, and the conditional sections of external parts. */
import { collapseSpaces, ByteList, DeclarationReader } from './declaration-reader.ts';
import { decodeAttributeValue } from '../scan/tags.ts';
import {
  AMPERSAND,
  CLOSE_BRACKET,
  LESS,
  PERCENT,
  APOSTROPHE,
  GREATER,
  HASH,
  QUOTE,
  SEMICOLON,
  SPACE,
  isSpace,
} from '../characters.ts';
import type { AttributeDefinition, DocumentType, Entity } from './document-type.ts';
import { utf8Text, writeCodePoint } from '../utf8.ts';
import { scanNameEnd } from '../scan/qualified-name.ts';
import { REFERENCE_CUT, replacementText, scanCharacterReference } from '../scan/references.ts';
import { readExternal } from './external-parts.ts';

/** Declarations up to `]`, or up to the end of an external part or of a parameter entity's replacement text. */
export function readSubset(reader: DeclarationReader, documentType: DocumentType, nesting: number): void {
  let sections = 0;
  for (;;) {
    reader.skipSpace();
    if (reader.faultOffset !== null && reader.atEnd && sections === 0) return;
    const next = reader.peek(sections === 0 ? 'a declaration or "]"' : 'a declaration or "]]>"');
    if (next === CLOSE_BRACKET && reader.faultOffset === null) return;
    if (next === PERCENT) readParameterReference(reader, documentType, nesting);
    else if (sections > 0 && reader.accept(']]>')) sections -= 1;
    else if (next !== LESS) reader.failExpected('a declaration, "%" or "]"');
    else if (reader.origin.isExternal && reader.accept('<![')) {
      if (isIncluded(reader, documentType, nesting)) sections += 1;
      else skipSection(reader);
    } else readDeclaration(reader, documentType, nesting);
  }
}

/** XML 1.0, 3.4: reads the keyword of a conditional section, up to its `[`. */
function isIncluded(reader: DeclarationReader, documentType: DocumentType, nesting: number): boolean {
  reader.skipSpace();
  let keyword: string | null;
  if (reader.peek('"INCLUDE" or "IGNORE"') === PERCENT) {
    const text = referencedText(reader, documentType, nesting);
    keyword = text === null ? null : utf8Text(text.subarray(0, -1)).trim();
  } else keyword = reader.name();
  reader.skipSpace();
  reader.expect('[');
  // a section with an unknown keyword is skipped; later declarations may therefore differ from what they seem
  if (keyword === 'INCLUDE' || keyword === 'IGNORE' || keyword === null) return keyword === 'INCLUDE';
  return reader.fail('xml_syntax', 'expected "INCLUDE" or "IGNORE" in a conditional section');
}

/** Skips an ignored section, from after its `[` to its `]]>`. */
function skipSection(reader: DeclarationReader): void {
  for (let open = 1; open > 0;) {
    reader.peek('"]]>"');
    if (reader.accept(']]>')) open -= 1;
    else if (reader.accept('<![')) open += 1;
    else reader.pos += 1;
  }
}

function readParameterReference(
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
): void {
  const { state } = reader;
  const at = reader.pos;
  const entity = reference(reader, documentType);
  const text = entity === null ? null : parameterText(reader, documentType, entity, nesting, at);
  if (entity === null || text === null) return;
  entity.open = true;
  const isExternal = reader.origin.isExternal || entity.external !== null;
  // references in an internal entity are resolved where the entity is used (XML 1.0, 4.2.2)
  const isPart = entity.external !== null;
  const base = isPart ? entity.base : reader.origin.base;
  const origin = { base, isExternal, line: isPart ? entity.line : null };
  const inner = new DeclarationReader(state, text, 0, text.length - 1, reader.faultOffsetOf(at), origin);
  readSubset(inner, documentType, nesting + 1);
  entity.open = false;
}

/** Keywords of declarations that parameter entities may be a part of. */
const declarations = ['<!ENTITY', '<!ELEMENT', '<!ATTLIST', '<!NOTATION'];

function readDeclaration(given: DeclarationReader, documentType: DocumentType, nesting: number): void {
  const isPlain = !given.origin.isExternal || !declarations.some((keyword) => given.stands(keyword));
  const reader = isPlain ? given : expanded(given, documentType, nesting);
  if (reader === null) return;
  readOne(reader, documentType, nesting);
  if (reader === given) return;
  reader.skipSpace();
  if (!reader.atEnd) reader.failExpected('the end of the declaration');
}

function readOne(reader: DeclarationReader, documentType: DocumentType, nesting: number): void {
  if (reader.accept('<?')) {
    reader.instruction();
  } else if (reader.accept('<!--')) {
    reader.comment();
  } else if (reader.accept('<!ENTITY')) {
    reader.requireSpace();
    readEntity(reader, documentType, nesting);
  } else if (reader.accept('<!ELEMENT')) {
    reader.requireSpace();
    reader.qualifiedName();
    reader.requireSpace();
    readContentSpecification(reader);
    reader.skipSpace();
    reader.expect('>');
  } else if (reader.accept('<!ATTLIST')) {
    reader.requireSpace();
    readAttributeList(reader, documentType);
  } else if (reader.accept('<!NOTATION')) {
    reader.requireSpace();
    reader.plainName();
    reader.requireSpace();
    if (reader.externalId(true) === null) reader.failExpected('"SYSTEM" or "PUBLIC"');
    reader.skipSpace();
    reader.expect('>');
  } else {
    reader.failExpected('a markup declaration, a comment or a processing instruction');
  }
}

function readEntity(reader: DeclarationReader, documentType: DocumentType, nesting: number): void {
  const isParameter = reader.accept('%');
  if (isParameter) reader.requireSpace();
  const at = reader.pos;
  const name = reader.plainName();
  reader.requireSpace();
  let text: Uint8Array | null = null;
  let unparsed = false;
  const external = reader.externalId(false);
  if (external !== null) {
    const spaced = reader.skipSpace();
    if (!isParameter && reader.peek('">"') === 0x4e) {
      if (!spaced) reader.failExpected('white space');
      reader.expect('NDATA');
      reader.requireSpace();
      reader.plainName();
      unparsed = true;
    }
  } else {
    text = readEntityValue(reader, documentType, nesting);
    if (text === null) {
      reader.skipSpace();
      reader.expect('>');
      return;
    }
  }
  reader.skipSpace();
  reader.expect('>');
  if (!isParameter) checkPredefined(reader, name, text, at);
  const entities = isParameter ? documentType.parameterEntities : documentType.generalEntities;
  // The first declaration binds (XML 1.0 §4.2).
  if (documentType.ignoresDeclarations || entities.has(name)) return;
  const plain =
    text !== null && !text.some((byte) => byte === LESS || byte === AMPERSAND || byte === CLOSE_BRACKET);
  const { base } = reader.origin;
  const { isExternal } = reader.origin;
  const entity: Entity = {
    name,
    text,
    external,
    base,
    line: null,
    unparsed,
    plain,
    isDeclaredOutside: isExternal,
    open: false,
  };
  entities.set(name, entity);
  if (external !== null && !unparsed) reader.state.settings.external?.declared?.(external);
}

/** Checks that a predefined entity is declared with its predefined value (XML 1.0 §4.6). */
function checkPredefined(reader: DeclarationReader, name: string, text: Uint8Array | null, at: number): void {
  const allowed: Record<string, readonly string[]> = {
    amp: ['&#38;', '&#x26;'],
    lt: ['&#60;', '&#x3c;'],
    gt: ['>', '&#62;', '&#x3e;'],
    apos: ["'", '&#39;', '&#x27;'],
    quot: ['"', '&#34;', '&#x22;'],
  };
  const forms = Object.hasOwn(allowed, name) ? allowed[name]! : null;
  if (forms === null) return;
  const value = text === null ? null : utf8Text(text.subarray(0, -1));
  if (
    value === null ||
    !forms.includes(value.replace(/&#0+|&#x0+/i, (zeros) => zeros.replaceAll('0', '')).toLowerCase())
  )
    reader.fail('xml_syntax', `the entity "${name}" may be declared only as its predefined character`, at);
}

/**
 * `EntityValue`: its replacement text, and a 0 byte. Character references are replaced, and outside of the document references to parameter
 * entities; references to entities stay (XML 1.0 §4.5). null: a part of it is not known.
 */
function readEntityValue(
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
): Uint8Array | null {
  const { from, to } = reader.literal('a quoted entity value, "SYSTEM" or "PUBLIC"');
  const out = new ByteList();
  const value = reader.normalised(from, to);
  return addValue(out, reader, value, { documentType, nesting, at: from }) ? out.withNul() : null;
}

function readAttributeList(reader: DeclarationReader, documentType: DocumentType): void {
  const element = reader.qualifiedName();
  let list = documentType.attributeLists.get(element);
  for (;;) {
    const spaced = reader.skipSpace();
    if (reader.accept('>')) break;
    if (!spaced) reader.failExpected('white space or ">"');
    const definition = readAttributeDefinition(reader);
    if (documentType.ignoresDeclarations) continue;
    if (list === undefined) {
      list = { definitions: new Map(), defaults: [] };
      documentType.attributeLists.set(element, list);
    }
    if (list.definitions.has(definition.name)) continue;
    list.definitions.set(definition.name, definition);
    if (definition.defaultValue !== null) list.defaults.push(definition);
  }
}

function readAttributeDefinition(reader: DeclarationReader): AttributeDefinition {
  const name = reader.qualifiedName();
  reader.requireSpace();
  const tokenized = readAttributeType(reader);
  reader.requireSpace();
  if (reader.accept('#REQUIRED') || reader.accept('#IMPLIED')) return { name, tokenized, defaultValue: null };
  if (reader.accept('#FIXED')) reader.requireSpace();
  return { name, tokenized, defaultValue: readDefaultValue(reader, tokenized) };
}

/** True for every type but CDATA. */
function readAttributeType(reader: DeclarationReader): boolean {
  if (reader.accept('CDATA')) return false;
  // Longer names first: each is tried as a prefix.
  for (const type of ['IDREFS', 'IDREF', 'ID', 'ENTITY', 'ENTITIES', 'NMTOKENS', 'NMTOKEN'])
    if (reader.accept(type)) return true;
  const isNotation = reader.accept('NOTATION');
  if (isNotation) reader.requireSpace();
  if (!reader.accept('(')) reader.failExpected('an attribute type');
  do {
    reader.skipSpace();
    if (isNotation) reader.plainName();
    else reader.nameToken();
    reader.skipSpace();
  } while (reader.accept('|'));
  reader.expect(')');
  return true;
}

function readDefaultValue(reader: DeclarationReader, tokenized: boolean): Uint8Array {
  const { state, bytes } = reader;
  const { from, to } = reader.literal('"#REQUIRED", "#IMPLIED", "#FIXED" or a quoted default value');
  const mark = state.decodedEnd;
  decodeAttributeValue(state, bytes, from, from, to + 1, bytes[to]!, reader.faultOffset);
  const value = state.decoded.slice(state.valueStart, state.decodedEnd);
  state.decodedEnd = mark;
  return tokenized ? (collapseSpaces(value, 0, value.length) ?? value) : value;
}

// Replaces references to parameter entities within declarations and entity values. Only external parts may have these (XML 1.0, 2.8).

/** The parameter entity that the reference at `pos` names; null: it is not declared. */
function reference(reader: DeclarationReader, documentType: DocumentType): Entity | null {
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
function referencedText(
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
): Uint8Array | null {
  const at = reader.pos;
  const entity = reference(reader, documentType);
  return entity === null ? null : parameterText(reader, documentType, entity, nesting, at);
}

/** Returns the replacement text and a 0 byte, and counts it. Returns null if the entity is external and not read. */
function parameterText(
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
function expanded(
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
function addValue(
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
          'a parameter entity reference is not allowed within a declaration of the internal subset',
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

// Content specifications of element declarations in a DTD.

const GROUP_OPEN = 0x28;

/** `contentspec` (XML 1.0 §3.2): checked for its grammar only, as a non-validating processor has no use for it. */
function readContentSpecification(reader: DeclarationReader): void {
  if (reader.accept('EMPTY') || reader.accept('ANY')) return;
  if (reader.peek('a content specification') !== GROUP_OPEN) reader.failExpected('"EMPTY", "ANY" or "("');
  reader.pos++;
  reader.skipSpace();
  if (reader.accept('#PCDATA')) readMixed(reader);
  else readChildren(reader);
}

/** Reads the rest of a mixed content model after `(#PCDATA`. */
function readMixed(reader: DeclarationReader): void {
  let names = 0;
  for (;;) {
    reader.skipSpace();
    if (reader.accept(')')) break;
    reader.expect('|');
    reader.skipSpace();
    reader.qualifiedName();
    names++;
  }
  if (names > 0) reader.expect('*');
  else if (reader.peek('">"') === 0x2a) reader.pos++;
}

/** Reads a content model after its first `(`. The separators of the open groups are in a list, to avoid recursion. */
function readChildren(reader: DeclarationReader): void {
  const separators: string[] = [''];
  while (separators.length > 0) {
    reader.skipSpace();
    if (reader.accept('(')) {
      separators.push('');
      if (separators.length > reader.state.limits.xmlMaxDepth)
        reader.fail(
          'xml_depth_limit',
          `a content model is nested deeper than ${reader.state.limits.xmlMaxDepth} levels`,
        );
      continue;
    }
    reader.qualifiedName();
    readOccurrence(reader);
    while (separators.length > 0 && !readSeparator(reader, separators)) {
      separators.pop();
      readOccurrence(reader);
    }
  }
}

/** Reads a separator, which must be the same throughout a group. Returns false if the group ends here. */
function readSeparator(reader: DeclarationReader, separators: string[]): boolean {
  reader.skipSpace();
  if (reader.accept(')')) return false;
  const separator = reader.accept('|') ? '|' : ',';
  if (separator === ',' && !reader.accept(',')) reader.failExpected('"|", "," or ")"');
  const group = separators.length - 1;
  if (separators[group] !== '' && separators[group] !== separator)
    reader.fail('xml_syntax', 'a group of a content model must not mix "|" and ","');
  separators[group] = separator;
  return true;
}

function readOccurrence(reader: DeclarationReader): void {
  const next = reader.peek('the end of the declaration');
  if (next === 0x3f || next === 0x2a || next === 0x2b) reader.pos++;
}
