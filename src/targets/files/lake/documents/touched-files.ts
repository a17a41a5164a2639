/** Which files of a table a job writes anew, and which of their rows stay. */
import { fileKeyName, sideTableNames } from '../../../../engine/model/side-tables.ts';
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import type { NewestVersions } from '../commit/newest-versions.ts';
import {
  parquet,
  wholeRows,
  type DataFiles,
  type TypedName,
  rowFiles,
  type PresentFile,
} from '../data-files.ts';
import { mainFormat } from '../formats.ts';
import type { LakeStep, TableStep } from '../manifest.ts';
import type { HeldLakePlace } from '../place.ts';
import { filesOf } from './files-of-documents.ts';
import { unmergedCondition } from './merged-documents.ts';

export async function localFiles(place: HeldLakePlace, paths: readonly string[]): Promise<readonly string[]> {
  const local: string[] = [];
  for (const path of paths) local.push(await place.localFile(path));
  return local;
}

/** A condition: the row is of none of these documents; null where it may be of any. */
export function without(keys: readonly string[]): string | null {
  return keys.length === 0 ? null : `(${fileKeyName} IN (${keys.join(', ')})) IS NOT TRUE`;
}

/** The files with rows that go, or become others. */
export async function touchedFiles(
  place: HeldLakePlace,
  files: DataFiles,
  present: readonly PresentFile[],
  columns: readonly TypedName[],
  { without: gone, closing }: TableStep,
): Promise<readonly PresentFile[]> {
  const found: PresentFile[] = [];
  const keys = [...gone, ...(closing?.keys ?? [])];
  const conditions = [
    ...(keys.length === 0 ? [] : [`${fileKeyName} IN (${keys.join(', ')})`]),
    ...(closing === undefined ? [] : [unmergedCondition]),
  ];
  if (conditions.length === 0) return found;
  const isHolding = filesOf(keys);
  for (const file of present) {
    // which documents came without a merge, ranges do not tell
    if (closing === undefined && !isHolding(file.of)) continue;
    const rowsOf = await rowFiles(place, [file]);
    const rows = await files.read(
      `SELECT 1 FROM ${closing === undefined ? parquet(rowsOf) : wholeRows(rowsOf, columns)} WHERE ${conditions.join(' OR ')} LIMIT 1`,
    );
    if (rows.length > 0) found.push(file);
  }
  return found;
}

/** A condition for the rows of documents that stay. */
export async function keptRows(
  place: HeldLakePlace,
  newest: NewestVersions,
  table: TableStep,
  step: LakeStep,
): Promise<string> {
  const { keptJobs, keptDocuments = [] } = table;
  const conditions = [
    ...(keptJobs.length === 0 ? [] : [`job_uuid IN (${keptJobs.map(standardLiteral).join(', ')})`]),
    ...(keptDocuments.length === 0 ? [] : [`${fileKeyName} IN (${keptDocuments.join(', ')})`]),
  ];
  if (conditions.length === 0) return 'false';
  const isKept = conditions.join(' OR ');
  if (table.name === sideTableNames.documents) return isKept;
  const documents = step.tables.find(({ name }) => name === sideTableNames.documents);
  const directory = documents?.directory ?? sideTableNames.documents;
  const state = await newest.of(mainFormat(step.format), { name: sideTableNames.documents, directory });
  const paths = [...(state?.files.keys() ?? [])].map((path) => `${directory}/${path}`);
  return paths.length === 0
    ? 'false'
    : `${fileKeyName} IN (SELECT ${fileKeyName} FROM ${parquet(await localFiles(place, paths))} WHERE ${isKept})`;
}
