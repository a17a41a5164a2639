/** Export and import of packages by hand: the request, and the metadata database. */
import { createCheckedSockets, closeWhenStalled } from '../../postgres/checked-socket.ts';
import { connectPostgres, type Sql } from '../../postgres/connect.ts';
import { migrate, missingMigrations } from '../../metadb/migrations.ts';
import { targetFault } from '../../targets/sql/postgres/connection.ts';
import { createPostgresTransferStore } from '../../metadb/transfer-store.ts';
import { AppError } from '../../errors.ts';
import { createMask } from '../../service/jobs/mask-secrets.ts';
import { databaseOf, type MetadbFields } from '../../service/transfer/metadata-database.ts';
import { shownTransfer } from '../../service/transfer/run-transfer.ts';
import type { JobFiles } from '../../ports/files.ts';
import type { MetadataDatabase, TransferCommand } from '../../ports/processes.ts';
import type { TransferStore } from '../../ports/stores/catalog.ts';
import { readAddress } from '../../runtime/transfers.ts';
import { openInstallation, type OpenedInstallation } from '../../runtime/open-installation.ts';
import { readWorkerIdentity } from '../../runtime/worker-identity.ts';
import { keepLeaseByHand } from '../session/lease-by-hand.ts';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseCloudLocation } from '../../service/transfer/cloud-location.ts';

// The metadata database of a transfer: the one that its request names, or that of the home folder, which then also has a job record.

export interface TransferDatabase {
  readonly store: TransferStore;
  readonly idOrg: number;
  /** the job recorded as the source of the origins, if the database knows it */
  readonly idJob: number | null;
  /** Ends the record of a run by hand; a run of the service has its own. */
  finish(failure: string | null): Promise<void>;
  close(): Promise<void>;
}

/** A row of the catalog holds a whole model, packed. */
const longestMessageBytes = 256 * 1024 * 1024;
/** Time without any byte after which a database counts as lost. */
const stallMs = 60_000;

export async function openTransferDatabase(
  command: TransferCommand,
  request: ToolTransfer,
): Promise<TransferDatabase> {
  if (request.metadb_host) return openNamed(command, request, request.metadb_host);
  const home = await openInstallation(process.env, {
    role: 'tool',
    write: (line) => void (line.includes('"level":"info"') ? true : process.stderr.write(line)),
  });
  const own = readAddress(home.databaseUrl);
  const chosen = {
    metadb_host: own.host,
    metadb_port: request.metadb_port || String(own.port),
    metadb_user: request.metadb_user || own.user,
    metadb_db: request.metadb_db || own.database,
  };
  const isOwn =
    Number(chosen.metadb_port) === own.port &&
    chosen.metadb_user === own.user &&
    chosen.metadb_db === own.database;
  if (isOwn) return openOwn(home, command, request);
  await home.close();
  const password = request.metadb_password || process.env['PGPASSWORD'] || (own.password ?? '');
  const { sslMode: metadb_sslmode } = own;
  return openNamed(command, { ...request, ...chosen, metadb_password: password, metadb_sslmode }, own.host);
}

async function openNamed(
  command: TransferCommand,
  request: ToolTransfer,
  host: string,
): Promise<TransferDatabase> {
  const given = databaseOf({ ...request, metadb_host: host });
  const password = given.password ?? (process.env['PGPASSWORD'] || null);
  const sql = await connectNamed(request, { ...given, password })
    .catch((error: unknown) => {
      const own = request.metadb_own_password;
      if (own === undefined || (error as { code?: unknown }).code !== refusedPassword) throw error;
      return connectNamed(request, { ...given, password: own });
    })
    .catch((error: unknown) => {
      throw targetFault(error, `the metadata database at ${given.host}:${given.port}`);
    });
  try {
    await requireInstallation(sql, command);
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  return {
    store: createPostgresTransferStore(sql),
    idOrg: request.id_org ?? 1,
    idJob: request.id_job ?? null,
    finish: () => Promise.resolve(),
    close: () => sql.end({ timeout: 5 }),
  };
}

/** SQLSTATE invalid_password */
const refusedPassword = '28P01';

/** Connected: an error of the server is thrown here. */
async function connectNamed(request: ToolTransfer, parts: MetadataDatabase): Promise<Sql> {
  const literal = /^\[(.*)\]$/.exec(parts.host)?.[1];
  const addresses = request.metadb_addresses ?? (literal === undefined ? undefined : [literal]);
  const url = new URL('postgresql://host');
  url.hostname = parts.host;
  url.port = String(parts.port);
  url.username = encodeURIComponent(parts.user);
  url.password = encodeURIComponent(parts.password ?? '');
  url.pathname = `/${encodeURIComponent(parts.database)}`;
  const server = { host: literal ?? parts.host, port: parts.port };
  const openSocket = createCheckedSockets({
    servers: addresses?.map((to) => ({ ...server, to })) ?? [server],
    sslmode: request.metadb_sslmode ?? parts.sslMode,
    longestMessageBytes,
    mayAskPlainPassword: request.metadb_plain_password ?? false,
  });
  const sql = connectPostgres(url.href, {
    applicationName: 'conversion-job-service migrate',
    max: 1,
    idOrg: String(request.id_org ?? 1),
    openSocket: () => openSocket().then(({ socket }) => closeWhenStalled(socket, stallMs)),
  });
  try {
    await sql`select 1`;
    return sql;
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
}

async function requireInstallation(sql: Sql, command: TransferCommand): Promise<void> {
  const [found] = await sql<{ ready: boolean }[]>`select to_regnamespace('svc') is not null as ready`;
  // An empty database becomes an installation; one of another version is its own service's to change
  if (found?.ready !== true && command === 'import') await migrate(sql);
  else if (found?.ready !== true)
    throw new AppError('not_found', 'that database is not the metadata database of an installation');
  else if ((await missingMigrations(sql)).length > 0)
    throw new AppError(
      'conflict',
      'that metadata database is of an older version: start its service once with this one',
    );
}

async function openOwn(
  home: OpenedInstallation<JobFiles>,
  command: TransferCommand,
  request: ToolTransfer,
): Promise<TransferDatabase> {
  const { jobs } = home.adapters;
  const { leaseMs } = home.config.limits;
  const idOrg = request.id_org ?? 1;
  const idSch = Number(request.origin_id);
  const known = command === 'export' && (await home.adapters.catalog.findOrigin(idOrg, idSch)) !== null;
  const claim = await jobs.startByHand(
    {
      jobType: command === 'export' ? 'Export' : 'Import',
      tool: 'migrate',
      ...shownTransfer(command, request, createMask(secretsOfTransfer(request))),
      request: JSON.stringify({ tool: 'migrate', command }),
      idSch: known ? idSch : null,
      idParentJob: null,
    },
    idOrg,
    readWorkerIdentity(process.cwd()),
    leaseMs,
  );
  await jobs.report(claim, { idApp: `local-${Date.now()}` });
  const lease = keepLeaseByHand(home, claim, leaseMs, (why) => {
    if (why === 'kill') process.kill(process.pid, 'SIGTERM');
  });
  return {
    store: createPostgresTransferStore(home.sql),
    idOrg,
    idJob: claim.idJob,
    async finish(failure) {
      await lease.stop();
      // an import that has completed has ended its record
      await jobs.report(claim, failure === null ? { progress: 1 } : { failure });
      await jobs.finish(claim, failure === null ? 'completed' : 'failed', failure);
    },
    close: () => home.close(),
  };
}

// Reads the request of the command `migrate`: words of a command line, or the file that the service passes.

const text = z.string().optional();
const addresses = z.array(z.string()).readonly().optional();

/** Members of the request file. Those of the service's own making come last. */
const requestFile = z.strictObject({
  origin_id: text,
  output_path: text,
  az_output_path: text,
  input_path: text,
  az_input_path: text,
  metadb_host: text,
  metadb_port: text,
  metadb_user: text,
  metadb_db: text,
  metadb_password: text,
  azcopy_binary: text,
  id_org: z.int().optional(),
  id_job: z.int().optional(),
  metadb_sslmode: text,
  /** the database may ask for the password as text or MD5 without TLS */
  metadb_plain_password: z.boolean().optional(),
  /** for the same user, if the server refuses `metadb_password` */
  metadb_own_password: text,
  /** addresses that were checked: the only ones to connect to */
  metadb_addresses: addresses,
  az_addresses: addresses,
});
export type ToolTransfer = Readonly<z.infer<typeof requestFile>>;

export interface TransferCall {
  readonly command: TransferCommand;
  readonly request: ToolTransfer;
}

export const transferUsage = `migrate export --request FILE        FILE has the members of POST /v2/schema/export as JSON
migrate import --request FILE        ... of POST /v2/schema/import
migrate export -x ORIGIN -o FOLDER   the schema with all its versions, from the service's own database
migrate import -i FOLDER             what a package holds, under new ids
  --metadb-host HOST [--metadb-port N] [--metadb-user NAME] [--metadb-db NAME]
                                     another metadata database; PGPASSWORD is its password

A cloud location holds a token, which belongs into a file, not into a command line; so does metadb_password.
The last line of the output is the answer as JSON: {"error":false,"origin_ids":"12, 13"}`;

/** AppError `invalid_option` for an invalid call; the message never repeats a value of the file. */
export async function readTransferCall(argv: readonly string[]): Promise<TransferCall> {
  const [command, ...words] = argv;
  if (command !== 'export' && command !== 'import') throw wrong('the first word is export or import');
  const values = parseWords(words);
  if (values.request !== undefined && Object.keys(values).length > 1)
    throw wrong('--request takes everything from its file');
  const request =
    values.request !== undefined ? await readRequest(values.request) : fromWords(command, values);
  if (command === 'export') {
    if (!/^\d{1,16}$/.test(request.origin_id ?? ''))
      throw wrong('an export needs the digits of an origin id');
    if (!request.output_path === !request.az_output_path)
      throw wrong('an export needs exactly one of output_path and az_output_path');
  } else if (!request.input_path) throw wrong('an import needs input_path');
  return { command, request };
}

type Words = Readonly<Partial<Record<(typeof wordNames)[number], string>>>;

/** Members that other users of the machine would see in a command line: an error names the right place for them. */
const secretWords = ['az-output-path', 'az-input-path', 'metadb-password'] as const;
const databaseWords = ['metadb-host', 'metadb-port', 'metadb-user', 'metadb-db'] as const;
const wordNames = ['request', 'origin', 'out', 'in', ...databaseWords, ...secretWords] as const;

function parseWords(words: readonly string[]): Words {
  try {
    const letters: Readonly<Partial<Record<string, string>>> = { origin: 'x', out: 'o', in: 'i' };
    const options = wordNames.map((name) => {
      const short = letters[name];
      return [name, { type: 'string' as const, ...(short === undefined ? {} : { short }) }] as const;
    });
    return parseArgs({ args: [...words], options: Object.fromEntries(options) }).values as Words;
  } catch (error) {
    throw wrong((error as Error).message);
  }
}

function fromWords(command: TransferCommand, words: Words): ToolTransfer {
  const { origin, out, in: source } = words;
  const paths = [out, source].filter((path) => path !== undefined);
  if (words['metadb-password'] !== undefined)
    throw wrong(
      'give the password in PGPASSWORD or in the file of --request: on the command line, other users could see it',
    );
  if (paths.some((path) => /^https?:/i.test(path)) || secretWords.some((name) => words[name] !== undefined))
    throw wrong(
      'give a cloud location in the file of --request: on the command line, other users could see its token',
    );
  const named = databaseWords.flatMap((name) =>
    words[name] === undefined ? [] : [[name.replaceAll('-', '_'), words[name]] as const],
  );
  const database: MetadbFields = Object.fromEntries(named);
  if (command === 'import')
    return { ...database, ...(source === undefined ? {} : { input_path: resolve(source) }) };
  return { ...database, origin_id: origin, ...(out === undefined ? {} : { output_path: resolve(out) }) };
}

async function readRequest(file: string): Promise<ToolTransfer> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw wrong(`the file of --request ${code === undefined ? 'is not JSON' : `cannot be read (${code})`}`);
  }
  const { data, error } = requestFile.safeParse(value);
  if (data !== undefined) return data;
  const [issue] = error.issues;
  const member = issue!.code === 'unrecognized_keys' ? issue!.keys[0] : issue!.path[0];
  if (member === undefined) throw wrong('the file of --request is not a JSON object');
  throw wrong(`the member ${JSON.stringify(member)} of the file is unknown or has the wrong type`);
}

/** Returns the secrets of a request, which no log and no record may contain. */
export function secretsOfTransfer(request: ToolTransfer): readonly string[] {
  const locations = [request.az_output_path, request.az_input_path].flatMap((text) => {
    const location = text ? parseCloudLocation(text) : { fault: '' };
    return 'fault' in location ? [] : location.secrets;
  });
  const passwords = [request.metadb_password, request.metadb_own_password];
  return [...locations, ...passwords.flatMap((text) => text || [])];
}

function wrong(detail: string): AppError {
  return new AppError('invalid_option', detail);
}
