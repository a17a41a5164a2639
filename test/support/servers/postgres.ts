/** Databases for tests: each fresh, migrated, and on one real server that the whole run shares. */
import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { joinEmbeddedPostgres } from '../../../src/process/embedded-postgres/server.ts';
import { connectPostgres, type Sql } from '../../../src/postgres/connect.ts';
import { migrate } from '../../../src/metadb/migrations.ts';
import { everyOrganisation } from '../../../src/postgres/organisation-pools.ts';
import { ensureServiceRole, serviceRole } from '../../../src/postgres/roles.ts';

export interface TestDatabase {
  /** `postgres://…`, of a superuser */
  readonly url: string;
  /** a pool of 10 connections on it, of the superuser */
  readonly sql: Sql;
  /** a pool under the role that the service works under */
  readonly service: Sql;
  /** Ends the pool and removes the database, others' connections included. */
  drop(): Promise<void>;
}

/** The server's address: `TEST_DATABASE_URL` (a superuser's) where given, else the run's embedded server. */
async function testServerUrl(): Promise<string> {
  const given = process.env.TEST_DATABASE_URL;
  if (given !== undefined && given !== '') return given;
  // a test may use its database late: the run ends the server, not its silence
  const idleMs = 30 * 60_000;
  return (await joinEmbeddedPostgres({ directory: inject('postgresDirectory'), idleMs })).url;
}

/** A database without anything in it. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  const server = await testServerUrl();
  const name = `test_${randomBytes(8).toString('hex')}`;
  await onServer(server, (sql) => sql.unsafe(`create database ${name} template template0 encoding 'UTF8'`));
  const address = new URL(server);
  address.pathname = `/${name}`;
  const sql = connectPostgres(address.href, { applicationName: 'test' });
  const service = connectPostgres(address.href, {
    applicationName: 'test',
    role: serviceRole,
    idOrg: everyOrganisation,
  });
  return {
    url: address.href,
    sql,
    service,
    drop: async () => {
      await Promise.all([sql.end({ timeout: 5 }), service.end({ timeout: 5 })]);
      await onServer(server, (admin) => admin.unsafe(`drop database if exists ${name} with (force)`));
    },
  };
}

export async function createTestDatabase(): Promise<TestDatabase> {
  const database = await createEmptyDatabase();
  await migrate(database.sql);
  await ensureServiceRole(database.sql);
  return database;
}

async function onServer(url: string, work: (sql: Sql) => Promise<unknown>): Promise<void> {
  const sql = connectPostgres(url, { applicationName: 'test-admin', max: 1 });
  try {
    await work(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
