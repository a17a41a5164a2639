/** Names of what tables require, where the server keeps such (since PostgreSQL 18): those that were made in staging are named after that. */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { constraintName } from '../../../../engine/map/names/constraint-name.ts';
import { runAll } from '../staging/lane.ts';
import { stagedStart } from './key-indexes.ts';
import { relation, type Publication } from './publication.ts';

/** The constraints get the names that the database would have given them here. `tables`: physical names. */
export async function renameRequired(publication: Publication, tables: readonly string[]): Promise<void> {
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
