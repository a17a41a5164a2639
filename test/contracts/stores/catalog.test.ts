/** The contract of catalogue stores, on PostgreSQL and in memory. */
import { createPostgresCatalogStore } from '../../../src/metadb/catalog-store.ts';
import { createPostgresJobStore } from '../../../src/metadb/job-store.ts';
import { createTestDatabase } from '../../support/servers/postgres.ts';
import { describeCatalogStore } from './catalog/contract.ts';
import { submission } from './jobs/contract.ts';

describeCatalogStore('PostgreSQL', async () => {
  const database = await createTestDatabase();
  const jobs = createPostgresJobStore(database.service);
  let serial = 0;
  return {
    store: createPostgresCatalogStore(database.service),
    createOrg: async () => {
      const [row] = await database.sql<
        { id_org: number }[]
      >`insert into svc.org (name) values (${`org ${++serial}`}) returning id_org`;
      return row?.id_org ?? 0;
    },
    createJob: async (idOrg) => (await jobs.submit(submission(idOrg, 1))).idJobs[0] ?? 0,
    createJobOf: async (idOrg, idSch) => {
      const wanted = submission(idOrg, 1);
      const { idJobs } = await jobs.submit({
        ...wanted,
        jobs: wanted.jobs.map((job) => ({ ...job, idSch })),
      });
      return idJobs[0] ?? 0;
    },
    close: () => database.drop(),
  };
});
