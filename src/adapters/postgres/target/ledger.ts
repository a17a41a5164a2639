/** What a target of PostgreSQL says of its loads: the logical schemas that made it, and the documents that are there. */
import { documentColumns, loadedDocumentsQuery } from '../../../engine/sql/loaded-documents.ts';
import type { PhysicalTable } from '../../../engine/sql/physical-model.ts';
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import { readTarget } from './connection/existing-tables.ts';
import { targetLoadsQuery } from '../../../engine/sql/target-loads.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { sideTableNames } from '../../../engine/model/side-tables.ts';
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import type { Sql } from '../client/connect.ts';
import { addressLabel, connectTarget, targetFault, type TargetAddress } from './connection/open.ts';
import { sessionSettings } from './connection/session.ts';

/** Newest first; none where nothing was loaded there yet. */
export async function readTargetLoads(sql: Sql, sqlSchema: string): Promise<readonly TargetLoad[]> {
  const { documents, loads } = sideTableNames;
  const found = await sql.unsafe<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${standardLiteral(sqlSchema)} AND c.relkind IN ('r', 'p')
        AND relname IN (${standardLiteral(documents)}, ${standardLiteral(loads)})`,
  );
  if (found.length < 2) return [];
  const rows = await sql.unsafe<TargetLoad[]>(targetLoadsQuery(relationIn(sqlSchema)));
  return [...rows];
}

/** What is known of a document by `_documents`. */
interface DocumentThere {
  readonly name: string;
  /** hex */
  readonly sha256: string;
}

/**
 * Documents that have rows in the model's tables there, or were kept whole by its logical schema. `tables`: the model's; `names`: of these, and of
 * the tables beside them.
 */
export async function* documentsThere(
  sql: Sql,
  sqlSchema: string,
  plan: SinkPlan,
  tables: readonly PhysicalTable[],
  names: readonly string[],
): AsyncIterable<DocumentThere> {
  const target = await readTarget(sql, sqlSchema, names);
  if (!target.tables.has(sideTableNames.documents)) return;
  const roots = documentColumns(plan.model, tables).filter(
    ({ table, column }) => target.tables.get(table)?.columns.has(column) === true,
  );
  const query = loadedDocumentsQuery(roots, plan, relationIn(sqlSchema));
  for await (const rows of sql.unsafe<DocumentThere[]>(query).cursor(10_000)) yield* rows;
}

/** Those of the SHA-256 that are there. */
export async function loadedAmong(
  documents: AsyncIterable<DocumentThere>,
  wanted: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { sha256 } of documents) if (wanted.has(sha256)) found.add(sha256);
  return found;
}

/** By name, the SHA-256 of all documents of that name. */
export async function namedAmong(
  documents: AsyncIterable<DocumentThere>,
  names: ReadonlySet<string>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for await (const { name, sha256 } of documents)
    if (names.has(name)) found.set(name, [...(found.get(name) ?? []), sha256]);
  return found;
}

function relationIn(sqlSchema: string): (table: string) => string {
  return (table) => `${doubleQuoted(sqlSchema)}.${doubleQuoted(table)}`;
}

/** `readTargetLoads` over a connection of its own. */
export async function askTargetLoads(
  options: TargetAddress & { readonly sqlSchema: string; readonly label?: string },
): Promise<readonly TargetLoad[]> {
  const sql = connectTarget(options);
  try {
    await sql.unsafe(sessionSettings);
    return await readTargetLoads(sql, options.sqlSchema);
  } catch (error) {
    throw targetFault(error, options.label ?? `${addressLabel(options.url)}?schema=${options.sqlSchema}`);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
