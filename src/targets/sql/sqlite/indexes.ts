/** Indexes of the tables: unique keys that the rows satisfy, and indexes for queries and removals (`--indexes`). */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { keyIndexes, keyIndexStatement } from '../../../engine/sql/ddl.ts';
import { modelName, physicalName } from '../../../engine/sql/physical-model.ts';
import { sqlite } from '../../../engine/sql/dialects/sqlite.ts';
import { brokenUnique, foldedName, type SqliteDb } from './database.ts';
import { readTables } from './tables.ts';
import type { Publication } from '../publication.ts';

type SqlitePublication = Publication<SqliteDb>;

export async function makeIndexes(publication: SqlitePublication): Promise<void> {
  const { database, drawn, made, plan } = publication;
  const known = readTables(database);
  const taken = new Set(
    database.read<{ name: string }>('SELECT name FROM sqlite_schema').map(({ name }) => foldedName(name)),
  );
  const free = (wanted: string): string => {
    for (let count = 0; ; count += 1) {
      const name = modelName(drawn.model, physicalName(sqlite, `${wanted}${count === 0 ? '' : count}`));
      if (taken.has(foldedName(name))) continue;
      taken.add(foldedName(name));
      return name;
    }
  };
  const began = performance.now();
  for (const [index, table] of drawn.tables.entries()) {
    if (known.get(foldedName(table.name))?.isView !== false) continue;
    const isMade = made.has(index);
    if (isMade) await makeUniqueKeys(publication, index, free);
    // the items of a row are found by it when documents are written back
    const isList = index >= plan.model.tables.length;
    const choice = isMade ? (plan.indexes ?? 'keys') : plan.indexes;
    const wanted = isList && isMade && choice === 'none' ? 'keys' : choice;
    if (wanted === undefined || wanted === 'none') continue;
    const there = isMade ? new Set<string>() : leadingColumns(publication, table.name);
    for (const key of keyIndexes(drawn.model, index, table, wanted)) {
      if (there.has(foldedName(key.column))) continue;
      const name = free(`${table.name}_${key.column}_idx`);
      await database.run(keyIndexStatement(sqlite, null, table.name, key, { name }));
      publication.indexes.count += 1;
    }
  }
  publication.indexes.seconds += (performance.now() - began) / 1000;
}

async function makeUniqueKeys(
  { database, drawn, brokenKeys }: SqlitePublication,
  index: number,
  free: (wanted: string) => string,
): Promise<void> {
  const { name: table, uniqueKeys } = drawn.tables[index]!;
  for (const { name, columns } of uniqueKeys) {
    try {
      database
        .prepareChange(
          `CREATE UNIQUE INDEX ${doubleQuoted(free(name))} ON ${doubleQuoted(table)} (${columns.map(doubleQuoted).join(', ')})`,
        )
        .run();
    } catch (error) {
      if (brokenUnique(error) === null) throw error;
      brokenKeys.push({ table, columns });
    }
  }
}

/** Returns the first columns of existing indexes. */
function leadingColumns({ database }: SqlitePublication, table: string): Set<string> {
  const rows = database.read<{ name: string | null }>(
    'SELECT i.name FROM pragma_index_list(?) l, pragma_index_info(l.name) i WHERE i.seqno = 0',
    table,
  );
  return new Set(rows.flatMap(({ name }) => (name === null ? [] : [foldedName(name)])));
}

/**
 * Drops a unique index that rows violate. `broken`: its columns, as SQLite names them. Returns false if no index that may be dropped has
 * them.
 */
export function dropUniqueIndex(publication: SqlitePublication, broken: readonly string[]): boolean {
  const { database, drawn, brokenKeys, changes } = publication;
  for (const { name: table, uniqueKeys } of drawn.tables)
    for (const { columns } of uniqueKeys) {
      if (columns.map((column) => `${table}.${column}`).join() !== broken.join()) continue;
      const index = database
        .read<{ name: string; columns: string }>(
          `SELECT l.name, (SELECT json_group_array(i.name ORDER BY i.seqno) FROM pragma_index_info(l.name) i) AS columns
             FROM pragma_index_list(?) l WHERE l."unique" = 1 AND l.origin = 'c'`,
          table,
        )
        .find((one) => one.columns === JSON.stringify(columns));
      if (index === undefined) return false;
      database.prepareChange(`DROP INDEX ${doubleQuoted(index.name)}`).run();
      brokenKeys.push({ table, columns });
      changes.push(`${table}: unique key over ${columns.join(', ')} dropped`);
      return true;
    }
  return false;
}
