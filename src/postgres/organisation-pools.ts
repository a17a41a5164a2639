/**
 * Connections that are bound to one organisation from their first moment to their last: row-level security restricts a single statement
 * on them to that organisation's rows, without a transaction around it, which would cost more than the statement.
 */
import { isId, type Sql, type TransactionSql } from './connect.ts';

export interface OrganisationPools {
  readonly read: OrganisationReader;
  /** Waits for reads under way. */
  close(): Promise<void>;
}

export interface OrganisationPoolOptions {
  /** A pool whose connections see the rows of that organisation alone. */
  readonly connect: (idOrg: string) => Sql;
  /** serves organisations beyond the most that have a pool */
  readonly shared: Sql;
  /** most organisations with a pool at a time (4) */
  readonly most?: number;
  /** an organisation that asks for nothing for so long makes room for another (10 s) */
  readonly restMs?: number;
}

interface Pool {
  readonly sql: Sql;
  /** under way */
  reads: number;
  lastMs: number;
}

export function createOrganisationPools(options: OrganisationPoolOptions): OrganisationPools {
  const { connect, shared, most = 4, restMs = 10_000 } = options;
  const pools = new Map<number, Pool>();
  const ending = new Set<Promise<void>>();

  function end({ sql }: Pool): void {
    const ended: Promise<void> = sql.end({ timeout: 5 }).finally(() => ending.delete(ended));
    ending.add(ended);
  }

  /** Returns null if all places are taken: making and ending connections all the time would cost more than transactions do. */
  function poolOf(idOrg: number): Pool | null {
    const known = pools.get(idOrg);
    if (known !== undefined) return known;
    if (pools.size >= most) {
      const idle = (pool: Pool): boolean => pool.reads === 0 && performance.now() - pool.lastMs >= restMs;
      const resting = [...pools].find(([, pool]) => idle(pool));
      if (resting === undefined) return null;
      pools.delete(resting[0]);
      end(resting[1]);
    }
    const pool = { sql: connect(String(idOrg)), reads: 0, lastMs: performance.now() };
    pools.set(idOrg, pool);
    return pool;
  }

  return {
    async read(idOrg, work) {
      const pool = isId(idOrg) ? poolOf(idOrg) : null;
      if (pool === null) return readInTransaction(shared)(idOrg, work);
      pool.reads += 1;
      try {
        return await work(pool.sql);
      } finally {
        pool.reads -= 1;
        pool.lastMs = performance.now();
      }
    },
    async close() {
      for (const pool of pools.values()) end(pool);
      pools.clear();
      await Promise.all(ending);
    },
  };
}

// Transactions for one organisation: row-level security shows them only the rows of that organisation.

/** Value of `svc.id_org` on connections that access all organisations. */
export const everyOrganisation = '*';

/**
 * Runs `work` in a transaction that sees only this organisation's rows, whatever its statements query. Functions that begin a
 * transaction of their own join this one; `mode` is its isolation if that matters.
 */
export async function withinOrganisation<T>(
  sql: Sql,
  idOrg: number,
  work: (tx: Sql) => Promise<T>,
  mode = '',
): Promise<T> {
  const done = sql.begin(mode, async (tx) => {
    // first on its way, and not waited for: the setting costs no round trip of its own
    const setting = tx`select set_config('svc.id_org', ${String(idOrg)}, true)`.execute();
    const [result] = await Promise.all([work(joining(tx)), setting]);
    return { result };
  });
  return (await done).result;
}

/** Runs statements that only read, each of which sees the organisation's rows and no other's; they share no snapshot. */
export type OrganisationReader = <T>(idOrg: number, read: (sql: Sql) => Promise<T>) => Promise<T>;

export function readInTransaction(sql: Sql): OrganisationReader {
  return (idOrg, read) => withinOrganisation(sql, idOrg, read);
}

function joining(tx: TransactionSql): Sql {
  const begin = (...given: unknown[]): unknown => (given.at(-1) as (inner: TransactionSql) => unknown)(tx);
  return Object.assign(tx, { begin }) as unknown as Sql;
}
