/**
 * The servers that a job may wait for: those that took a connection of it, or of an earlier job of the organisation. Nobody waits for a
 * server that never answered, as its address may be mistyped (docs/decisions/service/outages.md).
 */
import type { Outage } from '../../errors.ts';
import type { JobStore } from '../../ports/stores/jobs.ts';

export interface ReachedServers {
  note(label: string): void;
  mayWaitFor(outage: Outage | null): Promise<boolean>;
}

/** `waitedBefore`: earlier tries of the job found an outage. */
export function createReachedServers(
  jobs: Pick<JobStore, 'noteReachedServer' | 'isReachedServer'>,
  idOrg: number,
  waitedBefore: boolean,
): ReachedServers {
  const reached = new Set<string>();
  return {
    note(label) {
      const server = serverOf(label);
      if (server === null || reached.has(server)) return;
      reached.add(server);
      // without the note, later jobs wait for fewer servers
      if (server !== metadb) jobs.noteReachedServer(idOrg, server).catch(() => undefined);
    },
    async mayWaitFor(outage) {
      if (outage === null) return false;
      if (outage.of === 'room') return true;
      const server = serverOf(outage.label);
      if (server === null) return false;
      // a job that loses its server again and again may be the cause
      if (reached.has(server)) return !waitedBefore;
      return server === metadb || (await jobs.isReachedServer(idOrg, server));
    },
  };
}

const metadb = 'metadb:';

/** The server of a target by its label; null: the target has none. */
export function serverOf(label: string): string | null {
  if (label.startsWith(metadb)) return metadb;
  return /^(?:iceberg:)?[a-z][a-z0-9+.-]*:\/\/[^/?#]+/i.exec(label)?.[0] ?? null;
}
