/** Documents that start with an element the schema does not have: kept whole, told of, and given back. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../support/canonical-xml.ts';
import { createServiceHome, type ServiceHome } from '../support/service.ts';
import { convert, runTool } from '../support/service-tools.ts';

const fixtures = fileURLToPath(new URL('../fixtures/targets/', import.meta.url));
const known = join(fixtures, 'first.xml');
/** no document of the schema: a namespace of its own, names in values, mixed text, CDATA, two of one root */
const others = {
  'note.xml': `<?xml version="1.0"?>\n<!-- not ours -->\n<n:note xmlns:n="urn:notes" xmlns:x="urn:x" n:kind="x:urgent">Call <b>her</b> &amp; <![CDATA[<him>]]><empty/></n:note>`,
  'note-2.xml': '<n:note xmlns:n="urn:notes">later</n:note>',
};

describe('documents with another root', { timeout: 120_000 }, () => {
  let home: ServiceHome;
  let folder: string;
  let origin: string;

  beforeAll(async () => {
    home = await createServiceHome();
    folder = join(home.directory, 'in');
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(others)) await writeFile(join(folder, name), text);
    origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
  });

  afterAll(() => home?.remove());

  const load = (place: string, ...argv: string[]) =>
    runTool(home, 'xml2er', [...argv, '-x', origin, '-o', place, '--json']);

  const targets: readonly [name: string, place: string, ...argv: string[]][] = [
    ['PostgreSQL', 'metadb:mixed'],
    ['PostgreSQL, hashed keys', 'metadb:hashed', '--keys', 'hash'],
    ['DuckDB', 'duckdb:FOLDER/mixed.duckdb'],
    ['CSV', 'FOLDER/csv', '-f', 'csv'],
  ];

  it.each(targets)('%s: are kept whole beside the rows of the others', async (name, target, ...argv) => {
    const place = target.replace('FOLDER', home.directory);
    // two jobs: the second's keys are shifted when they are published
    expect(await load(place, known, join(folder, 'note-2.xml'), ...argv)).toMatchObject({ code: 0 });
    const { code, stdout, summary } = await load(place, join(folder, 'note.xml'), ...argv);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /unmapped element \/\{urn:notes\}note: 1 times, first in note\.xml: line 3, column 1, such as <n:note/,
    );
    expect(summary).toMatchObject({ status: 'C', documents: 1, rejected: 0 });
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
  });

  it('leave the target like others do', async () => {
    const first = await load('metadb:leaving', known, join(folder, 'note.xml'));
    const argv = ['-l', String(first.summary!.logical), '-i', 'metadb:leaving'];
    expect(await convert(home, 'unload', ...argv, '-D', 'note.xml')).toMatchObject({ documents: 1 });
    const back = join(home.directory, 'left');
    expect(await convert(home, 'er2xml', ...argv, '-o', back)).toMatchObject({ documents: 1 });
    expect(await readdir(back)).toEqual(['first.xml']);
  });

  it('are refused where that was asked for', async () => {
    for (const refusing of [
      ['--unmapped', 'fail'],
      ['--unmapped', 'report'],
      ['--root', 'values'],
    ]) {
      const { code, stdout } = await load('metadb:strict', join(folder, 'note.xml'), ...refusing);
      expect([refusing, code, stdout]).toEqual([
        refusing,
        1,
        expect.stringMatching(/note\.xml: line 3, column 1: the root element <\{urn:notes\}note> is not in/),
      ]);
    }
  });
});
