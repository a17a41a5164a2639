/** `npm run bench -- --api`: requests that the service answers in a processor's second, against a bare Hono route. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPostgresCatalogStore } from '../../src/metadb/catalog-store.ts';
import { connectPostgres } from '../../src/postgres/connect.ts';
import { createApiClient } from '../demo/api-client.ts';
import { startService, type ServiceProcess } from '../demo/service-process.ts';
import { wideModel, wideSource } from './models.ts';
import { renderTable, significant } from './report.ts';
import { cpuSecondsOf, cpuSecondsOfTree } from './processor-time.ts';
import { sendRequests, type LoadOptions } from './request-load.ts';

const jobs = 10_000;
const mappings = 20_000;
const jobsPerRequest = 100;

interface Endpoint {
  readonly name: string;
  readonly path: string;
  readonly body?: string;
}

interface Row {
  readonly name: string;
  readonly perCpuSecond: number;
  readonly databasePerCpuSecond: number | null;
  readonly medianMs: number;
  readonly slowMs: number;
  readonly kilobytes: number;
}

/** Answers lines of markdown. The service runs on an embedded database in `directory`, and starts no job. */
export async function benchApi(directory: string, milliseconds: number): Promise<string[]> {
  const settings = {
    SVC_WORKER_CONCURRENCY: '0',
    SVC_LIMITS_REQUESTS_PER_SECOND: '1000000',
    SVC_LIMITS_REQUEST_BURST: '1000000',
    SVC_LIMITS_QUEUED_JOBS: String(jobs * 10),
  };
  const service = await startService(join(directory, 'api-home'), 0, settings);
  try {
    const authorised = { Authorization: `Bearer ${service.key}` };
    const rows = [await bareRoute(milliseconds)];
    for (const endpoint of await prepare(service)) {
      console.error(`  ${endpoint.name}`);
      rows.push(await measureEndpoint(service, endpoint, authorised, milliseconds));
    }
    return render(rows);
  } finally {
    await service.stop();
  }
}

async function bareRoute(milliseconds: number): Promise<Row> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'runs/bare-route.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const options = { url: `http://127.0.0.1:${line.toString().trim()}/`, clients: 8, milliseconds };
    return await measured('a bare Hono route', options, child.pid!, null);
  } finally {
    child.kill();
  }
}

async function measureEndpoint(
  service: ServiceProcess,
  { name, path, body }: Endpoint,
  headers: Readonly<Record<string, string>>,
  milliseconds: number,
): Promise<Row> {
  const postmaster = await readFile(join(service.home, 'db', 'data', 'postmaster.pid'), 'utf8').catch(
    () => '',
  );
  return measured(
    name,
    {
      url: service.baseUrl + path,
      headers,
      clients: 8,
      milliseconds,
      ...(body === undefined ? {} : { method: 'POST', body }),
    },
    service.pid,
    Number.parseInt(postmaster, 10) || null,
  );
}

async function measured(
  name: string,
  options: LoadOptions,
  pid: number,
  databasePid: number | null,
): Promise<Row> {
  // what is compiled and cached on the way is not counted
  await sendRequests({ ...options, milliseconds: options.milliseconds / 3 });
  const before = cpuSecondsOf(pid) ?? 0;
  const databaseBefore = databasePid === null ? 0 : cpuSecondsOfTree(databasePid);
  const result = await sendRequests(options);
  const spent = (cpuSecondsOf(pid) ?? 0) - before;
  const databaseSpent = databasePid === null ? 0 : cpuSecondsOfTree(databasePid) - databaseBefore;
  return {
    name,
    perCpuSecond: result.requests / Math.max(0.01, spent),
    databasePerCpuSecond: databasePid === null ? null : result.requests / Math.max(0.01, databaseSpent),
    medianMs: result.medianMs,
    slowMs: result.slowMs,
    kilobytes: result.bytes / 1000,
  };
}

/** 10,000 jobs that wait, and a schema of 1,000 tables and 20,000 mappings. */
async function prepare(service: ServiceProcess): Promise<Endpoint[]> {
  console.error(`making ${jobs} jobs and a schema of ${mappings} mappings`);
  const client = createApiClient(service.baseUrl, service.key);
  const page = new TextEncoder().encode('<page/>');
  const execution = {
    app_name: 'xml2er',
    source: { file: { command: await client.upload('xml', 'page.xml', page) } },
    target: { generation: [{ command: '-g', enabled: true, value: '3' }] },
  };
  const one = JSON.stringify({ name: 'bench', executions: [execution] });
  const executions = Array.from({ length: jobsPerRequest }, () => execution);
  let lastJob = 0;
  let lastWorkflow = 0;
  for (let made = 0; made < jobs; made += jobsPerRequest) {
    const answer = await client.run('bench', executions);
    lastJob = answer.jobs.at(-1)!;
    lastWorkflow = answer.id_workflow;
  }
  const sql = connectPostgres(service.databaseUrl, { applicationName: 'bench', max: 1 });
  try {
    const catalog = createPostgresCatalogStore(sql);
    const { id_sch: idSch } = await catalog.createOrigin({
      idOrg: 1,
      idParentSch: null,
      idJob: null,
      name: 'bench',
      sourceType: 'xsd',
      model: wideSource,
      files: [],
    });
    await catalog.createLogicalSchema(1, idSch, wideModel(mappings / 20, 20), null);
    return [
      { name: 'about', path: '/v2/about/org' },
      { name: 'one job', path: `/v2/executions/get/${lastJob}` },
      { name: 'newest 20 of 10,000 jobs', path: '/v2/executions/all/0' },
      { name: 'last 20 of 10,000 jobs', path: `/v2/executions/all/${jobs / 20 - 1}` },
      { name: '500 of 10,000 jobs', path: '/v2/executions/all/0?size=500' },
      { name: 'newest 20 workflows', path: '/v2/workflow/all/0' },
      { name: 'jobs of a workflow', path: `/v2/workflow/getName/${lastWorkflow}` },
      { name: 'all schemas', path: '/v2/schema/all' },
      { name: 'one schema', path: `/v2/schema/${idSch}` },
      { name: '20,000 mappings', path: `/v2/mapping/get/${idSch}` },
      { name: 'DDL of 1,000 tables', path: `/v2/schema/ddl/${idSch}` },
      { name: 'submit a job', path: '/v2/run/cmd', body: one },
    ];
  } finally {
    await sql.end({ timeout: 5 });
  }
}

function render(rows: readonly Row[]): string[] {
  const bare = rows[0]!.perCpuSecond;
  return renderTable(
    [
      'request',
      'per CPU second',
      '× bare route',
      'per CPU second of the database',
      'median ms',
      '99 % ms',
      'kB',
    ],
    rows.map((row) => [
      row.name,
      row.perCpuSecond.toFixed(0),
      significant(row.perCpuSecond / bare),
      row.databasePerCpuSecond?.toFixed(0) ?? '–',
      significant(row.medianMs),
      significant(row.slowMs),
      significant(row.kilobytes),
    ]),
  );
}
