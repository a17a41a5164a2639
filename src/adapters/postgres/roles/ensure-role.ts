/** Roles belong to a whole server, and locks to one database of it: services of two databases may make a role at the same time. */
import { sqlState, type TransactionSql } from '../client/connect.ts';

/** Creates the role if it is missing. `attributes` and the name are SQL of our own. */
export async function ensureRole(tx: TransactionSql, name: string, attributes: string): Promise<void> {
  const [known] = await tx`select 1 from pg_roles where rolname = ${name}`;
  if (known !== undefined) return;
  try {
    await tx.savepoint((savepoint) => savepoint.unsafe(`create role ${name} ${attributes}`));
  } catch (error) {
    // duplicate_object, or unique_violation if the other transaction had not committed yet
    if (sqlState(error) !== '42710' && sqlState(error) !== '23505') throw error;
  }
}

/** Lets a login take on a role. */
export async function grantRole(tx: TransactionSql, name: string, login: string): Promise<void> {
  try {
    await tx.savepoint((savepoint) => savepoint`grant ${savepoint(name)} to ${savepoint(login)}`);
  } catch (error) {
    // `tuple concurrently updated`, or a unique_violation: another one grants the same
    if (sqlState(error) !== 'XX000' && sqlState(error) !== '23505') throw error;
  }
}
