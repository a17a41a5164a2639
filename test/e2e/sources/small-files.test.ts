/** Thousands of small documents of a bucket, which are no files of their own on this machine: the same rows as of a disk, whatever reads them. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { startObjectServer, type ObjectServer } from '../../support/servers/object-server.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const order = (id: number, lines: number): string =>
  `<order id="${id}"><at>2026-11-26</at>${Array.from({ length: lines }, (_, at) => `<line><sku>ü ${at}</sku></line>`).join('')}</order>`;

/** By their names: small ones, and what has to be a file of its own. */
const documents: ReadonlyMap<string, string | Buffer> = new Map<string, string | Buffer>([
  ...Array.from({ length: 300 }, (_, at) => [`${at % 5}/order ${at}.xml`, order(at, at % 4)] as const),
  ['.hidden.xml', order(1000, 1)],
  ['3/größer.xml', order(1001, 6000)],
  ['3/packed.xml', gzipSync(order(1002, 2))],
  // files of a folder come before what lies in folders of it, and `3` before `3.5`
  ['3/below/order 1.xml', order(1006, 1)],
  ['3.5/order 11.xml', order(1007, 1)],
  ['z.xml', order(1008, 1)],
  ['a.xml', order(1003, 1)],
  ['a.xml/below.xml', order(1004, 1)],
  [`long/${'n'.repeat(240)}.xml`, order(1005, 1)],
]);

describe('small documents of a bucket', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let store: ObjectServer;
  let disk: string;
  let output: string;

  beforeAll(async () => {
    store = trial.keep(await startObjectServer(), (one) => one.end());
    const { bucket, endpoint, accessKeyId, secretAccessKey } = store.settings;
    home = await trial.home({
      'svc.sources.inbox.location': `s3://${bucket}/in`,
      'svc.sources.inbox.endpoint': endpoint,
      'svc.sources.inbox.access_key': accessKeyId,
      'svc.sources.inbox.secret_key': secretAccessKey,
    });
    disk = await trial.folder('small-files-');
    output = await trial.folder('small-rows-');
    for (const [name, content] of documents) {
      // what a store may have is a folder, or a file, of a disk
      if (name.startsWith('a.xml')) continue;
      store.put(`in/${name}`, content);
      await mkdir(join(disk, dirname(name)), { recursive: true });
      await writeFile(join(disk, name), content);
    }
  });

  const rowsOf = async (name: string, input: string, ...more: readonly string[]): Promise<string> => {
    const target = join(output, name);
    await convert(home, 'xml2er', input, '-o', target, '-f', 'tsv', '--name', name, ...more);
    const read = async (table: string): Promise<string> => readFile(join(target, `${table}.tsv`), 'utf8');
    // numbers, names, SHA-256 and sizes; not when they were loaded, and by which job
    const loaded = (await read('_documents'))
      .split('\n')
      .map((line) => line.split('\t').slice(0, 4).join('\t'));
    const sorted = more.includes('--workers');
    const tables = [...(await read('order')).split('\n'), ...(await read('line')).split('\n'), ...loaded];
    return (sorted ? tables.toSorted() : tables).join('\n');
  };

  it.each<readonly [string, readonly string[]]>([
    ['one after the other', []],
    ['in threads', ['--workers', '2']],
    ['by keys of their content', ['--keys', 'hash']],
    ['in parts', ['--row-tag', 'order']],
  ])('give the rows that they give from a disk, %s', async (how, options) => {
    const name = how.replaceAll(' ', '_');
    const place = `s3://${store.settings.bucket}/in/`;
    const [there, here] = [
      await rowsOf(`${name}_bucket`, place, ...options),
      await rowsOf(`${name}_disk`, disk, ...options),
    ];
    expect(there).toBe(here);
    expect(there).toContain('order 299.xml');
    expect(there).toContain('.hidden.xml');
  });

  it.each([
    ['names', '**/order 1?.xml'],
    ['depths', '**/*.xml'],
    ['folders', '?*'],
  ])('have the names and the order of a disk where a pattern leads to them: %s', async (name, pattern) => {
    const place = `s3://${store.settings.bucket}/in/${pattern}`;
    expect(await rowsOf(`bucket_${name}`, place)).toBe(await rowsOf(`disk_${name}`, join(disk, pattern)));
  });

  it('are told by their names where they are not well-formed', async () => {
    store.put('in/bad/one.xml', '<order><at></order>');
    const place = `s3://${store.settings.bucket}/in/bad/`;
    const { code, stdout } = await runTool(home, 'xml2er', [place, '-o', 'metadb:bad']);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/one\.xml.*line 1, column \d+/)]);
  });

  it('are not taken for one that has the name of a folder', async () => {
    for (const [name, content] of documents) if (name.startsWith('a.xml')) store.put(`in2/${name}`, content);
    const place = `s3://${store.settings.bucket}/in2/`;
    const { code, stdout } = await runTool(home, 'xml2er', [place, '-o', 'metadb:folder'], '', {
      AWS_ENDPOINT_URL_S3: store.settings.endpoint,
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
    });
    expect([code, stdout]).toEqual([0, expect.stringContaining('2 documents loaded')]);
  });
});
