/** The scheduler of watches in this process, beside its worker: only where commands may be run. */
import { join } from 'node:path';
import { createOutgoingGuard } from '../../access/outgoing-guard.ts';
import { createPinnedHttp } from '../../adapters/outgoing/checked-http.ts';
import { createHostResolver } from '../../adapters/outgoing/host-resolver.ts';
import { isRemoteLocation } from '../../files/remote-location.ts';
import type { WatchedLocations } from '../../ports/watched-locations.ts';
import { createScheduler, type Scheduler } from '../../watches/scheduler/run.ts';
import type { OpenedInstallation } from '../open/installation.ts';
import { openFolder } from './folder.ts';
import { openRemote } from './remote.ts';
import { openRowsOfServer } from './rows.ts';

/** Turns of a process at the same time: one organisation has at most four of them (`createTurnShares`). */
const concurrency = 8;

/** Null: commands are switched off here. */
export function createWatchScheduler(opened: OpenedInstallation): Scheduler | null {
  const { adapters, config, schedule } = opened;
  if (!config.commandsEnabled) return null;
  return createScheduler({
    schedule,
    locations: createLocations(opened),
    adapters,
    settings: config,
    logger: adapters.logger,
    lookMs: config.limits.lookMs,
    concurrency,
  });
}

function createLocations({ adapters, config, home, marks }: OpenedInstallation): WatchedLocations {
  const resolver = createHostResolver();
  const guards = {
    request: createOutgoingGuard(config.allowedHosts, resolver),
    operator: createOutgoingGuard(['*'], resolver),
  };
  const http = createPinnedHttp();
  const sources = config.sources ?? [];
  return {
    open: async (place, signal) => {
      if (place.rows !== null)
        return openRowsOfServer(
          { adapters, marks, guard: guards.request, config },
          place.rows,
          place.idOrg,
          signal,
        );
      return isRemoteLocation(place.location)
        ? openRemote({ adapters, sources, guards, http, scratch: join(home.directory, 'tmp') }, place, signal)
        : openFolder(adapters.files, place, signal);
    },
  };
}
