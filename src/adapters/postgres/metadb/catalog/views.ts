/** The user's additions to a catalogue: saved drawings and natural keys; and the removal of an origin. */
import { AppError } from '../../../../errors.ts';
import type { NaturalKeyColumn } from '../../../../ports/stores/catalog.ts';
import { dropUnusedContents } from './origins.ts';
import { isId, type Sql } from '../../client/connect.ts';

export async function saveDiagram(sql: Sql, idOrg: number, idLschma: number, svg: string): Promise<void> {
  const saved = isId(idLschma)
    ? await sql`
        insert into svc.diagram (id_lschma, svg)
        select l.id_lschma, ${svg} from svc.logical_schema l join svc.origin s using (id_sch)
         where l.id_lschma = ${idLschma} and s.id_org = ${idOrg} for key share of l
        on conflict (id_lschma) do update set svg = excluded.svg, saved = clock_timestamp()`
    : null;
  if (saved?.count !== 1) throw new AppError('not_found', `there is no logical schema ${idLschma}`);
}

export async function loadDiagram(sql: Sql, idOrg: number, idLschma: number): Promise<string | null> {
  if (!isId(idLschma)) return null;
  const [row] = await sql<{ svg: string }[]>`
    select d.svg
      from svc.logical_schema l join svc.origin s using (id_sch)
      join svc.logical_schema e on e.id_sch = l.id_sch and e.id_lschma <= l.id_lschma
      join svc.diagram d on d.id_lschma = e.id_lschma
     where l.id_lschma = ${idLschma} and s.id_org = ${idOrg}
     order by d.id_lschma desc limit 1`;
  return row?.svg ?? null;
}

export async function listNaturalKeys(
  sql: Sql,
  idOrg: number,
  idSch: number,
): Promise<readonly NaturalKeyColumn[]> {
  if (!isId(idSch)) return [];
  return sql<NaturalKeyColumn[]>`
    select k.table_name as "tableName", k.column_name as "columnName", k.position
      from svc.natural_key k join svc.origin s on s.id_org = k.id_org and s.id_family = k.id_family
     where s.id_sch = ${idSch} and k.id_org = ${idOrg}
     order by k.table_name collate "C", k.position, k.column_name collate "C"`;
}

export async function listNaturalKeysOf(
  sql: Sql,
  idOrg: number,
  idSchs: readonly number[],
): Promise<ReadonlyMap<number, readonly NaturalKeyColumn[]>> {
  const rows = await sql<(NaturalKeyColumn & { readonly idSch: number })[]>`
    select s.id_sch as "idSch", k.table_name as "tableName", k.column_name as "columnName", k.position
      from svc.natural_key k join svc.origin s on s.id_org = k.id_org and s.id_family = k.id_family
     where k.id_org = ${idOrg} and s.id_sch in (select json_array_elements_text(${JSON.stringify(idSchs.filter(isId))}::text::json)::bigint)
     order by k.table_name collate "C", k.position, k.column_name collate "C"`;
  return Map.groupBy(rows, ({ idSch }) => idSch);
}

export async function saveNaturalKeys(
  sql: Sql,
  idOrg: number,
  idSch: number,
  keys: readonly NaturalKeyColumn[],
): Promise<void> {
  await sql.begin(async (tx) => {
    const [family] = isId(idSch)
      ? await tx<{ id_family: number }[]>`
          select id_family from svc.origin where id_sch = ${idSch} and id_org = ${idOrg} for no key update`
      : [];
    if (family === undefined) throw new AppError('not_found', `there is no schema ${idSch}`);
    await tx`delete from svc.natural_key where id_org = ${idOrg} and id_family = ${family.id_family}`;
    await tx`
      insert into svc.natural_key (id_org, id_family, table_name, column_name, position)
      select ${idOrg}, ${family.id_family}, k."tableName", k."columnName", k.position
        from json_to_recordset(${JSON.stringify(keys)}::text::json) as k("tableName" text, "columnName" text, position int)`;
  });
}

/** Jobs that ended keep their records, without the schema; a name that no version bears any more is free again. */
export async function removeOrigin(sql: Sql, idOrg: number, idSch: number): Promise<boolean> {
  if (!isId(idSch)) return false;
  return sql.begin(async (tx) => {
    const [origin] = await tx<{ id_family: number; name: string }[]>`
      select id_family, name from svc.origin where id_sch = ${idSch} and id_org = ${idOrg} for update`;
    if (origin === undefined) return false;
    const [job] = await tx<{ id_job: number }[]>`
      select id_job from svc.job where id_sch = ${idSch} and end_date is null order by id_job limit 1`;
    if (job !== undefined)
      throw new AppError('conflict', `job ${job.id_job} uses the schema and has not ended`);
    const contents = await tx<{ id: number }[]>`
      select distinct id_content as id from svc.origin_file where id_sch = ${idSch} and id_content is not null`;
    await tx`delete from svc.origin where id_sch = ${idSch}`;
    await dropUnusedContents(
      tx,
      contents.map(({ id }) => id),
    );
    await tx`
      delete from svc.origin_name n
       where n.id_org = ${idOrg} and n.name = ${origin.name}
         and not exists (select from svc.origin s where s.id_org = n.id_org and s.name = n.name)`;
    await tx`
      delete from svc.natural_key k
       where k.id_org = ${idOrg} and k.id_family = ${origin.id_family}
         and not exists (select from svc.origin s where s.id_family = k.id_family)`;
    return true;
  });
}
