/** Whether a metadata database needs nothing done to it: one question, as each run of a tool asks. */
import type { Sql } from '../../client/connect.ts';
import { areLoaderRolesReady } from '../../roles/loader-role.ts';
import { areAllApplied, appliedAsJson } from './run-migrations.ts';
import { serviceRoleReady } from '../../roles/service-role.ts';

/**
 * Asked under the service's role: all migrations are there, and the roles have their rights. AppError as `migrate`, for a newer
 * version.
 */
export async function isDatabaseReady(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ migrations: string | null; service: boolean | null; loader: boolean | null }[]>`
    select ${appliedAsJson(sql)} as migrations, ${serviceRoleReady(sql)} as service, ${areLoaderRolesReady(sql)} as loader`;
  return row?.service === true && row.loader === true && areAllApplied(row.migrations);
}
