/** Indexes on keys: which tables lack them, and their names. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { keyIndexes, keyIndexStatement, type KeyIndex } from '../../../../engine/sql/key-indexes.ts';
import { postgresql } from '../../../../engine/sql/dialects/postgresql.ts';
import { truncateToBytes } from '../../../../engine/map/names/identifiers.ts';
import { ownPrefix } from '../../../../engine/model/side-tables.ts';
import { keyIndexMark } from '../connection/existing-tables.ts';
import { constraintName } from '../../../../engine/map/names/constraint-name.ts';
import { runAll } from '../staging/lane.ts';
import { columnId } from '../../../rows/unfit-columns.ts';
import type { PostgresPublication } from './publication.ts';

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
