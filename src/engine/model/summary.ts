/** The summary of a relational model for the lists of the catalogue, which therefore need not read whole models. */
import { inSlices } from '../in-slices.ts';
import { declaredKeys } from './keys.ts';
import type { RelationalModel } from './relational-model.ts';

export interface TableSummary {
  readonly name: string;
  readonly xpath: string;
  readonly columnCount: number;
  /** name of the column that numbers the rows; null if the table has none */
  readonly rowKey: string | null;
}

export interface ModelSummary {
  /** in load order */
  readonly tables: readonly TableSummary[];
  /** entries of the key list while nobody has declared natural keys of the feed */
  readonly keyCount: number;
}

interface KeyedTable {
  readonly name: string;
  readonly xpath: string;
  readonly columns: readonly { readonly name: string; readonly key: 'PK' | 'FK' | null }[];
}

/** `tables`: the tables of the model with the keys of their columns. */
export async function summarizeModel(
  model: RelationalModel,
  tables: readonly KeyedTable[],
): Promise<ModelSummary> {
  const { natural, references } = await inSlices(declaredKeys(model));
  let keyCount = 0;
  for (const { name, columns } of tables) {
    keyCount += natural.get(name)?.length ?? 0;
    for (const column of columns)
      if (column.key !== null || references.has(`${name}.${column.name}`)) keyCount += 1;
  }
  return {
    keyCount,
    tables: tables.map(({ name, xpath, columns }) => ({
      name,
      xpath,
      columnCount: columns.length,
      rowKey: columns.find(({ key }) => key === 'PK')?.name ?? null,
    })),
  };
}

/** The number of surrogate-key sequences: one for each table with a row key. */
export function sequenceCount({ tables }: ModelSummary): number {
  return tables.reduce((count, { rowKey }) => (rowKey === null ? count : count + 1), 0);
}
