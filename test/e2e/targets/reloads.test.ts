/** Documents that are loaded again: what the log and the summary say of those without a key, of the same file twice, and what a failed job leaves. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { execution } from '../../support/service/client.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const trial = useTrial();
let home: ServiceHome;
let service: RunningService;
let sql: Sql;
let folder: string;

const order = (id: number): string => `<order id="${id}"><item>${id * 10}</item></order>`;

beforeAll(async () => {
  home = await trial.home();
  folder = join(home.directory, 'files', '1', 'reloads');
  await mkdir(join(folder, 'in'), { recursive: true });
  await mkdir(join(folder, 'same'));
  for (const id of [1, 2, 3]) await writeFile(join(folder, 'in', `${id}.xml`), order(id));
  for (const [name, id] of [
    ['a', 1],
    ['b', 1],
    ['c', 2],
    ['d', 1],
  ] as const)
    await writeFile(join(folder, 'same', `${name}.xml`), order(id));
  await writeFile(join(folder, 'other.xml'), '<notice><text>late</text></notice>');
  service = await trial.service(home);
  sql = await trial.metadb(home);
}, 60_000);

const targets: readonly (readonly [target: string, ...options: string[]])[] = [
  ['metadb:reloads'],
  ['$/delta', '-f', 'delta'],
  ['sqlite:$/reloads.sqlite'],
  ['duckdb:$/reloads.duckdb'],
];

describe('-S m --key over documents that were loaded without a key', () => {
  it.each(some(targets, 2))(
    '%s: the log counts them, and says what to do',
    { timeout: 120_000 },
    async (text, ...options) => {
      const target = ['-o', text.replace('$', folder), ...options];
      const merge = async (...more: string[]): Promise<string> => {
        const run = await runTool(home, 'xml2er', [
          join(folder, 'in'),
          '-S',
          'm',
          '--key',
          '/order/@id',
          ...target,
          ...more,
        ]);
        expect(run.code, run.stdout + run.stderr).toBe(0);
        return run.stdout;
      };
      await convert(home, 'xml2er', join(folder, 'in'), ...target);
      const first = await merge();
      expect(first).toContain('warning: 3 documents have no key in the target');
      expect(first).toContain('unload -D NAME');
      expect(first).toContain('documents: 3 new, 0 replaced');
      expect(await merge()).toContain('warning: 3 documents have no key in the target');
      const last = await merge('--delete-missing');
      expect(last).not.toContain('no key');
      expect(last).toContain('3 unchanged, 3 deleted');
      expect(await merge()).not.toContain('no key');
    },
  );

  it.each(some(targets, 2))(
    '%s: it counts those with a key, if the load has none',
    { timeout: 120_000 },
    async (text, ...options) => {
      const target = ['-o', text.replace('reloads', 'keyed').replace('$', folder), ...options];
      if (text === '$/delta') target[1] += '-keyed';
      const merge = (...more: string[]) =>
        runTool(home, 'xml2er', [join(folder, 'in'), '-S', 'm', ...target, ...more]);
      expect((await merge('--key', '/order/@id')).stdout).not.toContain('warning');
      const { stdout } = await merge();
      expect(stdout).toContain('warning: 3 documents have a key in the target');
      expect(stdout).toContain('documents: 3 new, 0 replaced');
    },
  );

  it('names as keys need no warning', async () => {
    const target = ['-o', `sqlite:${folder}/names.sqlite`];
    await convert(home, 'xml2er', join(folder, 'in'), ...target);
    const run = await runTool(home, 'xml2er', [join(folder, 'in'), '-S', 'm', ...target]);
    expect(run.stdout).not.toContain('no key');
    expect(run.stdout).toContain('3 unchanged');
  });
});

it.each([[[]], [['--workers', '2']]])(
  'the same file several times in one load with --keys hash %j: the summary counts it',
  async (more) => {
    const target = ['--keys', 'hash', '-o', `sqlite:${folder}/same${more.length}.sqlite`, ...more];
    const first = await convert(home, 'xml2er', join(folder, 'same'), ...target);
    expect(first).toMatchObject({ documents: 2, rows: 2, left_out: { loaded: 0, repeated: 2 } });
    const again = await convert(home, 'xml2er', join(folder, 'same'), ...target);
    expect(again).toMatchObject({ documents: 0, rows: 0, left_out: { loaded: 4, repeated: 0 } });
    const [record] = await sql<{ result: string }[]>`select result from svc.job where id_job = ${first.job!}`;
    expect(JSON.parse(record!.result)).toMatchObject({ left_out: { loaded: 0, repeated: 2 } });
    expect(
      await convert(home, 'xml2er', join(folder, 'same'), '-o', join(folder, `plain${more.length}`)),
    ).not.toHaveProperty('left_out');
  },
);

const counts = async (): Promise<unknown> =>
  sql`select (select count(*)::int from svc.origin) as origins, (select count(*)::int from svc.logical_schema) as logicals,
             (select count(*)::int from svc.origin_name) as names, (select count(*)::int from svc.file_content) as contents`;

describe('a job that fails after it has made its schema', () => {
  it('leaves none behind, by hand', async () => {
    await convert(home, 'xml2er', join(folder, 'in'), '-o', 'metadb:filled');
    const before = await counts();
    const refused = await runTool(home, 'xml2er', [
      join(folder, 'in'),
      '--name',
      'by-hand',
      '-o',
      'metadb:filled',
      '-S',
      'e',
      '--json',
    ]);
    expect(refused.code, refused.stdout + refused.stderr).toBe(1);
    expect(refused.stdout).toContain('model at level 3');
    expect(refused.summary).toMatchObject({ status: 'F', origin: null, logical: null });
    expect(await counts()).toEqual(before);
    // the name is free
    expect(
      (await convert(home, 'xml2er', join(folder, 'other.xml'), '--name', 'by-hand', '-o', 'metadb:other'))
        .origin,
    ).not.toBeNull();
  });

  it('leaves none behind, over REST', async () => {
    const before = await counts();
    const { jobs } = await service.client.run([
      execution('xml2er', 'reloads/in', [
        ['--name', 'over-rest'],
        ['-o', 'metadb:filled'],
        ['-S', 'e'],
      ]),
    ]);
    const ended = await service.client.ended(jobs[0]!);
    expect(ended).toMatchObject({ status: 'F', id_sch: null, id_lschma: null });
    expect(await counts()).toEqual(before);
  });

  it('leaves the schema that it used, and that another one made', async () => {
    const made = await convert(home, 'xml2er', join(folder, 'in'), '--name', 'kept', '-o', 'metadb:kept');
    const before = await counts();
    const refused = await runTool(home, 'xml2er', [
      join(folder, 'in'),
      '-x',
      String(made.origin),
      '-o',
      'metadb:kept',
      '-S',
      'e',
      '--json',
    ]);
    expect(refused.summary).toMatchObject({ status: 'F', origin: made.origin });
    expect(await counts()).toEqual(before);
  });
});
