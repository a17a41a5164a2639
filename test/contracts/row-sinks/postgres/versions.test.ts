/** Each version of PostgreSQL as a target: the contract of row sinks, and what is said of the extensions that change what a server is. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { needs, skipFor } from '../../../support/needs.ts';
import { postgresBinaries, postgresVersions } from '../../../support/servers/embedded-packages.ts';
import { startExternalPostgres, type ExternalPostgres } from '../../../support/service/external-postgres.ts';
import { useTrial } from '../../../support/service/trial.ts';
import { firstLine } from '../../../support/tool-cache.ts';
import { libraryPlan, loadLibrary } from '../../targets/library-rows.ts';
import { everyRowSink } from '../contract.ts';
import { postgresTarget } from '../targets.ts';

describe.each(postgresVersions)('PostgreSQL %i', needs('whole run'), (version) => {
  const trial = useTrial();
  let binaries: string;
  let server: ExternalPostgres | null = null;
  let lack: string | null = null;
  beforeAll(async () => {
    const folder = await trial.folder('postgres-version-');
    try {
      binaries = await postgresBinaries(version, folder);
    } catch (error) {
      lack = firstLine(error);
      return;
    }
    server = await startExternalPostgres(binaries);
  }, 300_000);
  afterAll(() => server?.stop());
  beforeEach((context) => {
    if (lack !== null) skipFor(context, 'npm registry', lack);
  });

  it('is the one that runs', () => {
    expect(server!.version).toBe(version);
  });

  everyRowSink((name) => postgresTarget(() => server!, name));

  it('says of extensions by which a server is another one what loads make of them', async () => {
    // by name alone: neither is to be had here
    const folder = join(binaries, '../share/postgresql/extension');
    for (const [name, release] of [
      ['citus', '12.1'],
      ['timescaledb', '2.15.3'],
    ]) {
      await writeFile(join(folder, `${name}.control`), `default_version = '${release}'\n`);
      await writeFile(join(folder, `${name}--${release}.sql`), '');
    }
    const load = async (idJob: number): Promise<readonly string[]> => {
      const sink = postgresTarget(() => server!, 'extended').createSink();
      const { changes } = await loadLibrary(sink, libraryPlan(idJob));
      await sink.close();
      return changes.filter((change) => /citus|timescaledb/.test(change));
    };
    await server!.sql`create extension citus`;
    await server!.sql`create extension timescaledb`;
    expect(await load(1)).toEqual([
      'the database has citus 12.1: the new tables are plain ones of this node; loads into distributed tables have not been run',
      'the database has timescaledb 2.15.3: the new tables are plain ones; loads into hypertables have not been run',
    ]);
    expect(await load(2)).toEqual([]);
  });
});
