/** Files that come while schedulers, workers and the database of a watch are killed: each is loaded once. All of 10,000 with `npm run test:all`. */
import { appendFile, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WatchRecord } from '../../src/ports/stores/watches.ts';
import { isHere } from '../support/needs.ts';
import { shortLeases } from '../support/service/leases.ts';
import { withoutPauses } from '../support/service/retries.ts';
import type { RunningService, ServiceHome } from '../support/service/start.ts';
import { useTrial } from '../support/service/trial.ts';
import { eventually } from '../support/service/waiting.ts';
import { watchClient } from '../support/service/watches.ts';

const [files, rounds] = isHere('whole run') ? [10_000, 12] : [54, 3];
const perRound = files / rounds;

describe('a watch whose schedulers, workers and database are killed', { timeout: 1_800_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let inbox: string;
  let slow: string;
  const services: RunningService[] = [];

  beforeAll(async () => {
    home = await trial.home({ 'cmd.enabled': 'true', ...shortLeases });
    inbox = join(home.directory, 'files', '1', 'inbox');
    slow = join(home.directory, 'files', '1', 'slow');
    for (const folder of [inbox, slow]) await mkdir(folder, { recursive: true });
    for (let at = 0; at < 2; at += 1) services.push(await trial.service(home));
  });

  const restart = async (at: number): Promise<void> => {
    await services[at]!.end('SIGKILL');
    services[at] = await trial.service(home);
  };
  const killDatabase = async (): Promise<void> => {
    const [pid] = (await readFile(join(home.directory, 'db', 'data', 'postmaster.pid'), 'utf8')).split('\n');
    process.kill(Number(pid), 'SIGKILL');
  };
  /** As programs do that know of watches: written elsewhere, and moved there whole. */
  const put = async (id: number): Promise<void> => {
    const part = join(home.directory, 'files', '1', 'part');
    await writeFile(part, `<order><id>${id}</id><city>Ghent</city></order>`);
    await rename(part, join(inbox, `${id}.xml`));
  };

  /** As programs do that know of none: half of it stands there under its own name, for as long as it takes. */
  const begin = async (id: number): Promise<void> => {
    await writeFile(join(slow, `${id}.xml`), `<orders><order><id>${id}</id></order>`);
  };

  it('loads each file once, and none that is half written', async () => {
    const { id_watch: id } = await watchClient(services[0]!.client).create({
      name: 'inbox',
      location: 'inbox',
      target: 'metadb:watched',
      every: '1s',
      settle: '0s',
      max_files: isHere('whole run') ? 400 : 9,
    });
    const { id_watch: slowId } = await watchClient(services[0]!.client).create({
      name: 'slow',
      location: 'slow',
      target: 'metadb:slow',
      every: '1s',
      // longer than all this takes: what comes to rest is for the end
      settle: '1d',
    });
    /** Null while the service or its database is not there. */
    const record = (): Promise<WatchRecord | null> =>
      watchClient(services[0]!.client)
        .get(id)
        .catch(() => null);
    const reached = (what: string, is: (found: WatchRecord['files']) => boolean): Promise<WatchRecord> =>
      eventually(what, async () => {
        const found = await record();
        return found !== null && is(found.files) ? found : null;
      });
    let before = 0;
    let next = 0;
    for (let round = 0; round < rounds; round += 1) {
      for (; next < Math.round((round + 1) * perRound); next += 1) await put(next);
      for (let file = 0; file < 5; file += 1) await begin(round * 5 + file);
      // wherever in its work it is then
      await reached('something new is loaded', ({ loading, loaded }) => loading + loaded > before);
      if (round % 3 === 0) await restart(1);
      else {
        await killDatabase();
        if (round % 3 === 1) await restart(1);
      }
      // a start makes the database ready, too
      await restart(0);
      const found = await eventually('the watch is there again', record);
      before = found.files.loaded;
    }
    const sql = await trial.metadb(home);
    for (let loaded = before; loaded < files;) {
      const more = reached('more is loaded', (found) => found.loaded > loaded);
      ({ loaded } = (await withoutPauses(sql, more)).files);
    }
    expect((await record())!.files).toEqual({
      waiting: 0,
      loading: 0,
      loaded: files,
      rejected: 0,
      ignored: 0,
      replaced: 0,
    });
    const [rows] =
      await sql`select count(*)::int as rows, count(distinct id)::int as ids from watched."order"`;
    expect(rows).toEqual({ rows: files, ids: files });
    const [documents] = await sql`
      select count(*)::int as documents, count(distinct name)::int as names from watched._documents`;
    expect(documents).toEqual({ documents: files, names: files });

    const halves = rounds * 5;
    const watches = watchClient(services[0]!.client);
    const seen = await eventually('all that is half written is met', async () => {
      const found = await watches.files(slowId);
      return found.length === halves ? found : null;
    });
    expect(seen.filter(({ status }) => status !== 'waiting')).toEqual([]);
    for (let id = 0; id < halves; id += 1)
      await appendFile(join(slow, `${id}.xml`), `<order><id>${-1 - id}</id></order></orders>`);
    await watches.change(slowId, { settle: '0s' });
    const settled = await watches.settled(slowId, halves);
    expect(settled.map(({ status }) => status)).toEqual(settled.map(() => 'loaded'));
    expect(settled).toHaveLength(halves);
    const [whole] = await sql`
      select count(*)::int as rows, count(distinct id)::int as ids, min(id)::int as first from slow."order"`;
    expect(whole).toEqual({ rows: 2 * halves, ids: 2 * halves, first: -halves });
  });
});
