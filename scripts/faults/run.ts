/** Builds an installation, lets cycles of faults run on it, and takes it down. */
import { join } from 'node:path';
import { joinEmbeddedPostgres, stopEmbeddedPostgres } from '../../src/adapters/embedded-postgres/server.ts';
import { createServiceHome, type ServiceHome } from '../../test/support/service/start.ts';
import { execution } from '../../test/support/service/client.ts';
import { freightXsdFolder } from '../../test/support/service/fixtures.ts';
import { writeLargeDocument } from '../../test/support/documents/large.ts';
import { shortLeases } from '../../test/support/service/leases.ts';
import { convert } from '../../test/support/service/tools.ts';
import { noCounts, runCycle, type Counts } from './cycles.ts';
import { startInstallation } from './processes.ts';
import { killDatabase, killSomething } from './victims.ts';

export interface FaultRun {
  /** `processes`: two workers beside a service, on a database that lives; `database`: one service with its own */
  readonly kind: 'processes' | 'database';
  readonly rounds: number;
  readonly megabytes: number;
  /** for the document and the database */
  readonly folder: string;
  readonly tell: (line: string, cycle: number) => void;
}

const leaseMs = 2000;

export async function runFaults(run: FaultRun): Promise<Counts> {
  const database = join(run.folder, 'database');
  const own = run.kind === 'database';
  const home = await createServiceHome({
    ...shortLeases,
    'svc.files.roots': run.folder,
    'svc.limits.attempts': '5',
    ...(own ? {} : { 'metadb.url': (await joinEmbeddedPostgres({ directory: database })).url }),
  });
  try {
    return await runOn(home, run);
  } finally {
    await home.remove();
    if (!own) await stopEmbeddedPostgres(database).catch(() => undefined);
  }
}

async function runOn(home: ServiceHome, run: FaultRun): Promise<Counts> {
  const { kind, rounds, megabytes, folder, tell } = run;
  const document = await writeLargeDocument(join(folder, 'document.xml'), megabytes * 1e6);
  const { origin } = await convert(home, 'xsd2er', freightXsdFolder, '-g', '1');
  const installation = await startInstallation(home, kind === 'processes' ? 2 : 0);
  const counts = noCounts();
  try {
    const { client } = installation.service();
    const started = performance.now();
    const first = await client.run([
      execution('xml2er', document.path, [['-o', 'metadb:undisturbed']], String(origin)),
    ]);
    await client.ended(first.jobs[0]!);
    const usualMs = (performance.now() - started) * 1.5;
    const fault = kind === 'processes' ? killSomething(installation, leaseMs) : killDatabase(installation);
    for (let number = 1; number <= rounds; number += 1) {
      const told = await runCycle(
        { installation, document, origin: origin!, usualMs, jobs: 3, fault },
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
  }
  return counts;
}
