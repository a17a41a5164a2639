/**
 * Poolers between us and a target. A load holds locks, settings and staging over many transactions, a reader settings; a pooler that gives
 * each transaction whichever session is free (PgBouncer's `pool_mode = transaction`) would take them away unnoticed.
 */
import { AppError } from '../../../../errors.ts';
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';

/** How often two connections are asked in turn: a pooler that hands out its sessions one after another is found by the second time. */
const rounds = 3;

/** A pooler whose sessions are all in use keeps a further connection waiting. */
const waitMs = 15_000;

/**
 * AppError `target_not_allowed` where transactions of the connection run in changing sessions; `service_unavailable` where a pooler has no
 * further one to give. The server itself tells a client the id of its process when it connects, a pooler something of its own
 * (PostgreSQL manual §55.7, BackendKeyData): only then is it asked over a second connection.
 */
export async function checkPooler(sql: Sql, connectAnother: () => Sql): Promise<void> {
  const [first, told] = await sessionOf(sql);
  if (first === told) return;
  const other = connectAnother();
  let giveUp: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    giveUp = setTimeout(() => reject(noFurtherSession()), waitMs);
  });
  try {
    for (let round = 0; round < rounds; round++) {
      const [elsewhere] = await Promise.race([sessionOf(other), tooLong]);
      const [here] = await sessionOf(sql);
      if (here !== first || elsewhere === first) throw changingSessions();
    }
  } finally {
    clearTimeout(giveUp);
    await other.end({ timeout: 0 });
  }
}

/** Ids of the process that answers, and of the one that the connection was told of at its start. */
async function sessionOf(sql: Sql): Promise<[answering: number, told: number]> {
  const rows = await sql.unsafe<{ pid: number }[]>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return [rows[0]!.pid, (rows.state as unknown as { pid: number }).pid];
}

function changingSessions(): AppError {
  return new AppError(
    'target_not_allowed',
    'The target is behind a pooler that runs each transaction in another session (pool_mode = transaction or statement of PgBouncer), which takes locks and settings away from a load. Name the server itself, or a database of the pooler with pool_mode = session.',
  );
}

function noFurtherSession(): AppError {
  return new AppError(
    'service_unavailable',
    `The target is behind a pooler that had no second session to give for ${waitMs / 1000} s: a load takes several. Give it more (default_pool_size of PgBouncer), or name the server itself.`,
  );
}
