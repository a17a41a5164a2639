/**
 * One suite for every way to run the service: the main job, each operation of the interface, who may do what, and what is refused.
 * Each deployment works in organisations of its own, on one database; what a deployment cannot do is named with its reason, and
 * must say so itself.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startIdentityProvider } from '../../support/servers/identity-provider.ts';
import { createTestDatabase, type TestDatabase } from '../../support/servers/postgres.ts';
import { startS3Server } from '../../support/servers/s3-server.ts';
import { createServiceHome, startService } from '../../support/service/start.ts';
import { accessSuite } from '../suite/access.ts';
import { catalogueSuite } from '../suite/catalogue.ts';
import { conversionSuite } from '../suite/conversion.ts';
import { deploymentsOf, jsonBodyLimit, type Installation } from '../suite/deployments.ts';
import { feedSuite } from '../suite/feeds.ts';
import { watchSuite } from '../suite/watches.ts';
import { transferSuite } from '../suite/packages.ts';
import { operationSuite } from '../suite/operation.ts';
import { openSession, type OpenDeployment, type Session } from '../suite/session.ts';
import { isHere, needs, some } from '../../support/needs.ts';

describe('every deployment', { timeout: 120_000 }, () => {
  let database: TestDatabase;
  let installation: Installation;

  beforeAll(async () => {
    database = await createTestDatabase();
    const provider = await startIdentityProvider();
    const home = await createServiceHome({
      ...provider.properties,
      'metadb.url': database.url,
      'svc.limits.json_body': jsonBodyLimit,
    });
    const s3 = isHere('s3 server') ? await startS3Server() : null;
    // makes the first API key and the secret key
    await (await startService(home)).end('SIGTERM');
    const secretKey = (await readFile(join(home.directory, 'secret.key'), 'utf8')).trim();
    installation = { databaseUrl: database.url, secretKey, home, provider, s3 };
  }, 120_000);

  afterAll(async () => {
    await installation?.home.remove();
    await installation?.s3?.end();
    await installation?.provider.end();
    await database?.drop();
  });

  for (const deployment of some(
    deploymentsOf(() => installation),
    1,
  ))
    describe(deployment.name, needs(deployment.parts ?? []), () => {
      let opened: OpenDeployment | null = null;
      let session: Session | null = null;
      const get = (): Session => {
        if (session === null) throw new Error('the deployment is not open');
        return session;
      };

      beforeAll(async () => {
        opened = await deployment.open();
        session = await openSession(deployment, opened, database.sql, installation.provider);
      }, 120_000);
      afterAll(() => opened?.close());

      conversionSuite(get);
      catalogueSuite(get);
      feedSuite(get);
      watchSuite(get);
      accessSuite(get);
      operationSuite(get);
      transferSuite(get);

      it('has answered every operation of its description, and nothing that it does not declare', async () => {
        const { document, supports, succeeded, complaints } = get();
        const operations = Object.values(document.paths).flatMap((methods) =>
          Object.values(methods).map(({ operationId }) => operationId),
        );
        expect(operations.length).toBeGreaterThan(60);
        const done = succeeded();
        expect(operations.filter((operation) => supports(operation) && !done.has(operation))).toEqual([]);
        expect(operations.filter((operation) => !supports(operation) && done.has(operation))).toEqual([]);
        expect(await complaints()).toEqual([]);
      });
    });
});
