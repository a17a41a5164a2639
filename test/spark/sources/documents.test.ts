/** Documents of a bucket on a real Spark, whose executors read them where they lie: `npm run test:spark` with SPARK_SUBMIT. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '../../support/needs.ts';
import {
  startObjectServer,
  type ObjectServer,
  type StoreFault,
} from '../../support/servers/object-server.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool, type ToolRun } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { loadedTables, targetArguments, type TargetKind } from '../loaded-tables.ts';
import { sparkSettings } from '../settings.ts';

const secret = 'canary-of-the-source-7f3a';

const order = (id: number): string =>
  `<order id="${id}"><at>2026-11-26</at>${Array.from({ length: id % 4 }, (_, at) => `<line><sku>ü ${at}</sku></line>`).join('')}</order>`;
const orders = (first: number): string =>
  `<orders>${Array.from({ length: 9000 }, (_, at) => order(first + at)).join('\n')}</orders>`;

/** All files below a folder, with who may read them. */
async function filesBelow(folder: string): Promise<readonly { path: string; text: string; mode: number }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    found.map(async (path) => ({
      path,
      text: await readFile(path, 'utf8'),
      mode: (await stat(path)).mode & 0o777,
    })),
  );
}

/** What the processes of this machine were started with, in so far as this user may see it. */
async function startedWith(): Promise<string> {
  const texts: string[] = [];
  for (const pid of await readdir('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    for (const what of ['cmdline', 'environ'])
      // it may have ended, or be another's
      texts.push(await readFile(`/proc/${pid}/${what}`, 'utf8').catch(() => ''));
  }
  return texts.join('\n');
}

describe('documents of a bucket on Spark', { timeout: 240_000, ...needs(['whole run', 'spark']) }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let store: ObjectServer;
  let work: string;
  /** GETs of objects, by their keys */
  let asked: Map<string, number>;

  beforeAll(async () => {
    store = trial.keep(await startObjectServer(), (one) => one.end());
    const { bucket, endpoint } = store.settings;
    work = await trial.folder('spark-sources-');
    home = await trial.home({
      ...sparkSettings(work, { 'svc.spark.range_bytes': '100 KiB' }),
      'svc.sources.inbox.location': `s3://${bucket}`,
      'svc.sources.inbox.endpoint': endpoint,
      'svc.sources.inbox.access_key': 'a',
      'svc.sources.inbox.secret_key': secret,
    });
    for (let at = 0; at < 300; at += 1) store.put(`small/${at % 3}/order ${at}.xml`, order(at));
    store.put('small/packed.xml.gz', gzipSync(order(1000)));
    store.put('small/packed too.xml', gzipSync(order(1001)));
    store.put('small/empty-named.xml', order(1002));
    store.put('large/a.xml', orders(0));
    store.put('large/b.xml', orders(20_000));
  }, 120_000);

  beforeEach(() => faults(() => null));

  /** Counts requests for objects; `of`: the fault of the request of that number for its object, from 1. */
  function faults(of: (key: string, number: number) => StoreFault | Promise<StoreFault>): void {
    asked = new Map();
    store.setFaults(({ method, key }) => {
      if (method !== 'GET' || key === '') return null;
      const number = (asked.get(key) ?? 0) + 1;
      asked.set(key, number);
      return of(key, number);
    });
  }

  const place = (key: string): string => `s3://${store.settings.bucket}/${key}`;

  /** Of both engines, which left the same. Answers what the one on Spark wrote. */
  async function onBoth(kind: TargetKind, name: string, argv: readonly string[]): Promise<ToolRun> {
    await convert(home, 'xml2er', ...argv, ...targetArguments(home, kind, `${name}_local`));
    asked.clear();
    const there = await onSpark(kind, `${name}_spark`, argv);
    expect(there.code, there.stdout + there.stderr).toBe(0);
    expect(await loadedTables(home, kind, `${name}_spark`)).toEqual(
      await loadedTables(home, kind, `${name}_local`),
    );
    expect(await readdir(work)).toEqual([]);
    return there;
  }

  function onSpark(kind: TargetKind, name: string, argv: readonly string[]): Promise<ToolRun> {
    return runTool(home, 'xml2er', [
      ...argv,
      ...targetArguments(home, kind, name),
      '--engine',
      'spark',
      '--json',
    ]);
  }

  it.each(['metadb', 'parquet'] as const)('give the rows of the local engine in %s', async (kind) => {
    const { stdout } = await onBoth(kind, `small_${kind}`, [place('small/'), '--keys', 'hash']);
    expect(stdout).toMatch(/303 documents, read in place/);
    expect(stdout).not.toMatch(/fetched in/);
    expect(asked.size).toBe(303);
  });

  it('are cut between row elements, and read in ranges', async () => {
    const rows = [place('large/*.xml'), '--row-tag', 'order', '--keys', 'hash'];
    const { stdout } = await onBoth('metadb', 'large', rows);
    expect(Number(/(\d+) units of work for Spark$/m.exec(stdout)?.[1])).toBeGreaterThan(4);
    expect(stdout).toMatch(/places to cut files at/);
  });

  it('are loaded over connections that break and servers that have no time', async () => {
    await convert(
      home,
      'xml2er',
      place('large/'),
      ...targetArguments(home, 'metadb', 'whole'),
      '--keys',
      'hash',
    );
    faults((_, number) => {
      if (number % 3 === 1) return { at: 'before', answer: 503 };
      if (number % 3 === 2) return { at: 'before', answer: 'hang up' };
      return null;
    });
    const { code, stdout, stderr } = await onSpark('metadb', 'broken', [place('large/'), '--keys', 'hash']);
    expect(code, stdout + stderr).toBe(0);
    expect(await loadedTables(home, 'metadb', 'broken')).toEqual(await loadedTables(home, 'metadb', 'whole'));
  });

  it.each([
    ['before executors come to it', 1],
    ['while they read it', 6],
  ])('publish nothing where one changes, %s', async (_, at) => {
    const before = store.objects.get('large/b.xml')!;
    const [name, rows] = [`changed_${at}`, [place('large/'), '--row-tag', 'order', '--keys', 'sequence']];
    faults((key, number) => {
      if (key === 'large/b.xml' && number === at)
        store.put(key, before.toString().replace('2026-11-26', '2026-11-27'));
      return null;
    });
    const { code, stdout } = await onSpark('metadb', name, rows);
    store.put('large/b.xml', before);
    expect([code, stdout]).toEqual([1, expect.stringContaining('large/b.xml: changed while it was read')]);
    expect(await loadedTables(home, 'metadb', name)).toEqual({});
    expect(await readdir(work)).toEqual([]);
  });

  it('are read with a secret that nobody else sees', async () => {
    const seen: (readonly [files: Awaited<ReturnType<typeof filesBelow>>, processes: string])[] = [];
    faults(async (key) => {
      const files = key === 'small/0/order 0.xml' ? await filesBelow(work) : [];
      // executors are at work
      if (files.some(({ path }) => path.endsWith('/order.json'))) seen.push([files, await startedWith()]);
      return null;
    });
    const { code, stdout, stderr } = await onSpark('metadb', 'secret', [
      place('small/'),
      '--keys',
      'sequence',
    ]);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout + stderr).not.toContain(secret);
    expect(seen.length).toBeGreaterThan(0);
    for (const [files, processes] of seen) {
      expect(processes).toContain('spark-submit');
      expect(processes).not.toContain(secret);
      const holding = files.filter(({ text }) => text.includes(secret));
      expect(holding.length).toBeGreaterThan(0);
      for (const { path, mode } of holding)
        expect([path, mode]).toEqual([expect.stringMatching(/places\.json$/), 0o600]);
    }
    const { job } = JSON.parse(stdout.trim().split('\n').at(-1)!) as { job: number };
    expect(await readFile(join(home.directory, 'logs', `job-${job}.log`), 'utf8')).not.toContain(secret);
  });
});
