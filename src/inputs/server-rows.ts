/** Rows of a query of a server of databases, read by jobs (`--from`) and by the schedulers of watches. */
import { createHash } from 'node:crypto';
import { maskSecrets } from '../service/jobs/mask-secrets.ts';
import type { QueryMark } from '../ports/stores/watches.ts';
import type { ToolRequest } from '../service/jobs/request/tool-request.ts';
import type { RowServer } from '../service/jobs/request/row-source.ts';
import { connectionUrl, isHostAllowed } from '../service/jobs/request/target.ts';
import type { Config } from '../config/shape.ts';
import type { QueryRows } from '../ports/row-source.ts';

// Identifies the progress of loads of rows (`--after`). Jobs that load rows, and schedulers that check for new rows, use the same identity.

/**
 * Returns the identity of a mark: the query and the destination of its rows; a watch has marks of its own. `place`: name for messages.
 */
export function markSourceOf(
  { query, xmlColumn, after, out = '', watched }: ToolRequest,
  place: string,
): string {
  const asked = [place, query ?? null, xmlColumn ?? null, after!.column, maskSecrets(out)];
  const own = watched?.watch === undefined ? [] : [`watch ${watched.watch}`];
  return createHash('sha256')
    .update(JSON.stringify([...asked, ...own]))
    .digest('hex');
}

/**
 * The newest mark whose rows are in the target; null: none are. `isLoaded`: of a job that ended before it could say so itself, asked
 * from the newest on.
 */
export async function lastLoaded(
  all: readonly QueryMark[],
  isLoaded: (mark: QueryMark) => Promise<boolean>,
): Promise<QueryMark | null> {
  for (const mark of all) if (mark.settled || (await isLoaded(mark))) return mark;
  return null;
}

/** Returns a digest that distinguishes a row from others with the same value in the column of `--after`. */
export function rowDigest(name: string, document: string | Uint8Array | null): string {
  return createHash('sha256')
    .update(`${name}\0`)
    .update(document ?? '')
    .digest('base64url');
}

// Opens the rows of a query.

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
    const { openMysqlQuery } = await import('../targets/sql/mysql/query.ts');
    const { database, user, password, sslmode } = server;
    const address = { host, port, database, user: user ?? '', password: password ?? '', sslmode, label };
    const longestMessageBytes = config.limits.targetMessageBytes;
    return openMysqlQuery({ ...address, ...checked, longestMessageBytes }, query);
  }
  const { openPostgresQuery } = await import('../targets/sql/postgres/query.ts');
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
