/** The numbers that different endpoints give for one conversion agree with each other, and with the rows in the target. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { execution, type JobAnswer, type MappingAnswer } from '../../support/service/client.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import { freightDocuments } from '../../support/service/fixtures.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';

interface FeedRun {
  readonly pid: number;
  readonly documents: number;
  readonly rows: number;
  readonly tables: readonly { readonly table_name: string; readonly rows: number }[];
}
interface FeedMapping {
  readonly cfxml: string;
  readonly mapping: string;
  readonly column_count: number;
  readonly rows: number;
}
interface Sequence {
  readonly target_table: string;
  readonly target_column: string;
  readonly load_order: number;
  readonly last_value: number;
}
interface Key {
  readonly table_name: string;
  readonly column_name: string;
  readonly key_type: string;
  readonly references: string | null;
}
interface Lineage {
  readonly target_column: string;
  readonly source_xpath: string | null;
  readonly pid: number | null;
}
interface Statistics {
  readonly id_map: number;
  readonly xpath: string;
  readonly documents: number;
  readonly occurrences: number;
}
interface Diagram {
  readonly tables: readonly {
    readonly name: string;
    readonly columns: readonly { readonly name: string }[];
  }[];
  readonly relations: readonly { readonly from_table: string; readonly to_table: string }[];
}
interface Pages<T> {
  readonly content: readonly T[];
  readonly total_elements: number;
}

const cil = '/v2/extensions/cil';

describe('the numbers of one conversion', { timeout: 120_000, ...needs('whole run') }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let made: Conversion;
  const get = <T>(path: string): Promise<T> => service.client.get<T>(path);

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
    made = await convertFreight(service.client, 'freight');
  });

  const change = (key_type: 'NK' | null) =>
    service.client.post(`${cil}/keys/update`, {
      cfxml: 'freight',
      keys: [{ table_name: 'shipment', column_name: 'ref', key_type }],
    });
  const ddl = async (): Promise<string> =>
    (await service.client.fetch(`/v2/schema/ddl/${made.idSch}`)).text();
  const natural = async () =>
    (await get<Pages<Key>>(`${cil}/keys/0?size=500`)).content.filter((one) => one.key_type === 'NK');

  /** Rows of the target, by table; tables that were never needed are not there. */
  async function rowsInTarget(): Promise<Record<string, number>> {
    const tables = await sql<{ name: string }[]>`
      select table_name as name from information_schema.tables
       where table_schema = ${made.sqlSchema} and table_name not like '\\_%'`;
    const counts: Record<string, number> = {};
    for (const { name } of tables) {
      const [row] = await sql<
        { n: number }[]
      >`select count(*)::int as n from ${sql(`${made.sqlSchema}.${name}`)}`;
      counts[name] = row!.n;
    }
    return counts;
  }

  async function loadAgain(saveMode: string): Promise<JobAnswer> {
    const { jobs } = await service.client.run([
      execution('xml2er', made.xmlPath, [
        ['-x', String(made.idSch)],
        ['-o', `metadb:${made.sqlSchema}`],
        ['-S', saveMode],
      ]),
    ]);
    const ended = await service.client.ended(jobs[0]!);
    expect([ended.status, ended.failure]).toEqual(['C', null]);
    return ended;
  }

  async function expectRowsEverywhere(latest: JobAnswer): Promise<void> {
    const target = await rowsInTarget();
    const mappings = await get<FeedMapping[]>(`${cil}/mapping/freight`);
    const ofMappings = Object.fromEntries(
      mappings.filter(({ rows }) => rows > 0).map((one) => [one.mapping, one.rows]),
    );
    expect(ofMappings).toEqual(target);
    expect(await get<FeedMapping[]>(`${cil}/mappings`)).toEqual(mappings);

    const sequences = await get<Sequence[]>(`${cil}/sequence/freight`);
    for (const { target_table: table, target_column: column, last_value: last } of sequences) {
      if (target[table] === undefined) {
        expect([table, last]).toEqual([table, 0]);
        continue;
      }
      const [row] = await sql<{ last: number; highest: number }[]>`
        select (select last_value from ${sql(`${made.sqlSchema}._keys`)} where table_name = ${table}) as last,
               (select max(${sql(column)}) from ${sql(`${made.sqlSchema}.${table}`)}) as highest`;
      expect([table, last]).toEqual([table, row!.last]);
      expect(last).toBeGreaterThanOrEqual(row!.highest);
    }
    const run = await get<FeedRun>(`${cil}/job/freight`);
    expect(run.pid).toBe(latest.id_job);
  }

  it('rows: run, mappings, sequences and the target', async () => {
    const run = await get<FeedRun>(`${cil}/job/freight/${made.loaded.id_job}`);
    expect(Object.fromEntries(run.tables.map((one) => [one.table_name, one.rows]))).toEqual(
      await rowsInTarget(),
    );
    expect(run.rows).toBe(run.tables.reduce((sum, { rows }) => sum + rows, 0));
    expect(run.documents).toBe(freightDocuments.length);
    expect(made.loaded.msg_proc_qty).toBe(run.documents);
    const [documents] = await sql<
      { n: number }[]
    >`select count(*)::int as n from ${sql(`${made.sqlSchema}._documents`)}`;
    expect(documents!.n).toBe(run.documents);
    await expectRowsEverywhere(made.loaded);
  });

  it('tables, columns and mappings: schema, map, diagram, DDL, download, feed', async () => {
    const schema = await get<{ table_count: number; mapping_count: number }>(`/v2/schema/${made.idSch}`);
    const mappings = await get<MappingAnswer[]>(`/v2/mapping/get/${made.idSch}`);
    const diagram = await get<Diagram>(`/v2/diagram/get/${made.idSch}`);
    const feed = await get<FeedMapping[]>(`${cil}/mapping/freight`);
    const ddl = await (await service.client.fetch(`/v2/schema/ddl/${made.idSch}`)).text();
    const csv = await (await service.client.fetch(`/v2/mapping/download/${made.idSch}?format=csv`)).text();
    // the diagram has the files' own table, too
    const names = diagram.tables.map(({ name }) => name).filter((name) => name !== '_documents');
    expect(names).toHaveLength(schema.table_count);
    expect(feed.map(({ mapping }) => mapping)).toEqual(names);
    expect(new Set(mappings.map((line) => line.table_name))).toEqual(new Set(names));
    const inDdl = [...ddl.matchAll(/^CREATE TABLE "([^"]+)"/gm)].map(([, name]) => name!);
    expect(inDdl.filter((name) => !name.startsWith('_')).toSorted()).toEqual(names.toSorted());
    expect(mappings).toHaveLength(schema.mapping_count);
    expect(csv.trimEnd().split('\r\n')).toHaveLength(mappings.length + 1);
    expect(await get(`${cil}/mapping/group`)).toEqual({ freight: names.length });

    const keys = await get<Pages<Key>>(`${cil}/keys/freight/0?size=500`);
    expect(keys.content).toHaveLength(keys.total_elements);
    expect(keys.content.filter((one) => one.key_type === 'PK').map((one) => one.table_name)).toEqual(names);
    const foreign = keys.content.filter(
      (one) => one.key_type === 'FK' && names.includes(one.references?.split('.')[0] ?? ''),
    );
    expect(foreign.map((one) => [one.table_name, one.references!.split('.')[0]]).toSorted()).toEqual(
      diagram.relations
        .filter((one) => one.to_table !== '_documents')
        .map((one) => [one.from_table, one.to_table])
        .toSorted(),
    );
    const present = Object.keys(await rowsInTarget());
    for (const table of diagram.tables) {
      if (table.name === '_documents') continue;
      const lineage = await get<Lineage[]>(`${cil}/lineage/freight/${encodeURIComponent(table.name)}`);
      const columns = table.columns.map(({ name }) => name);
      expect([...new Set(lineage.map((one) => one.target_column))]).toEqual(columns);
      expect(feed.find(({ mapping }) => mapping === table.name)!.column_count).toBe(columns.length);
      const sources = mappings.filter(
        (one) => one.table_name === table.name && one.column_name !== null && one.xpath !== null,
      );
      expect(
        lineage
          .filter((one) => one.source_xpath !== null)
          .map((one) => `${one.target_column} ${one.source_xpath}`),
      ).toEqual(expect.arrayContaining(sources.map((one) => `${one.column_name} ${one.xpath}`)));
      if (!present.includes(table.name)) continue;
      for (const one of lineage) expect(one.pid).toBe(made.loaded.id_job);
      const inTarget = await sql<{ name: string }[]>`
        select column_name as name from information_schema.columns
         where table_schema = ${made.sqlSchema} and table_name = ${table.name} order by ordinal_position`;
      expect(inTarget.map(({ name }) => name)).toEqual(columns);
    }
  });

  it('statistics: of all runs, of the one run, and the elements that became rows', async () => {
    const target = await rowsInTarget();
    const all = await get<Statistics[]>(`/v2/mapping/get_stats/${made.idSch}`);
    expect(await get<Statistics[]>(`/v2/mapping/get_stats/${made.idSch}/${made.loaded.id_job}`)).toEqual(all);
    const mappings = await get<MappingAnswer[]>(`/v2/mapping/get/${made.idSch}`);
    const byId = new Map(mappings.map((line) => [line.id_map, line]));
    const elements = all.filter(({ id_map: id }) => {
      const line = byId.get(id)!;
      const steps = line.xpath!.split('/');
      // an element within one of its own kind: the figures of the outer one are those of all depths
      const nested = steps.indexOf(steps.at(-1)!) < steps.length - 1;
      return line.node_type === 'element' && line.column_name === null && !nested;
    });
    expect(elements.length).toBeGreaterThan(2);
    const occurrences: Record<string, number> = {};
    for (const one of elements) {
      const table = byId.get(one.id_map)!.table_name;
      occurrences[table] = (occurrences[table] ?? 0) + one.occurrences;
    }
    for (const [table, count] of Object.entries(occurrences))
      expect([table, count]).toEqual([table, target[table] ?? 0]);
  });

  it('jobs: lists, workflow, organisation and runs', async () => {
    const org = await get<{ job_count: number; schema_count: number }>('/v2/about/org');
    expect((await get<Pages<JobAnswer>>('/v2/executions/all')).total_elements).toBe(org.job_count);
    expect(await get<object[]>('/v2/schema/all')).toHaveLength(org.schema_count);
    const workflow = await get<{ jobs: JobAnswer[]; job_count: number; completed_count: number }>(
      `/v2/workflow/${made.idWorkflow}`,
    );
    expect(workflow).toMatchObject({ job_count: 2, completed_count: 2, jobs: [made.compiled, made.loaded] });
    expect((await get<Pages<JobAnswer>>(`/v2/executions/${made.idWorkflow}`)).content).toEqual(workflow.jobs);
    expect((await get<Pages<FeedRun>>(`${cil}/jobs`)).content.map(({ pid }) => pid)).toEqual([
      made.loaded.id_job,
      made.compiled.id_job,
    ]);
    const metrics = await (await service.client.fetch('/actuator/prometheus')).text();
    expect(metrics).toContain(`svc_jobs{status="C"} ${org.job_count}\n`);
  });

  it('go on agreeing when documents are added, and when they are written over', async () => {
    const before = await rowsInTarget();
    await expectRowsEverywhere(await loadAgain('a'));
    const doubled = await rowsInTarget();
    expect(doubled).toEqual(
      Object.fromEntries(Object.entries(before).map(([name, rows]) => [name, rows * 2])),
    );
    await expectRowsEverywhere(await loadAgain('o'));
    expect(await rowsInTarget()).toEqual(before);
  });

  it('natural keys that are declared reach the next DDL, and leave it again', async () => {
    const before = await ddl();
    expect((await change('NK')).status).toBe(200);
    expect(await natural()).toMatchObject([{ table_name: 'shipment', column_name: 'ref', position: 1 }]);
    expect(await ddl()).toMatch(/CREATE UNIQUE INDEX[^\n]*"shipment" \("ref"\)|UNIQUE \("ref"\)/);
    expect((await change(null)).status).toBe(200);
    expect(await natural()).toEqual([]);
    expect(await ddl()).toBe(before);
  });
});
