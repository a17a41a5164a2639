/** er2xml by hand and under the service: documents come back out of the rows that xml2er made of them. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { connectPostgres } from '../../../src/postgres/connect.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { RunningService, ServiceHome } from '../../support/service/start.ts';
import {
  filesBelow,
  freightDocumentFolder,
  freightDocuments,
  freightXsdFolder,
} from '../../support/service/fixtures.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { needs } from '../../support/needs.ts';

const { model: source } = compileXsdSet(filesBelow(freightXsdFolder));
const difference = async (expected: string, path: string) =>
  compareXml(expected, await readFile(path), { source });

describe('er2xml', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let service: RunningService;
  let folder: string;

  beforeAll(async () => {
    home = await trial.home();
    folder = await trial.folder('written-back-');
    const xsd = await convert(home, 'xsd2er', freightXsdFolder, '--name', 'freight', '-g', '3');
    const load = ['-x', String(xsd.origin), '-o', 'metadb:freight'];
    await convert(home, 'xml2er', freightDocumentFolder, ...load);
    await convert(home, 'xml2er', join(freightDocumentFolder, 'manifest-2.xml'), ...load);
    service = await trial.service(home);
  });

  const back = (out: string, ...more: string[]) =>
    runTool(home, 'er2xml', ['-l', '1', '-i', 'metadb:freight', '-o', out, ...more, '--json']);

  it('writes every document under its own name, a second one of that name beside it', async () => {
    const out = join(folder, 'all');
    const { code, summary, stdout } = await back(out);
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining('manifest-2.xml is written as manifest-2-2.xml'),
    ]);
    expect((await readdir(out)).toSorted()).toEqual([
      'manifest-1.xml',
      'manifest-2-2.xml',
      'manifest-2.xml',
      'manifest-3.xml',
    ]);
    for (const { name, text } of freightDocuments) {
      expect(await difference(text, join(out, name))).toEqual([]);
    }
    expect(await difference(freightDocuments[1]!.text, join(out, 'manifest-2-2.xml'))).toEqual([]);
    expect(summary).toMatchObject({ origin: 1, logical: 1, status: 'C', documents: 4, rejected: 0 });
    expect(summary!.rows).toBeGreaterThan(4);
  });

  it('writes one document by its name, wherever its rows lie', async () => {
    const out = join(folder, 'one');
    const { summary } = await back(out, '-D', 'manifest-3.xml');
    expect(summary).toMatchObject({ status: 'C', documents: 1 });
    expect(await readdir(out)).toEqual(['manifest-3.xml']);
    expect(await difference(freightDocuments[2]!.text, join(out, 'manifest-3.xml'))).toEqual([]);
    const twice = await back(join(folder, 'twice'), '-D', 'manifest-2.xml');
    expect(twice.summary).toMatchObject({ documents: 2 });
    const none = await back(out, '-D', 'manifest-9.xml');
    expect(none.code).toBe(1);
    expect(none.stdout).toContain('holds no document called manifest-9.xml');
  });

  it('keeps to the save mode, and writes nothing in a dry run', async () => {
    const out = join(folder, 'modes');
    expect((await back(out, '-s')).summary).toMatchObject({ documents: 4 });
    expect(await readdir(out).catch(() => [])).toEqual([]);
    expect((await back(out, '-S', 'e', '-D', 'manifest-1.xml')).code).toBe(0);
    await writeFile(join(out, 'manifest-1.xml'), 'mine');
    const refused = await back(out, '-S', 'e');
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringContaining('manifest-1.xml already exists'),
    ]);
    expect((await back(out, '-S', 'i')).summary).toMatchObject({ documents: 0 });
    expect(await readFile(join(out, 'manifest-1.xml'), 'utf8')).toBe('mine');
    expect((await back(out, '-S', 'o')).code).toBe(0);
    expect(await difference(freightDocuments[0]!.text, join(out, 'manifest-1.xml'))).toEqual([]);
    expect((await readdir(out)).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('leaves what another schema loaded into the same tables to that one', needs('whole run'), async () => {
    const texts = [
      '<stays><stay><id>1</id></stay><stay><id>2</id></stay></stays>',
      '<stays><stay><id>3</id></stay></stays>',
    ];
    const logicals: string[] = [];
    for (const [at, text] of texts.entries()) {
      const file = join(folder, `stays-${at}.xml`);
      await writeFile(file, text);
      // without a name the second goes on with the schema of the first
      const more = ['--name', `stays-${at}`, '-o', 'metadb:stays'];
      logicals.push(String((await convert(home, 'xml2er', file, ...more)).logical));
    }
    for (const [at, text] of texts.entries()) {
      const out = join(folder, `stays-${at}`);
      const written = await runTool(home, 'er2xml', ['-l', logicals[at]!, '-i', 'metadb:stays', '-o', out]);
      expect(written.stdout).toContain(`-l ${logicals[1 - at]!} writes them`);
      expect(await readdir(out)).toEqual([`stays-${at}.xml`]);
      expect(compareXml(text, await readFile(join(out, `stays-${at}.xml`)))).toEqual([]);
    }
  });

  it('refuses targets that hold nothing of the kind', async () => {
    const missing = await runTool(home, 'er2xml', [
      '-l',
      '1',
      '-i',
      'metadb:nowhere',
      '-o',
      folder,
      '--json',
    ]);
    expect([missing.code, missing.stdout]).toEqual([
      1,
      expect.stringContaining('no documents were loaded there'),
    ]);
    const wrong = await runTool(home, 'er2xml', ['-l', '99', '-i', 'metadb:freight', '-o', folder]);
    expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining('no such logical schema')]);
    const file = await runTool(home, 'er2xml', ['-l', '1', '-i', 'some/folder', '-o', folder]);
    expect([file.code, file.stdout]).toEqual([1, expect.stringContaining('no documents were loaded there')]);
  });

  it('runs as a job of the service, into the folder of its organisation', async () => {
    const { client } = service;
    const options = [
      ['-l', '1'],
      ['-i', 'metadb:freight'],
      ['-o', 'back'],
    ].map(([command, value]) => ({ command, value, enabled: 'true' }));
    const { jobs } = await client.run([{ app_name: 'er2xml', source: {}, target: { generation: options } }]);
    expect(await client.ended(jobs[0]!)).toMatchObject({
      status: 'C',
      job_type: 'Write',
      id_lschma: 1,
      msg_proc_qty: 4,
      failure: null,
    });
    const out = join(home.directory, 'files/1/back');
    for (const { name, text } of freightDocuments) {
      expect(await difference(text, join(out, name))).toEqual([]);
    }
  });

  it('says which rows have no place, and goes on with the other documents where it may', async () => {
    const sql = connectPostgres(await home.databaseUrl(), { applicationName: 'test', max: 1 });
    try {
      await sql.unsafe(`set session_replication_role = replica;
        delete from freight.shipment where shipment_key = (select min(shipment_key) from freight.shipment);
        delete from freight.manifest where document_key = 2`);
    } finally {
      await sql.end({ timeout: 5 });
    }
    const failed = await back(join(folder, 'broken'));
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining('manifest-1.xml: the rows of')]);
    expect(await readdir(join(folder, 'broken'))).toEqual([]);
    const skipped = await back(join(folder, 'skipped'), '--on-error', 'skip');
    expect([skipped.code, skipped.stdout]).toEqual([
      0,
      expect.stringContaining('not written: manifest-2.xml: the row of its root element was deleted'),
    ]);
    expect(skipped.summary).toMatchObject({ documents: 2, rejected: 2 });
    for (const [at, name] of [
      [1, 'manifest-2.xml'],
      [2, 'manifest-3.xml'],
    ] as const) {
      expect(await difference(freightDocuments[at]!.text, join(folder, 'skipped', name))).toEqual([]);
    }
  });
});
