/** Health of a Node process: database, disk, workers, object store. */
import { statfs } from 'node:fs/promises';
import type { HealthComponent, HealthProbe } from '../../ports/health-probe.ts';

export interface NodeHealthProbeOptions {
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

export function createNodeHealthProbe(options: NodeHealthProbeOptions): HealthProbe {
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
