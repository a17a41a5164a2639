/** A folder of thousands of files: what is shown of them, page by page and by state, while they are loaded and after; 5,000 with `npm run test:all`. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import type { WatchFileRecord, WatchRecord } from '../../../src/ports/stores/watches.ts';
import { isHere } from '../../support/needs.ts';
import {
  projectRoot,
  serviceEnvironment,
  type RunningService,
  type ServiceHome,
} from '../../support/service/start.ts';
import { useTrial } from '../../support/service/trial.ts';
import { eventually } from '../../support/service/waiting.ts';
import { watchClient, type WatchClient } from '../../support/service/watches.ts';

interface Listed {
  readonly content: readonly WatchFileRecord[];
  readonly total_elements: number;
  readonly total_pages: number;
}

const files = isHere('whole run') ? 5000 : 1100;
const perJob = Math.ceil(files / 4);
/** not well-formed, one of the first job and one of the last */
const bad = [7, files - 3];
const nameOf = (number: number): string => `${number % 10}/order ${String(number).padStart(5, '0')}.xml`;

describe('thousands of files', { timeout: 600_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let watches: WatchClient;
  let sql: Sql;
  let id: number;

  beforeAll(async () => {
    home = await trial.home({
      'cmd.enabled': 'true',
      'svc.limits.requests_per_second': '100000',
      'svc.limits.request_burst': '100000',
    });
    const inbox = join(home.directory, 'files', '1', 'inbox');
    for (let folder = 0; folder < 10; folder += 1)
      await mkdir(join(inbox, String(folder)), { recursive: true });
    for (let number = 0; number < files; number += 1)
      await writeFile(
        join(inbox, nameOf(number)),
        bad.includes(number) ? '<order>' : `<order><id>${number}</id></order>`,
      );
    await writeFile(join(inbox, '.hidden.xml'), '<order/>');
    await writeFile(join(inbox, 'notes.txt'), 'no document');
    service = await trial.service(home);
    watches = watchClient(service.client);
    sql = await trial.metadb(home);
    ({ id_watch: id } = await watches.create({
      name: 'thousands',
      location: 'inbox',
      target: 'metadb:thousands',
      every: '1d',
      settle: '0s',
      max_files: perJob,
    }));
  });

  const page = (query: string): Promise<Listed> => service.client.get(`/v2/watches/${id}/files?${query}`);
  const pages = async (query: string, size: number): Promise<WatchFileRecord[]> => {
    const found: WatchFileRecord[] = [];
    for (let number = 0; ; number += 1) {
      const {
        content,
        total_elements: total,
        total_pages: count,
      } = await page(`${query}&size=${size}&page=${number}`);
      expect(count).toBe(Math.ceil(total / size));
      found.push(...content);
      if (number + 1 >= count) return found;
      expect(content).toHaveLength(size);
    }
  };

  it('are told by their states at every time, and come to rest', async () => {
    const seen = new Set<string>();
    await eventually('all is loaded', async () => {
      const watch = await watches.get(id);
      const { loaded, rejected, ignored, waiting, loading } = watch.files;
      const met = loaded + rejected + ignored + waiting + loading;
      expect(met).toBeLessThanOrEqual(files);
      expect(loading).toBeLessThanOrEqual(perJob);
      expect(watch.waiting_since === null).toBe(waiting === 0);
      const { content, total_elements: total } = await page('size=50');
      // a look records some at a time, and meets no more after it
      if (met === files) expect(total).toBe(files);
      expect(new Set(content.map(({ name }) => name)).size).toBe(content.length);
      for (const { status, id_job: idJob } of content) {
        seen.add(status);
        if (status !== 'waiting') expect(idJob).not.toBeNull();
      }
      return loaded + rejected === files ? true : null;
    });
    expect([...seen].every((status) => ['waiting', 'loading', 'loaded', 'rejected'].includes(status))).toBe(
      true,
    );
    expect((await watches.get(id)).files).toEqual({
      waiting: 0,
      loading: 0,
      loaded: files - bad.length,
      rejected: bad.length,
      ignored: 0,
      replaced: 0,
    });
    const [rows] =
      await sql`select count(*)::int as rows, count(distinct id)::int as ids from thousands."order"`;
    expect(rows).toEqual({ rows: files - bad.length, ids: files - bad.length });
  });

  it.each([500, 97])('stand once each on pages of %d, the last met first', async (size) => {
    const found = await pages('', size);
    const expected = Array.from({ length: files }, (_, number) => nameOf(number));
    expect(found.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
    const seen = found.map(({ seen_at: at }) => at);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
  });

  it('stand on pages of one state alone', async () => {
    const loaded = await pages('status=loaded', 500);
    expect(loaded).toHaveLength(files - bad.length);
    expect(new Set(loaded.map(({ status }) => status))).toEqual(new Set(['loaded']));
    const rejected = await pages('status=rejected', 1);
    expect(rejected.map(({ name }) => name).toSorted()).toEqual(bad.map(nameOf).toSorted());
    for (const { reason } of rejected) expect(reason).toMatch(/^line 1, column \d+: /);
    expect(await page('status=waiting')).toMatchObject({ content: [], total_elements: 0 });
  });

  it('have an end, and pages a size', async () => {
    expect(await page('size=500&page=1000000')).toMatchObject({ content: [], total_elements: files });
    for (const query of ['size=501', 'size=0', 'page=-1', 'status=gone'])
      expect([query, (await service.client.fetch(`/v2/watches/${id}/files?${query}`)).status]).toEqual([
        query,
        400,
      ]);
  });

  it('are told by hand, too', async () => {
    const tool = join(projectRoot, 'bin/conversion-job-service.mjs');
    const told = async (...words: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, [tool, ...words], { env: serviceEnvironment(home) }))
        .stdout;
    const rejected = JSON.parse(
      await told('watches', 'files', 'thousands', '--status', 'rejected', '--json'),
    ) as readonly WatchFileRecord[];
    expect(rejected.map(({ name }) => name).toSorted()).toEqual(bad.map(nameOf).toSorted());
    const listed = JSON.parse(await told('watches', 'list', '--json')) as readonly WatchRecord[];
    expect(listed.map(({ files: counts }) => counts)).toEqual([(await watches.get(id)).files]);
  });
});
