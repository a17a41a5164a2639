/** `--partition`: tables of Delta and Iceberg whose files hold rows of one partition each; the rows are those of a target without any. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { compactLake } from '../../../src/targets/files/lake/compaction.ts';
import { diskLake } from '../../../src/targets/files/lake/place.ts';
import {
  deltaFiles,
  deltaReader,
  icebergFiles,
  icebergReader,
  type TargetReader,
} from '../../contracts/row-sinks/readers.ts';
import { deltalakeReader, runDeltalake } from '../../contracts/targets/readers/deltalake.ts';
import { pyicebergReader, runPyiceberg } from '../../contracts/targets/readers/pyiceberg.ts';
import { compareXml } from '../../support/documents/canonical-xml.ts';
import { needs, some } from '../../support/needs.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="ledger"><xs:complexType><xs:sequence>
    <xs:element name="entry" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="region" type="xs:string" minOccurs="0"/>
      <xs:element name="booked_at" type="xs:dateTime"/>
      <xs:element name="due" type="xs:date" minOccurs="0"/>
      <xs:element name="amount" type="xs:decimal"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`;

/** Entries of a ledger, whose days lie before and after 1970, some of them without a region or a day. */
function ledger(seed: number): string {
  const entries = Array.from({ length: 30 }, (_, at) => {
    const number = seed * 31 + at * 7;
    const region = number % 5 === 0 ? '' : `<region>north/${number % 3} = "a" é</region>`;
    const due =
      number % 4 === 0 ? '' : `<due>${1968 + (number % 4)}-0${1 + (number % 9)}-1${number % 9}</due>`;
    const booked = `20${20 + (number % 3)}-03-0${1 + (number % 2)}T0${number % 5}:30:00Z`;
    return `<entry>${region}<booked_at>${booked}</booked_at>${due}<amount>${number}.${number % 10}5</amount></entry>`;
  });
  return `<ledger>${entries.join('')}</ledger>`;
}

const trial = useTrial();
let home: ServiceHome;
let folder: string;
let origin: string;
const documents = new Map<string, string>();

beforeAll(async () => {
  home = await trial.home();
  folder = await trial.folder('partitions-');
  await writeFile(join(folder, 'ledger.xsd'), xsd);
  origin = String((await convert(home, 'xsd2er', join(folder, 'ledger.xsd'))).origin);
  for (const seed of [1, 2, 3]) {
    documents.set(`${seed}.xml`, ledger(seed));
    await writeFile(join(folder, `${seed}.xml`), ledger(seed));
  }
}, 120_000);

async function load(out: string, format: string, names: readonly string[], ...more: string[]) {
  const inputs = names.map((name) => join(folder, name));
  return convert(home, 'xml2er', ...inputs, '-x', origin, '-o', join(folder, out), '-f', format, ...more);
}

/** Rows of entries as text, without the columns that Delta has of partitions. */
async function entriesOf(reader: TargetReader): Promise<(string | null | undefined)[][]> {
  const rows = (await reader.read('entry')) ?? [];
  const values = rows.map((row) =>
    ['entry_key', 'region', 'booked_at', 'due', 'amount'].map((name) => row[name]),
  );
  return values.toSorted((a, b) => Number(a[0]) - Number(b[0]));
}

/** What other writers of the format take a file's partition to be is what its rows have. */
const partsInRows = `
import json, sys
from deltalake import DeltaTable
import pyarrow.compute as pc
table = DeltaTable(sys.argv[1])
print(json.dumps([table.metadata().partition_columns, sorted(set(map(str, table.to_pyarrow_table(columns=["booked_at_year", "booked_at"]).filter(pc.equal(pc.year(pc.field("booked_at")), pc.field("booked_at_year"))).column("booked_at_year").to_pylist()))), table.to_pyarrow_table(filters=[("booked_at_year", "=", 2021)]).num_rows, table.to_pyarrow_table(filters=[("region", "=", sys.argv[2])]).num_rows]))
`;
const prunedByScan = `
import json, sys
from pyiceberg.expressions import EqualTo, GreaterThanOrEqual, LessThan, And
table = opened(sys.argv[1])
scan = table.scan(row_filter=EqualTo("region", sys.argv[2]))
dated = table.scan(row_filter=And(GreaterThanOrEqual("booked_at", "2021-01-01T00:00:00+00:00"), LessThan("booked_at", "2022-01-01T00:00:00+00:00")))
print(json.dumps([[str(field.transform) for field in table.spec().fields], len(list(scan.plan_files())) < len(list(table.scan().plan_files())), dated.to_arrow().num_rows, scan.to_arrow().num_rows]))
`;

describe('tables with partitions', { timeout: 180_000 }, () => {
  const region = 'north/1 = "a" é';
  const by = ['--partition', 'region,year(booked_at)'] as const;
  const inRegion = (text: string): number => text.split(`<region>${region}</region>`).length - 1;

  it.each(some(['delta,iceberg', 'delta', 'iceberg'], 1))(
    'of %s have the rows of those without',
    async (format) => {
      const out = `lake ${format}`;
      await load(out, format, ['1.xml'], ...by);
      // a table keeps what it was made with
      await load(out, format, ['2.xml']);
      await load(`plain ${format}`, format, ['1.xml']);
      await load(`plain ${format}`, format, ['2.xml']);
      const readers = format.split(',').map((name) => (name === 'delta' ? deltaReader : icebergReader));
      for (const reader of readers) {
        const rows = await entriesOf(reader(join(folder, out)));
        expect(rows).toHaveLength(60);
        expect(rows).toEqual(await entriesOf(reader(join(folder, `plain ${format}`))));
      }
      const pairs = new Set(
        (await entriesOf(readers[0]!(join(folder, out)))).map(
          ([, regionOf, at]) => `${regionOf} ${at?.slice(0, 4)}`,
        ),
      );
      const fileCounts = async (): Promise<number[]> => {
        const listings = format.split(',').map((name) => (name === 'delta' ? deltaFiles : icebergFiles));
        return Promise.all(
          listings.map(async (filesOf) => (await filesOf(join(folder, out, 'entry'))).length),
        );
      };
      for (const count of await fileCounts()) expect(count).toBeGreaterThan(pairs.size);
      // one file a partition is left, and the rows are the same
      await compactLake(diskLake({ directory: join(folder, out) }));
      for (const count of await fileCounts()) expect(count).toBe(pairs.size);
      for (const reader of readers)
        expect(await entriesOf(reader(join(folder, out)))).toEqual(
          await entriesOf(reader(join(folder, `plain ${format}`))),
        );
      await convert(home, 'er2xml', '-i', join(folder, out), '-o', join(folder, `back ${format}`));
      for (const name of ['1.xml', '2.xml']) {
        const back = await readFile(join(folder, `back ${format}`, name));
        expect(compareXml(Buffer.from(documents.get(name)!), back)).toEqual([]);
      }
      const logical = String((await load(out, format, ['3.xml'], ...by)).logical);
      await convert(home, 'unload', '-l', logical, '-i', join(folder, out), '-D', '2.xml');
      for (const reader of readers) expect(await entriesOf(reader(join(folder, out)))).toHaveLength(60);
      await load(out, format, ['1.xml'], '-S', 'm');
      await load(out, format, ['2.xml'], '-S', 'o');
      for (const reader of readers) expect(await entriesOf(reader(join(folder, out)))).toHaveLength(30);
    },
  );

  it('are read by delta-rs, which knows the partitions', needs('deltalake'), async () => {
    await load('delta-rs', 'delta', ['1.xml', '2.xml'], ...by);
    await load('delta-rs plain', 'delta', ['1.xml', '2.xml']);
    const directory = join(folder, 'delta-rs');
    expect(await entriesOf(deltalakeReader(directory))).toEqual(
      await entriesOf(deltalakeReader(join(folder, 'delta-rs plain'))),
    );
    const text = ledger(1) + ledger(2);
    expect(JSON.parse(await runDeltalake(partsInRows, join(directory, 'entry'), region))).toEqual([
      ['region', 'booked_at_year'],
      ['2020', '2021', '2022'],
      text.split('<booked_at>2021-').length - 1,
      inRegion(text),
    ]);
  });

  it('are read by PyIceberg, which knows the partitions', needs('pyiceberg'), async () => {
    await load('pyiceberg', 'delta,iceberg', ['1.xml', '2.xml'], ...by);
    await load('pyiceberg plain', 'iceberg', ['1.xml', '2.xml']);
    const directory = join(folder, 'pyiceberg');
    expect(await entriesOf(pyicebergReader(directory))).toEqual(
      await entriesOf(pyicebergReader(join(folder, 'pyiceberg plain'))),
    );
    const text = ledger(1) + ledger(2);
    expect(JSON.parse(await runPyiceberg(prunedByScan, join(directory, 'entry'), region))).toEqual([
      ['identity', 'year'],
      true,
      text.split('<booked_at>2021-').length - 1,
      inRegion(text),
    ]);
  });

  it('are of months, days and hours, before 1970, too', needs('pyiceberg'), async () => {
    await load(
      'parts',
      'delta,iceberg',
      ['1.xml'],
      '--partition',
      'month(due),day(entry.due),hour(booked_at)',
    );
    for (const reader of [deltaReader, icebergReader, pyicebergReader]) {
      const rows = (await reader(join(folder, 'parts')).read('entry')) ?? [];
      expect(rows).toHaveLength(30);
      for (const row of rows)
        expect([row['due_month'], row['due_day'], row['booked_at_hour']]).toEqual([
          row['due']?.slice(0, 7) ?? null,
          row['due'],
          row['booked_at']!.slice(0, 13).replace(' ', '-'),
        ]);
    }
    const days = `
import json, sys
table = opened(sys.argv[1])
print(json.dumps(sorted({str(task.file.partition[1]) for task in table.scan().plan_files()})))
`;
    const told = JSON.parse(await runPyiceberg(days, join(folder, 'parts', 'entry'))) as string[];
    const due = [...ledger(1).matchAll(/<due>([^<]*)/g)].map(([, day]) => Date.parse(day!) / 86_400_000);
    expect(told).toEqual([...new Set([...due.map((day) => dayText(day, told)), 'None'])].toSorted());
  });

  it.each([
    ['a column that is nowhere', 'delta', 'regoin', 'did you mean region?'],
    ['a table that has no such column', 'delta', 'ledger.region', 'did you mean entry.region?'],
    ['a column that is nothing alike', 'delta', 'entry.country', 'Columns: entry.region, '],
    ['a part of a column that is nothing alike', 'delta', 'year(country)', 'Columns for year(): '],
    ['an amount', 'iceberg', 'amount', 'partitions are of text, whole numbers, dates and booleans'],
    ['an hour of a day', 'iceberg', 'hour(due)', 'has no hour'],
    ['another part', 'delta', 'week(due)', 'only year, month, day and hour are supported'],
    ['files of another kind', 'csv', 'region', '--partition is for tables of Delta and Iceberg'],
    ['another partition than the table has', 'delta', 'due', 'is partitioned by region'],
    ['empty strings', 'delta', 'region', 'which Delta cannot distinguish from NULL'],
  ])('are refused by %s', async (what, format, column, words) => {
    const out = join(folder, `refused ${what}`);
    if (what.startsWith('another partition'))
      await load(`refused ${what}`, format, ['1.xml'], '--partition', 'region');
    const empty = ledger(1).replace(/<region>[^<]*</, '<region><');
    await writeFile(join(folder, 'empty.xml'), what === 'empty strings' ? empty : ledger(2));
    const { code, stdout, stderr } = await runTool(home, 'xml2er', [
      join(folder, 'empty.xml'),
      '-x',
      origin,
      '-o',
      out,
      '-f',
      format,
      '--partition',
      column,
    ]);
    expect([code === 0, `${stdout}${stderr}`]).toEqual([false, expect.stringContaining(words)]);
    const left = await readdir(out).catch(() => []);
    if (!what.startsWith('another partition')) expect(left).toEqual([]);
  });

  it('are as many as one job may make', async () => {
    const entries = Array.from(
      { length: 2001 },
      (_, at) =>
        `<entry><region>r${at}</region><booked_at>2026-01-01T00:00:00Z</booked_at><amount>1</amount></entry>`,
    );
    await writeFile(join(folder, 'many.xml'), `<ledger>${entries.join('')}</ledger>`);
    const { code, stdout } = await runTool(home, 'xml2er', [
      join(folder, 'many.xml'),
      '-x',
      origin,
      '-o',
      join(folder, 'many'),
      '-f',
      'delta',
      '--partition',
      'region',
    ]);
    expect([code, stdout]).toEqual([1, expect.stringContaining('more than 2000 partitions')]);
  });
});

/** As the reader tells days: numbers of them, or dates. */
function dayText(day: number, told: readonly string[]): string {
  return told.some((text) => text.includes('-0'))
    ? new Date(day * 86_400_000).toISOString().slice(0, 10)
    : String(day);
}
