/** Watches whether the metadata database still has the version of this program while other releases may migrate it. */
import { AppError } from '../errors.ts';
import type { Logger } from '../ports/environment.ts';
import type { Sql } from '../postgres/connect.ts';
import { appliedAsJson, newestMigration, versionFault, areAllApplied } from './migrations.ts';
import { areLoaderRolesReady, serviceRoleReady } from '../postgres/roles.ts';

interface DatabaseVersion {
  /** newest migration of the database */
  readonly database: string;
  /** newest migration that this program knows */
  readonly program: string;
  /** why this program must not work on the database; null if it may */
  readonly fault: string | null;
}

export interface VersionWatch {
  /** The result of the latest successful check. */
  current(): DatabaseVersion;
  /** Checks now; rejects if the database does not answer. */
  check(): Promise<DatabaseVersion>;
  /** Throws AppError `service_unavailable` while the version does not fit. */
  requireFit(): void;
  stop(): void;
}

/** A database that was migrated is noticed within this time. */
const checkMs = 2_000;

/** Checks every two seconds until `stop`. A database that does not answer keeps the latest result. */
export function watchVersion(sql: Sql, logger: Logger): VersionWatch {
  const program = newestMigration();
  let current: DatabaseVersion = { database: program, program, fault: null };
  let stopped = false;

  async function check(): Promise<DatabaseVersion> {
    const [row] = await sql<{ migrations: string | null; newest: string | null }[]>`
      select ${appliedAsJson(sql)} as migrations, (select max(name collate "C") from svc.migration) as newest`;
    const fault = versionFault(row?.migrations ?? null);
    const before = current.fault;
    current = { database: row?.newest ?? '', program, fault };
    if (fault !== null && fault !== before)
      logger.error('no jobs are claimed: upgrade this process, or stop it', { ...current });
    if (fault === null && before !== null)
      logger.info('the metadata database fits again: jobs are claimed', {
        database: current.database,
        program,
      });
    return current;
  }

  async function loop(): Promise<void> {
    // the pool reports an outage to callers that need an answer
    await check().catch(() => undefined);
    if (!stopped) timer = setTimeout(() => void loop(), checkMs);
  }
  let timer = setTimeout(() => void loop(), checkMs);

  return {
    current: () => current,
    check,
    requireFit() {
      if (current.fault !== null) throw new AppError('service_unavailable', current.fault);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

// Whether a metadata database needs nothing done to it: one question, as each run of a tool asks.

/**
 * Asked under the service's role: all migrations are there, and the roles have their rights. AppError as `migrate`, for a newer
 * version.
 */
export async function isDatabaseReady(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ migrations: string | null; service: boolean | null; loader: boolean | null }[]>`
    select ${appliedAsJson(sql)} as migrations, ${serviceRoleReady(sql)} as service, ${areLoaderRolesReady(sql)} as loader`;
  return row?.service === true && row.loader === true && areAllApplied(row.migrations);
}
