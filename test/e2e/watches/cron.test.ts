/** Watches that look by cron: when a service in another time zone looks next, that it looks then, and what is no expression. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { WatchRecord } from '../../../src/ports/stores/watches.ts';
import type { Problem } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

const minuteMs = 60_000;

/** The first whole minute after `afterMs` that is so, in UTC: as a person would look for it in a calendar. */
function firstMinute(afterMs: number, is: (time: Date) => boolean): number {
  let time = Math.floor(afterMs / minuteMs) * minuteMs + minuteMs;
  while (!is(new Date(time))) time += minuteMs;
  return time;
}

/** half a day away, so that it does not come while this runs */
const hour = (new Date().getUTCHours() + 12) % 24;
const daily = `30 ${hour} * * *`;
const isDaily = (time: Date): boolean => time.getUTCHours() === hour && time.getUTCMinutes() === 30;
const isWeekend = (time: Date): boolean => isDaily(time) && [0, 6].includes(time.getUTCDay());

describe('a watch that looks by cron', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let watches: WatchClient;
  let sql: Sql;

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true' });
    // where clocks are changed at 02:00, and the day begins at another hour than in UTC
    service = await trial.service(home, { TZ: 'America/New_York', PGTZ: 'Asia/Kathmandu' });
    watches = watchClient(service.client);
    sql = await trial.metadb(home);
  });

  const create = async (name: string, every: string, more = {}): Promise<WatchRecord> => {
    const inbox = join(home.directory, 'files', '1', name);
    await mkdir(inbox, { recursive: true });
    await writeFile(join(inbox, 'a.xml'), '<order><id>1</id></order>');
    return watches.create({ name, location: name, target: `metadb:${name}`, every, settle: '0s', ...more });
  };
  /** What the clock does: the time that a watch waits for has come, so long ago. */
  const comes = async (id: number, agoMs: number): Promise<void> => {
    await sql`
      update svc.watch set next_run = clock_timestamp() - ${agoMs} * interval '1 millisecond',
             due = clock_timestamp() - ${agoMs} * interval '1 millisecond' where id_watch = ${id}`;
    await sql`select pg_notify('svc_watch', '')`;
  };

  it('waits for its time in UTC, whatever zone the service is in', async () => {
    const watch = await create('weekends', `30 ${hour} * * sat-sun`);
    expect(watch).toMatchObject({ last_run: null });
    expect(watch.next_run).toBe(firstMinute(watch.created, isWeekend));
    const changed = await watches.change(watch.id_watch, { every: daily });
    expect(changed.next_run).toBe(firstMinute(watch.created, isDaily));
    expect(await watches.get(watch.id_watch)).toMatchObject({ last_run: null, next_run: changed.next_run });
    expect(await watches.files(watch.id_watch)).toEqual([]);
  });

  it.each([
    ['just now', 'now', 0],
    // a service that was down looks once, not once for each time that it missed
    ['nine days ago', 'missed', 9 * 86_400_000],
  ])('looks when its time has come, %s, and waits for the next', async (_, name, agoMs) => {
    const { id_watch: id } = await create(name, daily);
    await comes(id, agoMs);
    const files = await watches.settled(id, 1);
    expect(files).toMatchObject([{ name: 'a.xml', status: 'loaded' }]);
    const after = await eventually('the check has ended', async () => {
      const watch = await watches.get(id);
      return watch.last_run === null ? null : watch;
    });
    expect(after.next_run).toBe(firstMinute(after.last_run!, isDaily));
    expect(await sql`select id::int as id from ${sql(name)}."order"`).toEqual([{ id: 1 }]);
  });

  it('looks when it is told to, and keeps to its times', async () => {
    const { id_watch: id } = await create('told', daily);
    expect((await service.client.post(`/v2/watches/${id}/run`)).status).toBe(202);
    await watches.settled(id, 1);
    const after = await eventually('the check has ended', async () => {
      const watch = await watches.get(id);
      return watch.last_run === null ? null : watch;
    });
    expect(after.next_run).toBe(firstMinute(after.last_run!, isDaily));
  });

  it('has no time while it is paused, and one again after that', async () => {
    const { id_watch: id } = await create('paused', daily, { paused: true });
    expect(await watches.get(id)).toMatchObject({ next_run: null, paused: true });
    const { next_run: next } = await watches.change(id, { paused: false });
    expect(next).toBe(firstMinute(Date.now(), isDaily));
  });

  it.each([
    ['0 0 6 * * *', 'five fields of cron in UTC such as "0 6 * * mon-fri"'],
    ['CRON_TZ=Europe/Berlin 0 6 * * *', 'five fields of cron in UTC'],
    ['@hourly', 'a duration such as 30s, 5m or 1h'],
    ['0 25 * * *', 'hour: 25 is not a number, list, range or step from 0 to 23'],
    ['0 6 31 2 *', 'this day does not exist'],
    ['0s', 'at least 1s'],
  ])('is not made, and not changed, with %s', async (every, why) => {
    const name = 'refused';
    const members = { name, location: 'weekends', target: `metadb:${name}`, every };
    const refused = await service.client.post<Problem>('/v2/watches', members);
    expect([refused.status, refused.body.code, refused.body.errors]).toEqual([
      400,
      'invalid_body',
      [{ pointer: '/every', detail: expect.stringContaining(why) as string }],
    ]);
    const watch = (await service.client.get<{ content: WatchRecord[] }>('/v2/watches?size=500')).content[0]!;
    const answer = await service.client.fetch(`/v2/watches/${watch.id_watch}`, {
      method: 'PATCH',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ every }),
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('/every')]);
    expect(await watches.get(watch.id_watch)).toEqual(watch);
  });
});
