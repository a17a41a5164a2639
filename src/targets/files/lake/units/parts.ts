/** A file of an executor becomes one for each partition that it has rows of. */
import { AppError } from '../../../../errors.ts';
import type { UnitFile } from '../../../../ports/rows/units.ts';
import { openDataFiles, type TypedName } from '../data-files.ts';
import { rowsTold } from '../file-statistics.ts';
import type { FieldIds, LakeFormatName } from '../table-format.ts';
import { typeFault, type PartitionField } from '../partitions/fields.ts';
import { derivedColumns } from '../partitions/of-model.ts';
import { splitFiles } from '../partitions/split.ts';

/** names files of executors, which do not know their job: the target gives the files names of its own */
const anyJob = 'unit';

export interface PartsOfUnit {
  readonly table: string;
  readonly format: LakeFormatName;
  readonly fields: readonly PartitionField[];
  /** of the file */
  readonly columns: readonly TypedName[];
  readonly fieldIds: FieldIds | null;
  /** that the file lies in */
  readonly folder: string;
}

/** What cannot be kept apart stays one file: the machine that publishes finds the same fault, and tells it once for all units. */
export async function partsOfUnit(file: UnitFile, unit: PartsOfUnit): Promise<readonly UnitFile[]> {
  const { table, format, fields, columns, fieldIds, folder } = unit;
  const types = new Map(columns.map(({ name, sqlType }) => [name, sqlType]));
  const isFaulty = (field: PartitionField): boolean => {
    const type = types.get(field.column);
    return type === undefined || typeFault(field, type) !== null;
  };
  if (fields.length === 0 || fields.some(isFaulty)) return [file];
  const files = openDataFiles(folder, folder);
  try {
    const split = await splitFiles(files, [file.name], {
      table,
      fields,
      columns,
      derived: derivedColumns(fields, format),
      fieldIds,
      emptyIsNull: format !== 'iceberg',
      mark: anyJob,
      staging: folder,
    });
    return split.map((part) => ({ ...file, ...part, rows: rowsTold(part.stats), sha256: '' }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'unprocessable_input') return [file];
    throw error;
  } finally {
    await files.close();
  }
}
