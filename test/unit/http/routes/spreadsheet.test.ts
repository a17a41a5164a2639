/** Texts of a mapping in tables for spreadsheet programs: no formulas, and no other texts than they are. */
import { expect, it } from 'vitest';
import { renderCsv, renderXlsx, zip } from '../../../../src/service/catalog/mapping-download.ts';
import { readZip } from '../../../support/read-zip.ts';

async function workbook(rows: readonly (readonly string[])[]): Promise<Uint8Array> {
  return Buffer.concat(await renderXlsx([{ name: 's', rows }]));
}

it.for([
  ['\n=1+1', true],
  [' \t@SUM(A1)', true],
  ['\u{FF1D}1', true],
  ['\u{FF0B}1', true],
  ['\u{FF0D}1', true],
  ['\u{FF20}A1', true],
  ['a=1', false],
  [' a', false],
  ['', false],
] as const)('%j begins a formula: %s', async ([text, begins]) => {
  const shown = begins ? `'${text}` : text;
  const csv = (await renderCsv([[text, 'x']])).join('');
  expect(csv.replaceAll('"', '')).toBe(`\u{FEFF}${shown},x\r\n`);
  const sheet = (await readZip(await workbook([[text]]))).get('xl/worksheets/sheet1.xml')!;
  expect(sheet).toContain(`<t xml:space="preserve">${shown}</t>`);
});

it('is a workbook whose texts are read as they are, spelled characters among them', async () => {
  const sheet = (await readZip(await workbook([['_x003D_1_x000a_', '_x41_']]))).get(
    'xl/worksheets/sheet1.xml',
  )!;
  expect(sheet).toContain('>_x005F_x003D_1_x005F_x000a_<');
  expect(sheet).toContain('>_x41_<');
});

it('has a filter, widths and a heading that stays on each sheet, and goes on in further sheets', async () => {
  const rows = [['code', 'meaning'], ...Array.from({ length: 5 }, (_, at) => [`c${at}`, 'x'.repeat(99)])];
  const parts = await readZip(
    Buffer.concat(
      await renderXlsx(
        [
          { name: 'a', rows },
          { name: 'b', rows: rows.slice(0, 1) },
        ],
        4,
      ),
    ),
  );
  const workbook = parts.get('xl/workbook.xml')!;
  expect([...workbook.matchAll(/<sheet name="([^"]*)"/g)].map(([, name]) => name)).toEqual([
    'a',
    'a (2)',
    'b',
  ]);
  expect(workbook).toContain(`'a (2)'!$A$1:$B$3</definedName>`);
  const sheets = [1, 2, 3].map((number) => parts.get(`xl/worksheets/sheet${number}.xml`)!);
  expect(sheets.map((sheet) => [...sheet.matchAll(/>(c\d)</g)].map(([, code]) => code))).toEqual([
    ['c0', 'c1', 'c2'],
    ['c3', 'c4'],
    [],
  ]);
  for (const [at, sheet] of sheets.entries()) {
    expect(sheet).toContain('state="frozen"');
    expect(sheet).toContain('>meaning<');
    expect(sheet).toContain(`<autoFilter ref="A1:B${[4, 3, 1][at]}"/>`);
  }
  expect(sheets[0]).toContain('<col min="2" max="2" width="60" customWidth="1"/>');
});

it('packs thousands of parts while others have their turn, in memory that is not theirs', async () => {
  const parts = [
    { name: 'none.txt', content: [] },
    { name: 'long.txt', content: Array.from({ length: 40 }, (_, at) => `${at}é`.repeat(9000)) },
    ...Array.from({ length: 3000 }, (_, at) => ({
      name: `ordner/größe ${at}.txt`,
      content: [`${at}`, ' é'],
    })),
  ];
  let others = 0;
  const timer = setInterval(() => (others += 1), 1);
  const before = process.memoryUsage().arrayBuffers;
  const chunks = await zip(parts);
  const held = process.memoryUsage().arrayBuffers - before;
  clearInterval(timer);
  expect(others).toBeGreaterThan(3);
  expect(held).toBeLessThan(256 * 1024 * 1024);
  const read = await readZip(Buffer.concat(chunks));
  expect([...read]).toEqual(parts.map(({ name, content }) => [name, content.join('')]));
});
