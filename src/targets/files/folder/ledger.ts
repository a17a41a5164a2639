/** The logical schemas that loaded a folder of tables. */
import type { TargetLoad } from '../../../ports/rows/target-load.ts';
import type { TargetManifest, ManifestJob } from './contents/manifest.ts';
import { readCommittedManifest } from './contents/manifest.ts';
import { inPinnedFolder } from '../../../adapters/local-files/open-folder.ts';

/** Newest first; none where the folder is not there, or nothing was loaded into it. */
export async function readFolderLoads(
  directory: string,
  links: 'follow' | 'refuse',
): Promise<readonly TargetLoad[]> {
  const manifest = await inPinnedFolder(directory, links, readCommittedManifest);
  return manifest === null ? [] : loadsOf(manifest);
}

/** Returns the hash of the model that a job loaded by, or null if the manifest does not have the job. */
export function modelHashOfJob(jobs: readonly ManifestJob[], jobUuid: string): string | null {
  return jobs.find((job) => job.job_uuid === jobUuid)?.model_sha256 ?? null;
}

export function loadsOf({ jobs, tables }: TargetManifest): readonly TargetLoad[] {
  const present = new Set(tables.flatMap(({ files }) => files.map((file) => file.job_uuid)));
  const found = new Map<string, TargetLoad>();
  for (const job of newestFirst(jobs)) {
    const { key, load } = loadOf(job);
    const holds = present.has(job.job_uuid) || found.get(key)?.holds === true;
    found.set(key, { ...load, holds });
  }
  return [...found.values()];
}

/** The logical schema of a job; `key`: the same for all jobs of one. */
export function loadOf(job: ManifestJob): {
  readonly key: string;
  readonly load: Omit<TargetLoad, 'holds'>;
} {
  const { installation, id_sch: idSch, id_lschma: idLschma, model_sha256: modelHash } = job;
  return {
    key: JSON.stringify([installation, idSch, idLschma, modelHash]),
    load: { installation, idSch, idLschma, modelHash },
  };
}

function newestFirst(jobs: readonly ManifestJob[]): readonly ManifestJob[] {
  return jobs.toSorted((a, b) => Date.parse(b.published_at) - Date.parse(a.published_at) || b.job - a.job);
}
