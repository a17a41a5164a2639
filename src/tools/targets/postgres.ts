/** Targets in PostgreSQL: the user’s own server, or the metadata database; their addresses and users. */
import { AppError } from '../../errors.ts';
import { connectionUrl, isHostAllowed, type Target } from '../../service/jobs/request/target.ts';
import type { ToolSession } from '../session/tool-session.ts';
import { targetAddresses } from './addresses.ts';
import type { KindOfTarget } from './kind.ts';

type DatabaseTarget = Extract<Target, { kind: 'metadb' | 'postgresql' }>;

const postgres = {
  hasFormats: false,
  hasVersions: false,
  ddlDialect: () => 'postgresql',
  async openSink(session, target) {
    const { createPostgresRowSink } = await import('../../targets/sql/postgres/sink.ts');
    const connection = await postgresLocation(session, target, 'load');
    if (target.kind === 'metadb' && connection.setRole === undefined)
      session.log(
        "the metadata database does not allow a role for the loads of this organisation: rows are written as the service's own database user",
      );
    return createPostgresRowSink({
      ...connection,
      createSchema: true,
      unitConnections: session.home.config.limits.targetConnections,
    });
  },
  async openSource(session, target) {
    const { createPostgresRowSource } = await import('../../targets/sql/postgres/source.ts');
    return createPostgresRowSource(await postgresLocation(session, target, 'read'));
  },
  async openRemover(session, target) {
    const connection = await postgresLocation(session, target, 'read');
    const { createPostgresRowRemover } = await import('../../targets/sql/postgres/remover.ts');
    return createPostgresRowRemover(connection);
  },
} satisfies Omit<KindOfTarget<DatabaseTarget>, 'whatWasRun'>;

export const postgresqlKind: KindOfTarget<Extract<Target, { kind: 'postgresql' }>> = {
  ...postgres,
  whatWasRun: [
    {
      target: 'PostgreSQL, `metadb:`',
      driver: '`postgres` 3.4.9',
      transaction: 'one publishes rows, changes of tables and the ledger',
      run_against: '15.18, 16.14, 17.10 and 18.4, also behind PgBouncer 1.18',
    },
  ],
};

export const metadbKind: KindOfTarget<Extract<Target, { kind: 'metadb' }>> = { ...postgres, whatWasRun: [] };

/** A SQL schema of a database. */
interface PostgresLocation {
  readonly url: string;
  readonly sqlSchema: string;
  readonly label: string;
  /** the only ones to connect to; absent: as the name resolves */
  readonly addresses?: readonly string[];
  readonly setRole?: string;
  readonly longestMessageBytes?: number;
  readonly mayAskPlainPassword?: boolean;
}

/**
 * The metadata database is reached under the organisation's loader role, which owns only its target schemas, if the database allows
 * such a role.
 */
async function postgresLocation(
  session: ToolSession,
  target: DatabaseTarget,
  use: 'read' | 'load',
): Promise<PostgresLocation> {
  const { request, home } = session;
  const { sqlSchema } = target;
  if (target.kind === 'postgresql') {
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

/** Refuses another organisation's rows; rows without an owner belong to any user who can read the home folder. */
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
