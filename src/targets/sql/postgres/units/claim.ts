/** The right to write a unit: one attempt at a time has it, and keeps it once it has committed. */
import { standardLiteral } from '../../../../engine/sql/dialect.ts';
import { sqlState, type Sql } from '../../../../adapters/postgres/client/connect.ts';
import { unitApplication } from './session.ts';

/** between two looks at the attempt that is waited for */
const waitSeconds = 10;
/** looks in a row that must find it waiting for its executor, in the same statement */
const enough = 6;

/**
 * Begins the transaction of an attempt, which has the unit until its end; null. A text: another attempt has committed, with that note, and
 * there is no transaction. One that runs is waited for; where its executor has sent nothing for a minute, it is ended.
 */
export async function claimUnit(sql: Sql, ledger: string, unit: number): Promise<string | null> {
  let last = '';
  for (let same = 0; ;) {
    try {
      await sql.unsafe(
        `BEGIN; SET LOCAL lock_timeout = '${waitSeconds}s'; INSERT INTO ${ledger} VALUES (${unit}, 0); SET LOCAL lock_timeout = 0`,
      );
      return null;
    } catch (error) {
      const state = sqlState(error);
      if (state !== '23505' && state !== '55P03') throw error;
      await sql.unsafe('ROLLBACK');
      if (state === '23505') {
        const [row] = await sql.unsafe<[{ note: string }]>(
          `SELECT note FROM ${ledger} WHERE unit = ${unit} AND part = 1`,
        );
        return row.note;
      }
    }
    const found = await waitingForExecutor(sql, unit);
    same = found === last && found !== '[]' ? same + 1 : 1;
    last = found;
    if (same >= enough) {
      await sql.unsafe(`SELECT pg_terminate_backend(pid) FROM (${otherAttempts(unit)}) o`);
      same = 0;
    }
  }
}

async function waitingForExecutor(sql: Sql, unit: number): Promise<string> {
  return JSON.stringify([...(await sql.unsafe(otherAttempts(unit)))]);
}

/** Sessions of other attempts that have begun a transaction, and wait for what their executor sends. */
function otherAttempts(unit: number): string {
  return `SELECT pid, state_change::text FROM pg_stat_activity
    WHERE usename = current_user AND application_name = ${standardLiteral(unitApplication(unit))} AND pid <> pg_backend_pid()
      AND xact_start IS NOT NULL AND wait_event_type = 'Client' ORDER BY pid`;
}
