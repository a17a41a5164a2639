/** Builds an installation, lets cycles of faults run on it, and takes it down. */
import { join } from 'node:path';
import { joinEmbeddedPostgres, stopEmbeddedPostgres } from '../../src/process/embedded-postgres/server.ts';
import { createServiceHome, type ServiceHome } from '../../test/support/service/start.ts';
import { execution } from '../../test/support/service/client.ts';
import { freightXsdFolder } from '../../test/support/service/fixtures.ts';
import { writeLargeDocument } from '../../test/support/documents/large.ts';
import { shortLeases } from '../../test/support/service/leases.ts';
import { convert } from '../../test/support/service/tools.ts';
import { startDurableMariadb, type TestMariadb } from '../../test/support/servers/mariadb.ts';
import { freePort } from '../../test/support/service/external-postgres.ts';
import { noCounts, runCycle, type Counts } from './cycles.ts';
import { startLakeServers, type LakeServers } from './lake/places.ts';
import { mariadbPlaces, metadbPlaces, sqlitePlaces } from './places.ts';
import { startInstallation } from './processes.ts';
import { endMariadb, killDatabase, killSomething } from './victims.ts';

/**
 * What is at fault: `processes` of two workers beside a service, on a database that lives; the `database` of one service; a target of
 * `mariadb`, its server among them; processes that load a file of `sqlite`; or such that fill tables of Delta and Iceberg (`lake`), whose store
 * fails and into which others write.
 */
export type FaultKind = 'processes' | 'database' | 'mariadb' | 'sqlite' | 'lake';

export interface FaultRun {
  readonly kind: FaultKind;
  readonly rounds: number;
  readonly megabytes: number;
  /** for the document and the database */
  readonly folder: string;
  readonly tell: (line: string, cycle: number) => void;
}

const leaseMs = 2000;

export async function runFaults(run: FaultRun): Promise<Counts> {
  const database = join(run.folder, `database-${run.kind}`);
  const own = run.kind === 'database';
  const lake = run.kind === 'lake' ? await startLakeServers(run.folder) : null;
  const home = await createServiceHome({
    ...shortLeases,
    'svc.files.roots': run.folder,
    'svc.limits.attempts': '5',
    'svc.allow.hosts': '127.0.0.1',
    ...lake?.settings,
    ...(own ? {} : { 'metadb.url': (await joinEmbeddedPostgres({ directory: database })).url }),
  });
  try {
    return await runOn(home, run, lake);
  } finally {
    await home.remove();
    await lake?.end();
    if (!own) await stopEmbeddedPostgres(database).catch(() => undefined);
  }
}

async function runOn(home: ServiceHome, run: FaultRun, lake: LakeServers | null): Promise<Counts> {
  const { kind, rounds, megabytes, folder, tell } = run;
  const document = await writeLargeDocument(join(folder, 'document.xml'), megabytes * 1e6);
  const { origin } = await convert(home, 'xsd2er', freightXsdFolder, '-g', '1');
  const installation = await startInstallation(home, kind === 'database' ? 0 : 2);
  const counts = noCounts();
  const processes = killSomething(installation, leaseMs);
  let mariadb: TestMariadb | null = null;
  try {
    let makePlace =
      lake?.makePlace ?? (kind === 'sqlite' ? sqlitePlaces(folder) : metadbPlaces(installation));
    // a writer of a bucket is taken for dead after 45 s, and its tables wait for it
    const patience = kind === 'lake' ? { patienceMs: 400_000 } : {};
    let fault = kind === 'database' ? killDatabase(installation) : processes;
    if (kind === 'mariadb') {
      const port = await freePort();
      const server = await startDurableMariadb(port);
      mariadb = server;
      makePlace = mariadbPlaces(server, port);
      fault = endMariadb(server, processes);
    }
    const { client } = installation.service();
    const started = performance.now();
    const place = await makePlace('undisturbed');
    const first = await client.run([execution('xml2er', document.path, place.options, String(origin))]);
    const { status, failure } = await client.ended(first.jobs[0]!);
    await place.remove();
    if (status !== 'C') throw new Error(`the undisturbed load ended ${status}: ${failure}`);
    const usualMs = (performance.now() - started) * 1.5;
    for (let number = 1; number <= rounds; number += 1) {
      const told = await runCycle(
        { installation, document, origin: origin!, makePlace, usualMs, jobs: 3, fault, ...patience },
        counts,
        number,
      );
      tell(
        `${number}: ${told}; lost ${counts.lost}, doubled ${counts.doubled}, stuck ${counts.stuck}`,
        number,
      );
    }
  } finally {
    await installation.end();
    await mariadb?.stop();
  }
  return counts;
}
