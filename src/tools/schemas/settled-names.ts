/** `-x NAME` and `-l NAME`: ids in place of names. */
import { logicalNamed, originNamed } from '../../catalog/schemas/named.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';

/** The session with ids alone. AppError `not_found`, `conflict`. */
export async function settleNames(session: ToolSession): Promise<ToolSession> {
  const { request, idOrg, home, log } = session;
  const { originId, logicalName } = request;
  const { catalog } = home.adapters;
  if (logicalName !== undefined) {
    const logicalId = await logicalNamed(catalog, idOrg, logicalName);
    return settledSession(session, { ...request, logicalId, logicalName: undefined });
  }
  if (originId === undefined || !('name' in originId)) return session;
  const { origin, versions } = await originNamed(catalog, idOrg, originId.name);
  const version = versions > 1 ? `, version ${origin.version}, the newest` : '';
  log(`-x ${originId.name}: origin ${origin.id_sch}${version}`);
  return settledSession(session, { ...request, originId: { id: origin.id_sch } });
}
