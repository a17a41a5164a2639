/** The document type declaration. */
import { DeclarationReader, IncompleteDeclaration } from '../dtd/declaration-reader.ts';
import { readExternalSubset } from '../dtd/external/subset.ts';
import type { ExternalReference } from '../dtd/external/reference.ts';
import { readSubset } from '../dtd/internal-subset.ts';
import { createDocumentType } from '../dtd/document-type.ts';
import type { TokenizerState } from '../tokenizer/state.ts';

/**
 * Reads the whole document type declaration at `pos`: its internal subset, and then the external one if it is available. Returns false,
 * without changes, if the input ends inside it.
 */
export function scanDocumentType(s: TokenizerState): boolean {
  const { decodedEnd, expandedBytes, externalBytes } = s;
  let external: ExternalReference | null = null;
  let hasInternal = false;
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
      external = reader.externalId(false);
      if (external === null) reader.failExpected('"SYSTEM", "PUBLIC", "[" or ">"');
      reader.skipSpace();
    }
    if (reader.accept('[')) {
      hasInternal = true;
      readSubset(reader, documentType, 0);
      reader.expect(']');
      reader.skipSpace();
    }
    reader.expect('>');
  } catch (error) {
    if (!(error instanceof IncompleteDeclaration)) throw error;
    s.documentType = null;
    s.decodedEnd = decodedEnd;
    s.expandedBytes = expandedBytes;
    s.externalBytes = externalBytes;
    return false;
  }
  if (external !== null) readExternalSubset(s, documentType, external, !hasInternal);
  s.hasAttributeLists = documentType.attributeLists.size > 0;
  s.pos = reader.pos;
  return true;
}
