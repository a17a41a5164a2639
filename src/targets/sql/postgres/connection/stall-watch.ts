/** The watch over the connections to a target of PostgreSQL. */
import { createSilenceWatch, type SilenceWatch } from '../../silence-watch.ts';
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';
import { connectTarget, type TargetAddress } from './open.ts';

export interface SilenceOptions {
  readonly address: TargetAddress;
  /** process ids of the server's ends */
  readonly backends: () => readonly number[];
  /** time between two looks (10 s) */
  readonly everyMs?: number;
}

export function watchPostgres({ address, backends, everyMs }: SilenceOptions): SilenceWatch {
  // the server shows the activity of a session to its login, not to the role that it takes on
  const { setRole: _, ...login } = address;
  return createSilenceWatch((withinMs) => serverWaits(login, backends(), withinMs), everyMs);
}

/** Whether all these sessions wait for their client, or are gone. */
async function serverWaits(
  address: TargetAddress,
  backends: readonly number[],
  withinMs: number,
): Promise<boolean> {
  const sql: Sql = connectTarget(address);
  // the answer to this question may be swallowed, too
  const giveUp = setTimeout(() => void sql.end({ timeout: 0 }), withinMs);
  try {
    const busy = await sql.unsafe(
      `SELECT FROM pg_stat_activity WHERE pid IN (${[0, ...backends].join(', ')})
         AND state = 'active' AND wait_event_type IS DISTINCT FROM 'Client'`,
    );
    return busy.length === 0;
  } catch (error) {
    return isUnreachable(error);
  } finally {
    clearTimeout(giveUp);
    await sql.end({ timeout: 0 });
  }
}

/** Nobody answers there any more. A server that refuses the connection is there. */
function isUnreachable(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^(?:CONNECT_TIMEOUT|CONNECTION_|ECONN|EHOST|ENET|ETIMEDOUT)/.test(code);
}
