/** A PostgreSQL target of a job: where it is, and as whom it is reached; for reading (`-i`) as for writing (`-o`). */
import { AppError } from '../../errors.ts';
import { isHostAllowed, type Target } from '../../jobs/request/target.ts';
import type { ToolSession } from '../session/tool-session.ts';

export type DatabaseTarget = Extract<Target, { kind: 'metadb' | 'postgresql' }>;

/** A SQL schema of a database. */
export interface PostgresLocation {
  readonly url: string;
  readonly sqlSchema: string;
  readonly label: string;
  /** the only ones to connect to; absent: as the name resolves */
  readonly addresses?: readonly string[];
  readonly setRole?: string;
  readonly longestMessageBytes?: number;
  readonly mayAskPlainPassword?: boolean;
}

/** The metadata database is reached under the organisation's loader role, which owns only its target schemas, if the database allows such a role. */
export async function postgresLocation(
  session: ToolSession,
  target: DatabaseTarget,
  use: 'read' | 'load',
): Promise<PostgresLocation> {
  const { request, home } = session;
  const { sqlSchema } = target;
  if (target.kind === 'postgresql') {
    const { targetAddresses } = await import('./addresses.ts');
    return {
      url: connectionUrl(target, request.outUser, request.outPassword),
      ...(await targetAddresses(session, target)),
      longestMessageBytes: home.config.limits.targetMessageBytes,
      mayAskPlainPassword: isHostAllowed(home.config.plainPasswordHosts, target.host, target.port),
      sqlSchema,
      label: `${target.address}?schema=${sqlSchema}`,
    };
  }
  await claimSqlSchema(session, sqlSchema, use);
  const setRole = await home.loaderRole(session.idOrg, sqlSchema);
  return {
    url: home.databaseUrl,
    sqlSchema,
    label: `metadb:${sqlSchema}`,
    ...(setRole === null ? {} : { setRole }),
  };
}

/** Another organisation's rows are none of ours; nobody's are those of whoever may read the home folder. */
async function claimSqlSchema(
  { home, idOrg, idJob, byHand }: ToolSession,
  sqlSchema: string,
  use: 'read' | 'load',
): Promise<void> {
  const { catalog } = home.adapters;
  if (use === 'load') {
    const mostNames = home.config.limits.targetNames;
    await catalog.claimTargetSchema(idOrg, sqlSchema, { idJob, mostNames });
  } else if (!(await catalog.ownsTargetSchema(idOrg, sqlSchema)) && !byHand)
    throw new AppError('input_not_found', `metadb:${sqlSchema}: nothing has been loaded there`);
}

/** The address to connect to, with the credentials of the request before those in the target's text. */
export function connectionUrl(
  target: Extract<Target, { kind: 'postgresql' }>,
  user?: string,
  password?: string,
): string {
  const url = new URL(
    `postgresql://${target.host}:${target.port}/${encodeURIComponent(target.database ?? 'postgres')}`,
  );
  url.username = encodeURIComponent(user ?? target.user ?? '');
  url.password = encodeURIComponent(password ?? target.password ?? '');
  if (target.sslmode !== null) url.searchParams.set('sslmode', target.sslmode);
  return url.href;
}
