/** Connections of the launcher itself to the server of a folder. */
import postgres from 'postgres';
import { embeddedUser } from './process.ts';
import type { ClusterFolder, Postmaster } from './state.ts';

/** One connection, through the server's Unix socket if it has one. The server's process must have been checked (`servesFolder`). */
export function connectToServer(
  folder: ClusterFolder,
  { port, socketFolder }: Pick<Postmaster, 'port' | 'socketFolder'>,
  applicationName: string,
): postgres.Sql {
  return postgres(`postgres://${embeddedUser}:${folder.password}@127.0.0.1:${port}/postgres`, {
    ...(socketFolder === null ? {} : { path: `${socketFolder}/.s.PGSQL.${port}` }),
    max: 1,
    fetch_types: false,
    connect_timeout: 10,
    connection: { application_name: applicationName },
  });
}
