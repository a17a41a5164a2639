/**
 * The columns of tables, and the rows that this program makes itself, such as those of `_codes`, in the encoding in which a sink gets all
 * rows.
 */
import { peekElement, peekMember } from '../../../engine/model/packed/reader.ts';
import { tableIndexes } from '../../../engine/model/packed/models.ts';
import type { ColumnType, RelationalModel } from '../../../engine/model/relational-model.ts';
import { codesTable, sideTableDefinitions } from '../../../engine/model/side-tables.ts';
import { ByteBuffer } from '../../../engine/shred/byte-buffer.ts';
import { rowFormFor } from '../../../engine/shred/row-output.ts';
import type { RowEncoding, SinkPlan } from '../../../ports/row-sink.ts';
import { codeRows } from '../../../engine/sql/code-lists.ts';
import { codesOf } from '../../rows/code-lists.ts';
import type { CodeRow, TargetManifest } from './manifest.ts';

export interface NamedColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** Returns the columns of a table of the model, or of a table beside the data. */
export function tableColumns(model: RelationalModel, table: string): readonly NamedColumn[] {
  const own = tableIndexes(model).get(table);
  if (own !== undefined) return peekMember(peekElement(model.tables, own), 'columns');
  return [...Object.values(sideTableDefinitions), codesTable].find((side) => side.name === table)!.columns;
}

/** `columns`: the columns of the table, in the order of the values in `rows`. */
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

export interface KeptCodes {
  /** null keeps the existing rows */
  readonly rows: readonly CodeRow[] | null;
  /** the changes, for the log */
  readonly changes: readonly string[];
}

/** The part of a folder's manifest that concerns codes. */
export interface CodesBefore extends Pick<TargetManifest, 'codes'> {
  readonly tables: readonly { readonly name: string }[];
}

/** `isWritten`: selects the tables that this job has rows for. */
export async function keptCodes(
  plan: SinkPlan,
  before: CodesBefore,
  isWritten: (table: string) => boolean,
): Promise<KeptCodes> {
  const choice = plan.codes ?? (before.codes === undefined ? 'none' : 'table');
  if (choice === 'none') return { rows: null, changes: [] };
  const { tables } = plan.model;
  const { name } = codesTable;
  const there = new Set(before.tables.map((table) => table.name));
  if (tables.some((table) => table.name === name) || (before.codes === undefined && there.has(name)))
    return {
      rows: null,
      changes: [`${name}: not filled with codes because another table has this name`],
    };
  const planned = await codesOf(
    plan,
    (table) => isWritten(tables[table]!.name) || there.has(tables[table]!.name),
  );
  const rows = new Map((before.codes ?? []).map((row) => [JSON.stringify(row.slice(0, 2)), row]));
  for (const { type, code, label, documentation } of codeRows(planned)) {
    const key = JSON.stringify([type, code]);
    const known = rows.get(key);
    rows.set(key, [type, code, label ?? known?.[2] ?? null, documentation ?? known?.[3] ?? null]);
  }
  return {
    rows: rows.size === 0 ? null : [...rows.values()],
    changes: choice === 'check' ? ['files have no CHECK constraints: --codes check only fills _codes'] : [],
  };
}
