/** The document type declaration. */
import { DeclarationReader, IncompleteDeclaration } from '../dtd/declaration-reader.ts';
import { readInternalSubset } from '../dtd/internal-subset.ts';
import { createDocumentType } from '../dtd/document-type.ts';
import type { TokenizerState } from '../tokenizer/state.ts';

/**
 * Reads the document type declaration at `pos`, as a whole. The internal subset is checked and kept; external parts are named
 * but never read. Returns false, with nothing changed, when the input ends inside it.
 */
export function scanDocumentType(s: TokenizerState): boolean {
  const { decodedEnd, expandedBytes } = s;
  const reader = new DeclarationReader(s, s.bytes, s.pos + '<!DOCTYPE'.length, s.end, null);
  const documentType = createDocumentType();
  s.documentType = documentType;
  try {
    reader.requireSpace();
    reader.qualifiedName();
    const spaced = reader.skipSpace();
    const next = reader.peek('">"');
    if (next === 0x53 || next === 0x50) {
      if (!spaced) reader.failExpected('white space');
      if (!reader.externalId(false)) reader.failExpected('"SYSTEM", "PUBLIC", "[" or ">"');
      documentType.incomplete = true;
      reader.skipSpace();
    }
    if (reader.accept('[')) {
      readInternalSubset(reader, documentType, 0);
      reader.expect(']');
      reader.skipSpace();
    }
    reader.expect('>');
  } catch (error) {
    if (!(error instanceof IncompleteDeclaration)) throw error;
    s.documentType = null;
    s.decodedEnd = decodedEnd;
    s.expandedBytes = expandedBytes;
    return false;
  }
  s.hasAttributeLists = documentType.attributeLists.size > 0;
  s.pos = reader.pos;
  return true;
}
