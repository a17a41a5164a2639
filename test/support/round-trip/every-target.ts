/** Documents of one XSD, loaded one after another into every kind of target, and written back from it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import { compareXml } from '../documents/canonical-xml.ts';
import { compiled } from '../models/shredding.ts';
import type { ServiceHome } from '../service/start.ts';
import { convert } from '../service/tools.ts';
import { useTrial } from '../service/trial.ts';

const formats = ['csv', 'tsv', 'jsonl', 'parquet', 'delta', 'iceberg'] as const;
export const targetKinds = ['postgresql', 'duckdb', 'sqlite', ...formats] as const;

/** `documents`: by the name of their file, what is in the root element of each; `options`: of each load. */
export function useEveryTarget(
  xsd: string,
  root: string,
  documents: Readonly<Record<string, string>>,
  ...options: readonly string[]
) {
  const trial = useTrial();
  const source = compiled(xsd);
  let home: ServiceHome;
  let sql: Sql;
  let folder: string;
  let origin: string;

  beforeAll(async () => {
    home = await trial.home();
    folder = join(home.directory, 'every-target');
    await mkdir(folder);
    await writeFile(join(folder, 'set.xsd'), xsd);
    for (const [name, content] of Object.entries(documents))
      await writeFile(join(folder, name), `<${root}>${content}</${root}>`);
    origin = String((await convert(home, 'xsd2er', join(folder, 'set.xsd'))).origin);
    sql = await trial.metadb(home);
  }, 120_000);

  function targetOf(kind: (typeof targetKinds)[number]): readonly string[] {
    if (kind === 'postgresql') return ['metadb:every_target'];
    if (kind === 'duckdb' || kind === 'sqlite') return [`${kind}:${join(folder, `rows.${kind}`)}`];
    return [join(folder, kind), '-f', kind];
  }

  const load = (names: readonly string[], target: readonly string[]) =>
    convert(
      home,
      'xml2er',
      ...names.map((name) => join(folder, name)),
      '-x',
      origin,
      ...options,
      '-o',
      ...target,
    );

  return {
    source,
    /** where the documents and `set.xsd` lie */
    folder: () => folder,
    home: () => home,
    sql: () => sql,
    load,
    async expectBackFrom(kind: (typeof targetKinds)[number]): Promise<void> {
      const [place, ...format] = targetOf(kind);
      const [first, ...others] = Object.keys(documents);
      const { logical } = await load([first!], [place!, ...format]);
      for (const name of others) await load([name], [place!, ...format]);
      const written = join(folder, `written from ${kind}`);
      await convert(home, 'er2xml', '-l', String(logical), '-i', place!, '-o', written);
      for (const name of Object.keys(documents)) {
        const [before, after] = await Promise.all(
          [folder, written].map((from) => readFile(join(from, name), 'utf8')),
        );
        expect(compareXml(before!, after!, { source })).toEqual([]);
      }
    },
  };
}
