/** Decides which addresses the connections of a job's database target may reach. */
import { createOutgoingGuard } from '../../service/access/outgoing-guard.ts';
import { createHostResolver } from '../../network/host-resolver.ts';
import { isMetadataDatabase } from '../../service/jobs/request/check-access.ts';
import type { Target } from '../../service/jobs/request/target.ts';
import type { ToolSession } from '../session/tool-session.ts';

/**
 * Returns the checked addresses of the target's host, resolved once for all connections of the run; none for a person's own run, which
 * the operator's list does not restrict, and for the metadata database. AppError `host_not_allowed` if the operator does not allow it.
 */
export async function targetAddresses(
  session: ToolSession,
  target: Extract<Target, { kind: 'postgresql' | 'mysql' }>,
): Promise<{ readonly addresses?: readonly string[] }> {
  const { config } = session.home;
  const isOwn = target.kind === 'postgresql' && isMetadataDatabase(config.metadbUrl, target);
  if (session.byHand || isOwn) return {};
  const guard = createOutgoingGuard(config.allowedHosts, createHostResolver());
  return { addresses: (await guard.check(target.host, target.port)).addresses };
}
