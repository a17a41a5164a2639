/** The health of a process of this installation, whether it serves requests or runs jobs alone. */
import { statfs } from 'node:fs/promises';
import type { HealthComponent, HealthProbe } from '../ports/environment.ts';
import { answerWithin } from '../service/jobs/worker/waiting.ts';
import type { OpenedInstallation } from './open-installation.ts';

// The probe: database, disk, workers, object store.

interface NodeHealthProbeOptions {
  /** one small query; a rejection means DOWN */
  readonly askDatabase: () => Promise<void>;
  readonly databaseTimeoutMs: number;
  readonly directory: string;
  /** free bytes below which the disk counts as full */
  readonly thresholdBytes: number;
  /** null: files are stored in folders */
  readonly objectStore: (() => Promise<HealthComponent>) | null;
  /** jobs running in this process */
  readonly runningJobs: () => number;
  /** the version of the database and that of the program */
  readonly version: () => {
    readonly database: string;
    readonly program: string;
    readonly fault: string | null;
  };
  /** jobs that it runs at the same time */
  readonly places: number;
  /** organisations whose jobs wait because others hold all places; null: not known now */
  readonly waitingTenants: () => Promise<number | null>;
  /** false once the process drains */
  readonly acceptsTraffic: () => boolean;
}

function createNodeHealthProbe(options: NodeHealthProbeOptions): HealthProbe {
  return {
    db: async () => {
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<never>((_, reject) => {
        timer = setTimeout(
          () => reject(new Error('the database does not answer')),
          options.databaseTimeoutMs,
        );
      });
      try {
        await Promise.race([options.askDatabase(), timeout]);
        return { status: 'UP', details: { database: 'PostgreSQL', validationQuery: 'isValid()' } };
      } catch {
        return { status: 'DOWN', details: { database: 'PostgreSQL' } };
      } finally {
        clearTimeout(timer);
      }
    },
    diskSpace: async () => {
      const threshold = options.thresholdBytes;
      try {
        const { blocks, bavail, bsize } = await statfs(options.directory);
        const [total, free] = [blocks * bsize, bavail * bsize];
        return {
          status: free < threshold ? 'DOWN' : 'UP',
          details: { total, free, threshold, path: options.directory, exists: true },
        };
      } catch {
        return { status: 'DOWN', details: { threshold, path: options.directory, exists: false } };
      }
    },
    ...(options.objectStore === null ? {} : { objectStore: options.objectStore }),
    worker: async () => {
      const waiting = await options.waitingTenants();
      return {
        status: 'UP',
        details: {
          running: options.runningJobs(),
          places: options.places,
          ...(waiting === null ? {} : { waitingTenants: waiting }),
        },
      };
    },
    version: () => {
      const { fault, ...details } = options.version();
      return fault === null
        ? { status: 'UP', details }
        : { status: 'OUT_OF_SERVICE', details: { ...details, reason: fault } };
    },
    acceptsTraffic: options.acceptsTraffic,
  };
}

// The probe of this installation.

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
