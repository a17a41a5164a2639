/**
 * The catalog store on PostgreSQL, with its smaller tables: counters of row keys, drawings, natural keys, and names of SQL schemas. Origins
 * are in src/metadb/origins.ts, and logical schemas in src/metadb/logical-schemas.ts.
 */
import { doubleQuoted } from '../engine/sql/dialect.ts';
import { sideTableNames } from '../engine/model/side-tables.ts';
import { type Sql, isId, sqlState, type TransactionSql } from '../postgres/connect.ts';
import { actAsLoader } from '../postgres/roles.ts';
import { AppError } from '../errors.ts';
import type { NaturalKeyColumn, CatalogStore } from '../ports/stores/catalog.ts';
import {
  dropUnusedContents,
  findCompiledSet,
  rememberCompiledSet,
  createOrigin,
  findOrigin,
  listOrigins,
  listOriginVersions,
  loadJobStatistics,
  loadOrigin,
  loadStatistics,
  refineOrigin,
  saveStatistics,
  loadOriginFiles,
} from './origins.ts';
import {
  findDrawnSchema,
  rememberDrawnSchema,
  createLogicalSchema,
  findLogicalSchemas,
  listMappings,
  listModelHashes,
  listModels,
  listTables,
  listLogicalSchemas,
  loadLogicalSchema,
  setMappingsActive,
  listModelSummaries,
} from './logical-schemas.ts';
import {
  readInTransaction,
  withinOrganisation,
  type OrganisationReader,
} from '../postgres/organisation-pools.ts';

// Counters of row keys in a SQL schema of the metadata database: the keys that a target has given out.

/**
 * Returns the counters by table, read in a transaction for the organisation, or null if the schema belongs to another, or nothing was
 * loaded into it.
 */
async function targetKeys(
  tx: Sql,
  idOrg: number,
  sqlSchema: string,
): Promise<ReadonlyMap<string, number> | null> {
  return (await targetKeysOf(tx, idOrg, [sqlSchema])).get(sqlSchema) ?? null;
}

/** tables of counters that one statement reads */
const maxAtOnce = 200;

/** `targetKeys` of several SQL schemas; those without are left out. */
async function targetKeysOf(
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
  for (let at = 0; at < chosen.length; at += maxAtOnce) {
    const some = chosen.slice(at, at + maxAtOnce);
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

// The user's additions to a catalogue (saved drawings and natural keys), and the removal of an origin.

async function saveDiagram(sql: Sql, idOrg: number, idLschma: number, svg: string): Promise<void> {
  const saved = isId(idLschma)
    ? await sql`
        insert into svc.diagram (id_lschma, svg)
        select l.id_lschma, ${svg} from svc.logical_schema l join svc.origin s using (id_sch)
         where l.id_lschma = ${idLschma} and s.id_org = ${idOrg} for key share of l
        on conflict (id_lschma) do update set svg = excluded.svg, saved = clock_timestamp()`
    : null;
  if (saved?.count !== 1) throw new AppError('not_found', `there is no logical schema ${idLschma}`);
}

async function loadDiagram(sql: Sql, idOrg: number, idLschma: number): Promise<string | null> {
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

async function listNaturalKeys(sql: Sql, idOrg: number, idSch: number): Promise<readonly NaturalKeyColumn[]> {
  if (!isId(idSch)) return [];
  return sql<NaturalKeyColumn[]>`
    select k.table_name as "tableName", k.column_name as "columnName", k.position
      from svc.natural_key k join svc.origin s on s.id_org = k.id_org and s.id_family = k.id_family
     where s.id_sch = ${idSch} and k.id_org = ${idOrg}
     order by k.table_name collate "C", k.position, k.column_name collate "C"`;
}

async function listNaturalKeysOf(
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

async function saveNaturalKeys(
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
async function removeOrigin(sql: Sql, idOrg: number, idSch: number): Promise<boolean> {
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

// Names of SQL schemas of the metadata database that hold loaded rows (`metadb:NAME`), and their owners. A job that loads takes a name,
// which stays taken while the job runs or the SQL schema holds a table. A schema that no load has made, or that was dropped, is free. All
// queries cross organisations, because they find out if a name belongs to another one.

/** SQL for the jobs of `svc.target_schema t` that have not ended. */
const running = 'array(select j.id_job from svc.job j where j.id_job = any(t.jobs) and j.end_date is null)';

/** SQL that tests whether a name in `svc.target_schema t` is in use. Staging tables do not count, whatever created them. */
const isTaken = `(${running} <> '{}' or exists (
  select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = t.name and c.relkind in ('r', 'p', 'v', 'm', 'f') and c.relname !~ '^_svc_staging_'))`;

interface TakenName {
  readonly id_org: number;
  /** a job that has not ended */
  readonly job: number | null;
  readonly taken: boolean;
}

/** Returns null if the name has no owner. */
async function findName(sql: Sql | TransactionSql, name: string): Promise<TakenName | null> {
  const [row] = await sql<TakenName[]>`
    select t.id_org, (${sql.unsafe(running)})[1] as job, ${sql.unsafe(isTaken)} as taken from svc.target_schema t where t.name = ${name}`;
  return row ?? null;
}

/** Whether the name is the organisation's. AppError `target_not_owned`. */
async function ownsTargetSchema(sql: Sql | TransactionSql, idOrg: number, name: string): Promise<boolean> {
  const found = await findName(sql, name);
  if (found?.taken === true && found.id_org !== idOrg) throw notOwned(name);
  return found?.id_org === idOrg;
}

/** Takes the name for a job. AppErrors as of the port. */
export async function claimTargetSchema(
  sql: Sql,
  idOrg: number,
  name: string,
  claim: { readonly idJob: number; readonly maxNames: number },
): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await lockNames(tx);
      if (!(await ownsTargetSchema(tx, idOrg, name))) {
        await tx`delete from svc.target_schema t where (t.id_org = ${idOrg} or t.name = ${name}) and not ${tx.unsafe(isTaken)}`;
        const [{ names }] = await tx<[{ names: number }]>`
          select count(*)::int as names from svc.target_schema where id_org = ${idOrg}`;
        if (names >= claim.maxNames) throw tooMany(claim.maxNames);
      }
      await tx`
        insert into svc.target_schema as t (name, id_org, jobs) values (${name}, ${idOrg}, array[${claim.idJob}::bigint])
        on conflict (name) do update set jobs = ${tx.unsafe(running)} || excluded.jobs`;
    });
  } catch (error) {
    if (sqlState(error) !== '23514') throw error;
    const detail = `${JSON.stringify(name)} cannot be the name of a target schema`;
    throw new AppError('invalid_parameter', detail, { cause: error });
  }
}

async function listTargetSchemas(
  sql: Sql,
  idOrg: number,
): Promise<readonly { readonly name: string; readonly created: number }[]> {
  return await sql<{ name: string; created: number }[]>`
    select t.name, svc.epoch_ms(t.created) as created from svc.target_schema t
     where t.id_org = ${idOrg} and ${sql.unsafe(isTaken)} order by t.name collate "C"`;
}

/** Drops the SQL schema with its rows, and gives the name back. False: it is not the organisation's. AppError `conflict`. */
export async function removeTargetSchema(sql: Sql, idOrg: number, name: string): Promise<boolean> {
  return await sql.begin(async (tx) => {
    await lockNames(tx);
    const found = await findName(tx, name);
    if (found?.id_org !== idOrg) return false;
    if (found.job !== null)
      throw new AppError('conflict', `job ${found.job} loads into it: wait for its end, or kill it`);
    await tx`delete from svc.target_schema where name = ${name}`;
    try {
      await actAsLoader(tx, idOrg);
      await tx.unsafe(`drop schema if exists ${doubleQuoted(name)} cascade`);
    } catch (error) {
      if (sqlState(error) !== '42501') throw error;
      throw new AppError('conflict', 'its tables belong to another user of the database, who can drop them', {
        cause: error,
      });
    }
    return true;
  });
}

/**
 * Serialises access to names: two jobs that claim the same free name exclude each other here, and so do a count and changes to the
 * counted names.
 */
async function lockNames(tx: TransactionSql): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended('svc.target_schema', 0))`;
}

function notOwned(name: string): AppError {
  return new AppError(
    'target_not_owned',
    `the SQL schema ${JSON.stringify(name)} belongs to another organisation`,
  );
}

function tooMany(most: number): AppError {
  return new AppError(
    'conflict',
    `the organisation has ${most} SQL schemas already (svc.limits.target_names): remove one with DELETE /v2/target?name=NAME`,
  );
}

// The store.

/** `read` runs read-only queries; absent: in transactions on the same pool. */
export function createPostgresCatalogStore(
  sql: Sql,
  read: OrganisationReader = readInTransaction(sql),
): CatalogStore {
  /** a request for one organisation sees only that organisation's rows */
  const within = <T>(idOrg: number, work: (tx: Sql) => Promise<T>): Promise<T> =>
    withinOrganisation(sql, idOrg, work);
  return {
    createOrigin: (origin) => within(origin.idOrg, (tx) => createOrigin(tx, origin)),
    createLogicalSchema: (idOrg, idSch, model, idJob, variant) =>
      within(idOrg, (tx) => createLogicalSchema(tx, idOrg, idSch, model, idJob, variant)),
    listLogicalSchemas: (idOrg, idSch) => read(idOrg, (tx) => listLogicalSchemas(tx, idOrg, idSch)),
    findLogicalSchemas: (idOrg, modelHashes) =>
      read(idOrg, (tx) => findLogicalSchemas(tx, idOrg, modelHashes)),
    listOrigins: (idOrg, slice) => read(idOrg, (tx) => listOrigins(tx, idOrg, slice)),
    listOriginVersions: (idOrg) => read(idOrg, (tx) => listOriginVersions(tx, idOrg)),
    findOrigin: (idOrg, idSch, idLschma) => read(idOrg, (tx) => findOrigin(tx, idOrg, idSch, idLschma)),
    loadOrigin: (idOrg, idSch) => read(idOrg, (tx) => loadOrigin(tx, idOrg, idSch)),
    loadOriginFiles: (idOrg, idSch) => read(idOrg, (tx) => loadOriginFiles(tx, idOrg, idSch)),
    loadLogicalSchema: (idOrg, which) => read(idOrg, (tx) => loadLogicalSchema(tx, idOrg, which)),
    findCompiledSet: (idOrg, fingerprint) => read(idOrg, (tx) => findCompiledSet(tx, idOrg, fingerprint)),
    rememberCompiledSet: (idOrg, fingerprint, idLschma, diagnostics) =>
      within(idOrg, (tx) => rememberCompiledSet(tx, idOrg, fingerprint, idLschma, diagnostics)),
    findDrawnSchema: (idOrg, idSch, fingerprint) =>
      read(idOrg, (tx) => findDrawnSchema(tx, idOrg, idSch, fingerprint)),
    rememberDrawnSchema: (idOrg, idLschma, fingerprints) =>
      within(idOrg, (tx) => rememberDrawnSchema(tx, idOrg, idLschma, fingerprints)),
    listModelHashes: (idOrg, idLschmas) => read(idOrg, (tx) => listModelHashes(tx, idOrg, idLschmas)),
    listModelSummaries: (idOrg, idLschmas) => read(idOrg, (tx) => listModelSummaries(tx, idOrg, idLschmas)),
    listModels: (idOrg, idLschmas) => read(idOrg, (tx) => listModels(tx, idOrg, idLschmas)),
    listNaturalKeysOf: (idOrg, idSchs) => read(idOrg, (tx) => listNaturalKeysOf(tx, idOrg, idSchs)),
    listTables: (idOrg, idLschma) => read(idOrg, (tx) => listTables(tx, idOrg, idLschma)),
    listMappings: (idOrg, idLschma, which) => read(idOrg, (tx) => listMappings(tx, idOrg, idLschma, which)),
    saveStatistics: (idOrg, idSch, idJob, statistics, merge) =>
      within(idOrg, (tx) => saveStatistics(tx, idOrg, idSch, idJob, statistics, merge)),
    setMappingsActive: (idOrg, idLschma, idMaps, active) =>
      within(idOrg, (tx) => setMappingsActive(tx, idOrg, idLschma, idMaps, active)),
    refineOrigin: (idOrg, idSch, model) => within(idOrg, (tx) => refineOrigin(tx, idOrg, idSch, model)),
    loadJobStatistics: (idOrg, idSch, idJob) =>
      read(idOrg, (tx) => loadJobStatistics(tx, idOrg, idSch, idJob)),
    loadStatistics: (idOrg, idJobs) => read(idOrg, (tx) => loadStatistics(tx, idOrg, idJobs)),

    saveDiagram: (idOrg, idLschma, svg) => within(idOrg, (tx) => saveDiagram(tx, idOrg, idLschma, svg)),
    loadDiagram: (idOrg, idLschma) => read(idOrg, (tx) => loadDiagram(tx, idOrg, idLschma)),
    listNaturalKeys: (idOrg, idSch) => read(idOrg, (tx) => listNaturalKeys(tx, idOrg, idSch)),
    targetKeys: (idOrg, sqlSchema) => within(idOrg, (tx) => targetKeys(tx, idOrg, sqlSchema)),
    targetKeysOf: (idOrg, sqlSchemas) => within(idOrg, (tx) => targetKeysOf(tx, idOrg, sqlSchemas)),
    saveNaturalKeys: (idOrg, idSch, keys) => within(idOrg, (tx) => saveNaturalKeys(tx, idOrg, idSch, keys)),
    // across organisations: contents of files are shared, and other references to them decide whether they are removed
    removeOrigin: (idOrg, idSch) => removeOrigin(sql, idOrg, idSch),

    async installation() {
      const [row] = await sql<{ installation: string }[]>`select installation::text from svc.installation`;
      return row!.installation;
    },

    ownsTargetSchema: (idOrg, name) => ownsTargetSchema(sql, idOrg, name),
    claimTargetSchema: (idOrg, name, claim) => claimTargetSchema(sql, idOrg, name, claim),
    listTargetSchemas: (idOrg) => listTargetSchemas(sql, idOrg),
    removeTargetSchema: (idOrg, name) => removeTargetSchema(sql, idOrg, name),
  };
}
