/** Documents to rows and back, in memory. */
import { deepStrictEqual } from 'node:assert';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { createDocumentWriter } from '../../../src/engine/unshred/document-writer.ts';
import type { DocumentRows } from '../../../src/engine/unshred/rows/document-rows.ts';
import { memoryDocumentRows } from '../memory/document-rows.ts';
import { shred } from '../models/shredding.ts';

/** The documents as their rows alone give them back: by the kernel from the first element on, and by TypeScript alone, which must be the same. */
export async function roundTrip(
  model: RelationalModel,
  documents: readonly (string | Uint8Array)[],
): Promise<Uint8Array[]> {
  const rows = memoryDocumentRows(shred(model, documents));
  const keys = documents.map((_, index) => String(index + 1));
  const written = await writeDocuments(model, rows, keys);
  deepStrictEqual(await writeDocuments(model, rows, keys, Infinity), written);
  return written;
}

export async function writeDocuments(
  model: RelationalModel,
  rows: DocumentRows,
  documentKeys: readonly string[],
  kernelAfter = 0,
): Promise<Uint8Array[]> {
  const writer = createDocumentWriter(model, rows, { kernelAfter });
  const written: Uint8Array[] = [];
  for (const key of documentKeys) {
    const chunks: Uint8Array[] = [];
    await writer.write(key, (bytes) => void chunks.push(bytes.slice()));
    written.push(Buffer.concat(chunks));
  }
  return written;
}
