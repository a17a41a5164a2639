/** Long arrays as JSON, piece by piece: other requests are answered between two pieces, and no text of the whole is made. */

/** Records in a piece; an array of no more is written at once. */
const pieceRecords = 500;

/** JSON of the records, byte for byte what JSON.stringify makes of the whole. */
export function streamedArray(records: readonly object[]): string | ReadableStream<Uint8Array<ArrayBuffer>> {
  if (records.length <= pieceRecords) return JSON.stringify(records);
  const encoder = new TextEncoder();
  let next = 0;
  return new ReadableStream({
    async pull(controller) {
      // pieces that are asked for one after the other would keep the thread all the same
      if (next > 0) await new Promise((later) => setTimeout(later, 0));
      const piece = records.slice(next, next + pieceRecords).map((record) => JSON.stringify(record));
      const isLast = next + pieceRecords >= records.length;
      controller.enqueue(encoder.encode(`${next === 0 ? '[' : ','}${piece.join(',')}${isLast ? ']' : ''}`));
      next += pieceRecords;
      if (isLast) controller.close();
    },
  });
}
