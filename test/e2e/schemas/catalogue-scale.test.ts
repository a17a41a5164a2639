/** The integration catalogue with a thousand schemas and many jobs, cloned by SQL: each list answers soon, whole and in pages. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { isHere } from '../../support/needs.ts';
import { execution } from '../../support/service/client.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
const [schemas, jobs] = isHere('whole run') ? [5_000, 1_000_000] : [1_000, 20_000];
const tables = 20;
/** milliseconds, on a machine that is busy with other tests */
const patience = isHere('whole run') ? 5_000 : 3_000;

const document = `<shop>${Array.from(
  { length: tables - 1 },
  (_, at) => `<part${at}><name>a</name><size>1</size></part${at}><part${at}><name>b</name></part${at}>`,
).join('')}</shop>`;

describe('the catalogue at scale', { timeout: 900_000 }, () => {
  let service: RunningService;
  let sql: Sql;

  beforeAll(async () => {
    const home = await trial.home({ 'cmd.enabled': 'true' });
    service = await trial.service(home);
    const { client } = service;
    const path = await client.upload('xml', 'shop.xml', new TextEncoder().encode(document));
    const answer = await client.run([execution('xml2er', path, [['-o', 'metadb:shop']])]);
    expect(await client.ended(answer.jobs[0]!)).toMatchObject({ status: 'C' });
    sql = await trial.metadb(home);
    await cloneAll(sql, answer.jobs[0]!);
  }, 900_000);

  async function timed(path: string): Promise<{ body: unknown; ms: number; link: string | null }> {
    const began = performance.now();
    const answer = await service.client.fetch(path);
    const body: unknown = await answer.json();
    expect(answer.status, JSON.stringify(body).slice(0, 300)).toBe(200);
    return { body, ms: performance.now() - began, link: answer.headers.get('Link') };
  }

  it.each([
    ['/v2/extensions/cil/mappings', schemas * tables],
    ['/v2/extensions/cil/sequences', schemas * tables],
    ['/v2/schema/all', schemas],
    ['/v2/extensions/cil/mappings?page=3&size=100', 100],
    ['/v2/extensions/cil/sequences?page=3&size=100', 100],
    ['/v2/schema/all?page=3&size=100', 100],
  ])('%s', async (path, count) => {
    const { body, ms, link } = await timed(path);
    expect(body).toHaveLength(count);
    expect(link).toBe(
      path.includes('?')
        ? '<?page=0&size=100>; rel="first", <?page=4&size=100>; rel="next", <?page=2&size=100>; rel="prev"'
        : null,
    );
    expect(ms).toBeLessThan(patience);
  });

  it.each([
    '/v2/extensions/cil/keys/0',
    '/v2/extensions/cil/jobs',
    `/v2/extensions/cil/jobs/${Math.floor(jobs / 25)}`,
    '/v2/mapping/get_stats/1?size=5',
  ])('%s', async (path) => {
    const { body, ms } = await timed(path);
    expect(Array.isArray(body) ? body : (body as { content: unknown[] }).content).not.toEqual([]);
    expect(ms).toBeLessThan(patience);
  });

  it('has in its pages what it has as a whole', async () => {
    for (const list of ['/v2/extensions/cil/mappings', '/v2/extensions/cil/sequences', '/v2/schema/all']) {
      const whole = (await timed(list)).body as unknown[];
      for (const [page, size] of [
        [0, 7],
        [41, 33],
        [Math.floor((whole.length - 1) / 500), 500],
      ] as const) {
        const { body, link } = await timed(`${list}?page=${page}&size=${size}`);
        expect(body).toEqual(whole.slice(page * size, (page + 1) * size));
        expect(link?.includes('rel="next"')).toBe((page + 1) * size < whole.length);
      }
    }
  });
});

/** Clones of the one schema and of the job that loaded it. */
async function cloneAll(sql: Sql, idJob: number): Promise<void> {
  const columnsOf = async (table: string, without: readonly string[]): Promise<string> => {
    const rows = await sql<{ name: string }[]>`
      select attname as name from pg_attribute where attrelid = ${`svc.${table}`}::regclass and attnum > 0 and not attisdropped and attgenerated = ''`;
    return rows.flatMap(({ name }) => (without.includes(name) ? [] : [name])).join(', ');
  };
  const origin = await columnsOf('origin', ['id_sch', 'id_family', 'name']);
  const logical = await columnsOf('logical_schema', ['id_lschma', 'id_sch', 'model_hash']);
  const job = await columnsOf('job', ['id_job', 'id_workflow', 'id_sch', 'id_lschma', 'uuid', 'position']);
  await sql.begin(async (tx) => {
    await tx.unsafe(`set local session_replication_role = replica`);
    await tx.unsafe(`
      insert into svc.origin_name (id_org, name, id_family)
      select 1, 'shop ' || n, 1000000 + n from generate_series(1, ${schemas - 1}) n;
      insert into svc.origin (id_sch, id_family, name, ${origin})
      select 1000000 + n, 1000000 + n, 'shop ' || n, ${origin} from svc.origin, generate_series(1, ${schemas - 1}) n;
      insert into svc.logical_schema (id_lschma, id_sch, model_hash, ${logical})
      select 1000000 + n, 1000000 + n, encode(sha256(n::text::bytea), 'hex'), ${logical}
        from svc.logical_schema, generate_series(1, ${schemas - 1}) n;
      update svc.origin set loaded_lschma = id_sch where id_sch > 1000000;
      insert into svc.workflow (id_workflow, id_org, name)
      select 10000000 + n, 1, 'w' || n from generate_series(1, ${jobs}) n;
      insert into svc.job (id_job, id_workflow, position, id_sch, id_lschma, uuid, ${job})
      select 10000000 + n, 10000000 + n, 0, 1000001 + n % ${schemas - 1}, 1000001 + n % ${schemas - 1}, gen_random_uuid(), ${job}
        from svc.job, generate_series(1, ${jobs}) n where id_job = ${idJob};
      insert into svc.loaded_rows (id_sch, id_org, tables)
      select s.id_sch, l.id_org, (select jsonb_object_agg(key, value::bigint * ${Math.round(jobs / schemas)}) from jsonb_each_text(l.tables))
        from svc.loaded_rows l, svc.origin s where s.id_sch > 1000000;`);
  });
  await sql.unsafe('vacuum analyze svc.job');
  await sql.unsafe('analyze');
}
