/** The row of a job in `_loads`: the job counts once that is there. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { doubleQuoted, standardLiteral } from '../../engine/sql/dialect.ts';
import { codesTable, sideTableDefinitions } from '../../engine/model/side-tables.ts';
import { columnSqlType } from '../duckdb/types.ts';
import { syncPath } from '../folder/contents/manifest.ts';
import { dataFileName, type DataFiles } from './data-files.ts';
import { tableFolder, type LakeJob, type TableStep } from './manifest.ts';
import type { TablesThere } from './tables-there.ts';
import { fieldIdsOption } from '../folder/parquet.ts';
import { fieldOf, type LakeColumn } from './table-format.ts';

/** The columns of a table beside the data. */
export function sideColumns(name: string): {
  readonly comment: string;
  readonly columns: readonly LakeColumn[];
} {
  const { comment, columns } = [...Object.values(sideTableDefinitions), codesTable].find(
    (side) => side.name === name,
  )!;
  return { comment, columns: columns.map((column) => ({ ...column, sqlType: columnSqlType(column.type) })) };
}

/** `staging`: where the file of the row is to wait. */
export async function loadsStep(
  job: LakeJob,
  known: TablesThere,
  files: DataFiles,
  staging: string,
): Promise<TableStep> {
  const { name } = sideTableDefinitions.loads;
  const { comment, columns } = sideColumns(name);
  const values: Readonly<Record<string, string>> = {
    job: String(job.job),
    installation: standardLiteral(job.installation),
    id_sch: String(job.id_sch ?? 'NULL'),
    id_lschma: String(job.id_lschma ?? 'NULL'),
    published_at: standardLiteral(job.published_at),
    documents: String(job.documents),
    rows: String(job.rows),
  };
  const row = columns.map(
    (column) => `${values[column.name]}::${column.sqlType} AS ${doubleQuoted(column.name)}`,
  );
  const fieldIds = await known.fieldIds(name, columns.map(fieldOf));
  const fileName = dataFileName(job.job);
  const path = join(staging, fileName);
  await files.run(
    `COPY (SELECT ${row.join(', ')}) TO ${standardLiteral(path)} (FORMAT parquet, COMPRESSION zstd${fieldIdsOption(fieldIds)})`,
  );
  await syncPath(path);
  const { size: bytes } = await stat(path);
  return {
    name,
    directory: known.directoryOf(name) ?? tableFolder(name),
    comment,
    columns,
    files: [
      {
        name: fileName,
        bytes,
        stats: await files.statistics(path, 1, columns),
        ...(fieldIds === null ? {} : { fieldIds }),
      },
    ],
    replace: false,
    keptJobs: [],
    without: [],
  };
}
