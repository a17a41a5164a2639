/** Loads statistics of documents from earlier jobs. */
import type { DocumentStatistics } from '../../engine/infer/statistics.ts';
import type { ToolSession } from '../session/tool-session.ts';

/** `-a`: returns the statistics from earlier jobs; the origin's own statistics already include its jobs. */
export async function storedStatistics(
  { request, home, idOrg }: ToolSession,
  idSch: number | null,
): Promise<readonly DocumentStatistics[]> {
  const { catalog } = home.adapters;
  if (request.useStats === undefined) return [];
  const found = await catalog.loadStatistics(idOrg, request.useStats);
  const isOwn = await Promise.all(
    request.useStats.map(
      async (idJob) => idSch !== null && (await catalog.loadJobStatistics(idOrg, idSch, idJob)) !== null,
    ),
  );
  return found.filter((_, at) => !isOwn[at]) as DocumentStatistics[];
}
