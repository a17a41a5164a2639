/**
 * `npm run demo`: starts the service on the embedded database, converts the orders of scripts/demo over REST, shows
 * what came out, and stops. The files that the examples of /doc name are put into the home. `-- --serve` stays up; `-- --home FOLDER` keeps the demo's data elsewhere.
 */
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import postgres from 'postgres';
import { demoFiles } from '../src/http/openapi/demo-files.ts';
import { createApiClient } from './demo/api-client.ts';
import type { ApiClient, CommandItem, Job } from './demo/api-client.ts';
import { archiveFolder } from './demo/archive.ts';
import { countTables } from './demo/result.ts';
import { freePort, chooseHomeFolder, startService } from './demo/service-process.ts';
import type { ServiceProcess } from './demo/service-process.ts';
import { formatTable } from './demo/text-table.ts';
import { scriptOptions } from './options.ts';

const sqlSchema = 'demo';
const servePort = Number(process.env['PORT'] ?? 8080);

const options = scriptOptions(import.meta.filename, {
  serve: { type: 'boolean', default: false },
  home: { type: 'string' },
});

const title = (text: string): void => console.log(`\n${text}`);
const show = (lines: readonly string[]): void =>
  console.log(lines.map((line) => `  ${line}`.trimEnd()).join('\n'));
const seconds = (fromMs: number, toMs: number): string => `${((toMs - fromMs) / 1000).toFixed(1)} s`;
const option = (command: string, value: string): CommandItem => ({ command, enabled: true, value });

/** Uploads both archives and runs `xsd2er`, then `xml2er` on the schema that it made, as one workflow. */
async function submit(api: ApiClient): Promise<number[]> {
  const xsd = await archiveFolder(new URL('demo/xsd/', import.meta.url));
  const xml = await archiveFolder(new URL('demo/documents/', import.meta.url));
  const xsdPath = await api.upload('xsd', 'orders-xsd.tgz', xsd.bytes);
  const xmlPath = await api.upload('xml', 'orders-xml.tgz', xml.bytes);
  show([`${xsd.files} XSD files   -> ${xsdPath}`, `${xml.files} documents   -> ${xmlPath}`]);

  const earlier = (await api.origins()).filter(({ name }) => name === 'orders');
  const newest = earlier.toSorted((a, b) => b.version - a.version)[0];
  const submitted = await api.run('demo', [
    {
      app_name: 'xsd2er',
      source: { file: { command: xsdPath } },
      target: {
        generation: [
          option('--name', 'orders'),
          ...(newest === undefined ? [] : [option('--parent', String(newest.id_sch))]),
        ],
      },
    },
    {
      app_name: 'xml2er',
      source: { file: { command: xmlPath }, origin_id: option('-x', '$0') },
      target: { path: option('-o', `metadb:${sqlSchema}`), writing_mode: [option('-S', 'o')] },
    },
  ]);
  show([`workflow ${submitted.id_workflow}: jobs ${submitted.jobs.join(' and ')}`]);
  return submitted.jobs;
}

/** Prints a job's log as it grows, and how far it has come; answers its record at the end. */
async function follow(api: ApiClient, tool: string, idJob: number): Promise<Job> {
  title(`Job ${idJob}: ${tool}`);
  let shown = 0;
  const watch = setInterval(async () => {
    const progress = (await api.job(idJob).catch(() => null))?.progress ?? 0;
    if (progress < shown + 0.1 || progress >= 1) return;
    shown = progress;
    show([`${Math.round(progress * 100)} %`]);
  }, 500);
  try {
    for await (const line of api.followLog(idJob)) show([`| ${line}`]);
  } finally {
    clearInterval(watch);
  }
  const job = await api.job(idJob);
  const took = job.start_date === null ? '' : `, ${seconds(job.start_date, job.end_date ?? job.start_date)}`;
  show([`${job.status === 'C' ? 'completed' : `ended ${job.status}: ${job.failure}`}${took}`]);
  return job;
}

/** Tables, some rows joined across them, and the DDL. */
async function showResult(api: ApiClient, databaseUrl: string, idSch: number): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined });
  try {
    const counts = await countTables(sql, sqlSchema);
    if (counts.length === 0) throw new Error(`the jobs completed, but ${sqlSchema} has no tables`);
    const beside = counts.filter(({ table }) => table.startsWith('_')).map(({ table }) => table);
    title(`Tables in the SQL schema "${sqlSchema}"`);
    show(formatTable(counts.filter(({ table }) => !beside.includes(table)).map((count) => ({ ...count }))));
    show([`beside them ${beside.toSorted().join(', ')}`]);

    const query = await readQuery();
    title('The dearest lines in euro, joined across the tables');
    show(query.split('\n'));
    console.log();
    await sql`select set_config('search_path', ${sqlSchema}, false)`;
    show(formatTable(await sql.unsafe(query)));
  } finally {
    await sql.end();
  }
  const ddl = (await api.ddl(idSch)).trimEnd().split('\n');
  const from = ddl.findIndex((line) => line.startsWith('CREATE TABLE "line"'));
  const shown = ddl.slice(from, ddl.indexOf('', from));
  title(`DDL of one table, ${shown.length} of ${ddl.length} lines`);
  show(shown);
}

async function readQuery(): Promise<string> {
  return (await readFile(new URL('demo/lines.sql', import.meta.url), 'utf8')).trim();
}

function showNext({ baseUrl, home }: ServiceProcess, idSch: number, idJob: number): void {
  const url = options.serve ? baseUrl : `http://127.0.0.1:${servePort}`;
  title(
    options.serve ? 'Look further' : 'Look further: `npm run demo -- --serve` keeps the service up, then',
  );
  show([
    `open ${url}/doc`,
    `KEY=$(cat ${home}/admin.key)`,
    `curl -H "Authorization: Bearer $KEY" ${url}/v2/mapping/get/${idSch}`,
    `curl -H "Authorization: Bearer $KEY" ${url}/v2/schema/ddl/${idSch}`,
    `curl -H "Authorization: Bearer $KEY" ${url}/v2/executions/get/${idJob}`,
    `psql "$(cat ${home}/metadb.url)" -c '\\dt ${sqlSchema}.*'`,
  ]);
}

async function convertAndShow(service: ServiceProcess, startedMs: number): Promise<void> {
  show([
    `listening on ${service.baseUrl}, up after ${seconds(startedMs, Date.now())}`,
    `home ${service.home}`,
  ]);
  title('Upload');
  const api = createApiClient(service.baseUrl, service.key);
  const [compile, load] = await submit(api);
  const compiled = await follow(api, 'xsd2er', compile!);
  const loaded = await follow(api, 'xml2er', load!);
  if (compiled.status !== 'C' || loaded.status !== 'C' || compiled.id_sch === null) {
    throw new Error(compiled.failure ?? loaded.failure ?? 'the jobs did not complete and gave no reason');
  }
  await showResult(api, service.databaseUrl, compiled.id_sch);
  showNext(service, compiled.id_sch, loaded.id_job);
}

let service: ServiceProcess | null = null;
let place = '';
const stop = async (): Promise<void> => service?.stop();
// `on`, not `once`: under npm a terminal's Ctrl-C arrives twice.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
// Whoever read the output has gone (`| head`): nobody is left to tell, but the service must not stay behind.
process.stdout.on('error', () => void stop().finally(() => process.exit(1)));
try {
  const startedMs = Date.now();
  title('Service');
  const home = await chooseHomeFolder(options.home ?? null);
  place = `The demo's data is in ${home}: remove that folder to begin anew.`;
  for (const [from, to] of [
    ['demo/documents/', demoFiles.documents],
    ['demo/xsd/', demoFiles.xsd],
  ] as const)
    await cp(new URL(from, import.meta.url), join(home, 'files/1', to), { recursive: true });
  service = await startService(home, options.serve ? await freePort(servePort) : 0);
  await convertAndShow(service, startedMs);
  title(`Done in ${seconds(startedMs, Date.now())}.`);
  if (options.serve) {
    console.log('The service stays up: Ctrl-C ends it.');
    await service.ended;
  }
} catch (error) {
  console.error(`\nThe demo failed: ${(error as Error).message}\n${place}`);
  process.exitCode = 1;
} finally {
  await stop();
}
