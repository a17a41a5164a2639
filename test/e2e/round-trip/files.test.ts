/** er2xml from DuckDB files and folders: the documents come back from wherever they were loaded to. */
import { readFileSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { compiled } from '../../support/models/shredding.ts';
import { some } from '../../support/needs.ts';
import { useTrial } from '../../support/service/trial.ts';

const fixtures = fileURLToPath(new URL('../../fixtures/targets/', import.meta.url));
const names = ['first.xml', 'second.xml', 'third.xml'];
const source = compiled(readFileSync(join(fixtures, 'values.xsd'), 'utf8'));

const trial = useTrial();
let home: ServiceHome;
let origin: string;

beforeAll(async () => {
  home = await trial.home();
  origin = String((await convert(home, 'xsd2er', join(fixtures, 'values.xsd'), '-g', '3')).origin);
}, 120_000);

const kinds = [
  'duckdb',
  'sqlite',
  'csv',
  'tsv',
  'jsonl',
  'parquet',
  'delta',
  'iceberg',
  'delta,iceberg',
] as const;

function targetOf(
  kind: (typeof kinds)[number],
  name: string,
): { readonly place: string; readonly argv: string[] } {
  const path = join(home.directory, 'out', `${kind}-${name}`);
  return kind === 'duckdb' || kind === 'sqlite'
    ? { place: `${kind}:${path}`, argv: [] }
    : { place: path, argv: ['-f', kind] };
}

async function expectSame(folder: string, wanted: readonly string[]): Promise<void> {
  expect((await readdir(folder)).toSorted()).toEqual(wanted.toSorted());
  for (const name of wanted) {
    const written = await readFile(join(folder, name), 'utf8');
    expect(compareXml(await readFile(join(fixtures, name), 'utf8'), written, { source })).toEqual([]);
  }
}

describe.each(some(kinds, 1))('%s', { timeout: 120_000 }, (kind) => {
  it.each(some(['sequence', 'hash'], 1))('gives every document back, keys by %s', async (keys) => {
    const { place, argv } = targetOf(kind, keys);
    const load = (...documents: string[]) =>
      convert(
        home,
        'xml2er',
        ...documents.map((name) => join(fixtures, name)),
        '-x',
        origin,
        '-o',
        place,
        '--keys',
        keys,
        ...argv,
      );
    // two jobs: the second's columns are wider, and its hashed keys lie between the first's
    const { logical } = await load('third.xml', 'first.xml');
    await load('second.xml');
    const back = (folder: string, ...more: string[]) =>
      convert(home, 'er2xml', '-l', String(logical), '-i', place, '-o', folder, ...more);
    const all = join(home.directory, `back-${kind}-${keys}`);
    expect(await back(all)).toMatchObject({ status: 'C', documents: 3 });
    await expectSame(all, names);
    for (const name of names) {
      const one = join(home.directory, `one-${kind}-${keys}-${name}`);
      await back(one, '-D', name);
      await expectSame(one, [name]);
    }
  });

  it('gives decimals back as they were written, where their type is a guess', async () => {
    const { place, argv } = targetOf(kind, 'guessed');
    const document = `<r>${['1.50', '1.5', '2', '2.000', '-0.10', '0.1'].map((n) => `<v n="${n}"/>`).join('')}</r>`;
    const file = join(home.directory, `guessed-${kind}.xml`);
    await writeFile(file, document);
    const named = ['--name', `guessed-${kind.replace(',', '-')}`];
    const { logical } = await convert(home, 'xml2er', file, '-o', place, ...named, ...argv);
    const folder = join(home.directory, `back-${kind}-guessed`);
    await convert(home, 'er2xml', '-l', String(logical), '-i', place, '-o', folder);
    const [written] = await readdir(folder);
    expect(compareXml(document, await readFile(join(folder, written!)), { asText: true })).toEqual([]);
  });
});

it('says what is missing', async () => {
  for (const place of ['nowhere', 'duckdb:nowhere.duckdb', 'sqlite:nowhere.sqlite']) {
    const run = await runTool(home, 'er2xml', ['-x', origin, '-i', place, '-o', join(home.directory, 'no')]);
    expect(run.code).toBe(1);
    expect(run.stdout + run.stderr).toMatch(/no documents were loaded there|there is no such file/);
  }
});
