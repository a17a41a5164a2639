/** Save mode `m` in the publishing transaction: documents that the job's replace, or whose source is gone, are removed, or closed and kept. */
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { mergeColumns, sideTableNames } from '../../../engine/model/side-tables.ts';
import { documentIdentity, momentAfter } from '../../../adapters/row-sinks/merging.ts';
import {
  addRemoved,
  nothingRemoved,
  type RemovedDocuments,
} from '../../../adapters/row-sinks/removed-documents.ts';
import { readTables } from './tables.ts';
import { SqliteRemoval } from './document-removal.ts';
import { runAll, temporaryName, type SqliteMerging, type SqlitePublication } from './publication.ts';

export async function beginMerge(publication: SqlitePublication): Promise<SqliteMerging> {
  const { database, plan, drawn, known, merge } = publication;
  await addMergeColumns(publication);
  const keys = temporaryName();
  await database.run(`CREATE TEMP TABLE ${keys} (key TEXT PRIMARY KEY)`);
  const add = database.prepare(`INSERT INTO ${keys} VALUES (?)`);
  for (const { key } of merge.documents) add.run(key);
  const [latest] = database.read<{ latest: string | null }>(
    `SELECT max(max(valid_from, coalesce(valid_to, valid_from))) AS latest FROM ${sideTableNames.documents}`,
  );
  const moment = momentAfter(latest!.latest);
  const take = (condition: string): Promise<RemovedDocuments> => {
    const removal = new SqliteRemoval(database, plan.model, drawn, known);
    const current = `valid_to IS NULL AND ${condition}`;
    return merge.keepsHistory ? removal.close(current, 'key', moment) : removal.remove(current, 'key');
  };
  const replaced = await take(`key IN (SELECT key FROM ${keys})`);
  const missing =
    merge.missing.length === 0 ? nothingRemoved : await take(`document_key IN (${merge.missing.join(', ')})`);
  return {
    documents: new Map(merge.documents.map((document) => [documentIdentity(document), document])),
    moment,
    removed: merge.keepsHistory ? nothingRemoved : addRemoved(replaced, missing),
    counts: { replaced: replaced.names, deleted: missing.documents },
  };
}

/** Documents that came without a merge are called by their names, and are there since they were read. */
async function addMergeColumns({ database }: SqlitePublication): Promise<void> {
  const { documents } = sideTableNames;
  const there = readTables(database).get(documents)!.columns;
  const { comments } = sqlite;
  await runAll(
    database,
    mergeColumns
      .filter(({ name }) => !there.has(name))
      .map(({ name, type, comment }) => {
        const told = comments.kind === 'inline' ? comments.column(commentLine(comment, null)) : '';
        return `ALTER TABLE ${documents} ADD COLUMN ${doubleQuoted(name)} ${sqlite.typeName(type)} ${told}`;
      }),
  );
  await database.run(`UPDATE ${documents} SET key = name, valid_from = loaded_at WHERE key IS NULL`);
}
