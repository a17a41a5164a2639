/** What a folder of tables says of the logical schemas that loaded it. */
import type { TargetLoad } from '../../ports/rows/target-load.ts';
import type { TargetManifest, ManifestJob } from './contents/manifest.ts';
import { readCommittedManifest } from './contents/manifest.ts';
import { jobOf } from './contents/next-manifest.ts';
import { pinFolder } from '../local-files/open-folder.ts';

/** Newest first; none where the folder is not there, or nothing was loaded into it. */
export async function readFolderLoads(
  directory: string,
  links: 'follow' | 'refuse',
): Promise<readonly TargetLoad[]> {
  const pinned = await pinFolder(directory, links).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (pinned === null) return [];
  try {
    const manifest = await readCommittedManifest(pinned.path);
    return manifest === null ? [] : loadsOf(manifest);
  } finally {
    await pinned.close();
  }
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
