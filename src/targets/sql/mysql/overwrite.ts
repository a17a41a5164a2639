/** Save mode `o`: the documents that go with the rows of the model's tables, and rows of theirs in tables of other versions. */
import { standardLiteral } from '../../../engine/sql/dialect.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { documentsOfOthersQuery, overwrittenColumns } from '../../../engine/sql/loaded-documents.ts';
import { fileKeyName, sideTableNames } from '../../../engine/model/side-tables.ts';
import type { SinkPlan } from '../../../ports/rows/sink.ts';
import type { Mysql } from './connection.ts';
import type { DrawnModel } from '../drawn-model.ts';
import type { FoundTable, FoundTables } from '../found-tables.ts';
import { earlierTables, otherTables, type ListOfRows } from '../removal.ts';
import { mysqlDriver } from './driver.ts';
import { foldedName } from './tables.ts';

const { quote } = mysql;

interface OverwrittenTarget {
  readonly database: Mysql;
  readonly plan: SinkPlan;
  /** in front of the names of tables of this job */
  readonly token: string;
  readonly drawn: DrawnModel;
  readonly known: FoundTables;
}

export interface ClearedDocuments {
  /** a table of the keys of documents whose rows go; one that rows of somebody else name stays */
  readonly cleared: string;
  /** tables of other versions with rows of theirs: documents go whole */
  readonly earlier: readonly FoundTable[];
  readonly earlierLists: readonly ListOfRows[];
}

/** Null where there are none. */
export async function clearedDocuments({
  database,
  plan,
  token,
  drawn,
  known,
}: OverwrittenTarget): Promise<ClearedDocuments | null> {
  if (!known.has(sideTableNames.documents)) return null;
  const name = `${token}_cleared`;
  const [documents, loads] = [quote(sideTableNames.documents), quote(sideTableNames.loads)];
  const isShared =
    known.has(sideTableNames.loads) && (await database.rows(documentsOfOthersQuery(plan, quote))).length > 0;
  const sources = overwrittenColumns(plan.model, drawn.tables, isShared).flatMap(({ table, column }) =>
    known.get(foldedName(table))?.columns.has(foldedName(column)) === true
      ? [`SELECT ${quote(column)} AS ${quote(fileKeyName)} FROM ${quote(table)}`]
      : [],
  );
  const isByIt = `(l.model_sha256 <=> ${plan.modelHash === null ? 'NULL' : standardLiteral(plan.modelHash)})`;
  if (plan.modelHash !== null && known.has(sideTableNames.loads))
    sources.push(
      `SELECT d.${quote(fileKeyName)} FROM ${documents} d JOIN ${loads} l ON l.job_uuid = d.job_uuid WHERE ${isByIt}`,
    );
  if (sources.length === 0) return null;
  await database.run(
    `CREATE TABLE ${quote(name)} (PRIMARY KEY (${quote(fileKeyName)})) ${sources.join(' UNION ')}`,
  );
  const ofOthers = known.has(sideTableNames.loads)
    ? await database.rows(
        `SELECT 1 FROM ${quote(name)} c JOIN ${documents} d ON d.${quote(fileKeyName)} = c.${quote(fileKeyName)} JOIN ${loads} l ON l.job_uuid = d.job_uuid WHERE NOT ${isByIt} LIMIT 1`,
      )
    : [];
  const { model } = plan;
  const scope = { database, driver: mysqlDriver, model, drawn, known };
  const found = ofOthers.length === 0 ? { tables: [], lists: [] } : await earlierTables(scope);
  const earlier: FoundTable[] = [];
  for (const table of found.tables) {
    const [row] = await database.rows(
      `SELECT 1 FROM ${quote(table.name)} t JOIN ${quote(name)} c ON c.${quote(fileKeyName)} = t.${quote(fileKeyName)} LIMIT 1`,
    );
    if (row !== undefined) earlier.push(table);
  }
  // a document stays while rows of tables that stay name it
  for (const table of otherTables(scope))
    if (!found.tables.includes(table))
      await database.run(
        `DELETE FROM ${quote(name)} WHERE ${quote(fileKeyName)} IN (SELECT ${quote(fileKeyName)} FROM ${quote(table.name)})`,
      );
  return { cleared: name, earlier, earlierLists: found.lists };
}

/** `made`: a new table with the rows of other documents. */
export async function keepOthersRows(
  { database, changes }: { readonly database: Mysql; readonly changes: string[] },
  name: string,
  made: string,
  cleared: string,
  /** `JOIN … ON …` of its rows with those that name their documents; absent: they do */
  owners?: string,
): Promise<void> {
  const rows = `${quote(name)} i ${owners ?? ''}`;
  const naming = owners === undefined ? 'i' : 'o';
  await database.run(`CREATE TABLE ${quote(made)} LIKE ${quote(name)}`);
  await database.run(
    `INSERT INTO ${quote(made)} SELECT i.* FROM ${rows} LEFT JOIN ${quote(cleared)} c ON c.${quote(fileKeyName)} = ${naming}.${quote(fileKeyName)} WHERE c.${quote(fileKeyName)} IS NULL`,
  );
  changes.push(`${name}: rows of documents that were overwritten are gone`);
}
