/** Answers that a service gives: each operation of the interface once, on the orders of scripts/demo, and each error. */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { archiveFolder } from '../demo/archive.ts';
import { createRecorder, type Caller, type RecordedExamples, type Recorder } from './recorder.ts';

/** A set, its documents, and what a conversion of them made. */
type Conversion = Awaited<ReturnType<typeof recordConversion>>;

const cmd = '/v2/run/cmd';
const wait = { Prefer: 'wait=120' };
const idempotencyKey = { 'Idempotency-Key': 'orders-2026-03-04' };

/** `withoutCommands`: a service that runs none. */
export async function recordExamples(service: Caller, withoutCommands: Caller): Promise<RecordedExamples> {
  const recorder = createRecorder(service);
  const conversion = await recordConversion(recorder);
  await recordCatalog(recorder, conversion);
  await recordFeeds(recorder, conversion);
  await recordMoves(recorder, conversion);
  const claims = { ...service, key: await recordAdministration(recorder) };
  await recordOperation(recorder);
  await recordRuns(recorder, conversion);
  await recordWatches(recorder);
  await recordRefusals(recorder, conversion, claims);
  await recordRefusedCommands(recorder, conversion, claims);
  await recorder.fail('POST', cmd, { body: conversion.orders, to: withoutCommands });
  return recorder.recorded;
}

/** Uploads, one workflow of two jobs, and their records. */
async function recordConversion(recorder: Recorder) {
  const set = await recorder.upload('xsd', 'orders-xsd.tgz', (await archiveFolder(demo('xsd/'))).bytes);
  const documents = await recorder.upload(
    'xml',
    'orders.tgz',
    (await archiveFolder(demo('documents/'))).bytes,
  );
  const orders = {
    name: 'orders',
    executions: [
      {
        app_name: 'xsd2er',
        source: { file: { command: set, enabled: true } },
        target: { generation: [option('--name', 'orders')] },
      },
      {
        app_name: 'xml2er',
        source: { file: { command: documents, enabled: true }, origin_id: option('-x', '$0') },
        target: { path: option('-o', 'metadb:orders') },
      },
    ],
  };
  const run = await recorder.record<{ jobs: [number, number]; id_workflow: number }>(
    'POST',
    '/v2/run/cmd',
    {},
    { body: orders, headers: { ...wait, ...idempotencyKey } },
  );
  const [, loading] = run.jobs;
  const job = await recorder.record<{ id_sch: number }>('GET', '/v2/executions/get/{id}', { id: loading });
  const all = { page: 0, id: loading, id_job: loading };
  for (const path of [
    '/v2/executions/all',
    '/v2/executions/all/{page}',
    '/v2/executions/log/{id_job}',
    '/v2/workflow/all',
    '/v2/workflow/all/{page}',
  ])
    await recorder.record('GET', path, all);
  for (const path of [
    '/v2/executions/{id}',
    '/v2/executions/{id}/{page}',
    '/v2/workflow/{id}',
    '/v2/workflow/getName/{id}',
  ])
    await recorder.record('GET', path, { id: run.id_workflow, page: 0 });
  return { set, documents, orders, loading, idSch: job.id_sch };
}

/** The schema, its map and its tables. */
async function recordCatalog(recorder: Recorder, { idSch, loading, set }: Conversion): Promise<void> {
  const line = await recorder.record<readonly { id_map: number; xpath: string | null }[]>(
    'GET',
    '/v2/mapping/get/{idSch}',
    { idSch },
  );
  const ofSchema = { idSch, id: idSch, idJob: loading, maxLen: 63 };
  for (const path of [
    '/v2/schema/all',
    '/v2/schema/{id}',
    '/v2/schema/family/{idSch}',
    '/v2/schema/get/max/length/{idSch}',
    '/v2/mapping/get_stats/{idSch}',
    '/v2/mapping/get_stats/{idSch}/{idJob}',
    '/v2/diagram/get/{idSch}',
  ])
    await recorder.record('GET', path, ofSchema);
  await recorder.record('GET', '/v2/target/rows', {}, { query: '?target=metadb:orders&table=order&size=2' });
  await recorder.record(
    'POST',
    '/v2/target/query',
    {},
    {
      body: {
        target: 'metadb:orders',
        sql: 'select number, count(*) as lines from "order" join line using (order_key) group by number order by number limit 3',
      },
    },
  );
  await recorder.record('GET', '/v2/schema/ddl/{idSch}', ofSchema, { headers: { Accept: '*/*' } });
  await recorder.record('GET', '/v2/schema/views/{idSch}', ofSchema, { headers: { Accept: '*/*' } });
  await recorder.record('GET', '/v2/schema/dictionary/{idSch}', ofSchema, {
    query: '?format=md',
    headers: { Accept: '*/*' },
  });
  await recorder.record('GET', '/v2/schema/export_as/{idSch}', ofSchema, { query: '?format=frictionless' });
  const created = await recorder.record<{ id_sch: number }>(
    'POST',
    '/v2/schema/create',
    {},
    { body: { name: 'orders', xsd: [set], id_parent_sch: idSch } },
  );
  await recorder.record('GET', '/v2/mapping/download/{idSch}', ofSchema, { query: '?format=json' });
  const chosen = line.find(({ xpath }) => xpath?.endsWith('email'))!;
  const body = { id_sch: created.id_sch, xpaths: [chosen.xpath] };
  await recorder.record('POST', '/v2/mapping/deactivate', {}, { body });
  await recorder.record('GET', '/v2/mapping/compare/{from}/{to}', { from: idSch, to: created.id_sch });
  await recorder.record('POST', '/v2/mapping/activate', {}, { body });
}

/** The view by feeds. */
async function recordFeeds(recorder: Recorder, { loading }: Conversion): Promise<void> {
  const feed = { cfxml: 'orders', mapping: 'order', pid: loading, page: 0 };
  const feeds = '/v2/extensions/cil';
  for (const path of [
    'jobs',
    'jobs/{page}',
    'job/{cfxml}',
    'job/{cfxml}/{pid}',
    'mappings',
    'mapping/group',
    'mapping/{cfxml}',
    'lineage/{cfxml}/{mapping}',
    'sequences',
    'sequence/{cfxml}',
    'keys/{page}',
    'keys/{cfxml}/{page}',
  ])
    await recorder.record('GET', `${feeds}/${path}`, feed);
}

/** A schema that moves away and comes again. */
async function recordMoves(recorder: Recorder, { idSch }: Conversion): Promise<void> {
  await recorder.record(
    'POST',
    '/v2/schema/export',
    {},
    { body: { origin_id: String(idSch), output_path: 'moved' } },
  );
  await recorder.record('POST', '/v2/schema/import', {}, { body: { input_path: 'moved' } });
}

/** Who may do what; gives a key of another organisation. */
async function recordAdministration(recorder: Recorder): Promise<string> {
  const org = await recorder.record<{ id_org: number }>(
    'POST',
    '/v2/admin/orgs',
    {},
    { body: { name: 'claims' } },
  );
  const other = await recorder.record<{ key: string }>(
    'POST',
    '/v2/admin/keys',
    {},
    { body: { name: 'loader', scopes: ['jobs:run', 'files:upload'], id_org: org.id_org } },
  );
  await recorder.record(
    'POST',
    '/v2/admin/credentials',
    {},
    { body: { name: 'bank-inbox', kind: 's3', access_key: 'AKIA', secret_key: 'secret' } },
  );
  for (const path of [
    '/v2/admin/orgs',
    '/v2/admin/keys',
    '/v2/admin/credentials',
    '/v2/admin/audit',
    '/v2/admin/audit/{page}',
    '/v2/about/org',
    '/v2/extensions/list',
  ])
    await recorder.record('GET', path, { page: 0 });
  return other.key;
}

/** What an operator sees. */
async function recordOperation(recorder: Recorder): Promise<void> {
  const operators = { component: 'db', group: 'readiness', name: 'ROOT' };
  for (const path of [
    '/',
    '/actuator',
    '/actuator/info',
    '/actuator/health',
    '/actuator/health/{component}',
    '/actuator/metrics',
    '/actuator/loggers',
    '/actuator/loggers/{name}',
  ])
    await recorder.record('GET', path, operators);
  const readiness = { group: 'readiness', component: 'readinessState' };
  await recorder.record('GET', '/actuator/health/{group}/{component}', readiness);
  await recorder.record('GET', '/actuator/metrics/{name}', { name: 'svc.jobs' });
  await recorder.record('GET', '/actuator/env/{name}', { name: 'cmd.enabled' });
  await recorder.record('GET', '/actuator/env');
}

/** A job that waits behind another, and one that is run again. */
async function recordRuns(recorder: Recorder, { orders, idSch, loading }: Conversion): Promise<void> {
  const queue = { name: 'again', executions: [orders.executions[1], orders.executions[1]] };
  const withOrigin = JSON.parse(JSON.stringify(queue).replaceAll('$0', String(idSch))) as object;
  const waiting = await recorder.call('POST', cmd, { body: withOrigin });
  const { jobs } = (await waiting.json()) as { jobs: [number, number] };
  await recorder.fail('GET', `/v2/run/rerun/${jobs[1]}`);
  await recorder.record('POST', '/v2/executions/kill/{id_job}', { id_job: jobs[1] });
  const rerun = await recorder.call('POST', cmd, { body: withOrigin, headers: wait });
  await rerun.text();
  await recorder.record('GET', '/v2/run/rerun/{id_job}', { id_job: loading });
}

/** A watch of the uploads, and the files that it has loaded. */
async function recordWatches(recorder: Recorder): Promise<void> {
  const { id_watch: id } = await recorder.record<{ id_watch: number }>(
    'POST',
    '/v2/watches',
    {},
    {
      body: {
        name: 'orders',
        location: 'uploads',
        pattern: '**/orders.tgz',
        target: 'metadb:watched',
        every: '5m',
        settle: '0s',
      },
    },
  );
  for (let loaded = 0; loaded === 0;) {
    const answer = await recorder.call('GET', `/v2/watches/${id}/files?status=loaded`);
    loaded = ((await answer.json()) as { total_elements: number }).total_elements;
    await pause(500);
  }
  for (const path of ['/v2/watches', '/v2/watches/{id}', '/v2/watches/{id}/files'])
    await recorder.record('GET', path, { id });
  await recorder.record('POST', '/v2/watches/{id}/run', { id }, { body: { retry: true } });
  await recorder.record('PATCH', '/v2/watches/{id}', { id }, { body: { paused: true } });
}

/** Requests that are wrong in form, without leave, or that ask for what is not there. */
async function recordRefusals(recorder: Recorder, { idSch, set }: Conversion, claims: Caller): Promise<void> {
  await recorder.fail('GET', '/v2/executions/get/x');
  await recorder.fail('GET', '/v2/executions/get/4711');
  await recorder.fail('GET', '/v2/about/org', { to: { ...claims, key: 'svk_none' } });
  await recorder.fail('GET', '/v2/schema/all', { to: claims });
  await recorder.fail('POST', '/v2/about/org');
  await recorder.fail('GET', `/v2/diagram/get/${idSch}`, { headers: { Accept: 'text/csv' } });
  await recorder.fail('POST', '/v2/file/upload/xml?token=spent&name=orders.xml', { body: new Uint8Array(1) });
  await recorder.fail('POST', cmd, { body: { name: 'x'.repeat(3_000_000), executions: [] } });
  await recorder.fail('POST', '/v2/schema/create', { body: { name: 'orders', xsd: [set] } });
  const broken = await recorder.upload(
    'xsd',
    'orders.xsd',
    Buffer.from('<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">'),
  );
  await recorder.fail('POST', '/v2/schema/create', { body: { name: 'broken', xsd: [broken] } });
  await recorder.fail('GET', `/v2/target/rows?table=order&target=metadb:${'x'.repeat(16 * 1024)}`);
  await recorder.fail('GET', '/actuator/logfile', { headers: { Range: 'bytes=999999999-' } });
}

/** Commands that are not run. */
async function recordRefusedCommands(
  recorder: Recorder,
  { documents }: Conversion,
  claims: Caller,
): Promise<void> {
  const target = (value: string) => execution(documents, { path: option('-o', value) });
  await recorder.fail('POST', cmd, { body: { executions: 'xml2er' } });
  await recorder.fail('POST', cmd, {
    body: '{"executions":',
    headers: { 'Content-Type': 'application/json' },
  });
  await recorder.fail('POST', cmd, { headers: { 'Content-Type': 'application/json' } });
  await recorder.fail('POST', cmd, { body: 'xml2er', headers: { 'Content-Type': 'text/plain' } });
  await recorder.fail('POST', cmd, { body: execution(documents, { format: [option('--formt', 'csv')] }) });
  await recorder.fail('POST', cmd, { body: execution(documents, { format: [option('-f', 'xls')] }) });
  await recorder.fail('POST', cmd, { body: execution('/etc/passwd') });
  await recorder.fail('POST', cmd, { body: execution('uploads/none/orders.xml') });
  await recorder.fail('POST', cmd, { body: target('metadb:_svc_staging') });
  await recorder.fail('POST', cmd, { body: target('postgresql://loader@db.example/warehouse') });
  const uploads = { body: { kind: 'xml' }, to: claims };
  const { token } = (await (await recorder.call('POST', '/v2/file/upload/token', uploads)).json()) as {
    token: string;
  };
  const theirs = await recorder.call('POST', `/v2/file/upload/xml?token=${token}&name=orders.xml`, {
    headers: { 'Content-Type': 'application/octet-stream' },
    body: await readFile(demo('documents/orders-2026-03-04-a.xml')),
  });
  const into = { path: option('-o', 'metadb:orders') };
  await recorder.fail('POST', cmd, { body: execution((await theirs.json()) as string, into), to: claims });
  await recorder.fail('POST', cmd, {
    body: target('metadb:orders'),
    headers: idempotencyKey,
  });
}

function execution(file: string, target: object = {}): object {
  return {
    executions: [{ app_name: 'xml2er', source: { file: { command: file, enabled: true } }, target }],
  };
}

function option(command: string, value: string): object {
  return { command, enabled: true, value };
}

function demo(path: string): URL {
  return new URL(`../demo/${path}`, import.meta.url);
}
