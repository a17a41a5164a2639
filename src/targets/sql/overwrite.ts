/** Save mode `o`: drops the tables of the model, and removes from the side tables everything that belonged to their rows. */
import { fileKeyName, sideTableNames } from '../../engine/model/side-tables.ts';
import { documentsOfOthersQuery, isLoadedBy, overwrittenColumns } from '../../engine/sql/loaded-documents.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import { foundTable, type Publication, type PublishingScope, type WaitingRows } from './publication.ts';
import { deleteEarlierRows, notesOf, otherTables } from './removal.ts';

export interface OverwrittenDocuments {
  /** a table of the job with their keys in `document_key`, as statements write it */
  readonly cleared: string;
  /** another logical schema loaded some of them: they may have rows in tables that this one does not have */
  readonly areOfOthers: boolean;
}

/** Records the documents that an overwrite removes: those with rows in the model's tables, and those that its logical schema kept whole. */
export async function noteOverwritten<Database extends SqlDatabase>(
  scope: Omit<PublishingScope<Database>, 'merge' | 'changes'>,
): Promise<OverwrittenDocuments> {
  const { database, driver, plan, drawn, known } = scope;
  const relation = relationOf(driver);
  const [documents, loads] = [sideTableNames.documents, sideTableNames.loads].map(relation);
  const isByThisSchema = isLoadedBy(plan);
  const isShared = (await database.read(documentsOfOthersQuery(plan, relation))).length > 0;
  const sources = overwrittenColumns(plan.model, drawn.tables, isShared).flatMap(({ table, column }) =>
    known.get(driver.foldedName(table))?.columns.has(driver.foldedName(column)) === true
      ? [`SELECT ${driver.dialect.quote(column)} AS document_key FROM ${relation(table)}`]
      : [],
  );
  sources.push(
    `SELECT d.document_key FROM ${documents} d JOIN ${loads} l ON l.job_uuid = d.job_uuid WHERE ${isByThisSchema}`,
  );
  const cleared = await notesOf(scope).make(`AS SELECT document_key FROM (${sources.join(' UNION ')}) named`);
  const ofOthers = await database.read(
    `SELECT 1 FROM ${cleared} c JOIN ${documents} d ON d.document_key = c.document_key JOIN ${loads} l ON l.job_uuid = d.job_uuid
      WHERE (${isByThisSchema}) IS NOT TRUE LIMIT 1`,
  );
  return { cleared, areOfOthers: ofOthers.length > 0 };
}

/** Deletes rows of overwritten documents in tables that only another version of the model has, because documents are removed whole. */
export async function deleteRowsElsewhere<Database extends SqlDatabase>(
  publication: PublishingScope<Database>,
  cleared: string,
  deletion: typeof deleteEarlierRows = deleteEarlierRows,
): Promise<void> {
  const scope = { ...publication, model: publication.plan.model };
  const { rows, tables } = await deletion(scope, `SELECT document_key FROM ${cleared}`);
  for (const name of tables)
    if (rows[name] !== undefined)
      publication.changes.push(`${name}: ${rows[name]} rows of documents that were overwritten are gone`);
}

/** Clears tables. Views stay, because they find the tables that are made again. */
export async function clearTables<Database extends SqlDatabase, Waiting extends WaitingRows>(
  publication: Publication<Database, Waiting>,
): Promise<void> {
  const { database, driver, plan, drawn } = publication;
  const { quote } = driver.dialect;
  const existing = drawn.tables.filter((_, index) => foundTable(publication, index) !== undefined);
  if (existing.length === 0) return;
  const { documents, lexical, unmapped } = sideTableNames;
  const { cleared, areOfOthers } = await noteOverwritten(publication);
  if (areOfOthers) await deleteRowsElsewhere(publication, cleared);
  await runAll(database, [
    // a document stays while rows in other tables refer to it
    ...otherTables({ ...publication, model: plan.model }).map(
      ({ name }) =>
        `DELETE FROM ${cleared} WHERE document_key IN (SELECT ${quote(fileKeyName)} FROM ${quote(name)})`,
    ),
    // children first, in case foreign keys were added by others
    ...existing.toReversed().map(({ name }) => `DROP TABLE ${quote(name)}`),
    ...[lexical, unmapped, documents].map(
      (name) => `DELETE FROM ${quote(name)} WHERE document_key IN (SELECT document_key FROM ${cleared})`,
    ),
  ]);
}
