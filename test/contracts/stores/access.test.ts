/** The contract of access stores, on PostgreSQL and in memory. */
import { createPostgresAccessStore } from '../../../src/metadb/access-store.ts';
import { createTestDatabase } from '../../support/servers/postgres.ts';
import { describeAccessStore } from './access-contract.ts';

describeAccessStore('PostgreSQL', async () => {
  const database = await createTestDatabase();
  return { store: createPostgresAccessStore(database.service), close: () => database.drop() };
});
