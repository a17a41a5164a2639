/** `--concatenated`: documents one after the other in a file, and what is no document at all. */
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { tarOf } from '../../support/service/archives.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const record = (id: number, text = `text ${id}`): string => `<rec><n>${id}</n><t>${text}</t></rec>\n`;
const declared = (id: number): string =>
  `<?xml version="1.0"?>\n<!DOCTYPE rec SYSTEM "x.dtd" [ ]>\n${record(id)}`;
const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="rec"><xs:complexType><xs:sequence>
  <xs:element name="n" type="xs:int"/><xs:element name="t" type="xs:string"/></xs:sequence></xs:complexType></xs:element></xs:schema>`;

const trial = useTrial();
let home: ServiceHome;
let sql: Sql;
let folder: string;

async function input(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

beforeAll(async () => {
  home = await trial.home();
  folder = join(home.directory, 'in');
  await mkdir(folder);
  // the first tool starts the database
  await convert(home, 'xsd2er', await input('rec.xsd', xsd));
  sql = await trial.metadb(home);
}, 120_000);

describe('several documents in a file', { timeout: 120_000 }, () => {
  it('are rejected by the line of the second, with the option that reads them', async () => {
    for (const text of [record(1) + record(2), declared(1) + declared(2)]) {
      const line = text.split('\n').length / 2 + 0.5;
      const { code, stdout } = await runTool(home, 'xml2er', [
        await input('two.xml', text),
        '-o',
        'metadb:none',
      ]);
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(
          new RegExp(`two\\.xml: line ${Math.floor(line)}, column 1: a second document .*--concatenated`),
        ),
      ]);
    }
  });

  it('become documents by name, hash and line, and come back', async () => {
    const texts = [record(1), declared(2), `<!-- c -->${record(3)}`, '\uFEFF' + declared(4)];
    const file = await input('all.xml', texts.join(''));
    const loaded = await convert(home, 'xml2er', file, '--concatenated', '-o', 'metadb:several');
    expect(loaded).toMatchObject({ status: 'C', documents: 4, tables: { rec: 4 } });
    const rows = await sql`select d.name, d.sha256, r.n, r.t from several._documents d
      join several.rec r using (document_key) order by document_key`;
    const parts = [texts[0]!, `${texts[1]!}<!-- c -->`, record(3), texts[3]!];
    expect(rows.map(({ name, sha256, n, t }) => [name, sha256, n, t])).toEqual(
      parts.map((text, at) => [
        `all.xml#${at + 1}`,
        createHash('sha256').update(text).digest('hex'),
        at + 1,
        `text ${at + 1}`,
      ]),
    );
    const back = join(home.directory, 'back');
    await convert(home, 'er2xml', '-i', 'metadb:several', '-o', back);
    expect((await readdir(back)).toSorted()).toEqual(['all.xml#1', 'all.xml#2', 'all.xml#3', 'all.xml#4']);
    expect(await readFile(join(back, 'all.xml#3'), 'utf8')).toMatch(/<n>3<\/n><t>text 3<\/t>/);
    const again = await convert(
      home,
      'xml2er',
      file,
      '--concatenated',
      '--skip-loaded',
      '-o',
      'metadb:several',
    );
    expect(again).toMatchObject({ status: 'C', documents: 0 });
  });

  it('of archives, packed files and stdin, in the encoding of the first', async () => {
    const latin1 = Buffer.from(
      `<?xml version="1.0" encoding="ISO-8859-1"?>${record(3, 'é')}${record(4, 'ü')}`,
      'latin1',
    );
    const bytes = Buffer.from(record(1) + record(2));
    const tar = await input(
      'a.tar',
      tarOf([
        { name: 'in/b.xml', bytes },
        { name: 'c.xml', bytes: latin1 },
      ]),
    );
    const gz = await input('d.xml.gz', gzipSync(bytes));
    const argv = ['--concatenated', '-o', 'metadb:packed'];
    expect(await convert(home, 'xml2er', tar, gz, ...argv)).toMatchObject({ documents: 6 });
    expect((await runTool(home, 'xml2er', ['-', ...argv], record(5) + record(6))).code).toBe(0);
    const rows =
      await sql`select d.name, r.t from packed._documents d join packed.rec r using (document_key) order by document_key`;
    expect(rows.map(({ name, t }) => `${name} ${t}`)).toEqual([
      'in/b.xml#1 text 1',
      'in/b.xml#2 text 2',
      'c.xml#1 é',
      'c.xml#2 ü',
      'd.xml#1 text 1',
      'd.xml#2 text 2',
      'stdin.xml#1 text 5',
      'stdin.xml#2 text 6',
    ]);
  });

  it('are published or rejected each by itself, with the lines of the file', async () => {
    const text = `${record(1)}<?xml version="1.0"?>\n<rec><n>2</t></rec>\n${declared(3)}<rec><n>x</n></rec>`;
    const file = await input('bad.xml', text);
    const failed = await runTool(home, 'xml2er', [file, '--concatenated', '-o', 'metadb:bad']);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringMatching(/bad\.xml#2: line 3, column 10: expected the end tag <\/n>.*--on-error skip/),
    ]);
    const skipped = ['--concatenated', '--on-error', 'skip', '-o', 'metadb:bad'];
    expect(await convert(home, 'xml2er', file, ...skipped)).toMatchObject({ documents: 3, rejected: 1 });
    const { stdout, summary } = await runTool(home, 'xml2er', [
      file,
      ...skipped,
      '--xsd',
      join(folder, 'rec.xsd'),
      '--validate',
      '-S',
      'o',
      '--json',
    ]);
    expect(summary).toMatchObject({ documents: 2, rejected: 2 });
    expect(stdout).toMatch(/bad\.xml#4: line 7, column \d+: not valid/);
  });

  it('of a damaged file are one reject, and the others are loaded', async () => {
    const whole = gzipSync(Buffer.from(record(1) + record(2)));
    const sound = await input('sound.xml', record(3) + record(4));
    const cut = await input('cut.xml.gz', whole.subarray(0, whole.length - 12));
    const argv = [cut, sound, '--concatenated', '-o', 'metadb:damaged'];
    const failed = await runTool(home, 'xml2er', argv);
    expect([failed.code, failed.stdout]).toEqual([
      1,
      expect.stringMatching(/cut\.xml\.gz: cannot be unpacked.*--on-error skip/),
    ]);
    for (const workers of ['1', '2']) {
      const skipping = [...argv, '--on-error', 'skip', '--workers', workers, '-S', 'o'];
      expect(await convert(home, 'xml2er', ...skipping)).toMatchObject({ documents: 2, rejected: 1 });
    }
  });

  it('go with --row-tag, keys that follow from content, statistics, and threads', async () => {
    const file = await input('rows.xml', `<a>${record(1)}${record(2)}</a>\n<a>${record(3)}</a>`);
    const tagged = ['--concatenated', '--row-tag', 'rec', '--keys', 'hash', '-o', 'metadb:tagged'];
    expect(await convert(home, 'xml2er', file, ...tagged)).toMatchObject({ documents: 3 });
    const rows = await sql`select name from tagged._documents order by name`;
    expect(rows.map(({ name }) => name)).toEqual(['rows.xml#1#1', 'rows.xml#1#2', 'rows.xml#2#1']);
    expect(await convert(home, 'xml2er', file, ...tagged)).toMatchObject({ documents: 0 });
    expect(await convert(home, 'xml2er', file, '--concatenated', '-e', 's')).toMatchObject({ documents: 2 });
    const many = Array.from({ length: 400 }, (_, at) => record(at, `${'x'.repeat(200)} ${at}`));
    const large = await input(
      'large.xml',
      [...many, `<rec><n>400</n><t>${'y'.repeat(300_000)}</t></rec>`].join(''),
    );
    const argv = [large, '--concatenated', '--workers', '2', '-o', 'metadb:threads', '--json'];
    const { summary } = await runTool(home, 'xml2er', argv, '', { SVC_WORKER_THREADS_FROM: '1000' });
    expect(summary).toMatchObject({ status: 'C', documents: 401 });
    expect(
      await sql`select count(distinct d.name)::int as names, sum(n)::int as numbers, max(length(t))::int as longest,
        bool_and(d.name = 'large.xml#' || (n + 1)) as named from threads._documents d join threads.rec using (document_key)`,
    ).toEqual([{ names: 401, numbers: 80_200, longest: 300_000, named: true }]);
  });

  it('are replaced by their keys alone', async () => {
    const file = await input('merged.xml', record(1) + record(2));
    const argv = [file, '--concatenated', '-S', 'm', '-o', 'metadb:merged'];
    expect((await runTool(home, 'xml2er', argv)).stdout).toContain('--key');
    const keyed = [...argv, '--key', '/rec/n'];
    expect(await convert(home, 'xml2er', ...keyed)).toMatchObject({ documents: 2 });
    await input('merged.xml', record(3) + record(2, 'other'));
    expect(await convert(home, 'xml2er', ...keyed)).toMatchObject({
      merged: { inserted: 1, replaced: 1, unchanged: 0 },
    });
    expect(await sql`select n, t from merged.rec order by n`).toEqual([
      { n: 1, t: 'text 1' },
      { n: 2, t: 'other' },
      { n: 3, t: 'text 3' },
    ]);
  });
});

describe('a page of HTML', { timeout: 120_000 }, () => {
  const page = '<html><head><title>502</title></head><body>Bad gateway</body></html>\n';

  it('is a reject, also beside documents', async () => {
    const file = await input('page.xml', page);
    const { code, stdout } = await runTool(home, 'xml2er', [file, '-o', 'metadb:page']);
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/page\.xml: line 1, column 1: this is an HTML page/),
    ]);
    const good = await input('good.xml', record(1));
    const both = [good, file, '--on-error', 'skip', '-o', 'metadb:page'];
    expect(await convert(home, 'xml2er', ...both)).toMatchObject({ documents: 1, rejected: 1 });
    // a load that goes on with the schema
    expect(await convert(home, 'xml2er', ...both)).toMatchObject({ documents: 1, rejected: 1 });
    expect(await sql`select count(*)::int as n from page.rec`).toEqual([{ n: 2 }]);
    const withXsd = [
      file,
      '--xsd',
      join(folder, 'rec.xsd'),
      '-o',
      'metadb:page_xsd',
      '--unmapped',
      'capture',
    ];
    expect((await runTool(home, 'xml2er', withXsd)).stdout).toMatch(/this is an HTML page/);
  });

  it('names the root as the page writes it, and loads it by that name', async () => {
    const file = await input('capitals.xml', '<HTML><BODY>Not found</BODY></HTML>');
    const { stdout } = await runTool(home, 'xml2er', [file, '-o', 'metadb:capitals']);
    expect(stdout).toContain('name it by --root HTML');
    expect(await convert(home, 'xml2er', file, '--root', 'HTML', '-o', 'metadb:capitals')).toMatchObject({
      documents: 1,
    });
  });

  it('is a document where --root or the schema says so, or where it holds more than a page', async () => {
    const file = await input('page.xml', page);
    expect(await convert(home, 'xml2er', file, '--root', 'html', '-o', 'metadb:pages')).toMatchObject({
      documents: 1,
    });
    expect(await convert(home, 'xml2er', file, '-o', 'metadb:pages')).toMatchObject({ documents: 1 });
    const report = await input(
      'report.xhtml',
      '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><body><ix:nonFraction name="a:b">1</ix:nonFraction></body></html>',
    );
    expect(await convert(home, 'xml2er', report, '-o', 'metadb:reports')).toMatchObject({ documents: 1 });
  });
});
