/** From the text of a target (`-i`) to the source of its rows; the code of a source is loaded when it is used. */
import { AppError } from '../errors.ts';
import { parseTarget } from '../jobs/target.ts';
import type { RowSource } from '../ports/row-source.ts';
import { connectionUrl } from './open-sink.ts';
import { targetAddresses } from './target-addresses.ts';
import type { ToolSession } from './tool-session.ts';

export async function chooseRowSource(session: ToolSession): Promise<RowSource> {
  const { request, home, idOrg } = session;
  const target = parseTarget(request.in!);
  if ('fault' in target) throw new AppError('invalid_option', `-i: the target ${target.fault}`);
  if (target.kind !== 'metadb' && target.kind !== 'postgresql') {
    throw new AppError('invalid_option', '-i: this version of er2xml reads postgresql:// and metadb:');
  }
  const { createPostgresRowSource } = await import('../adapters/postgres/postgres-row-source.ts');
  const { sqlSchema } = target;
  if (target.kind === 'postgresql') {
    return createPostgresRowSource({
      url: connectionUrl(target, request.outUser, request.outPassword),
      ...(await targetAddresses(session, target)),
      sqlSchema,
      label: `${target.address}?schema=${sqlSchema}`,
    });
  }
  const { loaderRole } = await import('../adapters/postgres/loader-role.ts');
  // another organisation's rows are none of ours
  await home.adapters.catalog.claimTargetSchema(idOrg, sqlSchema);
  const restricted = home.roles.loader;
  return createPostgresRowSource({
    url: home.databaseUrl,
    sqlSchema,
    label: `metadb:${sqlSchema}`,
    ...(restricted ? { setRole: loaderRole } : {}),
  });
}
