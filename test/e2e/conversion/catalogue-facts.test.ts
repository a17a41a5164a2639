/** What catalogue answers say of loads: natural keys that data broke, row keys in files, statistics that came with a package. */
import { dialectNames } from '../../../src/engine/sql/dialects/every-dialect.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const rows = (...ids: readonly string[]): string =>
  `<wagons>${ids.map((id) => `<wagon number="${id}"><axle>4</axle><axle>6</axle></wagon>`).join('')}</wagons>`;

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;
let work: string;
let idSch: number;
let feed: string;

beforeAll(async () => {
  home = await trial.home();
  service = await trial.service(home);
  work = await trial.folder('catalogue-facts-');
  await writeFile(join(work, 'one.xml'), rows('81', '82'));
  await writeFile(join(work, 'twice.xml'), rows('93', '93', '94'));
  idSch = (await convert(home, 'xml2er', join(work, 'one.xml'), '-o', 'metadb:wagons', '--name', 'wagons'))
    .origin!;
  feed = 'wagons';
}, 120_000);

const load = (name: string, target: string, ...options: readonly string[]) =>
  convert(home, 'xml2er', join(work, name), '-x', String(idSch), '-o', target, ...options);
const ddl = async (query = ''): Promise<string> =>
  await (await service.client.fetch(`/v2/schema/ddl/${idSch}${query}`)).text();

/** The last key of the table `axle`, as the feed's sequences tell it. */
async function lastAxle(): Promise<number | undefined> {
  const sequences = await service.client.get<{ target_table: string; last_value: number }[]>(
    `/v2/extensions/cil/sequence/${feed}`,
  );
  return sequences.find(({ target_table: table }) => table === 'axle')?.last_value;
}

describe('a natural key', { timeout: 120_000 }, () => {
  it('that data breaks is told in the run and in the DDL, until the target is loaded anew', async () => {
    const keys = [{ table_name: 'wagon', column_name: 'number', key_type: 'NK' }];
    expect((await service.client.post('/v2/extensions/cil/keys/update', { cfxml: feed, keys })).status).toBe(
      200,
    );
    expect(await ddl()).toContain('CONSTRAINT "wagon_natural_key" UNIQUE ("number")');
    const { job, broken_keys: broken } = await load('twice.xml', 'metadb:repeated');
    expect(broken).toEqual([{ table: 'wagon', columns: ['number'] }]);
    expect(await service.client.get(`/v2/extensions/cil/job/${feed}/${job}`)).toMatchObject({
      status: 'C',
      broken_keys: [{ table_name: 'wagon', columns: ['number'] }],
    });
    const without = await ddl();
    expect(without).not.toContain('natural_key"');
    expect(without).toContain(
      `-- wagon: the natural key (number) is omitted because values that job ${job} loaded violate it\n`,
    );
    await load('one.xml', 'metadb:repeated', '-S', 'o');
    expect(await ddl()).toContain('CONSTRAINT "wagon_natural_key" UNIQUE ("number")');
  });

  it('and indexes keep to the length that names may have, in every dialect', async () => {
    expect((await service.client.fetch(`/v2/schema/generate/${idSch}/12`)).status).toBe(200);
    for (const dialect of dialectNames) {
      const text = (await ddl(`?dialect=${dialect}`)).replaceAll(/'(?:[^']|'')*'|--.*/g, '');
      const quoted = [...text.matchAll(/"([^"]+)"|`([^`]+)`|\[([^\]]+)\]/g)].map((found) =>
        found.slice(1).join(''),
      );
      expect(quoted.length).toBeGreaterThan(10);
      expect([dialect, quoted.filter((name) => Buffer.byteLength(name) > 12)]).toEqual([dialect, []]);
    }
  });
});

describe('sequences', { timeout: 120_000 }, () => {
  it.each(
    some(
      [
        ['csv', (folder: string) => folder, ['-f', 'csv']],
        ['duckdb', (folder: string) => `duckdb:${folder}.duckdb`, []],
      ] as const,
      1,
    ),
  )('after a target of %s have its last key, not how many rows there were', async (name, place, more) => {
    const target = place(join(work, `rows-${name}`));
    await load('one.xml', target, ...more);
    expect(await lastAxle()).toBe(4);
    await load('twice.xml', target, ...more);
    expect(await lastAxle()).toBe(10);
    await load('one.xml', target, ...more, '-S', 'o');
    // no key is given twice
    expect(await lastAxle()).toBe(14);
  });
});

describe('an imported schema', { timeout: 120_000 }, () => {
  it('has the statistics of the jobs before, under the number of its import', async () => {
    const asked = { origin_id: String(idSch), output_path: 'package' };
    expect((await service.client.post('/v2/schema/export', asked)).body).toMatchObject({ error: false });
    const answer = await service.client.post('/v2/schema/import', { input_path: 'package' });
    const made = Number((answer.body as unknown as { origin_ids: string }).origin_ids);
    const { id_job: idJob } = await service.client.get<{ id_job: number }>(`/v2/schema/${made}`);
    const stats = await service.client.get<{ xpath: string; occurrences: number }[]>(
      `/v2/mapping/get_stats/${made}/${idJob}`,
    );
    expect(stats.find(({ xpath }) => xpath === '/wagons/wagon/axle')?.occurrences).toBeGreaterThan(3);
    expect((await service.client.fetch(`/v2/mapping/get_stats/${idSch}/${idJob}`)).status).toBe(404);
  });
});
