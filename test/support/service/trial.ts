/** What the tests of a file or of a `describe` share: homes, services, databases and folders, which end behind them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../servers/postgres.ts';
import { createServiceHome, startService, type RunningService, type ServiceHome } from './start.ts';

export interface Trial {
  /** as `createServiceHome` */
  home(properties?: Readonly<Record<string, string>>): Promise<ServiceHome>;
  /** as `startService`; ended by SIGTERM */
  service(
    home: ServiceHome,
    environment?: Readonly<Record<string, string | undefined>>,
  ): Promise<RunningService>;
  /** Connections to the metadata database of a home whose service, or a tool, has started once. */
  metadb(home: ServiceHome, max?: number): Promise<Sql>;
  /** A database with the tables of the service. */
  database(): Promise<TestDatabase>;
  /** A database without anything in it. */
  emptyDatabase(): Promise<TestDatabase>;
  /** A temporary folder whose name begins with `name`. */
  folder(name: string): Promise<string>;
  /** Whatever else a test has made: `end` ends it. */
  keep<T>(resource: T, end: (resource: T) => Promise<unknown>): T;
}

/**
 * Called where hooks are registered; its methods are called there or in `beforeAll`. All that they gave is ended after the last test, the
 * newest first, also where a later step of `beforeAll` failed.
 */
export function useTrial(): Trial {
  const endings: (() => Promise<unknown>)[] = [];
  afterAll(async () => {
    for (const end of endings.toReversed()) await end();
  });
  const keep = <T>(resource: T, end: (resource: T) => Promise<unknown>): T => {
    endings.push(() => end(resource));
    return resource;
  };
  return {
    keep,
    home: async (properties) => keep(await createServiceHome(properties), (home) => home.remove()),
    service: async (home, environment) =>
      keep(await startService(home, environment), (service) => service.end('SIGTERM')),
    metadb: async (home, max = 2) =>
      keep(connectPostgres(await home.databaseUrl(), { applicationName: 'test', max }), (sql) =>
        sql.end({ timeout: 1 }),
      ),
    database: async () => keep(await createTestDatabase(), (database) => database.drop()),
    emptyDatabase: async () => keep(await createEmptyDatabase(), (database) => database.drop()),
    folder: async (name) =>
      keep(await mkdtemp(join(tmpdir(), name)), (folder) => rm(folder, { recursive: true, force: true })),
  };
}
