/** What executors write Parquet files of a folder's tables with. */
import type { FileUnitToken } from '../../folder/units/token.ts';
import type { NamedColumn } from '../../folder/contents/table-columns.ts';
import { storedTypeIn } from '../formats.ts';
import type { LakeFormatName } from '../table-format.ts';
import { typeToWrite } from '../commit/next-version.ts';
import type { PartitionField } from '../partitions/fields.ts';
import type { FieldIds } from '../table-format.ts';

/** What a table has of what its files are made by. */
export interface LakeUnitTable {
  /** by column, the types of those that are there */
  readonly there: readonly (readonly [column: string, sqlType: string])[];
  /** null: none */
  readonly fieldIds: FieldIds | null;
  /** none: files have rows of any kind */
  readonly partitioning: readonly PartitionField[];
}

export interface LakeUnitToken extends FileUnitToken {
  readonly kind: 'lake';
  readonly lakeFormat: LakeFormatName;
  readonly tables: readonly (readonly [key: number | string, table: LakeUnitTable])[];
}

/** As `ColumnTyping.typeOf`: the table's type where it holds the values, else the one that they need. */
export function lakeTypeOf(
  { lakeFormat }: Pick<LakeUnitToken, 'lakeFormat'>,
  { there }: Pick<LakeUnitTable, 'there'>,
): (column: NamedColumn, sqlType: string) => Promise<string> {
  const types = new Map(there);
  return ({ name }, sqlType) => typeToWrite(types.get(name) ?? null, storedTypeIn(lakeFormat, sqlType));
}
