/** The formats of tables that a folder can have: one, or both over the same files. */
import { deltaFormat } from './delta/table.ts';
import { icebergFormat } from './iceberg/table.ts';
import type { LakeFormatName, TableFormat } from './table-format.ts';

const formats: Readonly<Record<LakeFormatName, readonly TableFormat[]>> = {
  delta: [deltaFormat],
  iceberg: [icebergFormat],
  'delta,iceberg': [deltaFormat, icebergFormat],
};

/** The first one tells what is in a table; the others have the same rows. */
export function formatsOf(name: LakeFormatName): readonly TableFormat[] {
  return formats[name];
}

export function mainFormat(name: LakeFormatName): TableFormat {
  return formatsOf(name)[0]!;
}

/** Returns the DuckDB type that the format stores for a column of that DuckDB type. */
export function storedTypeIn(name: LakeFormatName, sqlType: string): string {
  return formatsOf(name).reduce((type, format) => format.storedType(type), sqlType);
}

/** The one whose columns have numbers, which stand in the files; null where none has. */
export function numberingFormat(name: LakeFormatName): TableFormat | null {
  return formatsOf(name).find((format) => format.name === 'iceberg') ?? null;
}
