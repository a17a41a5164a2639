/** Indexes on keys, and foreign keys of tables that were there before, while rows come. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { keyIndexes, keyIndexStatement, type KeyIndex } from '../../../../engine/sql/key-indexes.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { truncateToBytes } from '../../../../engine/map/names/identifiers.ts';
import { ownPrefix } from '../../../../engine/model/side-tables.ts';
import { keyIndexMark } from '../existing-tables.ts';
import { constraintName } from '../../../../engine/map/names/constraint-name.ts';
import { columnId } from '../../../rows/unfit-columns.ts';
import { relation, type PostgresPublication } from './publication.ts';
import { runAll } from '../driver.ts';
import { sqlState } from '../../../../adapters/postgres/client/connect.ts';

/** how the names of staged tables begin, and of what is made with them */
export const stagedStart = `${ownPrefix}staging_`;

interface PresentIndex {
  readonly table: string;
  readonly column: string;
  readonly name: string;
  /** made in staging, and named after that */
  readonly isStaged: boolean;
}

/**
 * Makes what tables and columns of this transaction lack, and gives indexes that came with a moved table the name they would have got here.
 * Tables that were there before get theirs only where the job asked for indexes: who took one away has a reason.
 */
export async function addKeyIndexes(publication: PostgresPublication): Promise<void> {
  const { plan, tables, createdTables, present, addedColumns, sqlSchema, tx } = publication;
  const choice = plan.indexes ?? 'keys';
  if (choice === 'none') return;
  const wanted: { readonly table: string; readonly index: KeyIndex }[] = [];
  for (const [at, table] of tables.entries()) {
    if (!present.has(table.name)) continue;
    const isWhole = createdTables.has(table.name) || plan.indexes !== undefined;
    if (!isWhole && !addedColumns.has(`${at}:`)) continue;
    for (const index of keyIndexes(plan.model, at, table, choice)) {
      const column = table.columns.findIndex(({ name }) => name === index.column);
      if (isWhole || addedColumns.has(columnId(at, column))) wanted.push({ table: table.name, index });
    }
  }
  if (wanted.length === 0) return;
  const there = await presentIndexes(publication, [...new Set(wanted.map(({ table }) => table))]);
  const covered = new Map(there.map((index) => [JSON.stringify([index.table, index.column]), index]));
  const name = await freeNames(
    publication,
    wanted.map(({ table, index }) => constraintName(table, index.column, 'idx')),
  );
  const statements: string[] = [];
  let created = 0;
  for (const { table, index } of wanted) {
    const known = covered.get(JSON.stringify([table, index.column]));
    if (known !== undefined && !known.isStaged) continue;
    const own = name(constraintName(table, index.column, 'idx'));
    const quoted = `${doubleQuoted(sqlSchema)}.${doubleQuoted(own)}`;
    if (known === undefined) {
      statements.push(keyIndexStatement(postgresql, sqlSchema, table, index, { name: own }));
      created += 1;
    } else
      statements.push(
        `ALTER INDEX ${doubleQuoted(sqlSchema)}.${doubleQuoted(known.name)} RENAME TO ${doubleQuoted(own)}`,
      );
    statements.push(`COMMENT ON INDEX ${quoted} IS ${standardLiteral(keyIndexMark)}`);
  }
  const started = performance.now();
  await runAll(tx, statements);
  publication.indexes.count += created;
  publication.indexes.seconds += (performance.now() - started) / 1000;
}

/** Indexes that find a row by the value of one column: those that begin with it, and hold all rows that have one. */
async function presentIndexes(
  { tx, sqlSchema }: PostgresPublication,
  names: readonly string[],
): Promise<readonly PresentIndex[]> {
  return tx.unsafe<PresentIndex[]>(
    `SELECT t.relname AS table, a.attname AS column, c.relname AS name, starts_with(c.relname, ${standardLiteral(stagedStart)}) AS "isStaged"
       FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
       JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]
      WHERE n.nspname = ${standardLiteral(sqlSchema)} AND i.indisvalid
        AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = format('(%I IS NOT NULL)', a.attname))
        AND t.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(names))}::jsonb))`,
  );
}

/** The name that is wanted, or, where something has that already, the next one with a number. */
async function freeNames(
  { tx, sqlSchema }: PostgresPublication,
  wanted: readonly string[],
): Promise<(usual: string) => string> {
  const found = await tx.unsafe<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ${standardLiteral(sqlSchema)}
        AND (c.relname ~ '_idx[0-9]*$' OR c.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(JSON.stringify(wanted))}::jsonb)))`,
  );
  const taken = new Set(found.map(({ name }) => name));
  return (usual) => {
    let name = usual;
    for (let count = 1; taken.has(name); count += 1)
      name = `${truncateToBytes(usual.slice(0, -'_idx'.length), 63 - `_idx${count}`.length)}_idx${count}`;
    taken.add(name);
    return name;
  };
}

/** Checking a row by itself costs more than ten times its share of a check of the whole table. */
const wholeTableFactor = 10;
const bulkRows = 10_000;

/**
 * Takes the foreign keys off tables that many rows go into. They come back before the end of the transaction, checked once for a whole table instead
 * of row by row.
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
