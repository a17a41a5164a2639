/** From the text of a target (`-i`) to where its rows are; the code that reads or removes them is loaded when it is used. */
import { resolve } from 'node:path';
import { AppError } from '../errors.ts';
import { parseTarget, type Target } from '../jobs/target.ts';
import type { RowRemover } from '../ports/row-remover.ts';
import type { RowSource } from '../ports/row-source.ts';
import { connectionUrl } from './open-sink.ts';
import { targetAddresses } from './target-addresses.ts';
import { broughtHere } from './object-places.ts';
import type { ToolSession } from './tool-session.ts';

export async function chooseRowSource(session: ToolSession): Promise<RowSource> {
  const target = inputTarget(session);
  const place = (path: string): Promise<string> =>
    session.byHand
      ? Promise.resolve(resolve(path))
      : session
          .resolvePath(path, true)
          .then(async (location) => (await broughtHere(session, [location]))[0]!);
  switch (target.kind) {
    case 'duckdb': {
      const { createDuckDbRowSource } = await import('../adapters/node/duckdb-row-source.ts');
      return createDuckDbRowSource({ file: await place(target.file) });
    }
    case 'folder': {
      const { createFolderRowSource } = await import('../adapters/node/folder-row-source.ts');
      return createFolderRowSource({ directory: await place(target.path) });
    }
    default: {
      const { createPostgresRowSource } = await import('../adapters/postgres/postgres-row-source.ts');
      return createPostgresRowSource(await postgresPlace(session, target));
    }
  }
}

export async function chooseRowRemover(session: ToolSession): Promise<RowRemover> {
  const target = inputTarget(session);
  if (target.kind === 'duckdb' || target.kind === 'folder') {
    throw new AppError(
      'invalid_option',
      '-i: unload knows targets postgresql:// and metadb:; files are written anew by another load (-S o)',
    );
  }
  const place = await postgresPlace(session, target);
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

function inputTarget({ request }: ToolSession): Target {
  const target = parseTarget(request.in!);
  if ('fault' in target) throw new AppError('invalid_option', `-i: the target ${target.fault}`);
  return target;
}

async function postgresPlace(
  session: ToolSession,
  target: Extract<Target, { kind: 'metadb' | 'postgresql' }>,
): Promise<PostgresPlace> {
  const { request, home, idOrg } = session;
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
