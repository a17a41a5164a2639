/** An installation with the settings it has by default, and material of the user's own: what the figures are measured on. */
import { readFileSync } from 'node:fs';
import { copyFile, link, mkdir, mkdtemp, readFile, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, extname, join } from 'node:path';
import { joinEmbeddedPostgres, stopEmbeddedPostgres } from '../../src/process/embedded-postgres/server.ts';
import { connectPostgres, type Sql } from '../../src/postgres/connect.ts';
import { createServiceHome } from '../../test/support/service/start.ts';
import { startExternalPostgres } from '../../test/support/service/external-postgres.ts';
import { execution, type JobAnswer } from '../../test/support/service/client.ts';
import { waitingTools } from '../../test/support/service/processes.ts';
import { convert } from '../../test/support/service/tools.ts';
import { startInstallation, type Installation } from './processes.ts';

export interface SceneOptions {
  readonly workers: number;
  /** `embedded`, `external` (a PostgreSQL of the machine's own packages), or the address of one */
  readonly database: string;
  /** an XSD, and a document that it describes */
  readonly xsd: string;
  readonly document: string;
  /** size of one job's input: copies of the document */
  readonly megabytes: number;
  readonly properties?: Readonly<Record<string, string>>;
}

export interface Scene {
  readonly installation: Installation;
  readonly sql: Sql;
  readonly databaseUrl: string;
  /** below `svc.files.roots` */
  readonly folder: string;
  /** a folder of documents, one job's input, and how many there are */
  readonly input: string;
  readonly documents: number;
  readonly origin: number;
  /** of an undisturbed load, from claim to end */
  readonly usualMs: number;
  oneDocument(): Promise<Uint8Array>;
  /** Submits one load; its id. */
  load(target: string, more?: readonly (readonly [string, string])[]): Promise<number>;
  kill(idJob: number): Promise<JobAnswer>;
  close(): Promise<void>;
}

export async function openScene(options: SceneOptions): Promise<Scene> {
  const closing: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing.splice(0).toReversed()) await one().catch(() => undefined);
  };
  try {
    return await build(options, closing, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function build(
  options: SceneOptions,
  closing: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'faults-scene-'));
  closing.push(() => rm(folder, { recursive: true, force: true }));
  const input = join(folder, 'documents');
  const documents = await copies(options.document, input, options.megabytes * 1e6);
  const databaseUrl = await openDatabase(options.database, join(folder, 'database'), closing);
  const home = await createServiceHome({
    'metadb.url': databaseUrl,
    // documents and targets lie in the folder, the XSD where the user has it
    'svc.files.roots': `${folder},${dirname(options.xsd)}`,
    'svc.allow.hosts': new URL(databaseUrl).hostname,
    ...options.properties,
  });
  closing.push(() => home.remove());
  const sql = connectPostgres(databaseUrl, { applicationName: 'faults', max: 6 });
  closing.push(() => sql.end({ timeout: 1 }));
  const { origin } = await convert(home, 'xsd2er', options.xsd, '-g', '1');
  const installation = await startInstallation(home, options.workers);
  closing.push(() => installation.end());
  const { client } = installation.service();
  const load: Scene['load'] = async (target, more = []) => {
    const { jobs } = await installation
      .service()
      .client.run([execution('xml2er', input, [['-o', target], ...more], String(origin))]);
    return jobs[0]!;
  };
  const first = await client.ended(await load('metadb:undisturbed'));
  if (first.status !== 'C') throw new Error(`the undisturbed load ended ${first.status}: ${first.failure}`);
  return {
    installation,
    sql,
    databaseUrl,
    folder,
    input,
    documents,
    origin: origin!,
    usualMs: first.end_date! - first.start_date!,
    oneDocument: () => readFile(options.document),
    load,
    kill: async (idJob) =>
      (await installation.service().client.post<JobAnswer>(`/v2/executions/kill/${idJob}`)).body,
    close,
  };
}

async function openDatabase(
  database: string,
  directory: string,
  closing: (() => Promise<unknown>)[],
): Promise<string> {
  if (database === 'external') {
    const external = await startExternalPostgres();
    closing.push(() => external.stop());
    return external.url;
  }
  if (database !== 'embedded') return database;
  closing.push(() => stopEmbeddedPostgres(directory));
  return (await joinEmbeddedPostgres({ directory })).url;
}

async function copies(document: string, folder: string, bytes: number): Promise<number> {
  await mkdir(folder, { recursive: true });
  const count = Math.max(1, Math.round(bytes / (await stat(document)).size));
  const ending = extname(document);
  const first = join(folder, `${basename(document, ending)}-0${ending}`);
  await copyFile(document, first);
  for (let at = 1; at < count; at += 1) await link(first, first.replace(/-0(\.\w+)$/, `-${at}$1`));
  return count;
}

/** Processes of this installation that tools are, or have started, wherever they went; without those that wait for a job. */
export async function toolDescendants(installation: Installation): Promise<number[]> {
  const wanted = `SVC_HOME=${installation.home.directory}`;
  const found: number[] = [];
  const waiting = new Set((await waitingTools(installation.home)).map(({ pid }) => pid));
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry) || waiting.has(Number(entry))) continue;
    try {
      const environment = readFileSync(`/proc/${entry}/environ`, 'latin1').split('\0');
      if (environment.includes(wanted) && environment.some((one) => one.startsWith('SVC_JOB_MARK=')))
        found.push(Number(entry));
    } catch {
      // the process has ended, or belongs to another user
    }
  }
  return found;
}

/** The value below which this share of them lies, in whole milliseconds. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN);
}
