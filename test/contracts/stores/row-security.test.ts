/** Organisations are kept apart by the database too: what the service asks for one is answered with that one's rows. */
import { beforeAll, describe, expect, it } from 'vitest';
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { ensureLoaderRole, loaderRoleOf, serviceRole } from '../../../src/postgres/roles.ts';
import { type Sql, connectPostgres } from '../../../src/postgres/connect.ts';
import { withinOrganisation, createOrganisationPools } from '../../../src/postgres/organisation-pools.ts';
import type { TestDatabase } from '../../support/servers/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';
import { submission, worker } from './jobs/contract.ts';

/** Tables that belong to no organisation: what all share, and what is looked up by its own secret name. */
const shared = new Set([
  'event_kind',
  'file_content',
  'installation',
  'job_transition',
  'migration',
  'next_model_id',
]);

const trial = useTrial();
let database: TestDatabase;
let other: number;

/** What statements without a condition answer to that organisation. */
function seen(idOrg: number) {
  return withinOrganisation(database.service, idOrg, async (tx) => ({
    jobs: (await tx`select distinct id_org from svc.job`).map((row) => row.id_org as number),
    orgs: (await tx`select id_org from svc.org`).map((row) => row.id_org as number),
    workflows: (await tx`select 1 from svc.workflow`).length,
  }));
}

function asOther<T>(work: (tx: Sql) => Promise<T>): Promise<T> {
  return withinOrganisation(database.service, other, work);
}

beforeAll(async () => {
  database = await trial.database();
  const [org] = await database.sql<
    { id_org: number }[]
  >`insert into svc.org (name) values ('other') returning id_org`;
  other = org!.id_org;
  const jobs = createPostgresJobStore(database.service);
  for (const idOrg of [1, 1, other]) await jobs.submit(submission(idOrg, 2));
  await jobs.close();
});

describe('row-level security', () => {
  it('is on for every table that holds something of an organisation', async () => {
    const tables = await database.sql<{ name: string; bound: boolean; policies: string[] }[]>`
      select c.relname as name, c.relrowsecurity as bound,
             to_json(array(select polname::text from pg_policy where polrelid = c.oid order by 1)) as policies
        from pg_class c where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r' order by 1`;
    const unbound = tables.filter(({ bound }) => !bound).map(({ name }) => name);
    expect(unbound.filter((name) => !shared.has(name))).toEqual([]);
    for (const { name, bound, policies } of tables)
      if (bound) expect(policies, name).toEqual(['across_organisations', 'organisation']);
  });

  it('shows an organisation its rows, though the statement asks for all', async () => {
    expect(await seen(1)).toEqual({ jobs: [1], orgs: [1], workflows: 2 });
    expect(await seen(other)).toEqual({ jobs: [other], orgs: [other], workflows: 1 });
    expect(await seen(4711)).toEqual({ jobs: [], orgs: [], workflows: 0 });
  });

  it('lets it change and make none of another', async () => {
    expect((await asOther(async (tx) => tx`update svc.job set params = 'x' where id_org = 1`)).count).toBe(0);
    expect((await asOther(async (tx) => tx`delete from svc.workflow where id_org = 1`)).count).toBe(0);
    await expect(
      asOther(async (tx) => tx`insert into svc.workflow (id_org, name) values (1, 'x')`),
    ).rejects.toMatchObject({
      code: '42501',
    });
    await expect(asOther(async (tx) => tx`update svc.workflow set id_org = 1`)).rejects.toMatchObject({
      code: '42501',
    });
  });

  it('reaches what hangs on the rows of another: tables, columns, mappings, drawings', async () => {
    const catalog = createPostgresCatalogStore(database.service);
    const tables = await database.sql<{ name: string }[]>`
      select c.relname as name from pg_policy p join pg_class c on c.oid = p.polrelid
       where pg_get_expr(polqual, polrelid) like '%EXISTS%' order by 1`;
    expect(tables.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['diagram', 'job_statistics', 'logical_schema', 'origin_file']),
    );
    expect(await catalog.listOrigins(other)).toEqual([]);
  });

  it('shows nothing where the transaction says neither', async () => {
    const rows = await database.service.begin(async (tx) => {
      await tx`select set_config('svc.id_org', '', true)`;
      return tx`select 1 from svc.job`;
    });
    expect(rows).toEqual([]);
  });

  it('ends with the transaction, and a transaction that fails leaves nothing behind', async () => {
    const failing = withinOrganisation(database.service, 1, async (tx) => {
      await tx`insert into svc.workflow (id_org, name) values (1, 'never')`;
      throw new Error('stop');
    });
    await expect(failing).rejects.toThrow('stop');
    await expect(withinOrganisation(database.service, 1, (tx) => tx`select 1 / 0`)).rejects.toMatchObject({
      code: '22012',
    });
    expect(await database.service`select 1 from svc.workflow where name = 'never'`).toEqual([]);
    expect(await database.service`select distinct id_org from svc.job order by 1`).toEqual([
      { id_org: 1 },
      { id_org: other },
    ]);
  });

  it('keeps connections of an organisation its own, beside those of others and after they were cut', async () => {
    const made: string[] = [];
    const pools = createOrganisationPools({
      connect: (idOrg) => {
        made.push(idOrg);
        return connectPostgres(database.url, { applicationName: 'own', role: serviceRole, idOrg, max: 2 });
      },
      shared: database.service,
      most: 2,
    });
    const read = (idOrg: number) =>
      pools.read(idOrg, async (sql) => {
        const [row] = await sql`
          select (select json_agg(distinct id_org) from svc.job)::text as jobs, current_setting('svc.id_org') as id_org,
                 current_setting('application_name') = 'own' as own`;
        return row;
      });
    const expected = new Map(
      [1, other, 4711].map((idOrg) => [
        idOrg,
        { jobs: idOrg === 4711 ? null : `[${idOrg}]`, id_org: String(idOrg), own: idOrg !== 4711 },
      ]),
    );
    const asked = Array.from({ length: 60 }, (_, n) => [1, other, 4711][n % 3]!);
    const readAll = () => Promise.all(asked.map(read));
    expect(await readAll()).toEqual(asked.map((idOrg) => expected.get(idOrg)));
    await database.sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'own'`;
    await expect.poll(() => readAll().catch(() => null)).toEqual(asked.map((idOrg) => expected.get(idOrg)));
    expect(made).toEqual(['1', String(other)]);
    await pools.close();
  });

  it('gives the place of an organisation that rests to another', async () => {
    const made: string[] = [];
    const pools = createOrganisationPools({
      connect: (idOrg) => {
        made.push(idOrg);
        return connectPostgres(database.url, { applicationName: 'own', role: serviceRole, idOrg, max: 1 });
      },
      shared: database.service,
      most: 1,
      restMs: 0,
    });
    const orgs = (idOrg: number) =>
      pools.read(idOrg, async (sql) => (await sql`select id_org from svc.org`).map((row) => row.id_org));
    for (const idOrg of [1, other, 1]) expect(await orgs(idOrg)).toEqual([idOrg]);
    expect(made).toEqual(['1', String(other), '1']);
    // one that is asked now keeps its place
    expect(await Promise.all([orgs(1), orgs(other)])).toEqual([[1], [other]]);
    expect(made).toHaveLength(3);
    expect(await orgs(Number.NaN)).toEqual([]);
    await pools.close();
    expect(
      await database.sql`select 1 from pg_stat_activity where application_name = 'own' and datname = current_database()`,
    ).toEqual([]);
  });

  it('lets workers claim across organisations, by a policy of their own', async () => {
    const jobs = createPostgresJobStore(database.service);
    const claims = [await jobs.claimJob(worker, 30_000), await jobs.claimJob(worker, 30_000)];
    expect(claims.map((claim) => claim?.idOrg).toSorted()).toEqual([1, other]);
    for (const claim of claims) await jobs.finish(claim!, 'completed', null);
    await jobs.close();
  });

  it('binds a role that owns nothing, cannot pass by, and cannot change what was migrated', async () => {
    const [role] = await database.service`
      select current_user as name, rolsuper, rolbypassrls, rolcreaterole,
             exists (select from pg_class where relowner = pg_roles.oid) as owns
        from pg_roles where rolname = current_user`;
    expect(role).toEqual({
      name: 'svc_service',
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      owns: false,
    });
    for (const statement of [
      'alter table svc.job disable row level security',
      'delete from svc.migration',
      'create table svc.x (n int)',
    ])
      await expect(database.service.unsafe(statement), statement).rejects.toMatchObject({ code: '42501' });
  });

  it('lets nobody change or empty the audit log', async () => {
    await database.service`insert into svc.audit (id_org, actor, action) values (1, 'key a', 'x')`;
    const changes = ['update svc.audit set actor = null', 'delete from svc.audit', 'truncate svc.audit'];
    for (const sql of [database.service, database.sql])
      for (const statement of changes)
        await expect(sql.unsafe(statement), statement).rejects.toMatchObject({ code: '42501' });
    expect(await database.service`select actor from svc.audit`).toEqual([{ actor: 'key a' }]);
  });

  it('leaves the role of loads without any way in', async () => {
    expect(await ensureLoaderRole(database.sql, other)).toBe(loaderRoleOf(other));
    for (const statement of [
      'select from svc.job',
      'select svc.across_organisations()',
      `set local role svc_service; select from svc.job`,
    ]) {
      const attempt = database.sql.begin(async (tx) => {
        await tx.unsafe(`set local session authorization ${loaderRoleOf(other)}`);
        await tx.unsafe(statement);
      });
      await expect(attempt, statement).rejects.toMatchObject({ code: '42501' });
    }
  });
});
