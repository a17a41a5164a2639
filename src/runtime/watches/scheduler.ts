/** The scheduler of watches in this process, beside its worker: only if commands may be run. */
import { join } from 'node:path';
import { launcher } from '../../installation.ts';
import { createLookProcesses, type LookProcesses } from '../../adapters/processes/look-processes.ts';
import { isRemoteLocation } from '../../files/remote-location.ts';
import type { WatchedLocations } from '../../ports/watched-locations.ts';
import { createScheduler, type Scheduler } from '../../watches/scheduler/run.ts';
import type { OpenedInstallation } from '../open/installation.ts';
import { openFolder } from './folder.ts';
import { lookElsewhere } from './looks.ts';
import { remotePlaceOf } from './remote.ts';
import { rowPlaceOf } from './rows.ts';

/** Turns of a process at the same time: one organisation has at most four of them (`createTurnShares`). */
const concurrency = 8;

/** Returns null if commands are disabled here. */
export function createWatchScheduler(opened: OpenedInstallation): Scheduler | null {
  const { adapters, config, home, schedule } = opened;
  if (!config.commandsEnabled) return null;
  const processes = createLookProcesses({
    entry: [launcher, 'service/look'],
    workingDirectory: home.directory,
    memoryBytes: config.limits.lookMemoryBytes,
    most: concurrency,
    waitMs: config.worker.idleMs,
  });
  const scheduler = createScheduler({
    schedule,
    locations: createLocations(opened, processes),
    adapters,
    settings: config,
    logger: adapters.logger,
    lookMs: config.limits.lookMs,
    concurrency,
  });
  return {
    start: () => scheduler.start(),
    async stop() {
      await scheduler.stop();
      await processes.close();
    },
  };
}

function createLocations(
  { adapters, config, home, marks }: OpenedInstallation,
  processes: LookProcesses,
): WatchedLocations {
  const { allowedHosts, plainPasswordHosts, limits, sources = [] } = config;
  const { targetMessageBytes } = limits;
  const scratch = join(home.directory, 'tmp');
  const settings = { allowedHosts, plainPasswordHosts, targetMessageBytes, scratch };
  return {
    async open(place, signal) {
      const { idOrg, rows, location } = place;
      if (rows === null && !isRemoteLocation(location)) return openFolder(adapters.files, place, signal);
      const elsewhere =
        rows === null
          ? await remotePlaceOf(adapters, sources, place)
          : await rowPlaceOf(adapters.jobs, marks, rows, idOrg);
      return lookElsewhere(processes, settings, idOrg, elsewhere, signal);
    },
  };
}
