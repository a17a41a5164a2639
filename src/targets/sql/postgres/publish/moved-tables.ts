/** Staged tables that become the target's own, with their rows, keys and what they require, all of which get the names they have there. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { constraintName } from '../../../../engine/map/names/constraint-name.ts';
import { truncateToBytes } from '../../../../engine/map/names/identifiers.ts';
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import { runAll } from '../staging/lane.ts';
import type { StagedTable } from '../staging/staged-table.ts';
import { stagedStart } from './key-indexes.ts';
import { relation, type PostgresPublication } from './publication.ts';
import { documentsStatements } from './tables.ts';

export interface TableMove {
  readonly staged: StagedTable;
  /** in the target, where there is none of that name */
  readonly name: string;
}

export async function moveStaged(
  publication: PostgresPublication,
  moves: readonly TableMove[],
): Promise<void> {
  const { tx, sqlSchema, staging } = publication;
  const statements: string[] = [];
  for (const { staged, name } of moves) {
    const there = `${doubleQuoted(sqlSchema)}.${doubleQuoted(staged.name)}`;
    if (there !== staged.relation)
      statements.push(`ALTER TABLE ${staged.relation} SET SCHEMA ${doubleQuoted(sqlSchema)}`);
    statements.push(`ALTER TABLE ${there} RENAME TO ${doubleQuoted(name)}`);
    publication.moved.add(staged);
  }
  await runAll(tx, statements);
  await renameKeys(
    publication,
    moves.filter(({ staged }) => staged.keyed),
  );
  if (staging.isShared)
    await renameRequired(
      publication,
      moves.map(({ name }) => name),
    );
}

/**
 * In place of the table of documents that this transaction has made, whose keys need not be shifted. False: there was one before, or
 * the staged rows are not to last.
 */
export async function moveDocuments(publication: PostgresPublication, staged: StagedTable): Promise<boolean> {
  const { tx, target, merging } = publication;
  const name = sideTableNames.documents;
  if (!staged.form.logged || merging !== null || target.hasDefaultGrants || target.tables.has(name))
    return false;
  await tx.unsafe(`DROP TABLE ${relation(publication, name)}`);
  await moveStaged(publication, [{ staged, name }]);
  await runAll(tx, documentsStatements(publication, staged.keyed));
  return true;
}

const usualKeyName = (table: string): string => `${truncateToBytes(table, 58)}_pkey`;

/** A key that was made in staging is named after that; it gets the name that the database would have given it here. */
async function renameKeys(publication: PostgresPublication, moves: readonly TableMove[]): Promise<void> {
  const { tx, sqlSchema } = publication;
  const names = JSON.stringify(moves.map(({ name }) => name));
  const keys = await tx.unsafe<{ table: string; name: string }[]>(
    `SELECT c.relname AS table, k.conname AS name FROM jsonb_array_elements_text(${standardLiteral(names)}::jsonb) name
       JOIN pg_class c ON c.relname = name JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
       JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'p'`,
  );
  const nameOf = new Map(keys.map(({ table, name }) => [table, name]));
  const wanted = JSON.stringify([...nameOf.keys()].map(usualKeyName));
  const found = await tx.unsafe<{ name: string }[]>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
      WHERE c.relname IN (SELECT jsonb_array_elements_text(${standardLiteral(wanted)}::jsonb))`,
  );
  const taken = new Set(found.map(({ name }) => name));
  const statements = moves.flatMap(({ staged, name: table }) => {
    const present = nameOf.get(table);
    if (present === undefined) return [];
    // tables whose long names begin alike ask for the same name; what ends a staged name is its own
    const own = staged.name.split('_').slice(-2).join('_');
    const usual = usualKeyName(table);
    const name = taken.has(usual) ? truncateToBytes(`${truncateToBytes(table, 40)}_pkey_${own}`, 63) : usual;
    taken.add(name);
    return [
      `ALTER TABLE ${relation(publication, table)} RENAME CONSTRAINT ${doubleQuoted(present)} TO ${doubleQuoted(name)}`,
    ];
  });
  await runAll(tx, statements);
}

/** The constraints get the names that the database would have given them here. `tables`: physical names. */
async function renameRequired(publication: PostgresPublication, tables: readonly string[]): Promise<void> {
  const { tx, sqlSchema } = publication;
  const found = await tx.unsafe<{ table: string; column: string; name: string; isStaged: boolean }[]>(
    `SELECT t.relname AS table, a.attname AS column, k.conname AS name, starts_with(k.conname, ${standardLiteral(stagedStart)}) AS "isStaged"
       FROM jsonb_array_elements_text(${standardLiteral(JSON.stringify(tables))}::jsonb) name
       JOIN pg_class t ON t.relname = name JOIN pg_namespace n ON n.oid = t.relnamespace AND n.nspname = ${standardLiteral(sqlSchema)}
       JOIN pg_constraint k ON k.conrelid = t.oid AND k.contype = 'n'
       JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.conkey[1]`,
  );
  const taken = new Set(found.map(({ table, name }) => JSON.stringify([table, name])));
  const statements = found.flatMap(({ table, column, name, isStaged }) => {
    const wanted = constraintName(table, column, 'not_null');
    const id = JSON.stringify([table, wanted]);
    if (!isStaged || taken.has(id)) return [];
    taken.add(id);
    return [
      `ALTER TABLE ${relation(publication, table)} RENAME CONSTRAINT ${doubleQuoted(name)} TO ${doubleQuoted(wanted)}`,
    ];
  });
  await runAll(tx, statements);
}
