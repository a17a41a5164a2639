/** The health of a process of this installation, whether it serves requests or runs jobs alone. */
import { answerWithin } from '../jobs/worker/waiting.ts';
import { createNodeHealthProbe } from '../adapters/server/health-probe.ts';
import type { HealthProbe } from '../ports/health-probe.ts';
import type { OpenedInstallation } from './open-installation.ts';

/** time after which an unresponsive database counts as down, and its facts are left out */
const databaseTimeoutMs = 2000;

/** Below this the disk counts as full, as in Spring Boot. */
const diskThresholdBytes = 10 * 1024 * 1024;

export function createHealth(
  { adapters, config, home, sql, storeHealth, version }: OpenedInstallation,
  state: { readonly running: () => number; readonly accepting: () => boolean },
): HealthProbe {
  return createNodeHealthProbe({
    askDatabase: async () => void (await sql`select 1`),
    databaseTimeoutMs,
    directory: home.directory,
    thresholdBytes: diskThresholdBytes,
    objectStore: storeHealth,
    runningJobs: state.running,
    version: () => version!.current(),
    places: config.worker.concurrency,
    waitingTenants: () => answerWithin(adapters.jobs.countWaitingOrganisations(), databaseTimeoutMs),
    acceptsTraffic: state.accepting,
  });
}
