/** What a target of PostgreSQL says of its loads: the logical schemas that made it, and the documents that are there. */
import {
  currentDocumentsQuery,
  unmappedContentQuery,
  documentColumns,
  loadedDocumentsQuery,
} from '../../../engine/sql/loaded-documents.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { CurrentDocument, UnmappedOfDocument } from '../../../ports/rows/merge.ts';
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import { readTarget } from './connection/existing-tables.ts';
import { targetLoadsQuery } from '../../../engine/sql/target-loads.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import type { Sql, TransactionSql } from '../../../adapters/postgres/client/connect.ts';
import { addressLabel, connectTarget, targetFault, type TargetAddress } from './connection/open.ts';
import { sessionSettings } from './connection/session.ts';
import { publishedQuery } from '../../rows/ledger.ts';
import { holdsLoads } from '../../rows/pre-release.ts';
import {
  currentDocumentOf,
  unmappedContentOf,
  type CurrentDocumentRow,
  type UnmappedContentRow,
} from '../../rows/current-documents.ts';

/** Returns the newest first, or none if nothing was loaded there yet. Throws AppError `conflict` if a version before 1.0 made the target. */
export async function readTargetLoads(
  sql: Sql,
  sqlSchema: string,
  label: string,
): Promise<readonly TargetLoad[]> {
  const names = Object.values(sideTableNames).map((name) => standardLiteral(name));
  const columns = await sql.unsafe<{ table: string; column: string }[]>(
    `SELECT c.relname AS table, a.attname AS column
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE n.nspname = ${standardLiteral(sqlSchema)} AND c.relkind IN ('r', 'p') AND c.relname IN (${names.join(', ')})`,
  );
  if (!holdsLoads(label, columns)) return [];
  const rows = await sql.unsafe<TargetLoad[]>(targetLoadsQuery(relationIn(sqlSchema)));
  return [...rows];
}

/** Whether the job was published there. The ledger exists. */
export async function holdsJob(
  sql: Sql | TransactionSql,
  sqlSchema: string,
  plan: SinkPlan,
): Promise<boolean> {
  return (await sql.unsafe(publishedQuery(plan, relationIn(sqlSchema)))).length > 0;
}

/** A target as a job sees it. */
export interface AskedPostgresTarget {
  readonly sqlSchema: string;
  readonly plan: SinkPlan;
  /** the model's */
  readonly tables: readonly PhysicalTable[];
  /** of these, and of the tables beside them */
  readonly names: readonly string[];
}

/** Those of the SHA-256 of documents that have rows in the model's tables there, or were kept whole by its logical schema. */
export async function loadedAmong(
  sql: Sql,
  asked: AskedPostgresTarget,
  wanted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const there = await documentsOf(sql, asked);
  if (there === null) return found;
  const query = loadedDocumentsQuery(there.roots, asked.plan, relationIn(asked.sqlSchema));
  for await (const rows of sql.unsafe<{ sha256: string }[]>(query).cursor(10_000))
    for (const { sha256 } of rows) if (wanted.has(sha256)) found.add(sha256);
  return found;
}

/** Those of the same documents that no other one has replaced. `faultOf`: what a fault of the server is thrown as. */
export async function* currentDocuments(
  sql: Sql,
  asked: AskedPostgresTarget,
  faultOf: (error: unknown) => unknown,
): AsyncIterable<CurrentDocument> {
  try {
    const there = await documentsOf(sql, asked);
    if (there === null) return;
    const isMerged = there.columns.has('valid_to');
    const query = currentDocumentsQuery(there.roots, asked.plan, relationIn(asked.sqlSchema), isMerged);
    // keys by content are beyond what a number holds
    const pages = sql.unsafe<CurrentDocumentRow[]>(
      `SELECT document_key::text AS document_key, merge_key, name, sha256 FROM (${query}) d`,
    );
    for await (const rows of pages.cursor(10_000)) for (const row of rows) yield currentDocumentOf(row);
  } catch (error) {
    throw faultOf(error);
  }
}

/** Content of documents there that lies in `_unmapped`. */
export async function* unmappedContent(
  sql: Sql,
  asked: AskedPostgresTarget,
  of: 'others' | 'all',
  faultOf: (error: unknown) => unknown,
): AsyncIterable<UnmappedOfDocument> {
  try {
    const target = await readTarget(sql, asked.sqlSchema, asked.names);
    if (!target.tables.has(sideTableNames.unmapped)) return;
    const query = unmappedContentQuery(of === 'all' ? null : asked.plan, relationIn(asked.sqlSchema));
    const pages = sql.unsafe<UnmappedContentRow[]>(
      `SELECT document_key::text AS document_key, xpath FROM (${query}) u`,
    );
    for await (const rows of pages.cursor(10_000)) for (const row of rows) yield unmappedContentOf(row);
  } catch (error) {
    throw faultOf(error);
  }
}

/** Null: no documents were loaded there. */
async function documentsOf(
  sql: Sql,
  { sqlSchema, plan, tables, names }: AskedPostgresTarget,
): Promise<{
  readonly roots: ReturnType<typeof documentColumns>;
  readonly columns: { has(name: string): boolean };
} | null> {
  const target = await readTarget(sql, sqlSchema, names);
  const documents = target.tables.get(sideTableNames.documents);
  if (documents === undefined) return null;
  const roots = documentColumns(plan.model, tables).filter(
    ({ table, column }) => target.tables.get(table)?.columns.has(column) === true,
  );
  return { roots, columns: documents.columns };
}

function relationIn(sqlSchema: string): (table: string) => string {
  return (table) => `${doubleQuoted(sqlSchema)}.${doubleQuoted(table)}`;
}

/** `readTargetLoads` over a connection of its own. */
export async function askTargetLoads(
  options: TargetAddress & { readonly sqlSchema: string; readonly label?: string },
): Promise<readonly TargetLoad[]> {
  const label = options.label ?? `${addressLabel(options.url)}?schema=${options.sqlSchema}`;
  const sql = connectTarget(options);
  try {
    await sql.unsafe(sessionSettings);
    return await readTargetLoads(sql, options.sqlSchema, label);
  } catch (error) {
    throw targetFault(error, label);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
