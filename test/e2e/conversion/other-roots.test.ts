/** Documents that start with an element the schema does not have: refused and told of; where that is asked for, kept whole and given back. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { needs, some } from '../../support/needs.ts';
import { tarOf } from '../../support/service/archives.ts';
import { useTrial } from '../../support/service/trial.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/targets/', import.meta.url));
const known = join(fixtures, 'first.xml');
/** no document of the schema: a namespace of its own, names in values, mixed text, CDATA, two of one root */
const others = {
  'note.xml': `<?xml version="1.0"?>\n<!-- not ours -->\n<n:note xmlns:n="urn:notes" xmlns:x="urn:x" n:kind="x:urgent">Call <b>her</b> &amp; <![CDATA[<him>]]><empty/></n:note>`,
  'note-2.xml': '<n:note xmlns:n="urn:notes">later</n:note>',
};
const keep = ['--unmapped', 'capture'];

describe('documents with another root', { timeout: 120_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let folder: string;
  let note: string;
  let origin: string;

  beforeAll(async () => {
    home = await trial.home();
    folder = join(home.directory, 'in');
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(others)) await writeFile(join(folder, name), text);
    note = join(folder, 'note.xml');
    origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
  });

  const load = (place: string, ...argv: string[]) =>
    runTool(home, 'xml2er', [...argv, '-x', origin, '-o', place, '--json']);
  const refusal =
    /note\.xml: line 3, column 1: the root element <\{urn:notes\}note> is not in the schema, which knows values; /;

  it('are refused, and nothing of the job is published', async () => {
    const { code, stdout, summary } = await load('metadb:refused', known, note);
    expect([code, stdout]).toEqual([1, expect.stringMatching(refusal)]);
    expect(stdout).toMatch(
      /no stored origin has it: .* xsd2er .* -x; .* --unmapped capture; --on-error skip skips such documents and loads the others$/m,
    );
    expect(summary).toMatchObject({ status: 'F', documents: 0, rejected: 0, unknown_root: 1 });
    const empty = await runTool(home, 'unload', ['-l', '1', '-i', 'metadb:refused', '-D', 'first.xml']);
    expect(empty.code).toBe(1);
  });

  it('are told of it, too, where an archive holds others', async () => {
    const archive = join(home.directory, 'documents.tar');
    await writeFile(archive, await tarOfFiles(note, known));
    const several = await load('metadb:refused', archive);
    expect([several.code, several.stdout]).toEqual([1, expect.stringMatching(/; --on-error skip .*$/m)]);
    await writeFile(archive, await tarOfFiles(note));
    const one = await load('metadb:refused', archive);
    expect([one.code, one.stdout]).toEqual([1, expect.not.stringContaining('--on-error')]);
  });

  it('alone are not told of --on-error, which would leave nothing', async () => {
    const { code, stdout } = await load('metadb:refused', note);
    expect([code, stdout]).toEqual([1, expect.stringMatching(/--unmapped capture$/m)]);
  });

  const ways: readonly (readonly string[])[] = [
    [],
    ['--workers', '2'],
    ['--skip-loaded'],
    ['--prune'],
    ['--keys', 'hash'],
    ['--unmapped', 'report'],
  ];
  it.each(some(ways, 2))('%s %s: with skip the others load, and the last line tells', async (...argv) => {
    const place = `metadb:skip${argv.join('').replaceAll('-', '_')}`;
    const { code, stdout, summary } = await load(place, known, note, '--on-error', 'skip', ...argv);
    expect([code, stdout]).toEqual([0, expect.stringMatching(refusal)]);
    expect(summary).toMatchObject({ documents: 1, rejected: 0, unknown_root: 1 });
    expect(summary).toMatchObject({ unmapped: { values: 0, documents: 0 } });
    expect(stdout.trimEnd().split('\n').at(-2)).toBe(
      'loaded 1, unknown root 1, rejected 0, 0 values kept in _unmapped',
    );
  });

  it('with none left the job fails', async () => {
    const { code, stdout, summary } = await load('metadb:none', note, '--on-error', 'skip');
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/every document was rejected; the first: note/),
    ]);
    expect(summary).toMatchObject({ status: 'F', unknown_root: 1 });
  });

  it('statistics alone refuse them as well', async () => {
    const argv = [known, note, '-x', origin, '--json'];
    const refused = await runTool(home, 'xml2er', argv);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(refusal)]);
    const { code, stdout, summary } = await runTool(home, 'xml2er', [...argv, '--on-error', 'skip']);
    expect([code, summary]).toMatchObject([0, { documents: 1, unknown_root: 1 }]);
    expect(stdout).toMatch(/^read 1, unknown root 1, rejected 0$/m);
  });

  it('the origin that knows them is named, also where it was inferred', needs('whole run'), async () => {
    const inferred = await convert(home, 'xml2er', join(folder, 'note-2.xml'), '--name', 'notes');
    const refused = await load('metadb:known', note);
    expect(refused.stdout).toMatch(
      new RegExp(`origin ${inferred.origin} \\(notes\\) has it: load it with -x ${inferred.origin}; or`),
    );
    // an origin that documents made is as strict
    const strict = await runTool(home, 'xml2er', [
      known,
      '-x',
      String(inferred.origin),
      '-o',
      'metadb:strict',
    ]);
    expect([strict.code, strict.stdout]).toEqual([
      1,
      expect.stringMatching(
        /<values> is not in the schema, which knows \{urn:notes\}note; origin \d+ \(values\)/,
      ),
    ]);
    // that of its own documents knows all their roots
    const own = await convert(home, 'xml2er', known, note, '-o', 'metadb:own');
    expect(own).toMatchObject({ documents: 2, unknown_root: 0 });
  });

  it('rows of another root are refused likewise, with the file they are in', needs('whole run'), async () => {
    const logical = String((await convert(home, 'xml2er', known, '-x', origin)).logical);
    const argv = [known, '--row-tag', 'item', '-l', logical, '--on-error', 'skip', '--json'];
    for (const more of [['-o', 'metadb:rows'], ['-o', 'metadb:rows', '--workers', '2'], []]) {
      const { code, stdout, summary } = await runTool(home, 'xml2er', [...argv, ...more]);
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(/first\.xml#1: line 3, column 3: the root element <item>/),
      ]);
      expect(summary).toMatchObject({ status: 'F', unknown_root: 1 });
    }
  });

  const targets: readonly [name: string, place: string, ...argv: string[]][] = [
    ['PostgreSQL', 'metadb:mixed'],
    ['PostgreSQL, hashed keys', 'metadb:hashed', '--keys', 'hash'],
    ['PostgreSQL, threads', 'metadb:threads', '--workers', '2'],
    ['DuckDB', 'duckdb:FOLDER/mixed.duckdb'],
    ['CSV', 'FOLDER/csv', '-f', 'csv'],
  ];

  it.each(some(targets, 2))(
    '%s: --unmapped capture keeps them whole beside the rows of the others',
    async (name, target, ...more) => {
      const place = target.replace('FOLDER', home.directory);
      const argv = [...more, ...keep];
      // two jobs: the second's keys are shifted when they are published
      expect(await load(place, known, join(folder, 'note-2.xml'), ...argv)).toMatchObject({ code: 0 });
      const { code, stdout, summary } = await load(place, note, ...argv);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /unmapped element \/\{urn:notes\}note: 1 times, first in note\.xml: line 3, column 1, such as <n:note/,
      );
      expect(stdout).toMatch(
        /^loaded 1, unknown root 0, rejected 0, 0 values and 1 whole document kept in _unmapped$/m,
      );
      expect(summary).toMatchObject({ status: 'C', documents: 1, rejected: 0 });
      expect(summary).toMatchObject({ unknown_root: 0, unmapped: { values: 0, documents: 1 } });
      const back = join(home.directory, `back ${name}`);
      const logical = String(summary!.logical);
      const argvBack = ['-l', logical, '-i', place];
      expect(await convert(home, 'er2xml', ...argvBack, '-o', back)).toMatchObject({ documents: 3 });
      expect((await readdir(back)).toSorted()).toEqual(['first.xml', 'note-2.xml', 'note.xml']);
      for (const [file, text] of Object.entries(others))
        expect(compareXml(text, await readFile(join(back, file)), {})).toEqual([]);
      const one = join(home.directory, `one ${name}`);
      await convert(home, 'er2xml', ...argvBack, '-D', 'note-2.xml', '-o', one);
      expect(compareXml(others['note-2.xml'], await readFile(join(one, 'note-2.xml')), {})).toEqual([]);
    },
  );

  it('leave the target like others do', needs('whole run'), async () => {
    const first = await load('metadb:leaving', known, note, ...keep);
    const argv = ['-l', String(first.summary!.logical), '-i', 'metadb:leaving'];
    expect(await convert(home, 'unload', ...argv, '-D', 'note.xml')).toMatchObject({ documents: 1 });
    const back = join(home.directory, 'left');
    expect(await convert(home, 'er2xml', ...argv, '-o', back)).toMatchObject({ documents: 1 });
    expect(await readdir(back)).toEqual(['first.xml']);
  });

  it('are refused where the root was named', async () => {
    const { code, stdout } = await load('metadb:strict', note, '--root', 'values', ...keep);
    expect([code, stdout]).toEqual([1, expect.stringMatching(refusal)]);
  });
});

async function tarOfFiles(...paths: readonly string[]): Promise<Uint8Array> {
  return tarOf(
    await Promise.all(paths.map(async (path) => ({ name: basename(path), bytes: await readFile(path) }))),
  );
}
