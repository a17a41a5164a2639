/** The counters of row keys in a SQL schema of the metadata database: what a target has given out. */
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import { sideTableNames } from '../../../../engine/model/side-tables.ts';
import { sqlState } from '../../client/connect.ts';
import type { Sql } from '../../client/connect.ts';
import { loaderRole } from '../../roles/loader-role.ts';

/** The counters by table, read in a transaction that speaks for the organisation. Null where the schema is not its own, or was not loaded into. */
export async function targetKeys(
  tx: Sql,
  idOrg: number,
  sqlSchema: string,
): Promise<ReadonlyMap<string, number> | null> {
  const [owner] = await tx<{ loader: boolean }[]>`
    select coalesce((select pg_has_role(session_user, oid, 'member') from pg_roles where rolname = ${loaderRole}), false) as loader
      from svc.target_schema where name = ${sqlSchema} and id_org = ${idOrg}`;
  if (owner === undefined) return null;
  const table = `${doubleQuoted(sqlSchema)}.${doubleQuoted(sideTableNames.keys)}`;
  try {
    // Whoever loaded it owns it: the role of loads, or the login itself
    await tx.unsafe(owner.loader ? `set local role ${loaderRole}` : 'set local role none');
    const [keys] = await tx<{ there: boolean }[]>`select to_regclass(${table}) is not null as there`;
    if (keys?.there !== true) return null;
    const rows = await tx.unsafe<{ name: string; last: number }[]>(
      `select table_name as name, last_value as last from ${table}`,
    );
    return new Map(rows.map(({ name, last }) => [name, last]));
  } catch (error) {
    // insufficient_privilege: someone else's by now
    if (sqlState(error) === '42501') return null;
    throw error;
  }
}
