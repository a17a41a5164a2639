/**
 * A whole conversion through Hono's typed client: what goes up, what comes back, and every status are known to the compiler.
 * `SVC_URL=http://127.0.0.1:8080 SVC_KEY=svk_… node examples/typed-client.ts FILE.xml`
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { hc } from 'hono/client';
import { allItems, retryingFetch } from './client-requests.ts';
import type { CilApi, ExecutionsApi, FilesApi, RunApi, SchemasApi } from 'conversion-job-service';

export interface Converted {
  readonly idJob: number;
  readonly feed: string;
  readonly documents: number;
  /** rows by table */
  readonly rows: Readonly<Record<string, number>>;
  readonly ddl: string;
  /** ids of all jobs that completed, of any schema */
  readonly completed: readonly number[];
}

/** Uploads a document, infers its tables and loads it into the SQL schema `target` of the service's own database. */
export async function convert(url: string, key: string, file: string, target: string): Promise<Converted> {
  const request = retryingFetch();
  const options = { headers: { Authorization: `Bearer ${key}` }, fetch: request };
  const files = hc<FilesApi>(url, options);
  const run = hc<RunApi>(url, options);
  const executions = hc<ExecutionsApi>(url, options);
  const schemas = hc<SchemasApi>(url, options);
  const cil = hc<CilApi>(url, options);

  const token = await files.v2.file.upload.token.$post(
    { json: { kind: 'xml' } },
    // a request with a key can be repeated
    { headers: { 'Idempotency-Key': crypto.randomUUID() } },
  );
  if (token.status !== 201) throw new Error(`no upload token: ${token.status}`);
  // the body is bytes, which the typed client leaves to fetch
  const upload = files.v2.file.upload.xml.$url();
  upload.search = new URLSearchParams({ token: (await token.json()).token, name: basename(file) }).toString();
  const stored = await fetch(upload, { method: 'POST', body: new Uint8Array(await readFile(file)) });
  const path = (await stored.json()) as string;

  const submitted = await run.v2.run.cmd.$post({
    header: { 'idempotency-key': crypto.randomUUID() },
    json: {
      executions: [
        {
          app_name: 'xml2er',
          source: { file: { command: path } },
          target: { path: { command: '-o', enabled: true, value: `metadb:${target}` } },
        },
      ],
    },
  });
  if (submitted.status !== 200) throw new Error(`not submitted: ${submitted.status}`);
  const idJob = (await submitted.json()).jobs[0]!;

  for (;;) {
    const answer = await executions.v2.executions.get[':id'].$get({ param: { id: String(idJob) } });
    if (answer.status !== 200) throw new Error(`job ${idJob}: ${answer.status}`);
    const job = await answer.json();
    if (job.status === 'C' && job.id_sch !== null) return await told(job.id_sch);
    if (job.end_date !== null) throw new Error(`job ${idJob} ended ${job.status}: ${job.failure}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 200);
    });
  }

  async function told(idSch: number): Promise<Converted> {
    const schema = await schemas.v2.schema[':id'].$get({ param: { id: String(idSch) }, query: {} });
    if (schema.status !== 200) throw new Error(`schema ${idSch}: ${schema.status}`);
    const { name } = await schema.json();
    const param = { cfxml: name, pid: String(idJob) };
    const details = await cil.v2.extensions.cil.job[':cfxml'][':pid'].$get({ param });
    if (details.status !== 200) throw new Error(`run ${idJob}: ${details.status}`);
    const { documents, tables } = await details.json();
    const ddl = await schemas.v2.schema.ddl[':idSch'].$get({
      param: { idSch: String(idSch) },
      query: { dialect: 'postgresql' },
    });
    const list = await executions.v2.executions.all.$get({ query: { status: 'C', size: '50' } });
    if (list.status !== 200) throw new Error(`no list of jobs: ${list.status}`);
    const completed: number[] = [];
    for await (const job of allItems(list, (page) => request(page, { headers: options.headers })))
      completed.push(job.id_job);
    return {
      completed,
      idJob,
      feed: name,
      documents,
      rows: Object.fromEntries(tables.map((table) => [table.table_name, table.rows])),
      ddl: await ddl.text(),
    };
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { SVC_URL = 'http://127.0.0.1:8080', SVC_KEY = '' } = process.env;
  const { rows, documents } = await convert(SVC_URL, SVC_KEY, process.argv[2] ?? '', 'typed_client');
  console.log(`${documents} document`, rows);
}
