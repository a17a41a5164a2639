/** External parts of a document: the external subset of its DTD, and external entities. The creator of the tokenizer provides them. */
import { CR, LF } from '../characters.ts';
import { utf8Text } from '../utf8.ts';
import { createEncodingReader } from '../encoding/reader.ts';
import type { TokenizerState } from '../tokenizer/state.ts';
import type { DocumentType, ExternalPart, ExternalReference } from './document-type.ts';

/** The text of a part, in UTF-8 with LF as line ends, followed by one 0 byte; without its text declaration. */
interface ExternalText {
  readonly text: Uint8Array;
  readonly part: ExternalPart;
  /** lines of the part in front of the text */
  readonly linesBefore: number;
}

/** Returns null if the part is not read; the document type has the reason. */
export function readExternal(
  s: TokenizerState,
  documentType: DocumentType,
  reference: ExternalReference,
  faultOffset: number,
): ExternalText | null {
  const found = s.settings.external?.read(reference) ?? { refused: null };
  if ('refused' in found) {
    const name = reference.systemId ?? reference.publicId ?? '';
    if (found.refused !== null) documentType.refused.add(`${name}: ${found.refused}`);
    return null;
  }
  const { bytes, base } = found;
  s.externalBytes += bytes.length;
  const { xmlMaxEntityExpansionBytes: most } = s.limits;
  if (s.externalBytes > most)
    s.fail(
      faultOffset,
      'xml_entity_expansion_limit',
      `external parts of the document have more than ${most} bytes`,
    );
  const pieces: Uint8Array[] = [];
  const reader = createEncodingReader(undefined, {
    take: (piece, from, to) => void pieces.push(piece.slice(from, to)),
    skip: () => undefined,
    fail: (code, message) => s.fail(faultOffset, code, `${message} (in ${base})`),
  });
  reader.write(bytes);
  reader.end();
  const { text, linesBefore } = entityText(pieces, (declared) =>
    s.fail(faultOffset, 'xml_syntax', `${declared} is not a text declaration (in ${base})`),
  );
  return { text, part: found, linesBefore };
}

/** XML 1.0, 2.11 and 4.3.1: line ends become LF, and the text declaration is no part of the text. */
function entityText(
  pieces: readonly Uint8Array[],
  refuse: (declared: string) => never,
): Pick<ExternalText, 'text' | 'linesBefore'> {
  const text = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 1));
  let length = 0;
  let isBehindCr = false;
  for (const piece of pieces)
    for (const byte of piece) {
      if (byte !== LF || !isBehindCr) text[length++] = byte === CR ? LF : byte;
      isBehindCr = byte === CR;
    }
  text[length] = 0;
  const from = behindDeclaration(text, length);
  const declared = utf8Text(text.subarray(0, from));
  if (from > 0 && !textDeclaration.test(declared)) refuse(declared);
  const linesBefore = text.subarray(0, from).filter((byte) => byte === LF).length;
  return { text: text.subarray(from, length + 1), linesBefore };
}

/** XML 1.0, 4.3.1; many parts of DTDs have no encoding in it. */
const textDeclaration =
  /^<\?xml(?:\s+version\s*=\s*(?:"1\.\d+"|'1\.\d+'))?(?:\s+encoding\s*=\s*(?:"[A-Za-z][\w.-]*"|'[A-Za-z][\w.-]*'))?\s*\?>$/;
const declaration = new TextEncoder().encode('<?xml');

function behindDeclaration(text: Uint8Array, length: number): number {
  if (declaration.some((byte, at) => text[at] !== byte) || text[declaration.length]! > 0x20) return 0;
  for (let at = declaration.length; at + 1 < length; at += 1)
    if (text[at] === 0x3f && text[at + 1] === 0x3e) return at + 2;
  return 0;
}
