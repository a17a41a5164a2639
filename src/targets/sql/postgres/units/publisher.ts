/**
 * The publishing side of units: the staged tables that all executors fill, the ledger of finished units, and the role of the job, with
 * which executors log in. The role may only put rows into the job's staging. Its password is valid for minutes, and is renewed while the
 * job lives; when a job ends, its role can no longer log in.
 */
import { doubleQuoted, standardLiteral } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import type { UnitReceipt, UnitTarget } from '../../../../ports/rows/sink.ts';
import { columnId, type UnfitColumns } from '../../../rows/unfit-columns.ts';
import { sqlState, type Sql } from '../../../../postgres/connect.ts';
import type { TargetAddress } from '../connection.ts';
import type { StagingArea } from '../staging/area.ts';
import { roleMark, asLogin, endJobRole } from '../staging/orphans.ts';
import { ledgerStatement, openUnitSession, type PostgresUnitToken } from './executor.ts';
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import type { StagedTable } from '../staging/staged-table.ts';

/** The state of a load that the sink passes to unit publishing. */
interface UnitTargetOptions {
  readonly sql: Sql;
  readonly address: TargetAddress;
  readonly staging: StagingArea;
  /** name of the staging schema, of the role, and the start of the names of tables */
  readonly token: string;
  /** staged tables are in a schema of their own, so that a role can be limited to them */
  readonly hasSchema: boolean;
  readonly mostConnections: number;
  readonly nullAllowed: Set<string>;
  readonly unfit: UnfitColumns;
  /** runs work that waits only for the target, and converts its faults */
  readonly guarded: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface PostgresUnitTarget extends UnitTarget {
  /** Called before staging is removed: the executors' role is no longer renewed. */
  stop(): void;
}

export function createUnitTarget(options: UnitTargetOptions): PostgresUnitTarget {
  const { sql, address, staging, token } = options;
  const schema = doubleQuoted(token);
  const ledger = `${schema}.${doubleQuoted(`${token}_units`)}`;
  let role: JobRole | null = null;
  let expected = 0;
  return {
    stop: () => role?.stop(),

    begin: (units) =>
      options.guarded(async () => {
        if (!options.hasSchema) return 'its login may make no SQL schema to stage rows in';
        await staging.prepare();
        const made = await makeJobRole(sql, {
          name: token,
          mark: await roleMark(sql, token),
          mostConnections: options.mostConnections,
          setRole: address.setRole,
        });
        if (typeof made === 'string') return made;
        role = made;
        expected = units;
        const { setRole: _, ...server } = address;
        const own: TargetAddress = { ...server, user: role.name, password: role.password };
        const refused = await refusalOf(own);
        if (refused !== null) {
          await role.end();
          return `the server does not let a role of the job log in: ${refused}`;
        }
        await createSharedTables(sql, staging);
        await sql.unsafe(`${ledgerStatement(ledger)};
        GRANT USAGE ON SCHEMA ${schema} TO ${schema}; GRANT INSERT ON ALL TABLES IN SCHEMA ${schema} TO ${schema};
        GRANT SELECT ON ${ledger} TO ${schema}`);
        return {
          kind: 'postgresql',
          address: { ...own, url: withoutCredentials(own.url) },
          ledger,
          relations: [...staging.entries()].map(([key, { relation }]) => [key, relation] as const),
        } satisfies PostgresUnitToken;
      }),

    // columns are widened when all rows are there
    unsettled: async () => null,

    adopt: (receipts) =>
      options.guarded(async () => {
        await role!.end();
        const [{ committed }] = await sql.unsafe<[{ committed: number }]>(
          `SELECT count(*)::int AS committed FROM ${ledger} WHERE part = 1 AND unit BETWEEN 0 AND ${expected - 1}`,
        );
        if (committed !== expected || receipts.length !== expected)
          throw new AppError(
            'internal_error',
            `Of ${expected} units, ${committed} are in the target, and ${receipts.length} were told of.`,
          );
        for (const { nullAllowed, unconverted } of receipts) {
          for (const [table, column] of nullAllowed) options.nullAllowed.add(columnId(table, column));
          options.unfit.addAll(unconverted);
        }
        await sql.unsafe(`DROP TABLE ${ledger}`);
        await adoptSharedTables(sql, staging, rowsOf(receipts));
      }),
  };
}

/** Returns the number of rows by key of a staged table. */
function rowsOf(receipts: readonly UnitReceipt[]): ReadonlyMap<number | string, number> {
  const rows = new Map<number | string, number>();
  for (const receipt of receipts)
    for (const [key, count] of receipt.rows) rows.set(key, (rows.get(key) ?? 0) + count);
  return rows;
}

/** Returns the reason why the role cannot log in from here; null if it can. */
async function refusalOf(address: TargetAddress): Promise<string | null> {
  try {
    const { sql } = await openUnitSession(address, 0, new Set());
    await sql.end({ timeout: 5 });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Removes credentials: executors must not learn those of the login. */
function withoutCredentials(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1');
}

const renewMs = 30_000;
/** an interval of PostgreSQL: some renewals may come late */
const validFor = '3 minutes';

interface JobRole {
  readonly name: string;
  readonly password: string;
  /** Prevents further logins with the role, ends its sessions, and revokes its rights. */
  end(): Promise<void>;
  /** Stops renewing the role: `end`, or the expiry of its password, does the rest. */
  stop(): void;
}

interface JobRoleOptions {
  /** name, and that of the schema it may write in */
  readonly name: string;
  /** comment, quoted */
  readonly mark: string;
  readonly mostConnections: number;
  /** set again after statements that only the login may run */
  readonly setRole: string | undefined;
}

/** Returns the role, or the server's message if the login may make no roles. */
async function makeJobRole(
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
    // the server gets a verifier of the password, so the password is in no log of statements
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
  // the next use of a lost connection reports the fault
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

/**
 * Returns the verifier that the server stores for a password (RFC 5803, RFC 7677), in PostgreSQL's notation. The password is ASCII: it is
 * its own normal form.
 */
function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const iterations = 4096;
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256');
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`;
}

/** tables made or dropped in one transaction: each takes locks, which the server keeps in fixed memory */
const tablesPerTransaction = 50;

/** Makes all staged tables of the model, for other processes to fill. What the tables require of their rows is asked when all are there. */
async function createSharedTables(sql: Sql, staging: StagingArea): Promise<void> {
  staging.isShared = true;
  const tables = [...staging.entries()].map(([, table]) => table);
  for (const table of tables) table.requireNothing();
  for (let from = 0; from < tables.length; from += tablesPerTransaction) {
    const some = tables.slice(from, from + tablesPerTransaction);
    await sql.unsafe(some.map((table) => table.createStatement()).join('; '));
  }
}

/** `rows`: by key, as the executors that wrote them report. No more rows come, and the tables get their keys. */
async function adoptSharedTables(
  sql: Sql,
  staging: StagingArea,
  rows: ReadonlyMap<number | string, number>,
): Promise<void> {
  const empty: string[] = [];
  const filled: StagedTable[] = [];
  for (const [key, table] of staging.entries()) {
    table.rows = table.copied = rows.get(key) ?? 0;
    table.created = table.committed = table.rows > 0;
    if (!table.created) empty.push(table.relation);
    else if (table.form.logged) filled.push(table);
  }
  for (let from = 0; from < empty.length; from += tablesPerTransaction)
    await sql.unsafe(`DROP TABLE ${empty.slice(from, from + tablesPerTransaction).join(', ')}`);
  await staging.addKeys(filled.toSorted((a, b) => b.rows - a.rows));
}
