/** Large appends: foreign keys that are checked once for the whole table instead of row by row. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { sqlState } from '../../client/connect.ts';
import { relation, type Publication } from './publication.ts';

/** Checking a row by itself costs more than ten times its share of a check of the whole table. */
const wholeTableFactor = 10;
const bulkRows = 10_000;

/**
 * Takes the foreign keys off tables that many rows go into; they come back, checked, before the end of the transaction.
 * That needs the table for itself: where somebody reads it for longer than a moment, the keys stay.
 */
export async function loosenForeignKeys(publication: Publication): Promise<void> {
  const { tx, target, staging, tables, present } = publication;
  for (const [index, { name }] of tables.entries()) {
    const staged = staging.get(index)!;
    if (staged.rows < bulkRows || !present.has(name)) continue;
    const keys = target.foreignKeys.filter((key) => key.table === name);
    if (keys.length === 0) continue;
    const [sizes] = await tx.unsafe<[{ there: number; staged: number }]>(
      `SELECT pg_relation_size(${standardLiteral(relation(publication, name))}::regclass) AS there,
              pg_relation_size(${standardLiteral(staged.relation)}::regclass) AS staged`,
    );
    if (sizes.there > sizes.staged * wholeTableFactor) continue;
    const drops = keys.map((key) => `DROP CONSTRAINT ${doubleQuoted(key.name)}`);
    try {
      await tx.savepoint((savepoint) =>
        savepoint.unsafe(
          `SET LOCAL lock_timeout = '1s'; ALTER TABLE ${relation(publication, name)} ${drops.join(', ')}; SET LOCAL lock_timeout = '60s'`,
        ),
      );
    } catch (error) {
      // lock_not_available, deadlock_detected
      if (!['55P03', '40P01'].includes(sqlState(error) ?? '')) throw error;
      continue;
    }
    publication.rekeyed.add(name);
    target.foreignKeys = target.foreignKeys.filter((key) => key.table !== name);
  }
}
