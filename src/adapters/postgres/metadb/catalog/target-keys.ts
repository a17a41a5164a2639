/** The counters of row keys in a SQL schema of the metadata database: the keys that a target has given out. */
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import type { Sql } from '../../client/connect.ts';
import { actAsLoader } from '../../roles.ts';

/**
 * Returns the counters by table, read in a transaction for the organisation, or null if the schema belongs to another, or nothing was
 * loaded into it.
 */
export async function targetKeys(
  tx: Sql,
  idOrg: number,
  sqlSchema: string,
): Promise<ReadonlyMap<string, number> | null> {
  return (await targetKeysOf(tx, idOrg, [sqlSchema])).get(sqlSchema) ?? null;
}

/** tables of counters that one statement reads */
const mostAtOnce = 200;

/** `targetKeys` of several SQL schemas; those without are left out. */
export async function targetKeysOf(
  tx: Sql,
  idOrg: number,
  sqlSchemas: readonly string[],
): Promise<ReadonlyMap<string, ReadonlyMap<string, number>>> {
  const found = new Map<string, Map<string, number>>();
  if (sqlSchemas.length === 0) return found;
  const owned = await tx<{ name: string }[]>`
    select name from svc.target_schema
     where id_org = ${idOrg} and name in (select json_array_elements_text(${JSON.stringify(sqlSchemas)}::text::json))`;
  if (owned.length === 0) return found;
  await actAsLoader(tx, idOrg);
  const tables = owned.map(({ name }) => ({ name, table: tableOf(name) }));
  const there = await tx<{ table: string }[]>`
    select t as table from json_array_elements_text(${JSON.stringify(tables.map(({ table }) => table))}::text::json) t
     where has_table_privilege(to_regclass(t), 'select')`;
  const readable = new Set(there.map(({ table }) => table));
  const chosen = tables.filter(({ table }) => readable.has(table));
  for (let at = 0; at < chosen.length; at += mostAtOnce) {
    const some = chosen.slice(at, at + mostAtOnce);
    const parts = some.map(
      ({ table }, place) => `select ${place} as place, table_name as name, last_value as last from ${table}`,
    );
    for (const { name } of some) found.set(name, new Map());
    const rows = await tx.unsafe<{ place: number; name: string; last: number }[]>(parts.join(' union all '));
    for (const { place, name, last } of rows) found.get(some[place]!.name)!.set(name, last);
  }
  return found;
}

function tableOf(sqlSchema: string): string {
  return `${doubleQuoted(sqlSchema)}.${doubleQuoted(sideTableNames.keys)}`;
}
