/** Reads the subsets of a DTD: entities, attribute lists, parameter entities, and the conditional sections of external parts. */
import { collapseSpaces } from './attribute-defaults.ts';
import { decodeAttributeValue } from '../scan/attribute-value.ts';
import { AMPERSAND, CLOSE_BRACKET, LESS, PERCENT } from '../characters.ts';
import { ByteList } from './byte-list.ts';
import { readContentSpecification } from './content-specification.ts';
import { DeclarationReader } from './declaration-reader.ts';
import type { AttributeDefinition, DocumentType, Entity } from './document-type.ts';
import { addValue, expanded, parameterText, reference, referencedText } from './parameter-entities.ts';
import { utf8Text } from '../utf8.ts';

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
    reader.fail('xml_syntax', `the entity "${name}" may be declared only as the character it stands for`, at);
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
