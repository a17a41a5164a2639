/** What the metadata database holds of one family, table by table, so that two installations can be compared. */
import { unpackedModels } from './models.ts';
import type { Sql } from '../../../src/postgres/connect.ts';

export type TableDump = Readonly<Record<string, readonly unknown[]>>;

/** Tables that tell of an origin and stay where they are, each with its reason. */
const leftBehind: Readonly<Record<string, string>> = {
  job: 'jobs ran where they ran',
  loaded_rows: 'sums of what jobs loaded there',
  target_rows: 'the same, by target',
  compiled_set: 'a cache: the next compilation fills it',
};

/** Columns whose value is another in each installation. */
const localColumns = new Set([
  'id_job',
  'id_statistics',
  'id_org',
  'id_content',
  'table_ids',
  'column_ids',
  'mapping_ids',
]);

/**
 * Every table of `svc` with a column that leads to an origin, its rows of the family of `idSch` in their order: ids of
 * origins and logical schemas are replaced by their place in the family, so that only numbering may differ.
 */
export async function dumpFamily(sql: Sql, idSch: number): Promise<TableDump> {
  const origins = await ids(
    sql,
    `select id_sch as id from svc.origin where id_family = (select id_family from svc.origin where id_sch = ${idSch}) order by version`,
  );
  const logicals = await ids(
    sql,
    `select id_lschma as id from svc.logical_schema where id_sch in (${origins.join()}) order by id_lschma`,
  );
  const [{ id_family: family }] = (await sql.unsafe(
    `select id_family from svc.origin where id_sch = ${idSch}`,
  )) as unknown as [{ id_family: number }];
  const found = await sql<{ table_name: string; column_name: string }[]>`
    select table_name, column_name from information_schema.columns
     where table_schema = 'svc' and column_name in ('id_sch', 'id_lschma', 'id_family')
     order by table_name, array_position(array['id_sch', 'id_lschma', 'id_family'], column_name::text)`;
  const dump: Record<string, readonly unknown[]> = {};
  for (const [table, columns] of Map.groupBy(found, ({ table_name }) => table_name)) {
    if (leftBehind[table] !== undefined) continue;
    const { column_name: by } = columns[0]!;
    const wanted = { id_sch: origins, id_lschma: logicals, id_family: [family] }[by]!;
    const rows = await sql.unsafe(
      `select to_jsonb(t) as row from svc.${table} t where ${by} in (${wanted.join() || '0'})`,
    );
    const shown = rows.map(({ row }) =>
      normalised(row as Record<string, unknown>, origins, logicals, family),
    );
    dump[table] = shown.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  dump['models'] = await unpackedModels(sql, origins, logicals);
  return dump;
}

async function ids(sql: Sql, query: string): Promise<number[]> {
  return (await sql.unsafe(query)).map(({ id }) => id as number);
}

function normalised(
  row: Readonly<Record<string, unknown>>,
  origins: readonly number[],
  logicals: readonly number[],
  family: number,
): Record<string, unknown> {
  const entries = Object.entries(row).map(([name, value]) => {
    if (localColumns.has(name)) return [name, name === 'id_content' && value === null ? null : 'local'];
    if (name === 'id_family') return [name, value === family ? 'the family' : value];
    if (name === 'id_lschma') return [name, `logical ${logicals.indexOf(value as number)}`];
    if (/^id_(?:parent_)?sch$/.test(name) && value !== null)
      return [name, `origin ${origins.indexOf(value as number)}`];
    return [name, value];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}
