/** The main job by REST: XSD set and documents go up, one workflow converts them, and all of it can be read. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readEvents } from '../../../scripts/demo/server-sent-events.ts';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { zipped } from '../../support/service/archives.ts';
import { compareWithDocuments } from '../../support/service/census.ts';
import {
  execution,
  type JobAnswer,
  type RunAnswer,
  type SchemaAnswer,
} from '../../support/service/client.ts';
import { filesBelow, freightDocuments, freightXsdFolder } from '../../support/service/fixtures.ts';
import { expectDocumentsIn, leftovers, readSchema } from '../../support/service/schema.ts';
import { useTrial } from '../../support/service/trial.ts';

const utf8 = new TextEncoder();
const bytesOf = (index: number): Uint8Array => utf8.encode(freightDocuments[index]!.text);

describe('the main job by REST', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home();
    service = await trial.service(home);
    sql = await trial.metadb(home);
  });

  describe('a zip of XSD files and one document, in one workflow', () => {
    let xsdPath: string;
    let xmlPath: string;
    let answer: RunAnswer;
    let compiled: JobAnswer;
    let loaded: JobAnswer;

    beforeAll(async () => {
      const { client } = service;
      xsdPath = await client.upload('xsd', 'freight.zip', zipped(filesBelow(freightXsdFolder)));
      xmlPath = await client.upload('xml', 'manifest-1.xml', bytesOf(0));
      answer = await client.run(
        [
          execution('xsd2er', xsdPath, [['--name', 'freight']]),
          execution('xml2er', xmlPath, [['-o', 'metadb:zip']], '$0'),
        ],
        'freight by zip',
      );
      loaded = await client.ended(answer.jobs[1]!);
      compiled = await client.job(answer.jobs[0]!);
    });

    it('answers the command lines, which name the jobs alone', () => {
      const [first, second] = answer.jobs;
      expect(answer).toEqual({
        error: false,
        logPath: null,
        cmds: [`xsd2er -j ${first}`, `xml2er -j ${second}`],
        jobs: [first, second],
        id_workflow: expect.any(Number),
      });
    });

    it('ends with records in the shape that the interface promises', () => {
      const common = {
        id_parent_job: null,
        id_org: 1,
        id_sch: expect.any(Number),
        id_lschma: expect.any(Number),
        id_app: expect.stringMatching(/^local-\d{13}$/),
        status: 'C',
        host: expect.stringMatching(/^[^/]+\/[0-9a-f.:]+$/),
        os_user: expect.stringMatching(/./),
        base_path: home.directory,
        start_date: expect.any(Number),
        end_date: expect.any(Number),
        id_workflow: answer.id_workflow,
        attempt: 1,
        progress: 1,
        failure: null,
        // the one of the request, for which both jobs were made
        trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      };
      expect(compiled).toEqual({
        ...common,
        id_job: answer.jobs[0],
        job_type: 'Schema',
        params: `${xsdPath} --name freight`,
        params_json: expect.any(String),
        parm_path_input: xsdPath,
        parm_path_output: null,
        msg_proc_qty: 3,
        log_file: `logs/job-${answer.jobs[0]}.log`,
      });
      expect(loaded).toEqual({
        ...common,
        id_job: answer.jobs[1],
        job_type: 'Parse',
        params: `${xmlPath} -x ${compiled.id_sch} -o metadb:zip`,
        params_json: expect.any(String),
        parm_path_input: xmlPath,
        parm_path_output: 'metadb:zip',
        msg_proc_qty: 1,
        log_file: `logs/job-${answer.jobs[1]}.log`,
      });
      expect(JSON.parse(loaded.params_json)).toEqual({
        spark: { master: 'local[*]' },
        action: { in: xmlPath, origin: String(compiled.id_sch), out: 'metadb:zip' },
        result: expect.objectContaining({
          job: loaded.id_job,
          status: 'C',
          documents: 1,
          unknown_root: 0,
          unmapped: { values: 0, documents: 0 },
          schema_chosen: { logical: loaded.id_lschma, why: expect.any(String) },
          steps: expect.arrayContaining([
            { name: 'publish', seconds: expect.any(Number), cpu_seconds: expect.any(Number) },
          ]),
        }),
      });
      expect(JSON.parse(compiled.params_json)).toMatchObject({
        spark: { master: 'local[*]' },
        action: { in: xsdPath, name: 'freight' },
        result: { job: compiled.id_job, status: 'C', documents: 3 },
      });
      expect([loaded.id_sch, loaded.id_lschma]).toEqual([compiled.id_sch, compiled.id_lschma]);
      expect(loaded.start_date).toBeGreaterThanOrEqual(compiled.end_date!);
    });

    it('has every element and value of the document in its rows', async () => {
      const view = await readSchema(service.client, compiled.id_sch!, loaded.id_lschma!);
      await expectDocumentsIn(sql, 'zip', view, [freightDocuments[0]!]);
      expect(await leftovers(sql)).toEqual([]);
      const lexical = await sql<{ content: string }[]>`select content from zip._lexical`;
      expect(lexical.map(({ content }) => content)).toEqual(['2026-03-01T23:30:00+02:00']);
      const [nils] = await sql<
        { ids: string }[]
      >`select string_agg(id, ' ') as ids from zip.package where worth_nil`;
      expect(nils).toEqual({ ids: 'p5' });
      const loads = await sql`select job, id_sch, id_lschma, documents from zip._loads`;
      expect(loads).toEqual([
        { job: loaded.id_job, id_sch: loaded.id_sch, id_lschma: loaded.id_lschma, documents: 1 },
      ]);
    });

    it.each([
      ["update zip.goods set value = 'GLASS' where value = 'glass'", 2],
      ["update zip.goods set package_key = 1 where value = 'cups'", 4],
      ["update zip.package set parent_package_key = null, shipment_key = 2 where id = 'p4'", 12],
      ['update zip.note set position = 5 - position', 12],
      ["delete from zip.goods where value = 'saucers'", 2],
      ['update zip.manifest set revision = null', 1],
      [
        'insert into zip.note select 99, document_key, manifest_key, position, value from zip.note limit 1',
        2,
      ],
    ])('would have noticed: %s', async (change, facts) => {
      const { schema, mapping } = await readSchema(service.client, compiled.id_sch!, loaded.id_lschma!);
      const input = { mapping, namespaces: schema.namespaces, documents: [freightDocuments[0]!] };
      let noticed = 0;
      await sql
        .begin(async (tx) => {
          await tx.unsafe(change);
          for (const { times } of await compareWithDocuments(tx as unknown as Sql, 'zip', input))
            noticed += times;
          throw new Error('nothing is kept');
        })
        .catch((error: Error) => expect(error.message).toBe('nothing is kept'));
      expect(noticed).toBe(facts);
    });

    it('shows the workflow, in full and in the lists', async () => {
      const { client } = service;
      const short = {
        id_workflow: answer.id_workflow,
        name: 'freight by zip',
        status: 'C',
        start_date: compiled.start_date,
        end_date: loaded.end_date,
        job_count: 2,
        completed_count: 2,
        failed_count: 0,
      };
      expect(await client.get(`/v2/workflow/${answer.id_workflow}`)).toEqual({
        ...short,
        jobs: [compiled, loaded],
      });
      const list = await client.get<{ content: unknown[] }>('/v2/workflow/all');
      expect(list.content).toContainEqual({ ...short, jobs: answer.jobs });
      expect(await client.get(`/v2/workflow/getName/${answer.id_workflow}`)).toEqual({
        id: answer.id_workflow,
        name: 'freight by zip',
      });
      expect(await client.get(`/v2/executions/${answer.id_workflow}`)).toEqual({
        content: [compiled, loaded],
        page: 0,
        size: 20,
        total_elements: 2,
        total_pages: 1,
      });
      const all = await client.get<{ content: JobAnswer[] }>('/v2/executions/all');
      expect(all.content.filter((job) => job.id_workflow === answer.id_workflow)).toEqual([loaded, compiled]);
    });

    it('shows the schema with its files, DDL and mapping', async () => {
      const { client } = service;
      const { schema, mapping } = await readSchema(client, compiled.id_sch!);
      const files = filesBelow(freightXsdFolder).map(({ name, bytes }) => ({
        name,
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      }));
      expect(schema).toMatchObject({
        id_sch: compiled.id_sch,
        id_lschma: compiled.id_lschma,
        id_job: compiled.id_job,
        name: 'freight',
        version: 1,
        source_type: 'xsd',
        root_elements: ['manifest'],
        target_namespace: 'urn:example:freight',
        map_level: 3,
        table_count: new Set(mapping.map(({ table_name: table }) => table)).size,
        mapping_count: mapping.length,
      });
      expect(schema.files.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(files);
      expect(await client.get<SchemaAnswer[]>('/v2/schema/all')).toContainEqual(schema);
      expect(Object.values(schema.namespaces)).toEqual(
        expect.arrayContaining(['urn:example:freight', 'urn:example:party']),
      );

      const number = mapping.find(({ xpath }) => xpath === '/manifest/@number');
      expect(number).toMatchObject({
        id_sch: compiled.id_sch,
        id_lschma: compiled.id_lschma,
        node_type: 'attribute',
        source_type: 'xs:positiveInteger',
        min_occurs: 1,
        max_occurs: 1,
        table_name: 'manifest',
        column_name: 'number',
        nullable: false,
        key: null,
      });
      const keys = mapping.filter(({ key }) => key !== null);
      expect(keys.every(({ xpath }) => xpath === null)).toBe(true);
      expect(keys.filter(({ key }) => key === 'PK')).toHaveLength(schema.table_count);

      const response = await client.fetch(`/v2/schema/ddl/${compiled.id_sch}`);
      expect(response.headers.get('Content-Type')).toMatch(/^text\/plain/);
      const ddl = await response.text();
      for (const { table_name: table, xpath, column_name: column } of mapping) {
        expect(ddl).toContain(`"${table}"`);
        if (column !== null && xpath !== null) expect(ddl).toContain(`"${column}"`);
      }
      expect(ddl).toContain('/manifest/shipment/package');
    });

    it('makes, by its DDL, the tables that the load made', async () => {
      const ddl = await (await service.client.fetch(`/v2/schema/ddl/${compiled.id_sch}`)).text();
      await sql.unsafe(`create schema by_ddl; set search_path to by_ddl; ${ddl}; reset search_path`);
      const describe = (sqlSchema: string): PromiseLike<readonly object[]> => sql`
        select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull,
               col_description(c.oid, a.attnum) as comment
          from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
         where c.relnamespace = ${sqlSchema}::regnamespace and c.relkind = 'r' order by 1, a.attnum`;
      const wanted = [...(await describe('by_ddl'))];
      for (const column of await describe('zip')) expect(wanted).toContainEqual(column);
    });

    it('gives the log by bytes, by its last lines, as text and as events', async () => {
      const { client } = service;
      const id = loaded.id_job;
      const file = await readFile(join(home.directory, 'logs', `job-${id}.log`), 'utf8');
      const size = Buffer.byteLength(file);
      expect(await client.log(id)).toBe(file);
      expect(await client.get(`/v2/executions/log/${id}`)).toEqual({
        id_job: id,
        status: 'C',
        offset: 0,
        next_offset: size,
        total_size: size,
        completed: true,
        log: file,
      });
      const head = await client.get<{ next_offset: number }>(`/v2/executions/log/${id}?offset=0&limit=40`);
      expect(head).toMatchObject({ log: file.slice(0, 40), next_offset: 40, completed: true });
      expect(await client.get(`/v2/executions/log/${id}?offset=${head.next_offset}`)).toMatchObject({
        offset: 40,
        log: file.slice(40),
        completed: true,
      });
      const lines = file.trimEnd().split('\n');
      expect(await client.get(`/v2/executions/log/${id}?tail=2`)).toMatchObject({
        log: `${lines.slice(-2).join('\n')}\n`,
      });
      expect(file).toContain(`job ${id}: C`);
      expect(lines.at(-1)).toMatch(/^loaded 1, unknown root 0, rejected 0, \d+ values kept in _unmapped/);
      expect(lines.filter((line) => line.startsWith('  package '))).toHaveLength(1);
    });

    it('follows the log of a job from its start to the end event, and resumes', async () => {
      const { client } = service;
      const run = await client.run([execution('xml2er', xmlPath, [['-e', 's']], String(compiled.id_sch))]);
      const id = run.jobs[0]!;
      const follow = async (headers: Record<string, string> = {}) => {
        const response = await client.fetch(`/v2/executions/log/${id}`, {
          headers: { Accept: 'text/event-stream', ...headers },
        });
        expect(response.headers.get('Content-Type')).toMatch(/^text\/event-stream/);
        const events = [];
        for await (const event of readEvents(response.body!)) events.push(event);
        return events;
      };
      const events = await follow();
      expect(events.at(-1)!.event).toBe('end');
      expect(JSON.parse(events.at(-1)!.data)).toEqual({ id_job: id, status: 'C' });
      const text = await client.log(id);
      const pieces = events.filter(({ event }) => event === 'message').map(({ data }) => data);
      expect(pieces.join('')).toBe(text);
      const resumed = await follow({ 'Last-Event-ID': '10' });
      expect(resumed[0]!.data).toBe(text.slice(10));
    });
  });
});
