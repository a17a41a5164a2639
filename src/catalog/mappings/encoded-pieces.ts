/** Encodes long texts as UTF-8: many short pieces are encoded chunk by chunk. */

const chunkCharacters = 64 * 1024;

/** Chunks of UTF-8; no piece may end within a surrogate pair. */
export function* encodedPieces(pieces: Iterable<string>): Generator<Uint8Array<ArrayBuffer>, void, void> {
  const encoder = new TextEncoder();
  let text = '';
  for (const piece of pieces) {
    text += piece;
    if (text.length < chunkCharacters) continue;
    yield encoder.encode(text);
    text = '';
  }
  if (text !== '') yield encoder.encode(text);
}
