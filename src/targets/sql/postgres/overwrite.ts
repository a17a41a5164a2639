/** Save mode `o`: the model's tables lose their rows, and the tables beside the data what belonged to those. */
import { fileKeyName, sideTableNames } from '../../../engine/model/side-tables.ts';
import { doubleQuoted, standardLiteral } from '../../../engine/sql/dialect.ts';
import { relationOf } from '../found-tables.ts';
import { deleteRowsElsewhere, noteOverwritten } from '../overwrite.ts';
import { deleteEarlierRows, deleteRows } from '../removal.ts';
import { referringToDocuments, runAll } from './driver.ts';
import { relation, type PostgresPublication } from './publication.ts';
import { setViewsAside } from './views.ts';

/** Tables on which nothing hangs are dropped, to be made anew; others (with views, grants, triggers …) are emptied and stay. */
export async function clearTables(publication: PostgresPublication): Promise<void> {
  const { tx, target, tables, present } = publication;
  const existing = tables.filter((table) => target.tables.has(table.name));
  if (existing.length === 0) return;
  const { cleared: oldDocuments, areOfOthers } = await noteOverwritten(publication);
  const isEmptied = await emptyHangingTables(
    publication,
    existing.map(({ name }) => name),
    oldDocuments,
  );
  if (areOfOthers && !isEmptied) {
    // rows in the model's tables as well, because they may refer to rows of earlier tables
    await deleteElsewhere(publication, oldDocuments, deleteRows);
    // checks that wait would stand in the way of what follows
    await tx.unsafe('SET CONSTRAINTS ALL IMMEDIATE');
    await tx.unsafe('SET CONSTRAINTS ALL DEFERRED');
  }
  const dropped = new Set<string>();
  for (const { name } of existing) if (target.tables.get(name)!.plain) dropped.add(name);
  const ours = new Set(tables.map((table) => table.name));
  const loosened = target.foreignKeys.filter((key) => !dropped.has(key.table) && ours.has(key.parent));
  await runAll(
    tx,
    loosened.map(
      (key) => `ALTER TABLE ${relation(publication, key.table)} DROP CONSTRAINT ${doubleQuoted(key.name)}`,
    ),
  );
  for (const key of loosened) publication.rekeyed.add(key.table);
  target.foreignKeys = target.foreignKeys.filter((key) => !dropped.has(key.table) && !loosened.includes(key));
  if (dropped.size > 0) {
    await setViewsAside(publication, [...dropped]);
    await tx.unsafe(`DROP TABLE ${[...dropped].map((name) => relation(publication, name)).join(', ')}`);
  }
  target.checks = target.checks.filter(({ table }) => !dropped.has(table));
  for (const name of dropped) {
    present.delete(name);
    target.tables.delete(name);
  }
  const emptied = existing.filter(({ name }) => !dropped.has(name));
  // TRUNCATE refuses a table that others refer to, even where none of their rows does
  await runAll(
    tx,
    emptied.map(({ name }) =>
      target.tables.get(name)!.referredToBy.length === 0
        ? `TRUNCATE ${relation(publication, name)}`
        : `DELETE FROM ${relation(publication, name)}`,
    ),
  );
  if (areOfOthers && isEmptied) await deleteElsewhere(publication, oldDocuments, deleteEarlierRows);
  await removeDocuments(publication, oldDocuments);
}

async function deleteElsewhere(
  publication: PostgresPublication,
  oldDocuments: string,
  deletion: typeof deleteRows,
): Promise<void> {
  const { database, driver } = publication;
  const known = await driver.readTables(database);
  await deleteRowsElsewhere({ ...publication, known }, oldDocuments, deletion);
}

/**
 * Tables of an earlier model (other documents had other elements) whose rows hang from rows that are overwritten: with those
 * gone they stand for nothing. Only tables that loads made (`_keys` lists them) are emptied; keys of anybody else's tables hold.
 * False where one has rows of documents that stay: nothing is done.
 */
async function emptyHangingTables(
  publication: PostgresPublication,
  overwritten: readonly string[],
  oldDocuments: string,
): Promise<boolean> {
  const { tx, sqlSchema, tables } = publication;
  const keys = relation(publication, sideTableNames.keys);
  const [table] = await tx<{ exists: boolean }[]>`select to_regclass(${keys}) is not null as exists`;
  if (table?.exists !== true) return true;
  const filled = new Set(
    (await tx.unsafe<{ readonly name: string }[]>(`SELECT table_name AS name FROM ${keys}`)).map(
      ({ name }) => name,
    ),
  );
  const references = await tx.unsafe<
    { readonly child: string; readonly parent: string; readonly isOwn: boolean }[]
  >(`
    SELECT DISTINCT child.relname AS child, parent.relname AS parent, pg_has_role(child.relowner, 'USAGE') AS "isOwn"
      FROM pg_constraint k
      JOIN pg_class child ON child.oid = k.conrelid
      JOIN pg_class parent ON parent.oid = k.confrelid AND parent.relnamespace = child.relnamespace
      JOIN pg_namespace n ON n.oid = child.relnamespace
     WHERE k.contype = 'f' AND n.nspname = ${standardLiteral(sqlSchema)}`);
  const referring = Map.groupBy(references, ({ parent }) => parent);
  const ours = new Set([...tables.map(({ name }) => name), ...overwritten]);
  const below = await closure(overwritten, referring, async (name) => filled.has(name));
  const hanging = below.filter((name) => !ours.has(name)).toSorted();
  if (hanging.length === 0) return true;
  if (await haveRowsThatStay(publication, hanging, oldDocuments)) return false;
  const owned = new Set(references.flatMap(({ child, isOwn }) => (isOwn ? [child] : [])));
  // TRUNCATE asks for all tables that refer to those: a shared table that is overwritten, too, and tables without rows
  const emptied = await closure(
    hanging,
    referring,
    async (name) => ours.has(name) || (owned.has(name) && !(await hasRows(publication, name))),
  );
  await tx.unsafe(`TRUNCATE ${emptied.map((name) => relation(publication, name)).join(', ')}`);
  for (const name of hanging) {
    publication.changes.push(`${name}: emptied, its rows hung from rows that were overwritten`);
  }
  return true;
}

/** Whether one of the tables has rows of other documents. */
async function haveRowsThatStay(
  publication: PostgresPublication,
  names: readonly string[],
  oldDocuments: string,
): Promise<boolean> {
  const { tx } = publication;
  for (const name of names) {
    const [row] = await tx.unsafe<{ found: boolean }[]>(
      `SELECT EXISTS (SELECT FROM ${relation(publication, name)} t
         WHERE NOT EXISTS (SELECT FROM ${oldDocuments} o WHERE o.document_key = t.${doubleQuoted(fileKeyName)})) AS found`,
    );
    if (row!.found) return true;
  }
  return false;
}

/** Tables, and those that refer to one of them, directly or through others, as far as `takes` says. */
async function closure(
  from: readonly string[],
  referring: ReadonlyMap<string, readonly { readonly child: string }[]>,
  takes: (name: string) => Promise<boolean>,
): Promise<string[]> {
  const found = new Set(from);
  // what is found on the way is gone through, too
  for (const name of found)
    for (const { child } of referring.get(name) ?? [])
      if (!found.has(child) && (await takes(child))) found.add(child);
  return [...found];
}

async function hasRows(publication: PostgresPublication, name: string): Promise<boolean> {
  const [row] = await publication.tx.unsafe<{ found: boolean }[]>(
    `SELECT EXISTS (SELECT FROM ${relation(publication, name)}) AS found`,
  );
  return row!.found;
}

/** A document stays while rows of other models refer to it. */
async function removeDocuments(publication: PostgresPublication, oldDocuments: string): Promise<void> {
  const { tx, driver } = publication;
  const { documents, unmapped, lexical } = sideTableNames;
  const referring = await referringToDocuments(tx, relationOf(driver));
  await runAll(tx, [
    ...referring.map(
      ({ table, column }) =>
        `DELETE FROM ${oldDocuments} o WHERE EXISTS (SELECT FROM ${table} t WHERE t.${column} = o.document_key)`,
    ),
    ...[lexical, unmapped, documents].map(
      (name) =>
        `DELETE FROM ${relation(publication, name)} WHERE document_key IN (SELECT document_key FROM ${oldDocuments})`,
    ),
  ]);
  await driver.notes.drop(oldDocuments);
}
