/** The metadata database of a transfer: the one that its request names, or that of the home folder, which then also has a job record. */
import { createCheckedSockets } from '../../adapters/postgres/client/checked-socket.ts';
import { connectPostgres, type Sql } from '../../adapters/postgres/client/connect.ts';
import { migrate, missingMigrations } from '../../adapters/postgres/metadb/schema/run-migrations.ts';
import { targetFault } from '../../targets/sql/postgres/connection.ts';
import { createPostgresTransferStore } from '../../adapters/postgres/metadb/transfer-store.ts';
import { closeWhenStalled } from '../../adapters/postgres/client/watched-socket.ts';
import { AppError } from '../../errors.ts';
import { createMask } from '../../jobs/secrets/mask-secrets.ts';
import { databaseOf } from '../../transfer/metadata-database.ts';
import { shownTransfer } from '../../transfer/run-transfer.ts';
import type { MetadataDatabase, TransferCommand } from '../../ports/processes.ts';
import type { TransferStore } from '../../ports/stores/transfer.ts';
import { readAddress } from '../../runtime/transfers.ts';
import { openInstallation, type OpenedInstallation } from '../../runtime/open/installation.ts';
import { readWorkerIdentity } from '../../runtime/worker-identity.ts';
import { keepLeaseByHand } from '../lease/by-hand.ts';
import { secretsOfTransfer, type ToolTransfer } from './request.ts';

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
  home: OpenedInstallation,
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
