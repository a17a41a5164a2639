/** Documents to rows and back, in memory. */
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { createDocumentWriter } from '../../../src/engine/unshred/document-writer.ts';
import type { DocumentRows } from '../../../src/engine/unshred/rows/document-rows.ts';
import { memoryDocumentRows } from '../memory/document-rows.ts';
import { shred } from '../models/shredding.ts';

/** The documents as their rows alone give them back. */
export async function roundTrip(
  model: RelationalModel,
  documents: readonly (string | Uint8Array)[],
): Promise<Uint8Array[]> {
  return writeDocuments(
    model,
    memoryDocumentRows(shred(model, documents)),
    documents.map((_, index) => String(index + 1)),
  );
}

export async function writeDocuments(
  model: RelationalModel,
  rows: DocumentRows,
  documentKeys: readonly string[],
): Promise<Uint8Array[]> {
  const writer = createDocumentWriter(model, rows);
  const written: Uint8Array[] = [];
  for (const key of documentKeys) {
    const chunks: Uint8Array[] = [];
    await writer.write(key, (bytes) => void chunks.push(bytes.slice()));
    written.push(Buffer.concat(chunks));
  }
  return written;
}
