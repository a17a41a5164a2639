/** Servers that took a connection of a job. */
import { storable } from '../../client/connect.ts';
import type { Sql } from '../../client/connect.ts';

/** characters */
const longestServer = 1000;

/** Jobs that wait for the server are tried at once. Servers that were not reached for a year are forgotten. */
export async function noteReachedServer(sql: Sql, idOrg: number, server: string): Promise<void> {
  await sql`
    update svc.job set next_attempt = least(next_attempt, clock_timestamp())
     where id_org = ${idOrg} and status = 'W' and outage_since is not null
       and starts_with(coalesce(output_path, input_path), ${storable(server)})`;
  if (server.length > longestServer) return;
  await sql`
    with old as (
      delete from svc.reached_server
       where id_org = ${idOrg} and reached < statement_timestamp() - interval '1 year' and server <> ${storable(server)})
    insert into svc.reached_server as r (id_org, server) values (${idOrg}, ${storable(server)})
    on conflict (id_org, server) do update set reached = excluded.reached where r.reached < excluded.reached - interval '1 day'`;
}

export async function isReachedServer(sql: Sql, idOrg: number, server: string): Promise<boolean> {
  const [row] = await sql`
    select from svc.reached_server where id_org = ${idOrg} and server = ${storable(server)}`;
  return row !== undefined;
}
