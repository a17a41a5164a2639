/** From the text of a target (`-o`) to the sink that takes its rows; the code of a sink is loaded when it is used. */
import { resolve } from 'node:path';
import { AppError } from '../errors.ts';
import { parseTarget, type Target } from '../jobs/target.ts';
import type { RowSink } from '../ports/row-sink.ts';
import { targetAddresses } from './target-addresses.ts';
import { isElsewhere, placeHere } from './object-places.ts';
import type { ToolSession } from './tool-session.ts';

/** how long a job waits for others that write into the same folder */
const lockTimeoutMs = 15 * 60_000;

export async function openSink(session: ToolSession): Promise<RowSink> {
  const { request } = session;
  const target = parseTarget(request.out!);
  if ('fault' in target) throw new AppError('invalid_option', `-o: the target ${target.fault}`);
  switch (target.kind) {
    case 'metadb':
      return openMetadbSink(session, target.sqlSchema);
    case 'postgresql': {
      const { createPostgresRowSink } = await import('../adapters/postgres/postgres-row-sink.ts');
      return createPostgresRowSink({
        url: connectionUrl(target, request.outUser, request.outPassword),
        ...(await targetAddresses(session, target)),
        sqlSchema: target.sqlSchema,
        label: `${target.address}?schema=${target.sqlSchema}`,
        createSchema: true,
      });
    }
    case 'folder': {
      const { createFolderRowSink } = await import('../adapters/node/folder-row-sink.ts');
      const directory = session.byHand ? resolve(target.path) : await session.resolvePath(target.path, false);
      if (isElsewhere(directory)) return openObjectFolder(session, directory, target.path);
      return createFolderRowSink({ directory, format: request.format ?? 'csv' });
    }
    case 'duckdb': {
      const { createDuckDbRowSink } = await import('../adapters/node/duckdb-row-sink.ts');
      const file = session.byHand ? resolve(target.file) : await session.resolvePath(target.file, false);
      if (isElsewhere(file))
        throw new AppError(
          'invalid_option',
          '-o: a DuckDB file needs a folder of the machine, not the shared store',
        );
      return createDuckDbRowSink({ file });
    }
  }
}

/** A folder of the shared store; the metadata database, which all machines have in common, holds its lock. */
async function openObjectFolder(session: ToolSession, location: string, label: string): Promise<RowSink> {
  const { createObjectFolderRowSink } = await import('../adapters/node/object-folder-row-sink.ts');
  const { takeAdvisoryLock } = await import('../adapters/postgres/advisory-lock.ts');
  return createObjectFolderRowSink({
    files: session.home.adapters.files,
    location,
    label,
    format: session.request.format ?? 'csv',
    idJob: session.idJob,
    staging: placeHere(session, 'out'),
    lock: () => takeAdvisoryLock(session.home.sql, `conversion-job-service ${location}`, lockTimeoutMs),
  });
}

/** A SQL schema of the metadata database, under a role that cannot touch the service's own tables where one can be made. */
async function openMetadbSink(session: ToolSession, sqlSchema: string): Promise<RowSink> {
  const { home, idOrg } = session;
  const { createPostgresRowSink } = await import('../adapters/postgres/postgres-row-sink.ts');
  const { loaderRole } = await import('../adapters/postgres/loader-role.ts');
  await home.adapters.catalog.claimTargetSchema(idOrg, sqlSchema);
  const restricted = home.roles.loader;
  if (!restricted)
    session.log('the metadata database lets us make no role for loading: rows are written as its own user');
  return createPostgresRowSink({
    url: home.databaseUrl,
    sqlSchema,
    label: `metadb:${sqlSchema}`,
    createSchema: true,
    ...(restricted ? { setRole: loaderRole } : {}),
  });
}

/** The address to connect to, with the credentials of the request before those in the target's text. */
export function connectionUrl(
  target: Extract<Target, { kind: 'postgresql' }>,
  user: string | undefined,
  password: string | undefined,
): string {
  const url = new URL(
    `postgresql://${target.host}:${target.port}/${encodeURIComponent(target.database ?? 'postgres')}`,
  );
  url.username = encodeURIComponent(user ?? target.user ?? '');
  url.password = encodeURIComponent(password ?? target.password ?? '');
  if (target.sslmode !== null) url.searchParams.set('sslmode', target.sslmode);
  return url.href;
}
