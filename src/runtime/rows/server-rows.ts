/** Rows of a query of a server of databases, read by jobs (`--from`) and by the schedulers of watches. */
import type { RowServer } from '../../jobs/request/row-source.ts';
import { connectionUrl, isHostAllowed } from '../../jobs/request/target.ts';
import type { Config } from '../../config/shape.ts';
import type { QueryRows } from '../../ports/rows/query.ts';

export interface ServerRowsOptions {
  readonly config: Pick<Config, 'plainPasswordHosts'> & {
    readonly limits: Pick<Config['limits'], 'targetMessageBytes'>;
  };
  /** addresses that were checked; absent: for a person's own run, which the operator's list does not restrict */
  readonly addresses?: readonly string[];
}

/** The code that reads them is loaded when it is used. AppErrors of the server. */
export async function openServerRows(
  server: RowServer,
  query: string,
  { config, ...checked }: ServerRowsOptions,
): Promise<QueryRows> {
  const { host, port, address: label } = server;
  if (server.kind === 'mysql') {
    const { openMysqlQuery } = await import('../../targets/sql/mysql/query.ts');
    const { database, user, password, sslmode } = server;
    const address = { host, port, database, user: user ?? '', password: password ?? '', sslmode, label };
    const longestMessageBytes = config.limits.targetMessageBytes;
    return openMysqlQuery({ ...address, ...checked, longestMessageBytes }, query);
  }
  const { openPostgresQuery } = await import('../../targets/sql/postgres/query.ts');
  return openPostgresQuery(
    {
      url: connectionUrl(server),
      ...checked,
      longestMessageBytes: config.limits.targetMessageBytes,
      mayAskPlainPassword: isHostAllowed(config.plainPasswordHosts, host, port),
      label,
    },
    query,
  );
}
