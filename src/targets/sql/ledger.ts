/** Questions to a target before a job changes it: which logical schemas loaded it, which documents it holds, and whether the job is there. */
import { sideTableNames } from '../../engine/model/side-tables.ts';
import {
  currentDocumentsQuery,
  documentColumns,
  loadedDocumentsQuery,
  unmappedContentQuery,
  type DocumentColumn,
  type Loading,
} from '../../engine/sql/loaded-documents.ts';
import { targetLoadsQuery } from '../../engine/sql/target-loads.ts';
import type { CurrentDocument, UnmappedOfDocument } from '../../ports/rows/merge.ts';
import type { SinkPlan } from '../../ports/rows/sink.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import {
  currentDocumentOf,
  unmappedContentOf,
  type CurrentDocumentRow,
  type UnmappedContentRow,
} from '../rows/current-documents.ts';
import { publishedQuery } from '../rows/ledger.ts';
import { refusePreRelease } from '../rows/pre-release.ts';
import type { SqlDatabase } from './database.ts';
import type { FoundTables, SqlNames } from './found-tables.ts';
import type { DrawnModel } from './drawn-model.ts';

/** A target as a job asks it. */
export interface AskedTarget<Database extends Pick<SqlDatabase, 'read'>> {
  readonly database: Database;
  readonly driver: SqlNames;
  readonly plan: SinkPlan;
  readonly drawn: DrawnModel;
  readonly known: FoundTables;
}

/**
 * Returns the logical schemas that loaded the target, the newest first, or none if nothing was loaded. Throws AppError `conflict` if a version
 * before 1.0 made the target.
 */
export async function targetLoads(
  database: Pick<SqlDatabase, 'read'>,
  known: FoundTables,
  quote: (name: string) => string,
  label: string,
): Promise<readonly TargetLoad[]> {
  const { documents, loads } = sideTableNames;
  refusePreRelease(label, (name) => known.get(name)?.columns);
  if (!known.has(documents) || !known.has(loads)) return [];
  const rows = await database.read<Record<keyof TargetLoad, unknown>>(targetLoadsQuery(quote));
  return rows.map(({ installation, idSch, idLschma, modelHash, holds }) => ({
    installation: String(installation),
    idSch: idSch === null ? null : Number(idSch),
    idLschma: idLschma === null ? null : Number(idLschma),
    modelHash: modelHash === null ? null : String(modelHash),
    holds: Number(holds) === 1,
  }));
}

/** Whether the job was published there. */
export async function isPublished<Database extends SqlDatabase>({
  database,
  driver,
  plan,
  known,
}: AskedTarget<Database>): Promise<boolean> {
  if (!known.has(sideTableNames.loads)) return false;
  return (await database.read(publishedQuery(plan, driver.dialect.quote))).length > 0;
}

/** The model's tables that hold rows. */
export async function filledTables<Database extends SqlDatabase>({
  database,
  driver,
  drawn,
  known,
}: AskedTarget<Database>): Promise<readonly string[]> {
  const filled: string[] = [];
  for (const { name } of drawn.tables) {
    if (known.get(driver.foldedName(name))?.isView !== false) continue;
    const rows = await database.read(`SELECT 1 FROM ${driver.dialect.quote(name)} LIMIT 1`);
    if (rows.length > 0) filled.push(name);
  }
  return filled;
}

/** SHA-256 of the documents that have rows in the model's tables, or that its logical schema kept whole. */
export async function loadedHashes<Database extends SqlDatabase>(
  target: AskedTarget<Database>,
): Promise<readonly string[]> {
  const roots = rootColumns(target);
  if (roots === null) return [];
  const { database, driver, plan } = target;
  const rows = await database.read<{ sha256: string }>(
    loadedDocumentsQuery(roots, plan, driver.dialect.quote),
  );
  return rows.map(({ sha256 }) => sha256);
}

/** The same documents, without those that another one has replaced. */
export async function currentDocuments<Database extends SqlDatabase>(
  target: AskedTarget<Database>,
): Promise<readonly CurrentDocument[]> {
  const roots = rootColumns(target);
  if (roots === null) return [];
  const { database, driver, plan, known } = target;
  const isMerged = known.get(sideTableNames.documents)!.columns.has('valid_to');
  const rows = await database.read<CurrentDocumentRow>(
    currentDocumentsQuery(roots, plan, driver.dialect.quote, isMerged),
  );
  return rows.map(currentDocumentOf);
}

/** Content in `_unmapped`. `loading`: as `unmappedContentQuery` has it. */
export async function unmappedContent<Database extends SqlDatabase>(
  { database, driver, known }: AskedTarget<Database>,
  loading: Loading | null,
): Promise<readonly UnmappedOfDocument[]> {
  if (!known.has(sideTableNames.unmapped)) return [];
  const rows = await database.read<UnmappedContentRow>(unmappedContentQuery(loading, driver.dialect.quote));
  return rows.map(unmappedContentOf);
}

/** Null if no documents were loaded there. */
function rootColumns<Database extends SqlDatabase>({
  driver,
  plan,
  drawn,
  known,
}: AskedTarget<Database>): readonly DocumentColumn[] | null {
  if (!known.has(sideTableNames.documents)) return null;
  return documentColumns(plan.model, drawn.tables).filter(
    ({ table, column }) =>
      known.get(driver.foldedName(table))?.columns.has(driver.foldedName(column)) === true,
  );
}
