/**
 * Executors, the tool and a PostgreSQL that are killed or stopped at a moment that a lock in the database holds still: in COPY, between the
 * commit and its answer, before and after all is published. `npm run test:spark` with SPARK_SUBMIT.
 */
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../src/postgres/connect.ts';
import { needs } from '../support/needs.ts';
import { execution } from '../support/service/client.ts';
import { startExternalPostgres, type ExternalPostgres } from '../support/service/external-postgres.ts';
import { startService } from '../support/service/start.ts';
import { startTool } from '../support/service/tools.ts';
import { eventually } from '../support/service/waiting.ts';
import { endOf, parentOf, processesWith, useFaultTrial } from './fault-trial.ts';
import { loadedTables } from './loaded-tables.ts';

/** a log that says which attempts there were */
const eager =
  'spark.log.level=INFO spark.speculation=true spark.speculation.interval=100ms spark.speculation.quantile=0.3 spark.speculation.minTaskRuntime=200ms';

/** A transaction that holds something until it is released. */
interface Held {
  release(): Promise<void>;
}

async function holding(sql: Sql, statement: string): Promise<Held> {
  const own = await sql.reserve();
  await own.unsafe(`BEGIN; ${statement}`);
  return {
    async release() {
      await own.unsafe('ROLLBACK');
      own.release();
    },
  };
}

interface Staging {
  /** quoted */
  readonly ledger: string;
  readonly tables: readonly string[];
}

async function stagingIn(sql: Sql): Promise<Staging> {
  const found = await sql<{ name: string; ledger: boolean }[]>`
    select format('%I.%I', schemaname, tablename) as name, tablename like '%\\_units' as ledger
    from pg_tables where schemaname like '\\_svc\\_staging\\_%'`;
  return {
    ledger: found.find(({ ledger }) => ledger)!.name,
    tables: found.filter(({ ledger }) => !ledger).map(({ name }) => name),
  };
}

/** The unit whose executor waits in the database, in a statement like this; not unit 0. */
function waitingUnit(sql: Sql, statement: string): Promise<number> {
  return eventually('an executor waits for what is held', async () => {
    const [found] = await sql<{ unit: number }[]>`
      select substring(application_name from ' unit (\\d+)$')::int as unit from pg_stat_activity
      where application_name ~ ' unit [1-9]\\d*$' and wait_event_type = 'Lock' and query like ${statement}`;
    return found?.unit ?? null;
  });
}

async function nothingLeft(sql: Sql): Promise<void> {
  await eventually('no role and no staging is left', async () => {
    const left = await sql`
      select rolname from pg_roles where rolname like '\\_svc\\_staging\\_%'
        and shobj_description(oid, 'pg_authid') like '% in ' || current_database()
      union all select nspname from pg_namespace where nspname like '\\_svc\\_staging\\_%'`;
    return left.length === 0 ? true : null;
  });
}

async function executorOf(engine: number): Promise<number> {
  for (let pid = engine; pid > 1; pid = await parentOf(pid))
    if ((await readFile(`/proc/${pid}/cmdline`, 'latin1')).includes('CoarseGrainedExecutorBackend'))
      return pid;
  throw new Error(`${engine} belongs to no executor`);
}

describe(
  'moments of a load into PostgreSQL on Spark',
  { timeout: 300_000, ...needs(['whole run', 'spark']) },
  () => {
    const trial = useFaultTrial(['metadb']);
    let sql: Sql;

    beforeAll(async () => {
      sql = connectPostgres(await trial.home.databaseUrl(), { applicationName: 'test', max: 4 });
    });
    afterAll(async () => {
      await sql?.end({ timeout: 1 });
    });

    /** Units as `holdUnits` holds them, whose engines are known. */
    async function holdEngines(
      name: string,
      conf = '',
    ): Promise<{ mark: string; engineOf(unit: number): Promise<number> }> {
      const file = (unit: string) => `${join(trial.home.directory, name)}-${unit}`;
      const script = `echo "$engine" > '${file('')}'"$unit"`;
      const settings = `spark.driver.host=127.0.0.1 spark.ui.enabled=false ${conf}`;
      const mark = await trial.holdUnits(name, script, { 'svc.spark.conf': settings });
      return { mark, engineOf: async (unit) => Number(await readFile(file(String(unit)), 'utf8')) };
    }

    async function expectAllThere(name: string, from = trial.home): Promise<void> {
      expect(await loadedTables(from, 'metadb', name)).toEqual(trial.expected('metadb'));
      await eventually('the work folder is empty', async () =>
        (await readdir(trial.work)).length === 0 ? true : null,
      );
    }

    it('in COPY an executor is killed', async () => {
      const { mark, engineOf } = await holdEngines('in_copy');
      const started = startTool(trial.home, 'xml2er', trial.job('metadb', 'in_copy'));
      expect(await trial.underWay(started.ended)).not.toBeNull();
      const { tables } = await stagingIn(sql);
      const held = await holding(sql, `LOCK TABLE ${tables.join(', ')} IN SHARE MODE`);
      await writeFile(mark, '');
      const engine = await engineOf(await waitingUnit(sql, 'COPY %'));
      process.kill(await executorOf(engine), 'SIGKILL');
      process.kill(engine, 'SIGKILL');
      await held.release();
      const run = await started.ended;
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(run.stdout).toMatch(/Lost executor \d/);
      await expectAllThere('in_copy');
      await nothingLeft(sql);
    });

    it('between the commit of a unit and its answer its executor is killed', async () => {
      const { mark, engineOf } = await holdEngines('unanswered');
      const started = startTool(trial.home, 'xml2er', trial.job('metadb', 'unanswered'));
      expect(await trial.underWay(started.ended)).not.toBeNull();
      const { ledger } = await stagingIn(sql);
      const held = await holding(
        sql,
        `INSERT INTO ${ledger} SELECT unit, 1, 'held' FROM generate_series(1, 99) unit`,
      );
      await writeFile(mark, '');
      const unit = await waitingUnit(sql, 'INSERT INTO % VALUES (%, 1, %');
      const engine = await engineOf(unit);
      process.kill(engine, 'SIGSTOP');
      await held.release();
      await eventually('the unit is committed', async () => {
        const rows = await sql.unsafe(`SELECT FROM ${ledger} WHERE unit = ${unit} AND part = 1`);
        return rows.length === 1 ? true : null;
      });
      process.kill(await executorOf(engine), 'SIGKILL');
      process.kill(engine, 'SIGKILL');
      const run = await started.ended;
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(run.stdout).toMatch(/Lost executor \d/);
      await expectAllThere('unanswered');
      await nothingLeft(sql);
    });

    it('in COPY an executor is stopped: its twin takes the unit from it, and it goes with Spark', async () => {
      const { mark, engineOf } = await holdEngines('stopped', eager);
      const started = startTool(trial.home, 'xml2er', trial.job('metadb', 'stopped'));
      expect(await trial.underWay(started.ended)).not.toBeNull();
      const { tables } = await stagingIn(sql);
      const held = await holding(sql, `LOCK TABLE ${tables.join(', ')} IN SHARE MODE`);
      await writeFile(mark, '');
      const engine = await engineOf(await waitingUnit(sql, 'COPY %'));
      process.kill(engine, 'SIGSTOP');
      await held.release();
      const run = await started.ended;
      expect(run.code, run.stdout + run.stderr).toBe(0);
      expect(run.stdout).toMatch(/Starting task \d+\.1 in stage/);
      await expectAllThere('stopped');
      await eventually('it has ended', async () =>
        (await readFile(`/proc/${engine}/cmdline`).catch(() => '')).length === 0 ? true : null,
      );
      await nothingLeft(sql);
    });

    it.each(['before', 'after'] as const)(
      '%s its commit the tool is killed, and a service runs it again',
      async (when) => {
        const name = `tool_${when}`;
        const { mark } = await holdEngines(name);
        const service = await startService(trial.home);
        try {
          const { client } = service;
          const { jobs } = await client.run([
            execution('xml2er', trial.input, trial.options('metadb', name)),
          ]);
          const ended = endOf(client, jobs[0]!);
          const folder = await trial.underWay(ended);
          expect(folder).not.toBeNull();
          const [driver] = await processesWith('org.apache.spark.deploy.SparkSubmit', folder!);
          const tool = await parentOf(driver!);
          if (when === 'before') {
            const { tables } = await stagingIn(sql);
            const held = await holding(sql, `LOCK TABLE ${tables.join(', ')} IN ACCESS SHARE MODE`);
            await writeFile(mark, '');
            await eventually('the tool waits for a table', async () => {
              const waiting =
                await sql`select from pg_locks where not granted and mode = 'AccessExclusiveLock'`;
              return waiting.length > 0 ? true : null;
            });
            process.kill(tool, 'SIGKILL');
            await held.release();
          } else {
            await writeFile(mark, '');
            await eventually('the load is there', async () => {
              const rows = await sql.unsafe(`SELECT FROM "${name}"."_loads"`).catch(() => []);
              return rows.length > 0 ? true : null;
            });
            try {
              process.kill(tool, 'SIGKILL');
            } catch {
              // it has ended by itself
            }
          }
          expect(await ended).toMatchObject({ status: 'C', failure: null });
          await expectAllThere(name);
          await nothingLeft(sql);
        } finally {
          await service.end('SIGTERM');
        }
      },
    );

    describe('of a server', needs('postgresql'), () => {
      let external: ExternalPostgres;
      beforeAll(async () => {
        external = await startExternalPostgres();
      });
      afterAll(() => external?.stop());

      it('in COPY it crashes and starts again', async () => {
        const mark = await trial.holdUnits('restart', '', { 'svc.allow.hosts': external.address });
        const service = await startService(trial.home);
        try {
          const { client } = service;
          const target = new URL(external.url);
          const options = trial.options('metadb', 'restart').filter(([flag]) => flag !== '-o');
          const { jobs } = await client.run([
            execution('xml2er', trial.input, [
              ...options,
              ['-o', `postgresql://${target.host}/postgres?schema=restart`],
              ['-u', target.username],
              ['-p', target.password],
            ]),
          ]);
          const ended = endOf(client, jobs[0]!);
          expect(await trial.underWay(ended)).not.toBeNull();
          const { tables } = await stagingIn(external.sql);
          await holding(external.sql, `LOCK TABLE ${tables.join(', ')} IN SHARE MODE`);
          await writeFile(mark, '');
          await waitingUnit(external.sql, 'COPY %');
          await external.restart();
          expect(await ended).toMatchObject({ status: 'C', failure: null });
          await expectAllThere('restart', { ...trial.home, databaseUrl: async () => external.url });
          await nothingLeft(external.sql);
        } finally {
          await service.end('SIGTERM');
        }
      });
    });
  },
);
