/** Few rows that this program knows itself, as the bytes that a sink is handed of others. */
import { ByteBuffer } from '../../../../engine/shred/rows/byte-buffer.ts';
import { rowFormFor } from '../../../../engine/shred/rows/forms.ts';
import type { RowEncoding } from '../../../../ports/rows/sink.ts';
import type { NamedColumn } from './table-columns.ts';

/** `columns`: those of the table, which `rows` have values of. */
export function encodedRows(
  rows: readonly (readonly (string | null)[])[],
  encoding: RowEncoding,
  columns: readonly NamedColumn[],
): [bytes: Uint8Array, rowCount: number] {
  const form = rowFormFor(encoding, columns);
  const out = new ByteBuffer(64 * 1024);
  const utf8 = new TextEncoder();
  for (const row of rows) {
    for (const [at, text] of row.entries()) {
      if (text === null) form.nothing(out, at);
      else {
        const bytes = utf8.encode(text);
        form.text(out, at, bytes, 0, bytes.length);
      }
    }
    form.end(out);
  }
  return [out.take(), rows.length];
}
