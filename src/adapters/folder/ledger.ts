/** What a folder of tables says before a job opens it to write: the logical schemas that loaded it, and which columns keep a time zone. */
import type { ZonesThere, ZoneTable } from '../../ports/rows/sink.ts';
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import type { TargetManifest, ManifestJob } from './contents/manifest.ts';
import { readCommittedManifest } from './contents/manifest.ts';
import { jobOf, zonesOfManifest } from './contents/next-manifest.ts';
import { inPinnedFolder } from '../local-files/open-folder.ts';

/** Newest first; none where the folder is not there, or nothing was loaded into it. */
export async function readFolderLoads(
  directory: string,
  links: 'follow' | 'refuse',
): Promise<readonly TargetLoad[]> {
  const manifest = await inPinnedFolder(directory, links, readCommittedManifest);
  return manifest === null ? [] : loadsOf(manifest);
}

/** As `RowSink.zonesThere`. */
export async function readFolderZones(
  directory: string,
  links: 'follow' | 'refuse',
  tables: readonly ZoneTable[],
): Promise<ZonesThere> {
  const manifest = await inPinnedFolder(directory, links, readCommittedManifest);
  return manifest === null ? new Map() : zonesOfManifest(manifest, tables);
}

/** By number of a job: the logical schema that it loaded by, where the number stands for one job of that installation alone. */
export function logicalSchemaOfJob(
  jobs: readonly ManifestJob[],
  installation: string | undefined,
  job: number,
): number | null {
  const found = jobs.filter((candidate) => candidate.job === job);
  const [only] = found;
  const isOurs = installation === undefined || only?.installation === installation;
  return found.length === 1 && isOurs ? only!.id_lschma : null;
}

export function loadsOf({ jobs, tables }: TargetManifest): readonly TargetLoad[] {
  const present = new Set(tables.flatMap(({ files }) => files.map(jobOf)));
  const found = new Map<string, TargetLoad>();
  for (const job of newestFirst(jobs)) {
    const { installation, id_sch: idSch, id_lschma: idLschma } = job;
    const key = JSON.stringify([installation, idSch, idLschma]);
    const holds = present.has(jobOf(job)) || found.get(key)?.holds === true;
    found.set(key, { installation, idSch, idLschma, holds });
  }
  return [...found.values()];
}

function newestFirst(jobs: readonly ManifestJob[]): readonly ManifestJob[] {
  return jobs.toSorted((a, b) => Date.parse(b.published_at) - Date.parse(a.published_at) || b.job - a.job);
}
