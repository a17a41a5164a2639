/** The ledger of a target: the logical schemas that loaded it, the documents it holds, whether the job is there, and the job's own row. */
import { sideTableNames } from '../../engine/model/side-tables.ts';
import {
  currentDocumentsQuery,
  documentColumns,
  loadedDocumentsQuery,
  unmappedContentQuery,
  type DocumentColumn,
  type Loading,
  targetLoadsQuery,
} from '../../engine/sql/loaded-documents.ts';
import type { CurrentDocument, UnmappedOfDocument, SinkPlan, TargetLoad } from '../../ports/row-sink.ts';
import {
  currentDocumentOf,
  unmappedContentOf,
  type CurrentDocumentRow,
  type UnmappedContentRow,
  ledgerStatement,
  publishedQuery,
} from '../rows/ledger.ts';
import { refusePreRelease } from '../rows/pre-release.ts';
import { pagesOf, type SqlDatabase, type SqlReader } from './database.ts';
import { knowsMerges, relationOf, type FoundTables, type SqlNames, type DrawnModel } from './found-tables.ts';

/** A target that a job queries. */
export interface AskedTarget<Database extends SqlReader> {
  readonly database: Database;
  readonly driver: SqlNames;
  readonly plan: SinkPlan;
  readonly drawn: DrawnModel;
  readonly known: FoundTables;
}

const tablesPerQuery = 200;

/**
 * Returns the logical schemas that loaded the target, the newest first, or none if nothing was loaded. `columnsOf`: returns the columns of
 * a table, or undefined if there is no table of that name. Throws AppError `conflict` if a version before 1.0 made the target.
 */
export async function targetLoads(
  database: SqlReader,
  columnsOf: (table: string) => { has(column: string): boolean } | undefined,
  relation: (name: string) => string,
  label: string,
): Promise<readonly TargetLoad[]> {
  const { documents, loads } = sideTableNames;
  refusePreRelease(label, columnsOf);
  if (columnsOf(documents) === undefined || columnsOf(loads) === undefined) return [];
  const rows = await database.read<Record<keyof TargetLoad, unknown>>(targetLoadsQuery(relation));
  return rows.map(({ installation, idSch, idLschma, modelHash, holds }) => ({
    installation: String(installation),
    idSch: idSch === null ? null : Number(idSch),
    idLschma: idLschma === null ? null : Number(idLschma),
    modelHash: modelHash === null ? null : String(modelHash),
    holds: Number(holds) === 1,
  }));
}

/** Returns whether the job was published there. */
export async function isPublished<Database extends SqlReader>({
  database,
  driver,
  plan,
  known,
}: AskedTarget<Database>): Promise<boolean> {
  if (!known.has(sideTableNames.loads)) return false;
  return (await database.read(publishedQuery(plan, relationOf(driver)))).length > 0;
}

/** Adds the job's row to `_loads`: the rows that the job added, minus those it removed. */
export async function noteJob(
  {
    database,
    driver,
    plan,
  }: {
    readonly database: Pick<SqlDatabase, 'run'>;
    readonly driver: SqlNames & { now(): string };
    readonly plan: Parameters<typeof ledgerStatement>[0];
  },
  added: { readonly documents: number; readonly rows: number },
): Promise<void> {
  const { quote } = driver.dialect;
  const into = relationOf(driver)(sideTableNames.loads);
  await database.run(ledgerStatement(plan, added, { into, now: driver.now(), quote }));
}

export function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** Returns the model's tables that hold rows. */
export async function filledTables<Database extends SqlReader>({
  database,
  driver,
  drawn,
  known,
}: AskedTarget<Database>): Promise<readonly string[]> {
  const { literal } = driver.dialect;
  const relation = relationOf(driver);
  const queries = drawn.tables
    .filter(({ name }) => known.get(driver.foldedName(name))?.isView === false)
    .map(
      ({ name }) =>
        `SELECT ${literal(name)} AS name FROM (SELECT 1 AS found FROM ${relation(name)} LIMIT 1) r`,
    );
  const filled: string[] = [];
  for (let from = 0; from < queries.length; from += tablesPerQuery) {
    const found = await database.read<{ name: string }>(
      queries.slice(from, from + tablesPerQuery).join(' UNION ALL '),
    );
    filled.push(...found.map(({ name }) => name));
  }
  return filled;
}

/** Returns, in parts, the SHA-256 of the documents that have rows in the model's tables, or that its logical schema kept whole. */
export async function* loadedHashes<Database extends SqlReader>(
  target: AskedTarget<Database>,
): AsyncIterable<readonly string[]> {
  const roots = rootColumns(target);
  if (roots === null) return;
  const { database, driver, plan } = target;
  const query = loadedDocumentsQuery(roots, plan, relationOf(driver));
  for await (const rows of pagesOf<{ sha256: string }>(database, query))
    yield rows.map(({ sha256 }) => sha256);
}

/** Returns the same documents, without those that have been replaced. */
export async function* currentDocuments<Database extends SqlReader>(
  target: AskedTarget<Database>,
): AsyncIterable<CurrentDocument> {
  const roots = rootColumns(target);
  if (roots === null) return;
  const { database, driver, plan, known } = target;
  const query = currentDocumentsQuery(roots, plan, relationOf(driver), knowsMerges(known));
  for await (const rows of pagesOf<CurrentDocumentRow>(database, query)) yield* rows.map(currentDocumentOf);
}

/** Returns content in `_unmapped`. `loading`: see `unmappedContentQuery`. */
export async function* unmappedContent<Database extends SqlReader>(
  { database, driver, known }: AskedTarget<Database>,
  loading: Loading | null,
): AsyncIterable<UnmappedOfDocument> {
  if (!known.has(sideTableNames.unmapped)) return;
  const query = unmappedContentQuery(loading, relationOf(driver));
  for await (const rows of pagesOf<UnmappedContentRow>(database, query)) yield* rows.map(unmappedContentOf);
}

/** Returns null if no documents were loaded there. */
function rootColumns<Database extends SqlReader>({
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
