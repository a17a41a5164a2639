/** The XML declaration at the start of a document. */
import { DeclarationReader, IncompleteDeclaration } from '../dtd/declaration-reader.ts';
import { isSpace } from '../characters.ts';
import {
  IN_PROLOG,
  NEEDS_INPUT,
  STATE_CHANGED,
  type Outcome,
  type TokenizerState,
} from '../tokenizer/state.ts';
import { usualDeclarationBytes } from './detection.ts';

const LEAD = '<?xml';

/**
 * Reads the XML declaration (XML 1.0 §2.8), if the document has one. In a document of version 1.1, the encoding reader normalises the
 * line ends of 1.1; any other version 1.x is read by the rules of 1.0.
 */
export function scanXmlDeclaration(s: TokenizerState): Outcome {
  const { bytes, end } = s;
  const usual = usualDeclarationBytes(bytes);
  if (usual > 0 && usual <= end) return begin(s, usual);
  for (let i = 0; i < LEAD.length; i++) {
    if (i >= end && !s.final) return NEEDS_INPUT;
    if (bytes[i] !== LEAD.charCodeAt(i)) return begin(s, 0);
  }
  if (LEAD.length >= end && !s.final) return NEEDS_INPUT;
  if (!isSpace(bytes[LEAD.length]!)) return begin(s, 0);
  const reader = new DeclarationReader(s, bytes, LEAD.length, end, null);
  try {
    read(reader);
  } catch (error) {
    if (error instanceof IncompleteDeclaration) return NEEDS_INPUT;
    throw error;
  }
  return begin(s, reader.pos);
}

function begin(s: TokenizerState, pos: number): Outcome {
  s.pos = pos;
  s.stage = IN_PROLOG;
  return STATE_CHANGED;
}

function read(reader: DeclarationReader): void {
  reader.requireSpace();
  reader.expect('version');
  const version = readValue(reader);
  if (!/^1\.[0-9]+$/.test(version))
    reader.fail('xml_unsupported_version', `expected the version "1.0", found "${version}"`, reader.pos - 1);
  reader.state.isVersion11 = version === '1.1';
  let spaced = reader.skipSpace();
  if (spaced && reader.accept('encoding')) {
    const encoding = readValue(reader);
    if (!/^[A-Za-z][A-Za-z0-9._-]*$/.test(encoding))
      reader.fail('xml_syntax', `"${encoding}" is not the name of an encoding`, reader.pos - 1);
    spaced = reader.skipSpace();
  }
  if (spaced && reader.accept('standalone')) {
    const standalone = readValue(reader);
    if (standalone !== 'yes' && standalone !== 'no')
      reader.fail(
        'xml_syntax',
        `expected "yes" or "no" for standalone, found "${standalone}"`,
        reader.pos - 1,
      );
    reader.state.standalone = standalone === 'yes';
    reader.skipSpace();
  }
  if (!reader.accept('?>')) reader.failExpected('"?>" at the end of the XML declaration');
}

function readValue(reader: DeclarationReader): string {
  reader.skipSpace();
  reader.expect('=');
  reader.skipSpace();
  const { from, to } = reader.literal('a quoted value');
  return reader.text(from, to);
}
