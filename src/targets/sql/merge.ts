/** Save mode `m`: documents that this job replaces, or whose source is gone, are removed, or closed and kept (`--history`). */
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../engine/model/side-tables.ts';
import { physicalSideTable } from '../../engine/sql/physical-model.ts';
import { commentLine } from '../../engine/sql/comment-text.ts';
import { commentStatements } from '../../engine/sql/statements.ts';
import type { MergeOrder } from '../../ports/rows/sink.ts';
import { momentAfter, type Merging } from '../rows/merging.ts';
import { addRemoved, nothingRemoved, type RemovedDocuments } from '../rows/removed-documents.ts';
import { runAll, type SqlDatabase } from './database.ts';
import { relationOf } from './found-tables.ts';
import type { PublishingScope } from './publication.ts';
import { closeDocuments, notesOf, removeDocuments, type RemovalScope } from './removal.ts';

const documentsPerStatement = 1000;

/**
 * Makes the objects that a merge needs: columns of `_documents`, and a table of the job with `name`, `written`, `key` and `sha256`.
 * `moment`: in ISO 8601.
 */
export async function readyMerge<Database extends SqlDatabase>(
  publication: PublishingScope<Database>,
): Promise<Pick<Merging<string>, 'documents' | 'moment'>> {
  const { database, driver, merge, known } = publication;
  await addMergeColumns(publication, known.get(sideTableNames.documents)?.columns);
  publication.known = await driver.readTables(database);
  const { make, filled } = notesOf(publication);
  const documents = await make(driver.mergeTable ?? '(name TEXT, written TEXT, key TEXT, sha256 TEXT)');
  await noteDocuments(publication, documents, merge);
  await filled?.(documents);
  return { documents, moment: momentAfter(await driver.latestChange(database)) };
}

async function noteDocuments<Database extends SqlDatabase>(
  { database, driver: { dialect } }: Pick<PublishingScope<Database>, 'database' | 'driver'>,
  into: string,
  { documents }: Pick<MergeOrder, 'documents'>,
): Promise<void> {
  for (let from = 0; from < documents.length; from += documentsPerStatement) {
    const rows = documents
      .slice(from, from + documentsPerStatement)
      .map(
        ({ name, written, key, sha256 }) =>
          `(${[name, written, key, sha256].map(dialect.literal).join(', ')})`,
      );
    await database.run(
      `INSERT INTO ${into} (name, written, ${dialect.quote('key')}, sha256) VALUES ${rows.join(', ')}`,
    );
  }
}

/**
 * Removes or closes the documents that are replaced or whose source is gone. `documents`: a table, as statements write it, with the keys of
 * the job's documents; `moment`: an expression for the time from which these are valid.
 */
export async function takeReplaced<Database extends SqlDatabase>(
  scope: RemovalScope<Database>,
  { missing, keepsHistory }: Pick<MergeOrder, 'missing' | 'keepsHistory'>,
  documents: string,
  moment: string,
): Promise<Pick<Merging<string>, 'removed' | 'counts'>> {
  const key = scope.driver.dialect.quote('key');
  await nameUnmerged(scope);
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

/** Gives documents of loads that did not merge their names as keys; they are valid from the time they were read. */
export async function nameUnmerged<Database extends SqlDatabase>({
  database,
  driver,
}: Pick<RemovalScope<Database>, 'database' | 'driver'>): Promise<void> {
  const key = driver.dialect.quote('key');
  const documents = relationOf(driver)(sideTableNames.documents);
  await database.run(`UPDATE ${documents} SET ${key} = name, valid_from = loaded_at WHERE ${key} IS NULL`);
}

/** Adds the columns of merges that a table of documents lacks. `there`: its columns; `table`: as statements write it. */
export async function addMergeColumns<Database extends SqlDatabase>(
  { database, driver }: Pick<RemovalScope<Database>, 'database' | 'driver'>,
  there: { has(name: string): boolean } | undefined,
  table: string = relationOf(driver)(sideTableNames.documents),
): Promise<void> {
  const { dialect, sqlSchema = null } = driver;
  const { comments } = dialect;
  const missing = physicalSideTable(
    {
      ...sideTableDefinitions.documents,
      columns: mergeColumns.filter(({ name }) => there?.has(name) !== true),
    },
    dialect,
  );
  if (missing.columns.length === 0) return;
  await runAll(database, [
    ...missing.columns.map(({ name, sqlType, comment }) => {
      const inline =
        comments.kind === 'inline' ? ` ${comments.column(commentLine(comment, comments.maxLength))}` : '';
      return `ALTER TABLE ${table} ADD COLUMN ${dialect.quote(name)} ${sqlType}${inline}`;
    }),
    ...commentStatements(dialect, sqlSchema, missing).slice(1),
  ]);
}
