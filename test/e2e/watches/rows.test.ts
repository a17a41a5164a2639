/** Rows of a PostgreSQL that are watched by a running service: each is loaded once, whatever comes meanwhile and whoever dies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { secretForms } from '../../../src/service/jobs/mask-secrets.ts';
import type { ServiceClient } from '../../support/service/client.ts';
import type { RunningService } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, watchedOrders, type WatchClient } from '../../support/service/watches.ts';

const canary = 'c4nary-of-watched-rows-é/+';

const numbers = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('watched rows', { timeout: 180_000 }, () => {
  const trial = useTrial();
  let source: Sql;
  let login: string;
  let location: string;
  let service: RunningService;
  let client: ServiceClient;
  let watches: WatchClient;
  let metadb: Sql;

  beforeAll(async () => {
    const database = await trial.emptyDatabase();
    source = database.sql;
    login = `watcher_${database.url.slice(-16)}`;
    await source.unsafe(`CREATE ROLE ${login} LOGIN PASSWORD '${canary}'`);
    const url = new URL(database.url);
    url.username = login;
    url.password = encodeURIComponent(canary);
    location = url.href;
    const home = await trial.home({ 'cmd.enabled': 'true', 'svc.allow.hosts': url.host });
    service = await trial.service(home);
    client = service.client;
    watches = watchClient(client);
    metadb = await trial.metadb(home);
  });
  afterAll(() => source.unsafe(`DROP OWNED BY ${login}; DROP ROLE ${login}`));

  const table = async (name: string): Promise<void> => {
    await source.unsafe(
      `CREATE TABLE ${name} (id int PRIMARY KEY, batch int NOT NULL, payload text); GRANT SELECT ON ${name} TO ${login}`,
    );
  };
  /** `batch`: what the watch goes by, which several rows may share. */
  const insert = (name: string, ids: readonly number[], batch = (id: number) => id) =>
    source`INSERT INTO ${source(name)} ${source(
      ids.map((id) => ({ id, batch: batch(id), payload: `<order><number>${id}</number></order>` })),
    )}`;
  const { watch, loaded, atRest } = watchedOrders('batch', () => ({ watches, location, metadb }));

  it('are loaded as they come, those that share a value, too', async () => {
    await table('inbox');
    await insert('inbox', [1, 2, 3], () => 10);
    const { id_watch: id, ...made } = await watch('inbox');
    expect(made.location).toBe(location.replace(/:[^:@/]*@/, ':***@'));
    expect(await loaded('inbox', 3)).toEqual([1, 2, 3]);
    // of the value that was loaded last, and above
    await insert('inbox', [4], () => 10);
    expect(await loaded('inbox', 4)).toEqual([1, 2, 3, 4]);
    await insert('inbox', [5, 6], () => 11);
    await source`INSERT INTO inbox VALUES (7, 12, NULL)`;
    expect(await loaded('inbox', 6)).toEqual(numbers(1, 6));
    await insert('inbox', [8], () => 13);
    expect(await loaded('inbox', 7)).toEqual([1, 2, 3, 4, 5, 6, 8]);
    await atRest(id);
    const [last, ...earlier] = await watches.files(id);
    expect(last).toMatchObject({ name: 'batch=13', status: 'loaded', reason: null });
    expect(earlier.map(({ name, status }) => [name, status])).toEqual([
      ['batch=11', 'loaded'],
      ['batch=10', 'loaded'],
      ['batch=10', 'loaded'],
    ]);
    expect(await client.job(last!.id_job!)).toMatchObject({ status: 'C', id_watch: id });
    const told = JSON.stringify([
      await watches.get(id),
      await client.job(last!.id_job!),
      await client.log(last!.id_job!),
      await metadb`select to_json(w) as w from svc.watch w`,
      await metadb`select to_json(j) as j from svc.job j`,
    ]);
    for (const form of secretForms(canary)) expect(told).not.toContain(form);
  });

  it('are each loaded once, though a job died before it could say how far it came, or before its rows were there', async () => {
    await table('killed');
    await insert('killed', [1, 2]);
    const { id_watch: id } = await watch('killed');
    await loaded('killed', 2);
    await atRest(id);
    await watches.change(id, { paused: true });
    // what a tool leaves that is killed between the commit and its last word
    const unsettled =
      await metadb`update svc.query_mark set settled = false where id_watch = ${id} returning id_job`;
    expect(unsettled).toHaveLength(1);
    // and one that is killed between its mark and the commit
    await metadb`
      insert into svc.query_mark (id_org, source, id_job, id_watch, mark, seen)
      select id_org, source, 999999, id_watch, '1000', '{}' from svc.query_mark where id_watch = ${id}`;
    await insert('killed', [3, 4]);
    await watches.change(id, { paused: false });
    expect(await loaded('killed', 4)).toEqual([1, 2, 3, 4]);
    await insert('killed', [5]);
    expect(await loaded('killed', 5)).toEqual(numbers(1, 5));
    await atRest(id);
    expect(await metadb`select mark, settled from svc.query_mark where id_watch = ${id}`).toEqual([
      { mark: '5', settled: true },
    ]);
  });

  it('that come while others are loaded are each loaded once', async () => {
    await table('busy');
    const { id_watch: id } = await watch('busy');
    for (let from = 1; from <= 200; from += 5) await insert('busy', numbers(from, from + 4), (id) => id >> 3);
    expect(await loaded('busy', 200)).toEqual(numbers(1, 200));
    await atRest(id);
    expect((await watches.get(id)).files.rejected).toBe(0);
  });

  it('wait behind a bad one, and go on when it is mended', async () => {
    await table('bad');
    await insert('bad', [1, 2]);
    await source`INSERT INTO bad VALUES (3, 3, '<order><number>3</order>')`;
    await insert('bad', [4]);
    const { id_watch: id } = await watch('bad');
    const stalled = await eventually('a stalled watch', async () => (await watches.get(id)).stalled);
    expect(stalled).toMatch(/^rows from batch=1 on are not loaded: line 1, column \d+: .+; repair that row/);
    expect(await watches.files(id)).toMatchObject([{ name: 'batch=1', status: 'rejected' }]);
    await source`UPDATE bad SET payload = '<order><number>3</number></order>' WHERE id = 3`;
    await client.post(`/v2/watches/${id}/run`, { retry: true });
    expect(await loaded('bad', 4)).toEqual([1, 2, 3, 4]);
    await atRest(id);
    expect((await watches.get(id)).stalled).toBeNull();
  });

  it('are loaded without the bad ones where the watch says so', async () => {
    await table('skipping');
    await insert('skipping', [1]);
    await source`INSERT INTO skipping VALUES (2, 2, 'no XML')`;
    const { id_watch: id } = await watch('skipping', { on_error: 'skip' });
    await loaded('skipping', 1);
    await insert('skipping', [3]);
    expect(await loaded('skipping', 2)).toEqual([1, 3]);
    await atRest(id);
    expect((await watches.get(id)).stalled).toBeNull();
  });

  it('make the next version of the schema where they hold more, and fill another target from the first on', async () => {
    await table('drift');
    await insert('drift', [1]);
    const { id_watch: id } = await watch('drift');
    await loaded('drift', 1);
    await source`INSERT INTO drift VALUES (2, 2, '<order><number>2</number><note>new</note></order>')`;
    await loaded('drift', 2);
    expect(
      (await metadb`select number::int as n, note from drift."order" order by 1`).map((row) => ({ ...row })),
    ).toEqual([
      { n: 1, note: null },
      { n: 2, note: 'new' },
    ]);
    await atRest(id);
    await watches.change(id, { target: 'metadb:drift_again' });
    expect(await loaded('drift_again', 2)).toEqual([1, 2]);
    await atRest(id);
    const removed = await client.fetch(`/v2/watches/${id}`, { method: 'DELETE' });
    expect(removed.status).toBe(204);
    expect(await metadb`select 1 from svc.query_mark where id_watch = ${id}`).toHaveLength(0);
  });

  it.each([
    [{ options: { '--query': 'SELECT 1' } }, '/options/--after', '--after COLUMN is required'],
    [{ options: { '--query': 'SELECT 1', '--after': 'id=5' } }, '/options/--after', 'omit the value'],
    [{ options: { '--after': 'id' } }, '/location', '--query'],
    [{ options: { '--from': 'sqlite:a', '--query': 'SELECT 1' } }, '/options/--from', 'is set by location'],
    [{ pattern: '*.xml' }, '/pattern', '--query in options'],
    [{ location: 'sqlite:inbox.db' }, '/location', 'must be a server'],
    [{ location: 'inbox/rows.parquet' }, '/location', 'must be a server'],
    [{ location: 'postgresql://reader:x@db.elsewhere/inbox' }, '/location', 'svc.allow.hosts'],
    [{ location: 'postgresql://db.elsewhere/inbox' }, '/location', 'svc.allow.hosts'],
    [{ credential: 'bank' }, '/credential', 'is for inputs by address'],
  ])('are refused with what to do: %j', async (members, pointer, detail) => {
    const body = {
      name: 'refused',
      location,
      target: 'metadb:refused',
      every: '1s',
      options: { '--query': 'SELECT 1 AS id', '--after': 'id' },
      ...members,
    };
    const answer = await client.post<{ errors: { pointer: string; detail: string }[] }>('/v2/watches', body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    const found = answer.body.errors.find((one) => one.detail.includes(detail));
    expect([found?.pointer, JSON.stringify(answer.body)]).toEqual([pointer, expect.stringContaining(detail)]);
    expect(JSON.stringify(answer.body)).not.toContain(canary);
  });
});
