/** Save mode `o`: drops the tables of the model, and removes from the tables beside the data everything that belonged to their rows. */
import { fileKeyName, sideTableNames } from '../../engine/model/side-tables.ts';
import { documentsOfOthersQuery, isLoadedBy, overwrittenColumns } from '../../engine/sql/loaded-documents.ts';
import { runAll, temporaryName, type SqlDatabase } from './database.ts';
import { foundTable, type Publication } from './publication.ts';
import { deleteEarlierRows, otherTables } from './removal.ts';

/** Views stay, because they find the tables that are made again. */
export async function clearTables<Database extends SqlDatabase>(
  publication: Publication<Database>,
): Promise<void> {
  const { database, driver, plan, drawn, known } = publication;
  const { quote } = driver.dialect;
  const existing = drawn.tables.filter((_, index) => foundTable(publication, index) !== undefined);
  if (existing.length === 0) return;
  const { documents, loads, lexical, unmapped } = sideTableNames;
  const isByThisSchema = isLoadedBy(plan);
  const isShared = (await database.read(documentsOfOthersQuery(plan, quote))).length > 0;
  const sources = overwrittenColumns(plan.model, drawn.tables, isShared).flatMap(({ table, column }) =>
    known.get(driver.foldedName(table))?.columns.has(driver.foldedName(column)) === true
      ? [`SELECT ${quote(column)} AS document_key FROM ${quote(table)}`]
      : [],
  );
  // and those that were kept whole
  sources.push(
    `SELECT d.document_key FROM ${quote(documents)} d JOIN ${quote(loads)} l ON l.job_uuid = d.job_uuid WHERE ${isByThisSchema}`,
  );
  const cleared = temporaryName();
  await database.run(
    `CREATE TEMP TABLE ${cleared} AS SELECT document_key FROM (${sources.join(' UNION ')}) named`,
  );
  const scope = { ...publication, model: plan.model };
  // documents go whole, also from tables that only another version of the model has
  const areOfOthers = await database.read(
    `SELECT 1 FROM ${cleared} c JOIN ${quote(documents)} d ON d.document_key = c.document_key JOIN ${quote(loads)} l ON l.job_uuid = d.job_uuid
      WHERE (${isByThisSchema}) IS NOT TRUE LIMIT 1`,
  );
  if (areOfOthers.length > 0) {
    const { rows } = await deleteEarlierRows(scope, `SELECT document_key FROM ${cleared}`);
    for (const [name, count] of Object.entries(rows))
      publication.changes.push(`${name}: ${count} rows of documents that were overwritten are gone`);
  }
  await runAll(database, [
    // a document stays while rows in other tables name it
    ...otherTables(scope).map(
      ({ name }) =>
        `DELETE FROM ${cleared} WHERE document_key IN (SELECT ${quote(fileKeyName)} FROM ${quote(name)})`,
    ),
    // children first, in case somebody added foreign keys
    ...existing.toReversed().map(({ name }) => `DROP TABLE ${quote(name)}`),
    ...[lexical, unmapped, documents].map(
      (name) => `DELETE FROM ${quote(name)} WHERE document_key IN (SELECT document_key FROM ${cleared})`,
    ),
  ]);
}
