import { createPostgresAccessStore } from '../../src/adapters/postgres/access-store.ts';
import { createTestDatabase } from '../support/postgres.ts';
import { describeAccessStore } from './access-store-contract.ts';

describeAccessStore('PostgreSQL', async () => {
  const database = await createTestDatabase();
  return { store: createPostgresAccessStore(database.service), close: () => database.drop() };
});
