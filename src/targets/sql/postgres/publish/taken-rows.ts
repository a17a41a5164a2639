/** Whether a table took all rows: its owner's triggers and rules may keep some out, or put them elsewhere, and policies hide them. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import { relation, type Insertion, type PostgresPublication } from './publication.ts';

/** AppError `conflict` where a row is not there; what triggers made of its values is the owner's own. */
export async function checkTaken(publication: PostgresPublication, insertion: Insertion): Promise<void> {
  const { key, stagedRows, added } = insertion;
  // of hashed keys those that are there already are left out
  const isWhole = publication.plan.keys === 'hash' || added === stagedRows;
  if (key === undefined) return;
  publication.insertions.push(insertion);
  if (!isWhole || hasOwnCode(publication, insertion.table)) await checkThere(publication, insertion);
}

/** Once more at the end: triggers of any table, those that wait for the end of the transaction too, may have taken rows away. */
export async function checkStillThere(publication: PostgresPublication): Promise<void> {
  const { target, tx, insertions, moved } = publication;
  if (!target.hasEventTriggers && !target.tables.values().some((table) => table.hasOwnCode)) return;
  // a trigger may have put off again what is to run at the end
  await tx.unsafe('SET CONSTRAINTS ALL IMMEDIATE');
  for (const insertion of insertions) await checkThere(publication, insertion);
  if (!target.hasEventTriggers) return;
  for (const { form, rows } of moved) {
    const name = form.tableName!;
    const [{ there }] = (await tx.unsafe(
      `SELECT count(*)::int8 AS there FROM ${relation(publication, name)}`,
    )) as unknown as [{ there: number }];
    if (there !== rows) throw keptOut(name, rows - there, rows);
  }
}

/** The same for a table without keys. `columns`: quoted; `given`: the query whose rows went into them. */
export async function checkSideTaken(
  publication: PostgresPublication,
  { table, columns, given }: { readonly table: string; readonly columns: string; readonly given: string },
): Promise<void> {
  if (!hasOwnCode(publication, table)) return;
  const [{ missing, rows }] = (await publication.tx.unsafe(
    `WITH given AS (${given})
     SELECT (SELECT count(*) FROM given)::int8 AS rows, (SELECT count(*) FROM (
       SELECT * FROM given EXCEPT ALL
       SELECT ${columns} FROM ${relation(publication, table)} WHERE document_key IN (SELECT document_key FROM given)) x)::int8 AS missing`,
  )) as unknown as [{ missing: number; rows: number }];
  if (missing > 0) throw keptOut(table, missing, rows);
}

/** The same for rows that stand for something: each of the values must be in the column. */
export async function checkNamed(
  publication: PostgresPublication,
  table: string,
  column: string,
  values: readonly string[],
): Promise<void> {
  if (!hasOwnCode(publication, table) || values.length === 0) return;
  const [{ missing }] = (await publication.tx.unsafe(
    `SELECT count(*)::int8 AS missing FROM jsonb_array_elements_text(${standardLiteral(JSON.stringify(values))}::jsonb) v
      WHERE v NOT IN (SELECT ${doubleQuoted(column)}::text FROM ${relation(publication, table)})`,
  )) as unknown as [{ missing: number }];
  if (missing > 0) throw keptOut(table, missing, values.length);
}

function hasOwnCode({ target }: PostgresPublication, table: string): boolean {
  return target.hasEventTriggers || target.tables.get(table)?.hasOwnCode === true;
}

async function checkThere(publication: PostgresPublication, insertion: Insertion): Promise<void> {
  const { table, key, offset, staged, stagedRows } = insertion;
  const name = doubleQuoted(key!);
  const [{ missing }] = (await publication.tx.unsafe(
    `SELECT count(*)::int8 AS missing FROM ${staged} s
      WHERE NOT EXISTS (SELECT FROM ${relation(publication, table)} t WHERE t.${name} = s.${name} + ${offset})`,
  )) as unknown as [{ missing: number }];
  if (missing > 0) throw keptOut(table, missing, stagedRows);
}

function keptOut(table: string, missing: number, rows: number): AppError {
  return new AppError(
    'conflict',
    `${table}: triggers or rules of the target kept out ${missing} of ${rows} rows, or row security hides them, so nothing was loaded; switch that off for the load (ALTER TABLE … DISABLE TRIGGER, DISABLE RULE, DISABLE ROW LEVEL SECURITY), or load into a target of its own.`,
  );
}
