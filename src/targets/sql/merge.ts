/** Save mode `m`: documents that this job replaces, or whose source is gone, are removed, or closed and kept (`--history`). */
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../engine/model/side-tables.ts';
import { physicalSideTable } from '../../engine/sql/physical-model.ts';
import { commentLine } from '../../engine/sql/comment-text.ts';
import { commentStatements } from '../../engine/sql/statements.ts';
import type { MergeOrder } from '../../ports/rows/merge.ts';
import { momentAfter, type Merging } from '../rows/merging.ts';
import { addRemoved, nothingRemoved, type RemovedDocuments } from '../rows/removed-documents.ts';
import { runAll, temporaryName, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import type { Publication } from './publication.ts';
import { closeDocuments, removeDocuments, type RemovalScope } from './removal.ts';

const documentsPerStatement = 1000;

/** Returns a merge whose `documents` is a temporary table with `name`, `written`, `key` and `sha256`, and whose `moment` is in ISO 8601. */
export async function beginMerge<Database extends SqlDatabase>(
  publication: Publication<Database>,
): Promise<Merging<string>> {
  const { database, driver, merge, plan } = publication;
  const { literal } = driver.dialect;
  await addMergeColumns(publication);
  const documents = temporaryName();
  await database.run(`CREATE TEMP TABLE ${documents} (name TEXT, written TEXT, key TEXT, sha256 TEXT)`);
  for (let from = 0; from < merge.documents.length; from += documentsPerStatement) {
    const rows = merge.documents
      .slice(from, from + documentsPerStatement)
      .map(({ name, written, key, sha256 }) => `(${[name, written, key, sha256].map(literal).join(', ')})`);
    await database.run(`INSERT INTO ${documents} VALUES ${rows.join(', ')}`);
  }
  const moment = momentAfter(await driver.latestChange(database));
  const scope = { ...publication, model: plan.model };
  return { documents, moment, ...(await takeReplaced(scope, merge, documents, driver.instant(moment))) };
}

/**
 * Removes or closes the documents that are replaced or whose source is gone. `documents`: a table, as statements write it, with the keys of the job's documents; `moment`: an
 * expression for the time from which these are valid.
 */
export async function takeReplaced<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  { missing, keepsHistory }: Pick<MergeOrder, 'missing' | 'keepsHistory'>,
  documents: string,
  moment: string,
): Promise<Pick<Merging<string>, 'removed' | 'counts'>> {
  const [key, table] = [
    scope.driver.dialect.quote('key'),
    relationOf(scope.driver)(sideTableNames.documents),
  ];
  // documents of loads that did not merge have their names as keys, and are valid since they were read
  await scope.database.run(`UPDATE ${table} SET ${key} = name, valid_from = loaded_at WHERE ${key} IS NULL`);
  const take = (condition: string): Promise<RemovedDocuments> => {
    const current = `valid_to IS NULL AND ${condition}`;
    return keepsHistory ? closeDocuments(scope, current, moment) : removeDocuments(scope, current, 'key');
  };
  const replaced = await take(`${key} IN (SELECT m.${key} FROM ${documents} m)`);
  const gone = missing.length === 0 ? nothingRemoved : await take(`document_key IN (${missing.join(', ')})`);
  return {
    removed: keepsHistory ? nothingRemoved : addRemoved(replaced, gone),
    counts: { replaced: replaced.names, deleted: gone.documents },
  };
}

async function addMergeColumns<Database extends SqlDatabase>(
  publication: Publication<Database>,
): Promise<void> {
  const { database, driver, known } = publication;
  const { quote, comments } = driver.dialect;
  const { documents } = sideTableNames;
  const there = known.get(documents)!.columns;
  const table = physicalSideTable(
    { ...sideTableDefinitions.documents, columns: mergeColumns.filter(({ name }) => !there.has(name)) },
    driver.dialect,
  );
  await runAll(database, [
    ...table.columns.map(({ name, sqlType, comment }) => {
      const inline = comments.kind === 'inline' ? ` ${comments.column(commentLine(comment, null))}` : '';
      return `ALTER TABLE ${quote(documents)} ADD COLUMN ${quote(name)} ${sqlType}${inline}`;
    }),
    ...(table.columns.length === 0 ? [] : commentStatements(driver.dialect, null, table).slice(1)),
  ]);
  publication.known = await driver.readTables(database);
}
