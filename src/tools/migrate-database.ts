/** The database a migration works on: the one its request names, or that of the home folder, where it also has a job record. */
import { connectPostgres } from '../adapters/postgres/connect.ts';
import { migrate, missingMigrations } from '../adapters/postgres/migrate.ts';
import { createPostgresMigrationStore } from '../adapters/postgres/migration-store.ts';
import { AppError } from '../errors.ts';
import { createMask } from '../jobs/mask-secrets.ts';
import { databaseOf } from '../migration/metadata-database.ts';
import { shownMigration } from '../migration/shown-request.ts';
import type { MigrationCommand } from '../ports/migration-program.ts';
import type { MigrationStore } from '../ports/migration-store.ts';
import { openHome } from '../runtime/open.ts';
import { readWorkerIdentity } from '../runtime/worker-identity.ts';
import { secretsOfMigration } from './migrate-request.ts';
import type { ToolMigration } from './migrate-request.ts';

export interface MigrationDatabase {
  readonly store: MigrationStore;
  readonly idOrg: number;
  /** the job that the origins are said to come from, where the database knows it */
  readonly idJob: number | null;
  /** Ends the record of a run by hand; a run of the service has its own. */
  finish(failure: string | null): Promise<void>;
  close(): Promise<void>;
}

const leaseMs = 30_000;
/** a kill is heard within it */
const heartbeatMs = 2_000;

export async function openMigrationDatabase(
  command: MigrationCommand,
  request: ToolMigration,
): Promise<MigrationDatabase> {
  return request.metadb_host ? openNamed(command, request, request.metadb_host) : openOwn(command, request);
}

async function openNamed(
  command: MigrationCommand,
  request: ToolMigration,
  host: string,
): Promise<MigrationDatabase> {
  const idOrg = request.id_org ?? 1;
  const given = databaseOf({ ...request, metadb_host: host });
  const parts = { ...given, password: given.password ?? (process.env['PGPASSWORD'] || null) };
  const literal = /^\[(.*)\]$/.exec(parts.host)?.[1];
  const addresses = request.metadb_addresses ?? (literal === undefined ? undefined : [literal]);
  const url = new URL('postgresql://host');
  url.hostname = parts.host;
  url.port = String(parts.port);
  url.username = encodeURIComponent(parts.user);
  url.password = encodeURIComponent(parts.password ?? '');
  url.pathname = `/${encodeURIComponent(parts.database)}`;
  url.searchParams.set('sslmode', request.metadb_sslmode ?? parts.sslMode);
  const sql = connectPostgres(url.href, {
    applicationName: 'conversion-job-service migrate',
    max: 1,
    idOrg: String(idOrg),
    ...(addresses === undefined ? {} : { addresses }),
  });
  try {
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
  } catch (error) {
    await sql.end({ timeout: 1 });
    throw error;
  }
  return {
    store: createPostgresMigrationStore(sql),
    idOrg,
    idJob: request.id_job ?? null,
    finish: () => Promise.resolve(),
    close: () => sql.end({ timeout: 5 }),
  };
}

async function openOwn(command: MigrationCommand, request: ToolMigration): Promise<MigrationDatabase> {
  const home = await openHome(process.env, {
    role: 'tool',
    write: (line) => void (line.includes('"level":"info"') ? true : process.stderr.write(line)),
  });
  const { jobs } = home.adapters;
  const idOrg = request.id_org ?? 1;
  const idSch = Number(request.origin_id);
  const known = command === 'export' && (await home.adapters.catalog.findOrigin(idOrg, idSch)) !== null;
  const claim = await jobs.startByHand(
    {
      jobType: command === 'export' ? 'Export' : 'Import',
      tool: 'migrate',
      ...shownMigration(command, request, createMask(secretsOfMigration(request))),
      request: JSON.stringify({ tool: 'migrate', command }),
      idSch: known ? idSch : null,
      idParentJob: null,
    },
    idOrg,
    readWorkerIdentity(process.cwd()),
    leaseMs,
  );
  await jobs.report(claim, { idApp: `local-${Date.now()}` });
  const beat = setInterval(() => {
    jobs.heartbeat(claim, leaseMs).then(
      (answer) => {
        if (answer === 'kill') process.kill(process.pid, 'SIGTERM');
      },
      () => undefined,
    );
  }, heartbeatMs);
  beat.unref();
  return {
    store: createPostgresMigrationStore(home.sql),
    idOrg,
    idJob: claim.idJob,
    async finish(failure) {
      clearInterval(beat);
      // an import that has completed has ended its record
      await jobs.report(claim, failure === null ? { progress: 1 } : { failure });
      await jobs.finish(claim, failure === null ? 'C' : 'F', failure);
    },
    close: () => home.close(),
  };
}
