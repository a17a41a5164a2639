/** The publishing side of units: the staged tables that all executors fill, the ledger of what is there, and the end of their rights. */
import { doubleQuoted } from '../../../../engine/sql/dialect.ts';
import { AppError } from '../../../../errors.ts';
import type { UnitReceipt, UnitTarget } from '../../../../ports/rows/units.ts';
import { columnId, type UnfitColumns } from '../../../rows/unfit-columns.ts';
import type { Sql } from '../../../../adapters/postgres/client/connect.ts';
import type { TargetAddress } from '../connection/open.ts';
import type { StagingArea } from '../staging/area.ts';
import { adoptSharedTables, createSharedTables } from '../staging/shared-tables.ts';
import { roleMark } from '../staging/orphaned-roles.ts';
import { makeJobRole, type JobRole } from './job-role.ts';
import { ledgerStatement, type PostgresUnitToken } from './token.ts';
import { openUnitSession } from './session.ts';

/** What the sink has of a load. */
export interface UnitTargetOptions {
  readonly sql: Sql;
  readonly address: TargetAddress;
  readonly staging: StagingArea;
  /** name of the staging schema, of the role, and the start of the names of tables */
  readonly token: string;
  /** staged tables lie in a schema of their own, so that a role can be kept to them */
  readonly hasSchema: boolean;
  readonly mostConnections: number;
  readonly nullAllowed: Set<string>;
  readonly unfit: UnfitColumns;
  /** runs what waits for nothing but the target, and names its faults */
  readonly guarded: <T>(work: () => Promise<T>) => Promise<T>;
}

export interface PostgresUnitTarget extends UnitTarget {
  /** Before staging is removed: nobody renews the executors' role any more. */
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

/** By key of a staged table. */
function rowsOf(receipts: readonly UnitReceipt[]): ReadonlyMap<number | string, number> {
  const rows = new Map<number | string, number>();
  for (const receipt of receipts)
    for (const [key, count] of receipt.rows) rows.set(key, (rows.get(key) ?? 0) + count);
  return rows;
}

/** Why the role cannot log in, from here; null: it can. */
async function refusalOf(address: TargetAddress): Promise<string | null> {
  try {
    const { sql } = await openUnitSession(address, 0, new Set());
    await sql.end({ timeout: 5 });
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Executors get no word of the login's own. */
function withoutCredentials(url: string): string {
  return url.replace(/^([a-z]+:\/\/)[^/?#]*@/i, '$1');
}
