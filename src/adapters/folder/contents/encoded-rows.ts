/** Few rows that this program knows itself, as the bytes that a sink is handed of others. */
import { ByteBuffer } from '../../../engine/shred/rows/byte-buffer.ts';
import { rowEncoderFor } from '../../../engine/shred/rows/encoding.ts';
import type { RowEncoding } from '../../../ports/rows/sink.ts';

export function encodedRows(
  rows: readonly (readonly (string | null)[])[],
  encoding: RowEncoding,
): Uint8Array {
  const encoder = rowEncoderFor(encoding);
  const out = new ByteBuffer(64 * 1024);
  const utf8 = new TextEncoder();
  for (const row of rows) {
    for (const [at, text] of row.entries()) {
      if (at > 0) out.pushByte(encoder.separator);
      if (text === null) encoder.pushNull(out);
      else {
        const bytes = utf8.encode(text);
        encoder.pushText(out, bytes, 0, bytes.length);
      }
    }
    out.pushByte(10);
  }
  return out.take();
}
