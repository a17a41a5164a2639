/** Jobs that wait for their next attempt. The lengths of their pauses are proven by test/unit/service/jobs/worker.test.ts. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { JobAnswer, ServiceClient } from './client.ts';

/** Ends the pauses of all jobs that wait for their next attempt. `metadb`: a connection of the superuser. */
export async function tryAgainNow(metadb: Sql): Promise<void> {
  await metadb`update svc.job set next_attempt = clock_timestamp() where status = 'W'`;
}

/** Runs `work`, during which no job makes a pause between its attempts. Returns the result of `work`. */
export async function withoutPauses<T>(metadb: Sql, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const retrying = (async () => {
    while (!over.signal.aborted) {
      await tryAgainNow(metadb);
      await delay(100, undefined, { signal: over.signal }).catch(() => undefined);
    }
  })();
  try {
    return await work;
  } finally {
    over.abort();
    await retrying;
  }
}

/** The record of a job once its status is terminal; it makes no pause between its attempts. */
export function endedWithoutPauses(client: ServiceClient, metadb: Sql, idJob: number): Promise<JobAnswer> {
  return withoutPauses(metadb, client.ended(idJob));
}
