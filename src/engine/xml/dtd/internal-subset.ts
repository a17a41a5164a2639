/** The internal subset of a DTD: entities, attribute lists, parameter entities. */
import { collapseSpaces } from './attribute-defaults.ts';
import { decodeAttributeValue } from '../scan/attribute-value.ts';
import { AMPERSAND, CLOSE_BRACKET, HASH, LESS, PERCENT, SEMICOLON } from '../characters.ts';
import { readContentSpecification } from './content-specification.ts';
import { DeclarationReader } from './declaration-reader.ts';
import type { AttributeDefinition, DocumentType, Entity } from './document-type.ts';
import { REFERENCE_CUT, replacementText, scanCharacterReference } from '../scan/references.ts';
import { scanNameEnd } from '../scan/qualified-name.ts';
import { utf8Text, writeCodePoint } from '../utf8.ts';

/** Declarations up to `]`, or up to the end of a parameter entity's replacement text. */
export function readInternalSubset(
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
): void {
  for (;;) {
    reader.skipSpace();
    if (reader.faultOffset !== null && reader.atEnd) return;
    const next = reader.peek('a declaration or "]"');
    if (next === CLOSE_BRACKET && reader.faultOffset === null) return;
    if (next === PERCENT) readParameterReference(reader, documentType, nesting);
    else if (next === LESS) readDeclaration(reader, documentType);
    else reader.failExpected('a declaration, "%" or "]"');
  }
}

function readParameterReference(
  reader: DeclarationReader,
  documentType: DocumentType,
  nesting: number,
): void {
  const { state } = reader;
  const at = reader.pos++;
  const faultOffset = reader.faultOffsetOf(at);
  const name = reader.plainName();
  reader.expect(';');
  const entity = documentType.parameterEntities.get(name);
  if (entity === undefined || entity.text === null) {
    if (entity === undefined && state.standalone)
      reader.fail('xml_undeclared_entity', `the parameter entity "${name}" is not declared`, at);
    documentType.incomplete = true;
    documentType.ignoresDeclarations ||= !state.standalone;
    return;
  }
  const text = replacementText(state, entity, nesting, faultOffset);
  entity.open = true;
  readInternalSubset(
    new DeclarationReader(state, text, 0, text.length - 1, faultOffset),
    documentType,
    nesting + 1,
  );
  entity.open = false;
}

function readDeclaration(reader: DeclarationReader, documentType: DocumentType): void {
  if (reader.accept('<?')) {
    reader.instruction();
  } else if (reader.accept('<!--')) {
    reader.comment();
  } else if (reader.accept('<!ENTITY')) {
    reader.requireSpace();
    readEntity(reader, documentType);
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
    if (!reader.externalId(true)) reader.failExpected('"SYSTEM" or "PUBLIC"');
    reader.skipSpace();
    reader.expect('>');
  } else {
    reader.failExpected('a markup declaration, a comment or a processing instruction');
  }
}

function readEntity(reader: DeclarationReader, documentType: DocumentType): void {
  const isParameter = reader.accept('%');
  if (isParameter) reader.requireSpace();
  const at = reader.pos;
  const name = reader.plainName();
  reader.requireSpace();
  let text: Uint8Array | null = null;
  let unparsed = false;
  if (reader.externalId(false)) {
    const spaced = reader.skipSpace();
    if (!isParameter && reader.peek('">"') === 0x4e) {
      if (!spaced) reader.failExpected('white space');
      reader.expect('NDATA');
      reader.requireSpace();
      reader.plainName();
      unparsed = true;
    }
  } else {
    text = readEntityValue(reader);
  }
  reader.skipSpace();
  reader.expect('>');
  if (!isParameter) checkPredefined(reader, name, text, at);
  const entities = isParameter ? documentType.parameterEntities : documentType.generalEntities;
  // The first declaration binds (XML 1.0 §4.2).
  if (documentType.ignoresDeclarations || entities.has(name)) return;
  const plain =
    text !== null && !text.some((byte) => byte === LESS || byte === AMPERSAND || byte === CLOSE_BRACKET);
  const entity: Entity = { name, text, unparsed, plain, open: false };
  entities.set(name, entity);
}

/** The predefined entities may be declared, but only as what they are (XML 1.0 §4.6). */
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
    reader.fail('xml_syntax', `the entity "${name}" may be declared only as the character it stands for`, at);
}

/** `EntityValue`: its replacement text, and a 0 byte. Character references are replaced, entity references stay (XML 1.0 §4.5). */
function readEntityValue(reader: DeclarationReader): Uint8Array {
  const { state } = reader;
  const { from, to } = reader.literal('a quoted entity value, "SYSTEM" or "PUBLIC"');
  const value = reader.normalised(from, to);
  const faultOffset = reader.faultOffsetOf(from);
  const out = new Uint8Array(value.length + 1);
  let length = 0;
  let i = 0;
  while (i < value.length) {
    const byte = value[i]!;
    if (byte === PERCENT)
      reader.fail(
        'xml_syntax',
        'a parameter entity reference may not stand within a declaration of the internal subset',
        from,
      );
    if (byte === AMPERSAND && value[i + 1] === HASH) {
      const codePoint = scanCharacterReference(state, value, i, value.length, faultOffset);
      if (codePoint === REFERENCE_CUT)
        reader.fail('xml_syntax', 'expected ";" at the end of a character reference', from);
      length = writeCodePoint(codePoint, out, length);
      i = state.scanEnd;
      continue;
    }
    if (byte === AMPERSAND) {
      const nameEnd = scanNameEnd(state, value, i + 1, value.length, faultOffset);
      if (nameEnd >= value.length || value[nameEnd] !== SEMICOLON)
        reader.fail('xml_syntax', 'expected ";" at the end of a reference', from);
    }
    out[length++] = byte;
    i++;
  }
  return out.slice(0, length + 1);
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
