/** Texts of a mapping in tables for spreadsheet programs: no formulas, and no other texts than they are. */
import { expect, it } from 'vitest';
import { renderCsv, renderXlsx } from '../../../../src/catalog/mappings/spreadsheet.ts';
import { readZip } from '../../../support/read-zip.ts';

async function workbook(rows: readonly (readonly string[])[]): Promise<Uint8Array> {
  return Buffer.concat(await renderXlsx('s', rows));
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
