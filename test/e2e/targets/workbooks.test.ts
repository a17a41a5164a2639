/** `-f xlsx`: workbooks of loads, read by another program and compared with the CSV of the same documents. */
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { TargetManifest } from '../../../src/targets/files/folder/manifest.ts';
import { needs, programOf } from '../../support/needs.ts';
import { readZip } from '../../support/read-zip.ts';
import type { ServiceHome } from '../../support/service/start.ts';
import { convert, runTool, type ToolRun } from '../../support/service/tools.ts';
import { useTrial } from '../../support/service/trial.ts';

const kinds = {
  flag: 'xs:boolean',
  small: 'xs:int',
  large: 'xs:integer',
  exact: 'xs:decimal',
  single: 'xs:float',
  double: 'xs:double',
  day: 'xs:date',
  clock: 'xs:time',
  moment: 'xs:dateTime',
  instant: 'xs:dateTime',
  year: 'xs:gYear',
  span: 'xs:duration',
  words: 'xs:NMTOKENS',
  text: 'xs:string',
} as const;
type Kind = keyof typeof kinds;

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="values"><xs:complexType><xs:sequence>
    <xs:element name="row" maxOccurs="unbounded"><xs:complexType>${Object.entries(kinds)
      .map(([name, type]) => `<xs:attribute name="${name}" type="${type}"/>`)
      .join('')}</xs:complexType></xs:element>
    <xs:element name="a_table_whose_name_is_longer_than_a_sheet" minOccurs="0" maxOccurs="unbounded" type="xs:string"/>
    <xs:element name="a_table_whose_name_is_longer_than_another" minOccurs="0" maxOccurs="unbounded" type="xs:string"/>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;

const rows: readonly Partial<Record<Kind, string>>[] = [
  {
    flag: 'true',
    small: '-5',
    large: '123456789012345',
    exact: '-1234567.89012345',
    single: '0.1',
    double: '6.02214076e23',
    day: '2026-02-28',
    clock: '23:59:59',
    moment: '2026-12-31T23:59:59.999',
    instant: '2026-01-01T00:30:00.5+02:00',
    year: '2026',
    span: 'P1Y',
    words: 'one two',
    text: '=SUM(A1:A9)',
  },
  {
    flag: '0',
    small: '+07',
    large: '1234567890123456',
    exact: '0.1234567890123456',
    single: 'INF',
    double: '-1e-310',
    day: '1900-02-28',
    clock: '00:00:00.25',
    moment: '2026-01-01T00:00:00.1234',
    instant: '2026-01-01T00:00:00Z',
    text: ' kept &#9;&#10;&#13; white, &lt;&amp;&quot; _x0041_ \u{1F600}',
  },
  { small: 'many', day: '2026-02-28Z', exact: '.50', double: '-0', moment: '9999-12-31T00:00:00', text: '' },
  { day: '1900-03-01', clock: '12:30:00Z', moment: '0999-01-01T00:00:00', instant: '2026-06-01T12:00:00' },
  { text: '@x', words: '{a,b}' },
];

/** Every cell of every workbook, and how its value is stored. */
const program = `import datetime, json, openpyxl, sys
out = {}
for path in sys.argv[1:]:
  for sheet in openpyxl.load_workbook(path):
    assert sheet.freeze_panes == 'A2', sheet.freeze_panes
    out.setdefault(sheet.title, []).append([[None if c.value is None else [type(c.value).__name__,
      c.value.isoformat(timespec='milliseconds') if isinstance(c.value, (datetime.datetime, datetime.time)) else c.value, c.number_format] for c in row]
      for row in sheet.iter_rows()])
json.dump(out, sys.stdout)`;

type Cell = readonly [type: string, value: string | number | boolean, format: string] | null;

const trial = useTrial();
let home: ServiceHome;
let documents: string;
let origin: string;

beforeAll(async () => {
  home = await trial.home();
  documents = join(home.directory, 'in');
  await mkdir(documents);
  await writeFile(join(documents, 'values.xsd'), xsd);
  const elements = rows.map(
    (row) =>
      `<row ${Object.entries(row)
        .map(([name, value]) => `${name}="${value}"`)
        .join(' ')}/>`,
  );
  const others = ['a_sheet', 'another'].map((end) => {
    const name = `a_table_whose_name_is_longer_than_${end}`;
    return `<${name}>${end}</${name}>`.repeat(2);
  });
  await writeFile(join(documents, 'first.xml'), `<values>${elements.join('')}${others.join('')}</values>`);
  origin = String(
    (await convert(home, 'xsd2er', join(documents, 'values.xsd'), '--name', 'My values')).origin,
  );
}, 120_000);

const load = (folder: string, format: string, ...more: readonly string[]) =>
  convert(home, 'xml2er', join(documents, 'first.xml'), '-x', origin, '-o', folder, '-f', format, ...more);

const manifestOf = async (folder: string): Promise<TargetManifest> =>
  JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as TargetManifest;

describe('with a reader of workbooks', needs('openpyxl'), () => {
  it('has every value that CSV has, typed where Excel gives it back', async () => {
    const [csv, xlsx] = [join(home.directory, 'csv'), join(home.directory, 'xlsx')];
    await load(csv, 'csv');
    await load(xlsx, 'xlsx');
    expect((await readdir(xlsx)).toSorted()).toEqual(['My%20values.xlsx', 'manifest.json']);
    const { stdout } = await promisify(execFile)(programOf('openpyxl')!, [
      '-c',
      program,
      join(xlsx, 'My%20values.xlsx'),
    ]);
    const sheets = JSON.parse(stdout) as Record<string, readonly (readonly (readonly Cell[])[])[]>;
    const tables = (await manifestOf(xlsx)).tables;
    expect(Object.keys(sheets)).toEqual(tables.map(({ files }) => files[0]!.sheet));
    expect(Math.max(...Object.keys(sheets).map((name) => name.length))).toBeLessThanOrEqual(31);
    let compared = 0;
    for (const { name, files } of tables) {
      const [cells] = sheets[files[0]!.sheet!]!;
      const values = csvRecords(await readFile(join(csv, `${name}.csv`), 'utf8'));
      expect(cells!.length).toBe(values.length);
      // when it was loaded, and by whom, differs
      const differs = new Set(['loaded_at', 'job', 'job_uuid']);
      for (const [at, record] of values.entries())
        for (const [column, value] of record.entries()) {
          if (differs.has(values[0]![column]!)) continue;
          const cell = cells![at]![column] ?? null;
          expect
            .soft(
              isSame(cell, value),
              `${name} ${at} ${values[0]![column]}: ${JSON.stringify(cell)} ${value}`,
            )
            .toBe(true);
          compared += 1;
        }
    }
    expect(compared).toBeGreaterThan(100);
    const [header, ...typed] = sheets['row']![0]!;
    const types = (at: number): Record<string, string> =>
      Object.fromEntries(
        typed[at]!.flatMap((cell, column) => (cell === null ? [] : [[String(header![column]![1]), cell[0]]])),
      );
    expect(types(0)).toMatchObject({
      flag: 'bool',
      small: 'int',
      large: 'int',
      exact: 'float',
      double: 'float',
      day: 'datetime',
      clock: 'time',
      moment: 'datetime',
      instant: 'datetime',
      text: 'str',
    });
    expect(types(1)).toMatchObject({
      large: 'str',
      exact: 'str',
      single: 'str',
      double: 'str',
      day: 'str',
      moment: 'str',
    });
  });
});

it('has a workbook for each load, and those of an overwrite alone after it', async () => {
  const folder = join(home.directory, 'loads');
  await load(folder, 'xlsx');
  const second = await load(folder, 'xlsx', '--codes', 'table');
  expect((await readdir(folder)).toSorted()).toEqual([
    `My%20values.${second.job}.xlsx`,
    'My%20values.xlsx',
    'manifest.json',
  ]);
  const { tables } = await manifestOf(folder);
  expect(tables.find(({ name }) => name === 'row')!.rows).toBe(2 * rows.length);
  // keys go on
  const parts = await readZip(await readFile(join(folder, `My%20values.${second.job}.xlsx`)));
  expect(parts.get('xl/worksheets/sheet1.xml')).toContain('<row r="2"><c r="A2" s="3"><v>2</v></c>');
  await load(folder, 'xlsx', '-S', 'o');
  expect((await readdir(folder)).toSorted()).toEqual(['My%20values.xlsx', 'manifest.json']);
  const other = await runTool(home, 'xml2er', [join(documents, 'first.xml'), '-o', folder, '-f', 'csv']);
  expect(said(other)).toContain('use -f xlsx');
});

it('has a sheet for each table where there are no rows', async () => {
  const folder = join(home.directory, 'empty');
  await load(folder, 'xlsx', '-S', 'w');
  const parts = await readZip(await readFile(join(folder, 'My%20values.xlsx')));
  expect(parts.get('xl/workbook.xml')).toContain('<sheet name="row"');
  expect([...parts.keys()].filter((name) => name.startsWith('xl/worksheets/'))).toHaveLength(4);
});

/** A tool tells faults of its command line on stderr, and what its job says on stdout. */
const said = ({ stdout, stderr }: ToolRun): string => stdout + stderr;

describe('is refused', () => {
  it.each([['-S', 'm'], ['--skip-loaded'], ['--keys', 'hash'], ['--views']])(
    'with %s %s, before anything is written',
    async (...options) => {
      const folder = join(home.directory, `refused${options.join('')}`);
      const run = await runTool(home, 'xml2er', [
        join(documents, 'first.xml'),
        '-x',
        origin,
        '-o',
        folder,
        '-f',
        'xlsx',
        ...options,
      ]);
      expect(run.code).not.toBe(0);
      expect(said(run)).toContain(options[0]);
      await expect(readdir(folder)).rejects.toThrow('ENOENT');
    },
  );

  it('to write documents back, and to take them out', async () => {
    const folder = join(home.directory, 'one-way');
    await load(folder, 'xlsx');
    const back = await runTool(home, 'er2xml', ['-i', folder, '-o', join(home.directory, 'back')]);
    expect(said(back)).toContain('documents cannot be written back from Excel workbooks');
    const out = await runTool(home, 'unload', ['-i', folder, '-D', 'first.xml']);
    expect(said(out)).toContain('load the others again with -S o');
  });

  it('where a value is too long for a cell, and nothing is published', async () => {
    const folder = join(home.directory, 'long');
    await load(folder, 'xlsx');
    const before = await readdir(folder);
    const long = join(documents, 'long.xml');
    await writeFile(long, `<values><row text="${'x'.repeat(32_767)}"/></values>`);
    await convert(home, 'xml2er', long, '-x', origin, '-o', join(home.directory, 'fits'), '-f', 'xlsx');
    await writeFile(long, `<values><row text="${'x'.repeat(32_768)}"/></values>`);
    const run = await runTool(home, 'xml2er', [long, '-x', origin, '-o', folder, '-f', 'xlsx']);
    expect(said(run)).toContain(
      'table row, column text: a value has 32768 characters, but a cell of Excel holds only 32767. Use -f csv or -f parquet.',
    );
    expect(await readdir(folder)).toEqual(before);
  });
});

/** Of RFC 4180; null: an empty field without quotes. */
function csvRecords(text: string): (string | null)[][] {
  const records: (string | null)[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,"\n]*))(,|\n)/g)) {
    records.at(-1)!.push(quoted?.replaceAll('""', '"') ?? (plain === '' ? null : plain!));
    if (end === '\n') records.push([]);
  }
  return records.slice(0, -1);
}

/** Whether a cell is the value of a field. */
function isSame(cell: Cell, value: string | null): boolean {
  if (cell === null || value === null) return cell === null && value === null;
  const [type, held, format] = cell;
  switch (type) {
    case 'bool':
      return String(held) === value;
    case 'int':
    case 'float':
      return Number(value) === held;
    case 'time':
      return Date.parse(`1970-01-01T${held}Z`) === Date.parse(`1970-01-01T${value}Z`);
    case 'datetime':
      // an instant is shown in UTC
      return format.includes('Z')
        ? Date.parse(`${held}Z`) === Date.parse(value)
        : Date.parse(`${held}Z`) === Date.parse(value.length === 10 ? value : `${value}Z`);
    default:
      // that reader leaves the escape of an underscore as it is (ECMA-376 part 1, ST_Xstring)
      return String(held).replaceAll('_x005F_', '_') === value;
  }
}
