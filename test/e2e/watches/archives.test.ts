/** Archives that a watch meets, whole or without their bad documents; and what webhooks are told of files and watches. */
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { startEventReceiver, type EventReceiver } from '../../support/servers/event-receiver.ts';
import { tarGzipped, zipped } from '../../support/service/archives.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const secret = `whsec_${Buffer.from('a secret of the test run, long enough').toString('base64')}`;
const document = (name: string, text: string) => ({ name, bytes: new TextEncoder().encode(text) });
const good = (id: number) => document(`${id}.xml`, `<order><id>${id}</id></order>`);
const bad = document('bad.xml', '<order><id>9</order>');

describe('archives that a watch meets', { timeout: 180_000 }, () => {
  const trial = useTrial();
  let receiver: EventReceiver;
  let watches: WatchClient;
  let sql: Sql;
  let files: string;

  beforeAll(async () => {
    receiver = trial.keep(await startEventReceiver(), (one) => one.close());
    const home = await trial.home({
      'cmd.enabled': 'true',
      'svc.webhooks.url': `http://127.0.0.1:${receiver.port}/hook`,
      'svc.webhooks.secret': secret,
      'svc.allow.hosts': `127.0.0.1:${receiver.port}`,
    });
    const service = await trial.service(home);
    watches = watchClient(service.client);
    sql = await trial.metadb(home);
    files = join(home.directory, 'files', '1');
  });

  const put = async (folder: string, name: string, bytes: Uint8Array): Promise<void> => {
    await mkdir(join(files, folder), { recursive: true });
    await writeFile(join(files, 'part'), bytes);
    await rename(join(files, 'part'), join(files, folder, name));
  };
  const create = async (folder: string, more: Readonly<Record<string, unknown>>): Promise<number> =>
    (
      await watches.create({
        name: folder,
        location: folder,
        target: `metadb:${folder}`,
        every: '1s',
        settle: '0s',
        ...more,
      })
    ).id_watch;
  const ids = async (sqlSchema: string): Promise<number[]> =>
    (await sql`select id::int as id from ${sql(sqlSchema)}."order" order by id`).map(
      (row) => row['id'] as number,
    );
  /** Webhooks of that type, each told at least once. */
  const told = (
    type: string,
    is: (data: Record<string, unknown>) => boolean,
  ): Promise<Record<string, unknown>> =>
    eventually(`a webhook ${type}`, () => {
      const events = receiver.received.map(
        ({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> },
      );
      return events.find((event) => event.type === type && is(event.data))?.data ?? null;
    });

  it('are loaded without their bad documents, where the watch says skip', async () => {
    await put('skipping', 'a.zip', zipped([good(1), bad, good(2)]));
    await put('skipping', 'b.tgz', await tarGzipped([good(3)]));
    const id = await create('skipping', { on_error: 'skip' });
    const found = await watches.settled(id, 2);
    expect(found.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['a.zip', 'loaded'],
      ['b.tgz', 'loaded'],
    ]);
    expect(found.find(({ name }) => name === 'a.zip')!.reason).toMatch(/^without 1 of its documents: /);
    expect(await ids('skipping')).toEqual([1, 2, 3]);
    expect((await sql`select name from skipping._documents order by name`).map((row) => row['name'])).toEqual(
      ['a.zip/1.xml', 'a.zip/2.xml', 'b.tgz/3.xml'],
    );
  });

  it('are kept aside whole, where it does not, and a webhook is told which and why', async () => {
    await put('failing', 'a.zip', zipped([good(1), bad]));
    await put('failing', 'b.zip', zipped([good(2)]));
    // of the name of a document that is not well-formed
    await put('failing', 'bad.xml', good(3).bytes);
    const id = await create('failing', {});
    const found = await watches.settled(id, 3);
    expect(found.map(({ name, status }) => [name, status]).toSorted()).toEqual([
      ['a.zip', 'rejected'],
      ['b.zip', 'loaded'],
      ['bad.xml', 'loaded'],
    ]);
    expect(await ids('failing')).toEqual([2, 3]);
    const data = await told('file.rejected', ({ id_watch }) => id_watch === id);
    expect(data).toMatchObject({ name: 'a.zip', reason: found.find(({ name }) => name === 'a.zip')!.reason });
  });

  it('that cannot be looked for stall the watch, and a webhook is told', async () => {
    await put('gone', 'a.zip', zipped([good(1)]));
    const id = await create('gone', {});
    await watches.settled(id, 1);
    await rename(join(files, 'gone'), join(files, 'elsewhere'));
    const { stalled } = await watches.stalled(id);
    const data = await told('watch.stalled', ({ id_watch }) => id_watch === id);
    expect(data).toMatchObject({ name: 'gone', stalled });
    expect(stalled).toContain('gone');
  });
});
