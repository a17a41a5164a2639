/**
 * The role of a job, which executors log in as: it may put rows into the job's staging and do nothing else. Its password is good for
 * minutes, and is renewed while the job lives; a job that ends takes its right to log in with it.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { sqlState, type Sql } from '../../../../adapters/postgres/client/connect.ts';
import { asLogin, endJobRole } from '../staging/orphaned-roles.ts';

const renewMs = 30_000;
/** an interval of PostgreSQL: some renewals may come late */
const validFor = '3 minutes';

export interface JobRole {
  readonly name: string;
  readonly password: string;
  /** No one can log in as it any more, and all who had are gone; what it might do is taken from it. */
  end(): Promise<void>;
  /** Renews it no more: what may come after is up to `end`, or to time. */
  stop(): void;
}

export interface JobRoleOptions {
  /** name, and that of the schema it may write in */
  readonly name: string;
  /** comment, quoted */
  readonly mark: string;
  readonly mostConnections: number;
  /** taken on again after what only the login may do */
  readonly setRole: string | undefined;
}

/** A text: the login may make no roles, and what the server said. */
export async function makeJobRole(
  sql: Sql,
  { name, mark, mostConnections, setRole }: JobRoleOptions,
): Promise<JobRole | string> {
  const role = doubleQuoted(name);
  const password = randomBytes(24).toString('base64url');
  const until = async (): Promise<string> => {
    const [row] = await sql.unsafe<[{ until: string }]>(
      `SELECT (clock_timestamp() + interval '${validFor}')::text AS until`,
    );
    return standardLiteral(row.until);
  };
  const [login] = await sql.unsafe<[{ name: string; super: boolean }]>(
    'SELECT rolname AS name, rolsuper AS super FROM pg_roles WHERE rolname = session_user',
  );
  try {
    // the server gets what proves the password, which therefore stands in no log of statements
    await asLogin(
      sql,
      setRole,
      `CREATE ROLE ${role} LOGIN NOINHERIT CONNECTION LIMIT ${mostConnections} VALID UNTIL ${await until()}
         PASSWORD ${standardLiteral(scramVerifier(password))};
       COMMENT ON ROLE ${role} IS ${mark}
       ${login.super ? '' : `; GRANT ${role} TO ${doubleQuoted(login.name)}`}`,
    );
  } catch (error) {
    if (sqlState(error) === null) throw error;
    return `its login can make no role for them: ${(error as Error).message}`;
  }
  const renew = async (): Promise<void> => {
    await asLogin(sql, setRole, `ALTER ROLE ${role} VALID UNTIL ${await until()}`);
  };
  // a connection that is lost is told by whatever uses it next
  const timer = setInterval(() => void renew().catch(() => undefined), renewMs).unref();
  const stop = (): void => clearInterval(timer);
  return {
    name,
    password,
    stop,
    async end() {
      stop();
      await sql.unsafe(
        `REVOKE ALL ON ALL TABLES IN SCHEMA ${role} FROM ${role}; REVOKE ALL ON SCHEMA ${role} FROM ${role}`,
      );
      await endJobRole(sql, setRole, name);
    },
  };
}

/** What the server keeps of a password (RFC 5803, RFC 7677), in PostgreSQL's spelling. The password is ASCII: it is its own normal form. */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}
