/** What holds for the keys of every target. */
import { expect } from 'vitest';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { libraryModel } from '../../unit/engine/sql/library-model.ts';
import type { TargetReader } from './readers.ts';

const structural = new Set(['row_key', 'parent_key', 'child_key', 'document']);

/** Every key is given once, and every reference leads to a row that is there. */
export async function expectSoundKeys(
  reader: TargetReader,
  model: RelationalModel = libraryModel,
): Promise<void> {
  const documents = new Set((await reader.read('_documents'))!.map((row) => row.document_key));
  const keys = await Promise.all(
    model.tables.map(async (table) => {
      const key = table.columns.find((column) => column.role === 'row_key')!.name;
      return new Set((await reader.read(table.name))?.map((row) => row[key]));
    }),
  );
  for (const [index, table] of model.tables.entries()) {
    const rows = (await reader.read(table.name)) ?? [];
    expect(keys[index]!.size).toBe(rows.length);
    for (const column of table.columns.filter(({ role }) => structural.has(role) && role !== 'row_key')) {
      const parents = column.role === 'document' ? documents : keys[column.references!]!;
      for (const row of rows) if (row[column.name] !== null) expect(parents).toContain(row[column.name]);
    }
  }
}
