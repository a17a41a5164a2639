/** Save mode `m`: documents that the job's replace, or whose source is gone, are removed, or closed and kept. */
import { commentLine } from '../../../engine/sql/comment-text.ts';
import { mysql } from '../../../engine/sql/dialects/mysql.ts';
import { physicalSideTable } from '../../../engine/sql/physical-model.ts';
import { mergeColumns, sideTableDefinitions, sideTableNames } from '../../../engine/model/side-tables.ts';
import type { MergedDocument, MergeOrder } from '../../../ports/rows/merge.ts';
import { momentAfter } from '../../rows/merging.ts';
import type { Mysql } from './connection.ts';
import type { FoundTables } from '../found-tables.ts';
import { instant, latestChange } from './driver.ts';
import type { MysqlStagedTable } from './staging.ts';

const { quote } = mysql;
const [key, from, to] = mergeColumns.map(({ name }) => quote(name)) as [string, string, string];

/** documents that one statement takes */
const documentsPerStatement = 1000;

/** Whether documents were merged into the database before. */
export function knowsMerges(known: FoundTables): boolean {
  return known.get(sideTableNames.documents)?.columns.has('valid_to') === true;
}

/** What a staged document has beside the columns of its table, once `stageMerge` has been called. */
export const mergeColumnList: string = [key, from, to].join(', ');

export interface StagedMerge {
  readonly order: MergeOrder;
  /** table of the job's documents: `name`, `written`, `key`, `sha256` */
  readonly documents: string;
  /** an expression for the time from which they are valid */
  readonly moment: string;
}

/** Before the transaction, as each change of a table would end it: what the rows of the job's documents are to say is in the staged ones. */
export async function stageMerge(
  database: Mysql,
  order: MergeOrder,
  known: FoundTables,
  staged: MysqlStagedTable | undefined,
  token: string,
): Promise<StagedMerge> {
  const documents = `${token}_merge`;
  await database.run(
    `CREATE TABLE ${quote(documents)} (name LONGTEXT NOT NULL, written CHAR(64) NOT NULL, ${key} LONGTEXT NOT NULL, sha256 CHAR(64) NOT NULL, INDEX (written), INDEX (${key}(255)))
       CHARACTER SET utf8mb4 COLLATE utf8mb4_bin ENGINE = InnoDB`,
  );
  for (let at = 0; at < order.documents.length; at += documentsPerStatement)
    await database.run(
      `INSERT INTO ${quote(documents)} (name, written, ${key}, sha256) VALUES ${order.documents
        .slice(at, at + documentsPerStatement)
        .map(valuesOf)
        .join(', ')}`,
    );
  const moment = instant(momentAfter(knowsMerges(known) ? await latestChange(database) : null));
  if (staged?.isMade === true) {
    await addMergeColumns(database, staged.name);
    await database.run(
      `UPDATE ${quote(staged.name)} s JOIN ${quote(documents)} m ON m.written = s.sha256 AND m.name = s.name
          SET s.${key} = m.${key}, s.sha256 = m.sha256, s.${from} = ${moment}`,
    );
  }
  return { order, documents, moment };
}

function valuesOf({ name, written, key: own, sha256 }: MergedDocument): string {
  return `(${[name, written, own, sha256].map((text) => mysql.literal(text)).join(', ')})`;
}

export async function addMergeColumns(database: Mysql, table: string): Promise<void> {
  const { columns } = physicalSideTable({ ...sideTableDefinitions.documents, columns: mergeColumns }, mysql);
  const clauses = columns.map(
    ({ name, sqlType, comment }) =>
      `ADD COLUMN ${quote(name)} ${sqlType} NULL COMMENT ${mysql.literal(commentLine(comment, 1000))}`,
  );
  await database.run(`ALTER TABLE ${quote(table)} ${clauses.join(', ')}`);
}

/** Documents that came without a merge are called by their names, and are there since they were read. */
export function callByName(database: Mysql, table: string): Promise<number> {
  return database.run(`UPDATE ${quote(table)} SET ${key} = name, ${from} = loaded_at WHERE ${key} IS NULL`);
}
