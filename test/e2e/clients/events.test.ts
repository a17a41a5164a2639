/** Webhooks and lineage events of a running service, at a receiver that checks them with the standards' own means. */
import { randomBytes } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import {
  startEventReceiver,
  type EventReceiver,
  type ReceivedEvent,
} from '../../support/servers/event-receiver.ts';
import { execution, type JobAnswer, type MappingAnswer } from '../../support/service/client.ts';
import { convertFreight, type Conversion } from '../../support/service/conversion.ts';
import { eventually } from '../../support/service/waiting.ts';
import {
  createServiceHome,
  startService,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { needs } from '../../support/needs.ts';

interface JobEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: JobAnswer;
}

interface Dataset {
  readonly namespace: string;
  readonly name: string;
  readonly facets: {
    readonly columnLineage: {
      readonly fields: Record<string, { readonly inputFields: readonly { readonly field: string }[] }>;
    };
    readonly schema: { readonly fields: readonly { readonly name: string }[] };
  };
  readonly outputFacets: { readonly outputStatistics: { readonly rowCount: number } };
}

interface LineageEvent {
  readonly eventType: string;
  readonly run: { readonly runId: string; readonly facets: Record<string, { readonly message: string }> };
  readonly job: { readonly namespace: string; readonly name: string };
  readonly inputs: readonly Dataset[];
  readonly outputs: readonly Dataset[];
}

const secret = `whsec_${randomBytes(32).toString('base64')}`;
const urlToken = `canary-${randomBytes(8).toString('hex')}`;
const lineageKey = `canary-${randomBytes(8).toString('hex')}`;

describe('events of jobs', { timeout: 120_000 }, () => {
  let receiver: EventReceiver;
  let home: ServiceHome;
  let service: RunningService;
  let sql: Sql;
  let made: Conversion;

  beforeAll(async () => {
    receiver = await startEventReceiver();
    home = await createServiceHome();
    service = await startService(home, {
      SVC_ALLOW_HOSTS: `127.0.0.1:${receiver.port}`,
      SVC_WEBHOOKS_URL: `http://127.0.0.1:${receiver.port}/hooks?token=${urlToken}`,
      SVC_WEBHOOKS_SECRET: secret,
      SVC_WEBHOOKS_ATTEMPTS: '3',
      SVC_WEBHOOKS_RETRY: '100 ms',
      SVC_OPENLINEAGE_URL: `http://127.0.0.1:${receiver.port}/api/v1/lineage`,
      SVC_OPENLINEAGE_KEY: lineageKey,
    });
    sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 2 });
    // the first delivery of each webhook is refused, its second taken
    receiver.answer = ({ path }, before) => (path.startsWith('/hooks') && before === 0 ? 500 : 204);
    made = await convertFreight(service.client, 'freight');
  });

  afterAll(async () => {
    await sql?.end({ timeout: 1 });
    await service?.end('SIGTERM');
    await home?.remove();
    await receiver?.close();
  });

  const hooks = (idJob: number): ReceivedEvent[] =>
    receiver.received.filter(
      ({ path, body }) => path.startsWith('/hooks') && (JSON.parse(body) as JobEvent).data.id_job === idJob,
    );

  const settled = (idJob: number, kind: string) =>
    eventually(`the ${kind} event of job ${idJob} settled`, async () => {
      const rows = await sql<{ state: string; attempts: number; last_error: string | null }[]>`
        select state, attempts, last_error from svc.event
         where kind = ${kind} and moment = 'ended' and (job::json ->> 'id_job')::bigint = ${idJob} and state <> 'waiting'`;
      return rows[0] ?? null;
    });

  it('tells of each ended job with its record, signed by the standard, again until it is taken', async () => {
    for (const { id_job: idJob } of [made.compiled, made.loaded]) {
      expect(await settled(idJob, 'webhook')).toMatchObject({
        state: 'delivered',
        attempts: 2,
        last_error: null,
      });
      const [first, second, ...more] = hooks(idJob);
      expect(more).toEqual([]);
      expect(second!.body).toBe(first!.body);
      expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
      const event = new Webhook(secret).verify(second!.body, second!.headers as Record<string, string>);
      expect(event).toEqual({
        type: 'job.completed',
        timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
        data: await service.client.job(idJob),
      });
      const other = new Webhook(`whsec_${randomBytes(32).toString('base64')}`);
      expect(() => other.verify(second!.body, second!.headers as Record<string, string>)).toThrow();
    }
  });

  it('gives up after the last attempt, at once where the receiver says that it is gone', async () => {
    receiver.answer = ({ path }) => (path.startsWith('/hooks') ? 503 : 204);
    const failed = await runBroken(service, made.idSch);
    expect(await settled(failed.idJob, 'webhook')).toEqual({
      state: 'dead',
      attempts: 3,
      last_error: 'answered 503',
    });
    const events = hooks(failed.idJob);
    expect(events).toHaveLength(3);
    expect(JSON.parse(events[0]!.body)).toMatchObject({ type: 'job.failed', data: { status: 'F' } });

    receiver.answer = ({ path }) => (path.startsWith('/hooks') ? 410 : 204);
    const gone = await runBroken(service, made.idSch);
    expect(await settled(gone.idJob, 'webhook')).toEqual({
      state: 'dead',
      attempts: 1,
      last_error: 'answered 410',
    });
    receiver.answer = () => 204;
  });

  it('sends lineage events that their own schemas allow, with the source of every column', async () => {
    const { loaded } = made;
    await settled(loaded.id_job, 'openlineage');
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    formats.default(ajv);
    const folder = join(import.meta.dirname, '../../fixtures/open-lineage');
    const schemas = readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { readonly $id: string });
    for (const schema of schemas) ajv.addSchema(schema);

    const bodies = receiver.received.filter(({ path }) => path === '/api/v1/lineage');
    for (const { body, headers } of bodies) {
      expect(headers.authorization).toBe(`Bearer ${lineageKey}`);
      const event = JSON.parse(body) as object;
      expect([ajv.validate('https://openlineage.io/spec/2-0-2/OpenLineage.json', event), ajv.errors]).toEqual(
        [true, null],
      );
      for (const facet of facetsIn(event)) {
        const valid = ajv.validate(
          facet._schemaURL.replace(
            /(\w+\.json)#.*$/,
            (_, name: string) => `${name}#/$defs/${name.replace('.json', '')}`,
          ),
          facet,
        );
        expect([facet._schemaURL, valid, ajv.errors]).toEqual([facet._schemaURL, true, null]);
      }
    }

    const events = bodies.map(({ body }) => JSON.parse(body) as LineageEvent);
    const complete = events.find(({ eventType, outputs }) => eventType === 'COMPLETE' && outputs.length > 1)!;
    const ofRun = events.filter(({ run }) => run.runId === complete.run.runId);
    expect(ofRun.map(({ eventType }) => eventType)).toEqual(['START', 'COMPLETE']);
    expect(complete.job).toMatchObject({
      namespace: 'conversion-job-service',
      name: 'org-1.Parse.freight',
    });
    for (const event of ofRun) expect(event.job).toEqual(complete.job);
    expect(complete.inputs).toMatchObject([
      { namespace: 'file', name: `${home.directory}/files/1/${made.xmlPath}` },
    ]);

    const address = new URL(await home.databaseUrl());
    const mappings = await service.client.get<MappingAnswer[]>(`/v2/mapping/get/${made.idSch}`);
    const tables = await sql<{ name: string; n: number }[]>`
      select c.relname as name, (xpath('/row/c/text()', query_to_xml(format('select count(*) as c from %I.%I', n.nspname, c.relname), false, true, '')))[1]::text::int as n
        from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname = ${made.sqlSchema} and c.relkind = 'r' and c.relname not like '\\_%'`;
    expect(complete.outputs.map(({ name }) => name).toSorted()).toEqual(
      tables.map(({ name }) => `${address.pathname.slice(1)}.${made.sqlSchema}.${name}`).toSorted(),
    );
    for (const output of complete.outputs) {
      const table = output.name.split('.').at(-1)!;
      expect(output.namespace).toBe(`postgres://${address.hostname}:${address.port}`);
      expect(output.outputFacets.outputStatistics.rowCount).toBe(
        tables.find(({ name }) => name === table)!.n,
      );
      const sources = mappings.filter(
        (line) => line.table_name === table && line.column_name !== null && line.xpath !== null,
      );
      const fields = output.facets.columnLineage.fields;
      expect(Object.keys(fields).toSorted()).toEqual(
        [...new Set(sources.map((line) => line.column_name!))].toSorted(),
      );
      for (const line of sources)
        expect(fields[line.column_name!]!.inputFields.map(({ field }) => field)).toContain(line.xpath);
    }
    const compiled = events.filter(({ job }) => job.name === 'org-1.Schema.freight');
    expect(compiled.map(({ eventType }) => eventType)).toEqual(['START', 'COMPLETE']);
    const failure = events.find(({ eventType }) => eventType === 'FAIL')!;
    expect(failure.job.name).toBe('org-1.Parse.freight');
    expect(failure.run.facets['errorMessage']!.message).toMatch(/./);
    expect(failure.outputs).toEqual([]);
  });

  it('tells nobody its secrets', async () => {
    const [dump] = await sql<{ text: string }[]>`
      select coalesce(string_agg(e::text, ' '), '') || (select coalesce(string_agg(j::text, ' '), '') from svc.job j) as text from svc.event e`;
    for (const text of [service.output(), dump!.text, await service.client.log(made.loaded.id_job)])
      for (const one of [secret, secret.slice(6), urlToken, lineageKey]) expect(text).not.toContain(one);
  });
});

/** A job that fails: its document is not well-formed. */
async function runBroken({ client }: RunningService, idSch: number): Promise<{ readonly idJob: number }> {
  const path = await client.upload(
    'xml',
    'broken.xml',
    new TextEncoder().encode('<manifest><open></manifest>'),
  );
  const { jobs } = await client.run([
    execution('xml2er', path, [
      ['-x', String(idSch)],
      ['-o', 'metadb:broken_rows'],
    ]),
  ]);
  const ended = await client.ended(jobs[0]!);
  expect(ended.status).toBe('F');
  return { idJob: ended.id_job };
}

interface Facet {
  readonly _schemaURL: string;
}

function facetsIn(value: unknown): Facet[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.values(value).flatMap(facetsIn);
  return '_schemaURL' in value ? [value as Facet, ...inside] : inside;
}

describe('without settings, or without leave', { timeout: 120_000 }, () => {
  let receiver: EventReceiver;
  let home: ServiceHome;

  beforeAll(async () => {
    receiver = await startEventReceiver();
    home = await createServiceHome();
  });

  afterAll(async () => {
    await home?.remove();
    await receiver?.close();
  });

  it(
    'records and sends nothing by default; a host that is not allowed is never reached',
    needs('whole run'),
    async () => {
      const quiet = await startService(home);
      const sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 });
      await convertFreight(quiet.client, 'quiet');
      expect(await sql`select * from svc.event`).toEqual([]);
      await sql.end({ timeout: 1 });
      await quiet.end('SIGTERM');

      const service = await startService(home, {
        SVC_WEBHOOKS_URL: `http://127.0.0.1:${receiver.port}/hooks`,
        SVC_WEBHOOKS_SECRET: secret,
        SVC_WEBHOOKS_ATTEMPTS: '2',
        SVC_WEBHOOKS_RETRY: '10 ms',
      });
      const database = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 });
      await convertFreight(service.client, 'loud');
      const dead = await eventually('dead events', async () => {
        const rows = await database<
          { state: string; last_error: string }[]
        >`select state, last_error from svc.event`;
        return rows.length === 2 && rows.every(({ state }) => state === 'dead') ? rows : null;
      });
      for (const { last_error: reason } of dead) expect(reason).toContain('svc.allow.hosts');
      expect(receiver.received).toEqual([]);
      await database.end({ timeout: 1 });
      await service.end('SIGTERM');
    },
  );
});
