/** The options of a scheduler: ports, and the settings that its jobs are checked by. */
import type { AccessSettings } from '../../jobs/request/check-access.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { Logger } from '../../ports/logger.ts';
import type { WatchSchedule } from '../../ports/stores/watches.ts';
import type { WatchedLocations } from '../../ports/watched-locations.ts';

export interface BatchSettings extends AccessSettings {
  /** Spark's settings for all jobs */
  readonly spark: { readonly conf: Readonly<Record<string, string>> };
}

export interface TurnOptions {
  readonly schedule: WatchSchedule;
  readonly locations: WatchedLocations;
  readonly adapters: Pick<Adapters, 'catalog' | 'files' | 'secrets' | 'credentials'>;
  readonly settings: BatchSettings;
  readonly logger: Logger;
  /** total time of a look at a place: listing, reading, hashing */
  readonly lookMs: number;
}
