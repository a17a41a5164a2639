/** Save mode `m` in the publishing transaction: documents that the job's replace, or whose source is gone, are removed, or closed and kept. */
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { duckdb } from '../../../engine/sql/dialects/duckdb.ts';
import { physicalSideTable } from '../../../engine/sql/physical-model.ts';
import { commentStatements } from '../../../engine/sql/statements.ts';
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import { momentAfter, type Merging } from '../../../adapters/row-sinks/merging.ts';
import {
  addRemoved,
  nothingRemoved,
  type RemovedDocuments,
} from '../../../adapters/row-sinks/removed-documents.ts';
import { foldedName } from './database.ts';
import { closeDocuments, removeDocuments } from './document-removal.ts';
import { runAll, temporaryName, type DuckDbPublication } from './publication.ts';

/** documents that one statement takes */
const documentsPerStatement = 1000;

/** The merge's `documents`: a table of the job's, with `name`, `written`, `key` and `sha256`; `moment`: an expression. */
export async function beginMerge(publication: DuckDbPublication): Promise<Merging<string>> {
  const { database, merge } = publication;
  await addMergeColumns(publication);
  const documents = temporaryName();
  await database.run(
    `CREATE TEMP TABLE ${documents} (name VARCHAR, written VARCHAR, key VARCHAR, sha256 VARCHAR)`,
  );
  for (let at = 0; at < merge.documents.length; at += documentsPerStatement)
    await database.run(
      `INSERT INTO ${documents} VALUES ${merge.documents
        .slice(at, at + documentsPerStatement)
        .map(
          ({ name, written, key, sha256 }) =>
            `(${[name, written, key, sha256].map(standardLiteral).join(', ')})`,
        )
        .join(', ')}`,
    );
  const [{ latest }] = (await database.read<{ latest: bigint | null }>(
    `SELECT epoch_ms(max(greatest(valid_from, valid_to))) AS latest FROM ${sideTableNames.documents}`,
  )) as [{ latest: bigint | null }];
  const latestText = latest === null ? null : new Date(Number(latest)).toISOString();
  const moment = `${standardLiteral(momentAfter(latestText))}::TIMESTAMPTZ`;
  const take = (condition: string): Promise<RemovedDocuments> => {
    const current = `valid_to IS NULL AND ${condition}`;
    return merge.keepsHistory
      ? closeDocuments(publication, current, moment)
      : removeDocuments(publication, current);
  };
  const replaced = await take(`key IN (SELECT key FROM ${documents})`);
  const missing =
    merge.missing.length === 0 ? nothingRemoved : await take(`document_key IN (${merge.missing.join(', ')})`);
  return {
    documents,
    moment,
    removed: merge.keepsHistory ? nothingRemoved : addRemoved(replaced, missing),
    counts: { replaced: replaced.names, deleted: missing.documents },
  };
}

/** Documents that came without a merge are called by their names, and are there since they were read. */
async function addMergeColumns({ database, known }: DuckDbPublication): Promise<void> {
  const { documents } = sideTableNames;
  const table = physicalSideTable({ ...sideTableDefinitions.documents, columns: mergeColumns }, duckdb);
  const there = known.get(foldedName(documents))!.columns;
  if (table.columns.some(({ name }) => !there.has(name)))
    await runAll(database, [
      ...table.columns
        .filter(({ name }) => !there.has(name))
        .map(
          ({ name, sqlType }) =>
            `ALTER TABLE ${doubleQuoted(documents)} ADD COLUMN ${doubleQuoted(name)} ${sqlType}`,
        ),
      ...commentStatements(duckdb, null, table).slice(1),
    ]);
  await database.run(`UPDATE ${documents} SET key = name, valid_from = loaded_at WHERE key IS NULL`);
}
