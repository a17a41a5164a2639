/** The columns of tables in a folder, and few rows that this program knows itself, as the bytes that a sink is handed of others. */
import { passed } from '../../../../engine/model/packed/lazy-array.ts';
import { lookedAt } from '../../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../../engine/model/packed/table-names.ts';
import type { ColumnType, RelationalModel } from '../../../../engine/model/relational-model.ts';
import { codesTable, sideTableDefinitions } from '../../../../engine/model/side-tables.ts';
import { ByteBuffer } from '../../../../engine/shred/rows/byte-buffer.ts';
import { rowFormFor } from '../../../../engine/shred/rows/forms.ts';
import type { RowEncoding } from '../../../../ports/rows/sink.ts';

export interface NamedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** The columns of a table of the model, or of a table beside the data. */
export function tableColumns(model: RelationalModel, table: string): readonly NamedColumn[] {
  const own = tableIndexes(model).get(table);
  if (own !== undefined) return lookedAt(passed(model.tables, own), 'columns');
  return [...Object.values(sideTableDefinitions), codesTable].find((side) => side.name === table)!.columns;
}

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
