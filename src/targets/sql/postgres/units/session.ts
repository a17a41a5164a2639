/** The session of an executor in the target: as the job's role, which may have so many at a time. */
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import { sqlState, type Sql } from '../../../../adapters/postgres/client/connect.ts';
import { applicationName, connectTarget, type TargetAddress } from '../connection/open.ts';
import { backendAfter, quickCompression, sessionSettings } from '../connection/session.ts';

/** how long an executor waits for others to end theirs; beyond, its rows take another way */
const patienceMs = 5 * 60_000;

export interface UnitSession {
  readonly sql: Sql;
  /** null: what goes over it is encrypted */
  readonly socket: Socket | null;
  /** process id of the server's end */
  readonly pid: number;
}

/** How the session of an attempt is called in `pg_stat_activity`. */
export function unitApplication(unit: number): string {
  return `${applicationName} unit ${unit}`;
}

export async function openUnitSession(
  address: TargetAddress,
  unit: number,
  sockets: Set<Socket>,
): Promise<UnitSession> {
  const settings = `${sessionSettings}; SET synchronous_commit = off; ${quickCompression};
    SET application_name = ${standardLiteral(unitApplication(unit))}`;
  const until = Date.now() + patienceMs;
  for (let pauseMs = 100; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    let socket: Socket | null = null;
    // a COPY beside the transaction that claimed the unit would stay, whatever becomes of the unit
    const sql = connectTarget(address, {
      onPlain: (plain) => (socket = plain),
      all: sockets,
      single: true,
    });
    try {
      return { sql, pid: await backendAfter(sql, settings), socket };
    } catch (error) {
      await sql.end({ timeout: 0 });
      sockets.clear();
      // too_many_connections: of the role, or of the server
      if (sqlState(error) !== '53300' || Date.now() > until) throw error;
      await sleep(pauseMs * (0.5 + Math.random()));
    }
  }
}
