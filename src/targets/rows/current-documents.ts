/** The documents that a target holds, from rows of `currentDocumentsQuery`. */
import type { CurrentDocument, UnmappedOfDocument } from '../../ports/rows/sink.ts';

export interface CurrentDocumentRow {
  /** text if the driver does not return 64-bit integers */
  readonly document_key: bigint | string;
  readonly merge_key: string | null;
  readonly name: string | null;
  readonly sha256: string;
}

export function currentDocumentOf({
  document_key: documentKey,
  merge_key: key,
  name,
  sha256,
}: CurrentDocumentRow): CurrentDocument {
  return { documentKey: String(documentKey), key: key ?? '', name: name ?? '', sha256 };
}

/** A row of `unmappedContentQuery`. */
export interface UnmappedContentRow {
  readonly document_key: bigint | string | number;
  readonly xpath: string | null;
}

export function unmappedContentOf({
  document_key: documentKey,
  xpath,
}: UnmappedContentRow): UnmappedOfDocument {
  return { documentKey: String(documentKey), xpath: xpath ?? '' };
}
