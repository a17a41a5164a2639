/**
 * Names of SQL schemas of the metadata database that hold loaded rows (`metadb:NAME`), and their owners. A job that loads takes a name,
 * which stays taken while the job runs or the SQL schema holds a table. A schema that no load has made, or that was dropped, is free.
 * All queries cross organisations, because they find out whether a name is another's.
 */
import { doubleQuoted } from '../../../engine/sql/dialect.ts';
import { AppError } from '../../../errors.ts';
import { sqlState, type Sql, type TransactionSql } from '../client/connect.ts';
import { actAsLoader } from '../roles.ts';

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
export async function ownsTargetSchema(
  sql: Sql | TransactionSql,
  idOrg: number,
  name: string,
): Promise<boolean> {
  const found = await findName(sql, name);
  if (found?.taken === true && found.id_org !== idOrg) throw notOwned(name);
  return found?.id_org === idOrg;
}

/** Takes the name for a job. AppErrors as of the port. */
export async function claimTargetSchema(
  sql: Sql,
  idOrg: number,
  name: string,
  claim: { readonly idJob: number; readonly mostNames: number },
): Promise<void> {
  try {
    await sql.begin(async (tx) => {
      await lockNames(tx);
      if (!(await ownsTargetSchema(tx, idOrg, name))) {
        await tx`delete from svc.target_schema t where (t.id_org = ${idOrg} or t.name = ${name}) and not ${tx.unsafe(isTaken)}`;
        const [{ names }] = await tx<[{ names: number }]>`
          select count(*)::int as names from svc.target_schema where id_org = ${idOrg}`;
        if (names >= claim.mostNames) throw tooMany(claim.mostNames);
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

export async function listTargetSchemas(
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
