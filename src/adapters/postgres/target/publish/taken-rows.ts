/** Whether a table that was there before took all rows: its owner's triggers and rules may keep some out, or put them elsewhere. */
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import { relation, type Publication } from './publication.ts';

export interface Insertion {
  /** physical name */
  readonly table: string;
  readonly key: string | undefined;
  /** of the table's keys */
  readonly offset: number;
  /** quoted, with its schema */
  readonly staged: string;
  readonly stagedRows: number;
  /** as the server tells them */
  readonly added: number;
}

/** AppError `conflict` where a row is not there; what triggers made of its values is the owner's own. */
export async function checkTaken(publication: Publication, insertion: Insertion): Promise<void> {
  const { table, key, offset, staged, stagedRows, added } = insertion;
  const hasOwnCode = publication.target.tables.get(table)?.hasOwnCode === true;
  // of hashed keys those that are there already are left out
  const isWhole = publication.plan.keys === 'hash' || added === stagedRows;
  if (key === undefined || (isWhole && !hasOwnCode)) return;
  const name = doubleQuoted(key);
  const [{ missing }] = (await publication.tx.unsafe(
    `SELECT count(*)::int8 AS missing FROM ${staged} s
      WHERE NOT EXISTS (SELECT FROM ${relation(publication, table)} t WHERE t.${name} = s.${name} + ${offset})`,
  )) as unknown as [{ missing: number }];
  if (missing === 0) return;
  throw new AppError(
    'conflict',
    `${table}: triggers or rules of the target kept out ${missing} of ${stagedRows} rows, so nothing was loaded; switch them off for the load (ALTER TABLE … DISABLE TRIGGER, DISABLE RULE), or load into a target of its own.`,
  );
}
