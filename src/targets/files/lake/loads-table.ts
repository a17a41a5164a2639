/** The row of a job in `_loads`: the job counts once that row is committed. */
import { codesTable, sideTableDefinitions } from '../../../engine/model/side-tables.ts';
import { columnSqlType } from '../../sql/duckdb/types.ts';
import { jobMark } from '../folder/place.ts';
import { encodedRows } from '../folder/table-columns.ts';
import { writeParquet } from '../parquet/writing.ts';
import { fileStatistics } from './data-files.ts';
import { tableFolder, type LakeJob, type TableStep } from './manifest.ts';
import type { ExistingTables } from './existing-tables.ts';
import { fieldOf, type LakeColumn, dataFileName } from './table-format.ts';

/** Returns the columns of a table beside the data. */
export function sideColumns(name: string): {
  readonly comment: string;
  readonly columns: readonly LakeColumn[];
} {
  const { comment, columns } = [...Object.values(sideTableDefinitions), codesTable].find(
    (side) => side.name === name,
  )!;
  return { comment, columns: columns.map((column) => ({ ...column, sqlType: columnSqlType(column.type) })) };
}

/** `staging`: the folder for the file of the row. */
export async function loadsStep(job: LakeJob, known: ExistingTables, staging: string): Promise<TableStep> {
  const { name, columns: typed } = sideTableDefinitions.loads;
  const { comment, columns } = sideColumns(name);
  const values: Readonly<Record<string, string | number | null>> = {
    job_uuid: job.job_uuid,
    job: job.job,
    installation: job.installation,
    id_sch: job.id_sch,
    id_lschma: job.id_lschma,
    model_sha256: job.model_sha256,
    published_at: job.published_at,
    documents: job.documents,
    rows: job.rows,
  };
  const row = columns.map((column) => values[column.name]?.toString() ?? null);
  const [rows] = encodedRows([row], 'words', typed);
  const fileName = dataFileName(jobMark(job.job, job.job_uuid));
  const [written] = await writeParquet(
    staging,
    [
      {
        columns: typed,
        widened: new Map(),
        fieldIdsOf: () => known.fieldIds(name, columns.map(fieldOf)),
        file: {
          name: fileName,
          rows: 1,
          bytes: rows.length,
          sha256: '',
          longestWriteBytes: rows.length,
          held: [rows],
        },
      },
    ],
    { deltas: false },
  );
  const { file, facts, fieldIds } = written!;
  return {
    name,
    directory: known.directoryOf(name) ?? tableFolder(name),
    comment,
    columns,
    files: [
      {
        name: fileName,
        bytes: file.bytes,
        stats: fileStatistics(1, columns, facts),
        ...(fieldIds === null ? {} : { fieldIds }),
      },
    ],
    replace: false,
    keptJobs: [],
    without: [],
  };
}
