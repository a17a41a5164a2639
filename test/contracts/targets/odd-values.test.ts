/** Columns that became text for values which are none of their type: each value of them, and each item of lists, comes back as the document has it. */
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { createDuckDbRowSink } from '../../../src/targets/sql/duckdb/driver.ts';
import { createDuckDbRowSource } from '../../../src/targets/sql/duckdb/source.ts';
import { createFolderRowSink } from '../../../src/targets/files/folder/sink.ts';
import { createFolderRowSource } from '../../../src/targets/files/folder/source.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import { createLakeRowSink } from '../../../src/targets/files/lake/sink.ts';
import { createLakeRowSource } from '../../../src/targets/files/lake/source.ts';
import { createPostgresRowSink } from '../../../src/targets/sql/postgres/sink.ts';
import { createPostgresRowSource } from '../../../src/targets/sql/postgres/source.ts';
import { createSqliteRowSink } from '../../../src/targets/sql/sqlite/driver.ts';
import { createSqliteRowSource } from '../../../src/targets/sql/sqlite/source.ts';
import type { RowSink } from '../../../src/ports/row-sink.ts';
import type { RowSource } from '../../../src/ports/row-source.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { listDocuments, listsXsd } from '../../support/documents/lists.ts';
import { isHere } from '../../support/needs.ts';
import { bytesOf, compiled, modelOf } from '../../support/models/shredding.ts';
import { loadInto, readFrom } from '../../support/round-trip/postgres.ts';
import { useTrial } from '../../support/service/trial.ts';

const odd = listDocuments[1]!;
const plan = (more: string, ...steps: readonly string[]): string =>
  `<plan><step more="${more}">${steps.join('</step><step>')}</step></plan>`;

/** a type of values or of items, values of it, and values that are none */
const kinds = [
  ['xs:integer', plan('7', '+05'), odd],
  ['xs:int', plan('7', '+05'), plan('+1.5', '.5', '007.10', '5.', '1e+3', '-0.0')],
  ['xs:boolean', plan('1', 'true', '0', 'false'), plan('t', 'f', '{t,f}')],
  ['xs:double', plan('INF', '-INF', 'NaN', '1e3', '-0', '1.50'), plan('Infinity', '-Infinity', '{Infinity}')],
  ['xs:date', plan('2024-01-31', '2024-02-29Z'), odd],
  ['xs:string', plan('a', 'NULL', '\\N'), odd],
] as const;

const single = (type: string): string =>
  listsXsd.replace('<xs:list itemType="xs:integer"/>', `<xs:restriction base="${type}"/>`);
const list = (type: string): string => listsXsd.replace('xs:integer', type);
/** The same values, all in one element. */
const joined = (document: string): string => document.replaceAll('</step><step>', ' ');

const cases = kinds.flatMap(([type, plain, other]) => [
  { what: type, xsd: single(type), documents: [plain, other] },
  { what: `lists of ${type}`, xsd: list(type), documents: [joined(plain), other] },
]);

/** `{two}` makes the column text; the others could be taken for lists as they are stored, and have quotes and backslashes. */
const likeLists = plan(
  'two',
  '1 two',
  '{two}',
  '{}',
  '{1}',
  '{t}',
  '{Infinity}',
  '{-Infinity,1}',
  '{1,2}',
  '{"a b","c"}',
  String.raw`{"a\"b",\c\\}`,
  '{1, 2} {3}',
  ' {1,2} ',
  '',
);

interface Target {
  sink(): RowSink;
  source(): RowSource;
}

const trial = useTrial();
let folder: string;
let url: string;
let count = 0;

beforeAll(async () => {
  folder = await trial.folder('odd-values-');
  url = (await trial.emptyDatabase()).url;
});

const targets: Readonly<Record<string, () => Target>> = {
  DuckDB: () => {
    const file = join(folder, `${(count += 1)}.duckdb`);
    return { sink: () => createDuckDbRowSink({ file }), source: () => createDuckDbRowSource({ file }) };
  },
  SQLite: () => {
    const file = join(folder, `${(count += 1)}.sqlite`);
    return { sink: () => createSqliteRowSink({ file }), source: () => createSqliteRowSource({ file }) };
  },
  PostgreSQL: () => {
    const place = { url, sqlSchema: `odd_${(count += 1)}` };
    return {
      sink: () => createPostgresRowSink({ ...place, createSchema: true }),
      source: () => createPostgresRowSource(place),
    };
  },
};

/** Before the odd values, with them, and after them. */
async function comeBack(open: () => Target, xsd: string, documents: readonly string[]): Promise<void> {
  const source = compiled(xsd);
  const model = modelOf(source, 3);
  for (const jobs of [
    [[0], [1], [0]],
    [[1], [0, 1]],
  ]) {
    const target = open();
    for (const [at, job] of jobs.entries()) {
      const loaded = job.map((document) => bytesOf(documents[document]!));
      await loadInto(target.sink(), { model, idJob: at + 1 }, loaded);
    }
    const written = await readFrom(target.source(), model);
    for (const [at, document] of jobs.flat().entries())
      expect(compareXml(documents[document]!, written[at]!, { source })).toEqual([]);
  }
}

/** Every second case: of two targets in a row, one has the values of a type, the other the lists of it. All cases in the whole run. */
const casesOf = (target: number): typeof cases =>
  isHere('whole run') ? cases : cases.filter((_, at) => (Math.floor(at / 2) + at + target) % 2 === 0);

describe.each(Object.keys(targets).map((kind, at) => [kind, at] as const))('%s', (kind, number) => {
  it.each(casesOf(number))('$what', async ({ xsd, documents }) => {
    await comeBack(targets[kind]!, xsd, documents);
  });
});

const folders = ['csv', 'tsv', 'jsonl', 'parquet', 'delta'] as const;

describe.each(folders.map((format, at) => [format, at] as const))('a folder of %s', (format, number) => {
  const open = (): Target => {
    const directory = join(folder, `${(count += 1)}`);
    if (format === 'delta') {
      const target = diskLake({ directory });
      return {
        sink: () => createLakeRowSink({ target, format }),
        source: () => createLakeRowSource({ target }),
      };
    }
    return {
      sink: () => createFolderRowSink({ directory, format }),
      source: () => createFolderRowSource({ directory }),
    };
  };

  it.each(casesOf(number))('$what', async ({ xsd, documents }) => {
    await comeBack(open, xsd, documents);
  });

  it.each(kinds)('lists of %s, beside what is written like one', async (type, plain) => {
    await comeBack(open, list(type), [joined(plain), likeLists]);
  });

  it('many lists of floats', async () => {
    const steps = Array.from({ length: 2000 }, (_, at) =>
      Array.from({ length: at % 5 }, (_item, item) => String(Math.sqrt(at + item))).join(' '),
    );
    await comeBack(open, list('xs:double'), [plan('0.5', ...steps), plan('INF')]);
  });

  it('long lists of truth values', async () => {
    const truths = Array.from({ length: 20_000 }, (_, at) => (at % 3 === 0 ? 'true' : 'false')).join(' ');
    await comeBack(open, list('xs:boolean'), [plan('true', truths, '', truths), plan('two', '1 two')]);
  });
});
