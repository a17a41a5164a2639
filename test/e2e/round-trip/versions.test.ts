/** Versions of real standards in one target, each made with --parent: documents of all come back, and what is there keeps its names and values. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { clarkName } from '../../../src/engine/model/source-model.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { isHere, needs, some } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { HeldRows } from '../../support/versions/held-rows.ts';
import { standardSeries, type StandardVersion } from '../../support/versions/standards.ts';

/** level, and targets: a database, and files */
const ways = [
  { level: '3', targets: ['metadb', 'delta'] },
  { level: '0', targets: ['metadb', 'parquet'] },
  { level: '1', targets: ['metadb', 'duckdb'] },
  { level: '2', targets: ['metadb', 'parquet'] },
] as const;

// the shortest of real ones is enough to begin with
const all = standardSeries();
const shown = isHere('whole run') ? all : all.filter(({ name }) => name.startsWith('camt.054'));

describe.each(shown)('$name', { timeout: 600_000, ...needs('corpus') }, ({ versions }) => {
  const trial = useTrial();
  let home: ServiceHome;
  let stored: StandardVersion[];

  beforeAll(async () => {
    home = await trial.home();
    stored = versions();
    for (const [at, { files, documents }] of stored.entries())
      for (const { name, bytes } of [
        ...files,
        ...documents.map((one) => ({ ...one, name: `documents/${one.name}` })),
      ]) {
        const path = join(home.directory, `v${at}`, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, bytes);
      }
  });

  it.each(some(ways, 1))('at level $level in $targets', async ({ level, targets }) => {
    const logicals: string[] = [];
    const origins: string[] = [];
    for (const [at, { entry, root }] of stored.entries()) {
      const parent = at === 0 ? [] : ['--parent', origins[at - 1]!];
      const roots = ['--root', clarkName(root)];
      const xsd = join(home.directory, `v${at}`, entry);
      const made = await convert(
        home,
        'xsd2er',
        xsd,
        '--name',
        `standard-${level}`,
        '-g',
        level,
        '--missing',
        'wildcard',
        ...roots,
        ...parent,
      );
      origins.push(String(made.origin));
      logicals.push(String(made.logical));
    }
    for (const kind of targets) {
      const name = `level_${level}`;
      const path = join(home.directory, `${kind}-${name}`);
      const place = kind === 'metadb' ? `metadb:${name}` : kind === 'duckdb' ? `duckdb:${path}` : path;
      const format = kind === 'metadb' || kind === 'duckdb' ? [] : ['-f', kind];
      const load = (at: number): Promise<unknown> =>
        convert(
          home,
          'xml2er',
          join(home.directory, `v${at}/documents`),
          '-x',
          origins[at]!,
          '-l',
          logicals[at]!,
          '-o',
          place,
          ...format,
        );
      const held = kind === 'metadb' ? new HeldRows(home, name) : null;
      for (const at of stored.keys()) {
        await load(at);
        await held?.expectKept();
      }
      for (const [at, version] of stored.entries()) {
        const folder = join(home.directory, `back-${kind}-${level}-${at}`);
        await convert(home, 'er2xml', '-l', logicals[at]!, '-i', place, '-o', folder);
        await expectDocuments(folder, version, stored);
      }
    }
  });
});

/** All documents of the version are there, and whatever others are is the same, too. */
async function expectDocuments(
  folder: string,
  version: StandardVersion,
  all: readonly StandardVersion[],
): Promise<void> {
  const written = await readdir(folder);
  expect(written).toEqual(expect.arrayContaining(version.documents.map(({ name }) => name)));
  for (const { files, entry, documents } of all) {
    const there = documents.filter(({ name }) => written.includes(name));
    const { model: source } = compileXsdSet([...files], { entries: [entry], missing: 'wildcard' });
    for (const { name, bytes } of there)
      expect([name, ...compareXml(bytes, await readFile(join(folder, name)), { source })]).toEqual([name]);
  }
}
