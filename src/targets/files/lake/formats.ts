/** The formats that the tables of a folder can have: one format, or both over the same files. */
import { deltaFormat } from './delta/table.ts';
import { icebergFormat } from './iceberg/table.ts';
import type { LakeFormatName, TableFormat } from './table-format.ts';

const formats: Readonly<Record<LakeFormatName, readonly TableFormat[]>> = {
  delta: [deltaFormat],
  iceberg: [icebergFormat],
  'delta,iceberg': [deltaFormat, icebergFormat],
};

/** Returns the formats. The first one determines what is in a table; the others have the same rows. */
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

/** Returns the format whose columns have field ids, which are stored in the files; null if there is none. */
export function numberingFormat(name: LakeFormatName): TableFormat | null {
  return formatsOf(name).find((format) => format.name === 'iceberg') ?? null;
}
