/** Columns of dates and times that become text: each row says what its document says, of earlier and of later jobs, in every target. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isHere } from '../../support/needs.ts';
import { convert } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';
import { loadEveryTarget, targetTests, type EveryTarget } from './every-target.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>${[
  'date',
  'dateTime',
  'time',
]
  .map(
    (type) =>
      `<xs:element name="${type.toLowerCase()}" type="xs:${type}" minOccurs="0" maxOccurs="unbounded"/>`,
  )
  .join('')}</xs:sequence></xs:complexType></xs:element></xs:schema>`;

/** By table, the values of each job; one of the second is none of the column's type. */
const values = {
  date: [
    ['2021-01-01+02:00', '2021-01-02', '2021-01-03Z'],
    ['2022-01-01-05:30', '-0044-03-15+01:00', '2022-01-03'],
    ['2023-01-01+14:00', '12023-01-01', '2023-01-03'],
  ],
  datetime: [
    ['2021-01-01T00:00:00', '2021-01-02T10:00:00.25'],
    ['2022-01-01T00:00:00+02:00', '-0044-03-15T00:00:00Z', '2022-01-03T00:00:00Z', '2022-01-04T24:00:00'],
    ['2023-01-01T00:00:00+02:00', '2023-01-02T00:00:00-00:00', '2023-01-03T00:00:00'],
  ],
  time: [
    ['10:20:30+02:00', '10:20:30.25'],
    ['noon', '11:20:30Z'],
    ['12:20:30-05:30', '12:20:30'],
  ],
} as const;
type Table = keyof typeof values;

const documentOf = (job: number): string =>
  `<r>${(Object.keys(values) as Table[])
    .flatMap((table) => values[table][job]!.map((value) => `<${table}>${value}</${table}>`))
    .join('')}</r>`;

const trial = useTrial();
let targets: EveryTarget;

/** Targets of the short form. Folders of CSV and TSV have the texts of JSON Lines; columns of offsets are shredded in one way for all. */
const shortlists = {
  xsd: ['duckdb', 'sqlite', 'mysql', 'jsonl', 'parquet', 'delta', 'iceberg'],
  offsets: ['duckdb', 'jsonl', 'delta'],
};

describe.each(['as the XSD has them', 'with columns of offsets'])('%s', (which) => {
  const isPruned = which !== 'as the XSD has them';
  const only = isHere('whole run') ? undefined : shortlists[isPruned ? 'offsets' : 'xsd'];

  beforeAll(async () => {
    const home = await trial.home();
    const path = (name: string): string => join(home.directory, name);
    await writeFile(path('a.xsd'), xsd);
    const jobs = [0, 1, 2].map((job) => [path(`${job}.xml`)]);
    for (const [job, [file]] of jobs.entries()) await writeFile(file!, documentOf(job));
    // a document with an offset of a date with a time decides
    const zoned = documentOf(0)
      .replace('10:00:00.25', '10:00:00.25-05:30')
      .replace('T00:00:00<', 'T00:00:00Z<');
    if (isPruned) await writeFile(path('0.xml'), zoned);
    const { origin } = isPruned
      ? await convert(home, 'xml2er', path('0.xml'), '--xsd', path('a.xsd'), '--prune')
      : await convert(home, 'xsd2er', path('a.xsd'), '-g', '3');
    targets = await loadEveryTarget(home, origin!, jobs, only);
  }, 300_000);

  afterAll(async () => {
    await targets?.drop();
  });

  describe.each(
    targetTests.filter(
      ([name]) => !name.includes('load.') && (only?.includes(name.replace(/,.*/, '')) ?? true),
    ),
  )('%s', (target, options) => {
    // Delta and Iceberg have times as text from the beginning, without a zone
    const isLake = /^(?:delta|iceberg)/.test(target);
    const tables = (Object.keys(values) as Table[]).filter((table) => !isLake || table !== 'time');
    test.each(tables)('%s', options, async (table) => {
      const expected = values[table].flat().map((value) => {
        if (!isPruned) return value;
        return value === '2021-01-01T00:00:00'
          ? `${value}Z`
          : value === '2021-01-02T10:00:00.25'
            ? `${value}-05:30`
            : value;
      });
      const rows = await targets.texts(target, table);
      expect(rows.map(({ value }) => value)).toEqual(expected);
    });
  });
});
