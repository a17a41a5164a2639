/** Foreign keys of tables that were there before, while rows come: checked once for a whole table, or at the end, instead of row by row. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { sqlState } from '../../../../adapters/postgres/client/connect.ts';
import { runAll } from '../staging/lane.ts';
import { relation, type PostgresPublication } from './publication.ts';

/** Checking a row by itself costs more than ten times its share of a check of the whole table. */
const wholeTableFactor = 10;
const bulkRows = 10_000;

/**
 * Takes the foreign keys off tables that many rows go into; they come back, checked, before the end of the transaction.
 * That needs the table for itself: where somebody reads it for longer than a moment, the keys stay.
 */
export async function loosenForeignKeys(publication: PostgresPublication): Promise<void> {
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

/**
 * Keys to tables that came before in an earlier version of the model and come later in this one. Rows go into tables in the order of the model:
 * where those that a key refers to come later, it is checked at the end of the transaction, from now on (`DEFERRABLE INITIALLY DEFERRED`), as
 * such keys are in a new target.
 */
export async function deferTurnedKeys(publication: PostgresPublication): Promise<void> {
  const { target, tables, staging } = publication;
  const places = new Map(tables.map(({ name }, at) => [name, at]));
  const turned = target.foreignKeys.filter(({ table, parent, deferrable }) => {
    const [at, parentAt] = [places.get(table), places.get(parent)];
    if (deferrable || at === undefined || parentAt === undefined) return false;
    return parentAt > at && staging.get(at)!.created && staging.get(parentAt)!.created;
  });
  await runAll(
    publication.tx,
    turned.map(
      ({ table, name }) =>
        `ALTER TABLE ${relation(publication, table)} ALTER CONSTRAINT ${doubleQuoted(name)} DEFERRABLE INITIALLY DEFERRED`,
    ),
  );
}
