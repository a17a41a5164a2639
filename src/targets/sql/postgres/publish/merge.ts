/** Save mode `m` in the publishing transaction: documents that the job's replace, or whose source is gone, are removed, or closed and kept. */
import { randomBytes } from 'node:crypto';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { physicalSideTable } from '../../../../engine/sql/physical-model.ts';
import { commentStatements } from '../../../../engine/sql/statements.ts';
import {
  mergeColumns,
  ownPrefix,
  sideTableDefinitions,
  sideTableNames,
} from '../../../../engine/model/side-tables.ts';
import type { Merging } from '../../../rows/merging.ts';
import { runAll } from '../staging/lane.ts';
import { takeReplaced } from '../../merge.ts';
import { removalScope } from './document-removal.ts';
import { relation, type PostgresPublication } from './publication.ts';

/** documents that one statement takes */
const documentsPerStatement = 10_000;

/** The merge's `documents`: a table of the job's, with `name`, `written`, `key` and `sha256`; `moment`: an expression. */
export async function beginMerge(publication: PostgresPublication): Promise<Merging<string>> {
  const { tx, sqlSchema, plan, tables, merge } = publication;
  await addMergeColumns(publication);
  const documents = relation(publication, `${ownPrefix}merged_${randomBytes(4).toString('hex')}`);
  await noteDocuments(publication, documents);
  const moment = await momentAfterAll(publication);
  const scope = await removalScope(tx, sqlSchema, plan.model, tables);
  return { documents, moment, ...(await takeReplaced(scope, merge, documents, moment)) };
}

/** Columns and values of `_documents` for documents that are staged in `d`. */
export function mergedDocuments({ documents, moment }: Merging<string>): {
  readonly columns: string;
  readonly values: string;
  readonly sha256: string;
  readonly join: string;
} {
  const [key, from] = mergeColumns.map(({ name }) => doubleQuoted(name)) as [string, string];
  return {
    columns: `, ${key}, ${from}`,
    values: `, m.${key}, ${moment}`,
    sha256: 'm.sha256',
    join: ` JOIN ${documents} m ON m.name = d.name AND m.written = d.sha256`,
  };
}

export async function endMerge({ tx }: PostgresPublication, { documents }: Merging<string>): Promise<void> {
  await tx.unsafe(`DROP TABLE ${documents}`);
}

async function addMergeColumns(publication: PostgresPublication): Promise<void> {
  const { tx, sqlSchema, target } = publication;
  const table = physicalSideTable({ ...sideTableDefinitions.documents, columns: mergeColumns }, postgresql);
  const there = target.tables.get(sideTableNames.documents)?.columns;
  const documents = relation(publication, sideTableNames.documents);
  if (!table.columns.every(({ name }) => there?.has(name) === true))
    await runAll(tx, [
      `ALTER TABLE ${documents} ${table.columns.map(({ name, sqlType }) => `ADD COLUMN IF NOT EXISTS ${doubleQuoted(name)} ${sqlType}`).join(', ')}`,
      ...commentStatements(postgresql, sqlSchema, table).slice(1),
    ]);
}

async function noteDocuments({ tx, merge }: PostgresPublication, table: string): Promise<void> {
  await tx.unsafe(
    `CREATE UNLOGGED TABLE ${table} (name text, written text, ${doubleQuoted('key')} text, sha256 text)`,
  );
  for (let from = 0; from < merge.documents.length; from += documentsPerStatement) {
    const some = merge.documents.slice(from, from + documentsPerStatement);
    await tx.unsafe(
      `INSERT INTO ${table} SELECT * FROM jsonb_to_recordset(${standardLiteral(JSON.stringify(some))}::jsonb) AS d (name text, written text, ${doubleQuoted('key')} text, sha256 text)`,
    );
  }
  await tx.unsafe(`ANALYZE ${table}`);
}

/** Under the target's lock: later than all that is there, whatever the clock says. */
async function momentAfterAll(publication: PostgresPublication): Promise<string> {
  const [row] = await publication.tx.unsafe<{ moment: string }[]>(
    `SELECT to_char(greatest(date_trunc('milliseconds', clock_timestamp()), max(greatest(valid_from, valid_to)) + interval '1 millisecond') AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS moment
       FROM ${relation(publication, sideTableNames.documents)}`,
  );
  return `${standardLiteral(row!.moment)}::timestamptz`;
}
