/**
 * An empty database cluster for each run of the tests, copied into the homes of services: to make one takes two seconds of a processor, and
 * some fifty homes want one each.
 */
import { cpSync, existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  findPostgresBinaries,
  initialise,
  openFolder,
} from '../../../src/process/embedded-postgres/process.ts';

/** Names the run's folder; set by test/support/servers/postgres-setup.ts, absent outside of a run. */
export const clustersVariable = 'TEST_CLUSTERS';

/** Fills the folder `db` of a home that no service has started in. */
export async function copyCluster(home: string): Promise<void> {
  const clusters = process.env[clustersVariable];
  if (clusters === undefined) return;
  const template = join(clusters, 'template');
  if (!existsSync(template)) await makeTemplate(clusters, template);
  await mkdir(join(home, 'db'), { mode: 0o700 });
  cpSync(template, join(home, 'db'), { recursive: true });
}

/** Of several test files that make one at the same time, one wins. */
async function makeTemplate(clusters: string, template: string): Promise<void> {
  const draft = await mkdtemp(join(clusters, 'draft-'));
  await initialise(await openFolder(draft), await findPostgresBinaries());
  await rename(draft, template).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(draft, { recursive: true });
  });
}
