/** Rows of a MariaDB that are watched by a running service: each is loaded once, as it comes. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { secretForms } from '../../../src/service/jobs/mask-secrets.ts';
import { needs } from '../../support/needs.ts';
import { mariadbParts, startMariadb, type TestMariadb } from '../../support/servers/mariadb.ts';
import { freePort } from '../../support/free-port.ts';
import type { ServiceClient } from '../../support/service/client.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, watchedOrders, type WatchClient } from '../../support/service/watches.ts';

const canary = 'c4nary-of-mysql-rows/+';

describe('watched rows of MariaDB', { timeout: 180_000, ...needs(mariadbParts) }, () => {
  const trial = useTrial();
  let server: TestMariadb;
  let location: string;
  let client: ServiceClient;
  let watches: WatchClient;
  let metadb: Sql;

  beforeAll(async () => {
    const port = await freePort();
    server = trial.keep(await startMariadb({ port }), (one) => one.stop());
    await server.run('CREATE DATABASE inbox CHARACTER SET utf8mb4;');
    location = `mysql://reader:${encodeURIComponent(canary)}@127.0.0.1:${port}/inbox`;
    const home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': `127.0.0.1:${port}` });
    client = (await trial.service(home)).client;
    watches = watchClient(client);
    metadb = await trial.metadb(home);
  });

  const table = (name: string): Promise<string> =>
    server.run(
      `CREATE TABLE ${name} (id bigint unsigned PRIMARY KEY, received datetime(6) NOT NULL, payload longtext);`,
      undefined,
      'inbox',
    );
  /** `second`: of when it was received, which several rows may share */
  const insert = (name: string, ids: readonly number[], second = (id: number) => id): Promise<string> =>
    server.run(
      `INSERT INTO ${name} VALUES ${ids
        .map(
          (id) =>
            `(${id}, '2026-11-26 08:00:00.000000' + INTERVAL ${second(id)} SECOND, '<order><number>${id}</number><city>Zürich</city></order>')`,
        )
        .join(', ')};`,
      undefined,
      'inbox',
    );
  const { watch, loaded, atRest } = watchedOrders('received', () => ({ watches, location, metadb }));

  it('are loaded as they come, with their columns, those that share a value, too', async () => {
    await table('plain');
    await insert('plain', [1, 2, 3], () => 10);
    const { id_watch: id, ...made } = await watch('plain');
    expect(made.location).toBe(location.replace(/:[^:@/]*@/, ':***@'));
    expect(await loaded('plain', 3)).toEqual([1, 2, 3]);
    await insert('plain', [4], () => 10);
    expect(await loaded('plain', 4)).toEqual([1, 2, 3, 4]);
    await server.run(
      `INSERT INTO plain VALUES (5, '2026-11-26 09:00:00.5', NULL),
         (18446744073709551615, '2026-11-26 10:00:00.000001', '<order><number>6</number><city>Zürich</city></order>');`,
      undefined,
      'inbox',
    );
    expect(await loaded('plain', 5)).toEqual([1, 2, 3, 4, 6]);
    const rows = await metadb`
      select id::text as id, received::text as received, city from plain."order" order by received desc, id limit 2`;
    expect(rows.map((row) => ({ ...row }))).toEqual([
      { id: '18446744073709551615', received: '2026-11-26 10:00:00.000001', city: 'Zürich' },
      { id: '1', received: '2026-11-26 08:00:10', city: 'Zürich' },
    ]);
    await atRest(id);
    const files = await watches.files(id);
    expect(new Set(files.map(({ status }) => status))).toEqual(new Set(['loaded']));
    const told = JSON.stringify([
      await watches.get(id),
      await client.log(files[0]!.id_job!),
      await metadb`select to_json(w) as w from svc.watch w`,
      await metadb`select to_json(j) as j from svc.job j`,
    ]);
    for (const form of secretForms(canary)) expect(told).not.toContain(form);
  });

  it('wait behind a bad one, and go on when it is mended', async () => {
    await table('bad');
    await insert('bad', [1, 2]);
    await server.run(
      `INSERT INTO bad VALUES (3, '2026-11-26 08:00:03', '<order><number>3</order>');`,
      undefined,
      'inbox',
    );
    await insert('bad', [4]);
    const { id_watch: id } = await watch('bad');
    const stalled = await eventually('a stalled watch', async () => (await watches.get(id)).stalled);
    expect(stalled).toMatch(
      /^rows from received=2026-11-26T08:00:01.* on are not loaded: .+; repair that row/,
    );
    await server.run(
      `UPDATE bad SET payload = '<order><number>3</number></order>' WHERE id = 3;`,
      undefined,
      'inbox',
    );
    await client.post(`/v2/watches/${id}/run`, { retry: true });
    expect(await loaded('bad', 4)).toEqual([1, 2, 3, 4]);
  });

  it('whose server does not answer stall the watch, which says why and goes on by itself', async () => {
    await table('away');
    await insert('away', [1]);
    const { id_watch: id } = await watch('away', {
      options: { '--query': 'SELECT * FROM moved', '--xml-column': 'payload', '--after': 'received' },
    });
    const { stalled } = await watches.stalled(id);
    expect(stalled).toContain('moved');
    expect(stalled).not.toContain(canary);
    await server.run('RENAME TABLE away TO moved;', undefined, 'inbox');
    await client.post(`/v2/watches/${id}/run`, {});
    expect(await loaded('away', 1)).toEqual([1]);
  });
});
