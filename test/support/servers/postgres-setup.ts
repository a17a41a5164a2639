/** One embedded server for a whole run, made only when the first test asks for a database (see test/support/servers/postgres.ts). */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { clustersVariable } from '../service/cluster-template.ts';
import { stopEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** folder of the run's database server */
    postgresDirectory: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const home = await mkdtemp(join(tmpdir(), 'job-service-test-'));
  const directory = join(home, 'db');
  project.provide('postgresDirectory', directory);
  process.env[clustersVariable] = home;
  return async () => {
    if (existsSync(directory)) await stopEmbeddedPostgres(directory);
    await rm(home, { recursive: true, force: true });
  };
}
