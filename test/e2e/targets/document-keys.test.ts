/** Real documents whose root element is called Document: the key of the file, and keys that are never given twice, in every target. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Sql } from '../../../src/postgres/connect.ts';
import {
  duckDbReader,
  folderReader,
  postgresReader,
  type TargetReader,
} from '../../contracts/row-sinks/readers.ts';
import { corpusDirectory, needs, some } from '../../support/needs.ts';
import { readCorpus } from '../../support/corpus.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const iso = 'iso20022';
const names = ['five.decimals', 'minimal', 'multi.statement', 'with-party-ids'].map(
  (name) => `camt053.v2.${name}.xml`,
);

describe('camt.053, whose root is Document', { ...needs(['corpus', 'whole run']), timeout: 300_000 }, () => {
  const trial = useTrial();
  let home: ServiceHome;
  let sql: Sql;
  let origin = '';
  let paths: string[] = [];

  beforeAll(async () => {
    home = await trial.home();
    const folder = join(home.directory, 'camt');
    await mkdir(folder);
    paths = await Promise.all(
      names.map(async (name) => {
        const text = new TextDecoder().decode(readCorpus(iso, 'test', 'data', name));
        const path = join(folder, name);
        // what tells in the rows which file they are from
        await writeFile(path, text.replace(/<MsgId>[^<]*/, `<MsgId>${name.slice(11, 40)}`));
        return path;
      }),
    );
    const xsd = join(corpusDirectory, iso, 'assets', 'camt.053.001.02.xsd');
    origin = String((await convert(home, 'xsd2er', xsd)).origin);
    sql = await trial.metadb(home);
  }, 300_000);

  const targets: readonly (readonly [string, () => readonly string[], () => TargetReader])[] = [
    ['metadb', () => ['-o', 'metadb:camt'], () => postgresReader(sql, 'camt')],
    [
      'duckdb',
      () => ['-o', `duckdb:${join(home.directory, 'camt.duckdb')}`],
      () => duckDbReader(join(home.directory, 'camt.duckdb')),
    ],
    ...(['csv', 'parquet'] as const).map(
      (format) =>
        [
          `folder of ${format}`,
          () => ['-o', join(home.directory, `out-${format}`), '-f', format],
          () => folderReader(join(home.directory, `out-${format}`), format),
        ] as const,
    ),
  ];

  it.each(some(targets, 1))('%s', async (kind, argvOf, readerOf) => {
    const [a, b, c, d] = paths as [string, string, string, string];
    const given = { documents: new Set<string>(), rows: new Set<string>() };
    let logical = '';
    const load = async (...argv: string[]): Promise<void> => {
      logical = String((await convert(home, 'xml2er', ...argv, '-x', origin, ...argvOf())).logical);
    };
    /** Each row of `document` is joined with the file that it is from, and no key is one that a row had that is gone. */
    const expectFiles = async (wanted: readonly string[], kept: readonly string[]): Promise<void> => {
      const reader = readerOf();
      const [documents, roots] = [(await reader.read('_documents'))!, (await reader.read('document'))!];
      const name = new Map(documents.map((row) => [row.document_key, row.name]));
      const message = Object.keys(roots[0]!).find((column) => column.endsWith('msg_id'))!;
      for (const row of roots)
        expect(name.get(row.document_key!)?.slice(11, 40), JSON.stringify(row)).toBe(row[message]);
      expect(documents.map((row) => row.name).toSorted()).toEqual(wanted.toSorted());
      const parents = new Set(roots.map((row) => row.document_row_key));
      for (const row of (await reader.read('stmt'))!) expect(parents).toContain(row.document_row_key);
      for (const [known, column, rows] of [
        [given.documents, 'document_key', documents],
        [given.rows, 'document_row_key', roots],
      ] as const) {
        const added = rows.filter((row) => !kept.includes(name.get(row.document_key!)!));
        for (const row of added) {
          expect(known).not.toContain(row[column]!);
          known.add(row[column]!);
        }
      }
    };
    const [an, bn, cn, dn] = names as [string, string, string, string];
    await load(a, b);
    await expectFiles([an, bn], []);
    if (kind === 'metadb') {
      const unload = async (name: string): Promise<void> => {
        const { code, stderr } = await runTool(home, 'unload', [
          '-l',
          logical,
          '-i',
          'metadb:camt',
          '-D',
          name,
        ]);
        expect(stderr + code).toMatch(/0$/);
      };
      await unload(bn);
      await load(c);
      await expectFiles([an, cn], [an]);
      await unload(an);
      await unload(cn);
      await load(b, d);
      await expectFiles([bn, dn], []);
      const [{ wrong }] =
        (await sql`select count(*)::int as wrong from camt.document join camt._documents using (document_key)
        where substr(name, 12, 29) <> grp_hdr_msg_id`) as unknown as [{ wrong: number }];
      expect(wrong).toBe(0);
    }
    await load('-S', 'o', c, '--workers', '2');
    await expectFiles([cn], []);
    await load(a, d, '--workers', '2');
    await expectFiles([an, cn, dn], [cn]);
    const out = join(home.directory, `again-${kind.replaceAll(' ', '-')}`);
    const place = argvOf()[1]!;
    expect((await convert(home, 'er2xml', '-l', logical, '-i', place, '-o', out)).documents).toBe(3);
  });
});
