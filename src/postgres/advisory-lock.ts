/** A lock that all who share the metadata database see, and that ends with its holder however that ends. */
import { AppError } from '../errors.ts';
import type { Sql } from './connect.ts';

export interface AdvisoryLock {
  /** false when the connection that held it is gone */
  isHeld(): Promise<boolean>;
  release(): Promise<void>;
}

const pollMs = 200;
/** Silence after which a connection is considered dead. */
const signOfLifeMs = 10_000;

/** Waits for the lock; AppError `service_unavailable` after `timeoutMs`. One connection of the pool is kept for it. */
export async function takeAdvisoryLock(sql: Sql, name: string, timeoutMs: number): Promise<AdvisoryLock> {
  const connection = await sql.reserve();
  try {
    const until = performance.now() + timeoutMs;
    const [{ pid } = { pid: 0 }] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`;
    for (;;) {
      const [row] = await connection<{ taken: boolean }[]>`
        select pg_try_advisory_lock(hashtextextended(${name}, 0)) as taken`;
      if (row?.taken === true) break;
      if (performance.now() > until)
        throw new AppError('service_unavailable', `another job has been writing into ${name} for long`);
      await new Promise((resolve) => setTimeout(resolve, pollMs));
    }
    const isHeld = async (): Promise<boolean> => {
      const [row] = await connection<{ pid: number }[]>`select pg_backend_pid() as pid`.catch(() => []);
      return row?.pid === pid;
    };
    const timer = setInterval(() => void isHeld(), signOfLifeMs);
    timer.unref();
    return {
      isHeld,
      async release() {
        clearInterval(timer);
        // a connection that is gone has given up its lock
        await connection`select pg_advisory_unlock(hashtextextended(${name}, 0))`.catch(() => undefined);
        connection.release();
      },
    };
  } catch (error) {
    connection.release();
    throw error;
  }
}
