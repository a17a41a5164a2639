/** From the text of a target (`-i`) to where its rows are; the code that reads or removes them is loaded when it is used. */
import { AppError } from '../errors.ts';
import { parseTarget } from '../jobs/target.ts';
import type { RowRemover } from '../ports/row-remover.ts';
import type { RowSource } from '../ports/row-source.ts';
import { connectionUrl } from './open-sink.ts';
import { targetAddresses } from './target-addresses.ts';
import type { ToolSession } from './tool-session.ts';

export async function chooseRowSource(session: ToolSession): Promise<RowSource> {
  const place = await postgresPlace(session);
  const { createPostgresRowSource } = await import('../adapters/postgres/postgres-row-source.ts');
  return createPostgresRowSource(place);
}

export async function chooseRowRemover(session: ToolSession): Promise<RowRemover> {
  const place = await postgresPlace(session);
  const { createPostgresRowRemover } = await import('../adapters/postgres/postgres-row-remover.ts');
  return createPostgresRowRemover(place);
}

/** A SQL schema of a PostgreSQL database, and as whom it is read. */
interface PostgresPlace {
  readonly url: string;
  readonly sqlSchema: string;
  readonly label: string;
  readonly addresses?: readonly string[];
  readonly setRole?: string;
}

async function postgresPlace(session: ToolSession): Promise<PostgresPlace> {
  const { request, home, idOrg } = session;
  const target = parseTarget(request.in!);
  if ('fault' in target) throw new AppError('invalid_option', `-i: the target ${target.fault}`);
  if (target.kind !== 'metadb' && target.kind !== 'postgresql') {
    throw new AppError(
      'invalid_option',
      `-i: ${request.tool} knows targets postgresql:// and metadb:; files are written anew by another load (-S o)`,
    );
  }
  const { sqlSchema } = target;
  if (target.kind === 'postgresql') {
    return {
      url: connectionUrl(target, request.outUser, request.outPassword),
      ...(await targetAddresses(session, target)),
      sqlSchema,
      label: `${target.address}?schema=${sqlSchema}`,
    };
  }
  const { loaderRole } = await import('../adapters/postgres/loader-role.ts');
  // another organisation's rows are none of ours
  await home.adapters.catalog.claimTargetSchema(idOrg, sqlSchema);
  const restricted = home.roles.loader;
  return {
    url: home.databaseUrl,
    sqlSchema,
    label: `metadb:${sqlSchema}`,
    ...(restricted ? { setRole: loaderRole } : {}),
  };
}
