/** What executors write units into PostgreSQL with: an address, the job's own role there, and the names of what they fill. */
import type { UnitToken } from '../../../../ports/rows/units.ts';
import type { TargetAddress } from '../connection/open.ts';

export interface PostgresUnitToken extends UnitToken {
  readonly kind: 'postgresql';
  /** `user` and `password` are the job's role and its own */
  readonly address: TargetAddress;
  /** quoted: see `ledgerStatement` */
  readonly ledger: string;
  /** staged tables, quoted, by index of a table of the model or the name of one beside those */
  readonly relations: readonly (readonly [key: number | string, relation: string])[];
}

/**
 * The units that are there. An attempt puts in part 0 first of all, for which each other attempt at the unit waits, and part 1 last, with
 * the note.
 */
export function ledgerStatement(ledger: string): string {
  return `CREATE TABLE ${ledger} (unit integer NOT NULL, part smallint NOT NULL, note text, PRIMARY KEY (unit, part))`;
}
