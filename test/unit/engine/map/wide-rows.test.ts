/** Rows wider than one table (docs/decisions/model/wide-rows.md). */
import { describe, expect, it } from 'vitest';
import { dialectNames, dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { renderDdl } from '../../../../src/engine/sql/ddl.ts';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { leaveOutInactive } from '../../../../src/engine/map/deactivate.ts';
import { lineIdentity } from '../../../../src/engine/map/mappings.ts';
import { maxRowBytes, columnBytes } from '../../../../src/engine/map/tables/wide-rows.ts';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { bytesOf, compiled, inferred, modelOf, shred } from '../../../support/models/shredding.ts';
import { wideDocument, wideXsd } from '../../../support/documents/wide.ts';

const sizes = (model: RelationalModel): Record<string, number> =>
  Object.fromEntries(model.tables.map((table) => [table.name, table.columns.length]));

/** By column that holds a value: its table. */
function places(model: RelationalModel): Map<string, string> {
  return new Map(
    model.tables.flatMap((table) =>
      table.columns.flatMap(({ name, role }) => (role === 'value' ? [[name, table.name] as const] : [])),
    ),
  );
}

describe('600 simple children', () => {
  const source = compiled(wideXsd(600));
  const model = modelOf(source, 3);
  const document = wideDocument(600, 1);

  it('lie in a table and two that continue it under the same row key', () => {
    expect(sizes(model)).toEqual({ rows: 2, row: 269, row_2: 268, row_3: 71, note: 5 });
    const [, row, second] = model.tables;
    expect(row!.continues).toBeUndefined();
    expect(second!.continues).toBe(1);
    expect(second!.columns[0]).toMatchObject({
      name: 'row_key',
      role: 'row_key',
      references: 1,
      nullable: false,
    });
    expect(second!.columns[1]).toMatchObject({ name: 'document_key', role: 'document', nullable: false });
    expect(second!.columns[2]).toMatchObject({ name: 'v265', nullable: false });
    expect(second!.columns[3]).toMatchObject({ name: 'v266', nullable: true });
  });

  it('have a row in each for every element', () => {
    const { rows, unconvertedValues } = shred(model, [document]);
    expect(rows['row']!.map((row) => row['row_key'])).toEqual(['1', '2', '3']);
    expect(rows['row_2']!.map((row) => row['row_key'])).toEqual(['1', '2', '3']);
    expect(rows['row_3']!.map((row) => [row['row_key'], row['v599']])).toEqual([
      ['1', '2024-01-01T10:00:00.599'],
      ['2', '2024-01-01T10:00:00.599'],
      ['3', '2024-01-01T10:00:00.599'],
    ]);
    const column = model.tables[3]!.columns.findIndex(({ name }) => name === 'v597');
    expect(unconvertedValues).toEqual([{ table: 3, column, rowKey: 3, text: 'many' }]);
    // a time zone that the column does not keep
    expect(rows['_lexical']!.filter((row) => row['column_name'] === 'v599')[0]).toMatchObject({
      table_name: 'row_3',
      row_key: '1',
    });
  });

  it('are listed in the map where they lie', () => {
    const line = model.mappings.find(({ xpath }) => xpath === '/rows/row/v599')!;
    expect(model.tables[line.table]!.name).toBe('row_3');
    expect(model.tables[line.table]!.columns[line.column!]!.name).toBe('v599');
  });

  it.each([0, 1, 2, 3] as const)('come back at level %i', async (mapLevel) => {
    const documents = [document, wideDocument(600, 2)];
    const written = await roundTrip(modelOf(source, mapLevel), documents);
    expect(documents.flatMap((text, at) => compareXml(bytesOf(text), written[at]!, { source }))).toEqual([]);
  });

  it('come back where the model is inferred from the document', async () => {
    const guessed = inferred([document]);
    const wide = modelOf(guessed, 3);
    expect(wide.tables.some((table) => table.continues !== undefined)).toBe(true);
    const [written] = await roundTrip(wide, [document]);
    expect(compareXml(bytesOf(document), written!, { source: guessed, asText: true })).toEqual([]);
  });

  it('can be left out in part: what is left lies where it lay', async () => {
    const inactive = new Set(
      model.mappings
        .filter(({ xpath }) => /\/v(?:[3-9]|2[67]\d|5\d\d)$/.test(xpath ?? ''))
        .map((line) => lineIdentity(line)),
    );
    const smaller = leaveOutInactive(source, model, inactive);
    expect(sizes(smaller)).toEqual({ rows: 2, row: 257, row_2: 222, note: 5 });
    const { rows, deviations } = shred(smaller, [document]);
    expect(rows['row_2']![0]).toMatchObject({ row_key: '1', v300: '1 text 300xxxxxxxxxxxxx' });
    expect(deviations.total).toBe(0);
  });
});

const later = (columns: number, previous: RelationalModel): RelationalModel =>
  buildRelationalModel(compiled(wideXsd(columns)), { mapLevel: 1, previous });

describe('a next version', () => {
  const first = modelOf(compiled(wideXsd(264)), 1);

  it('puts what is new into the room that is left, then into a continuation', () => {
    expect(sizes(first)).toEqual({ rows: 2, row: 268, note: 5 });
    const second = later(280, first);
    expect(sizes(second)).toEqual({ rows: 2, row: 269, row_2: 17, note: 5 });
    const third = later(1000, second);
    for (const [before, after] of [
      [first, second],
      [second, third],
    ] as const) {
      const now = places(after);
      for (const [column, table] of places(before)) expect(now.get(column)).toBe(table);
    }
    expect(JSON.stringify(later(1000, third))).toBe(JSON.stringify(third));
  });

  it('leaves the room of what is gone to what is gone, which the target still has', () => {
    const second = later(280, first);
    const shrunk = later(100, second);
    expect(sizes(shrunk)).toEqual({ rows: 2, row: 104, note: 5 });
    expect(places(later(280, second)).get('v270')).toBe('row_2');
  });
});

describe('one model for every dialect', () => {
  it('stays below the least number of columns of all', () => {
    const most = Math.floor(maxRowBytes / columnBytes('row_key'));
    for (const name of dialectNames) expect(dialectOf(name).maxColumns ?? Infinity).toBeGreaterThan(most);
  });

  it.each(dialectNames)('%s has the continuations, each with a key to the first table', (dialect) => {
    const ddl = renderDdl(modelOf(compiled(wideXsd(600)), 3), { dialect });
    const { quote, capabilities } = dialectOf(dialect);
    for (const table of ['row_2', 'row_3']) {
      const [statement] = new RegExp(`CREATE TABLE (?:IF NOT EXISTS )?${escaped(quote(table))} [^;]*`).exec(
        ddl,
      )!;
      const references = `FOREIGN KEY (${quote('row_key')}) REFERENCES ${quote('row')} (${quote('row_key')})`;
      if (capabilities.primaryKeys) expect(statement).toContain(`PRIMARY KEY (${quote('row_key')})`);
      if (capabilities.foreignKeys === 'none')
        expect(ddl).toContain(`-- row_key refers to row (row_key)\n${statement!.split('\n')[0]}`);
      else expect(statement).toContain(references);
    }
    expect(ddl).not.toMatch(/columns, \w+ allows/);
  });

  it.each([0, 1, 2, 3] as const satisfies readonly MapLevel[])(
    'parent keys are dealt out, too (level %i)',
    async (mapLevel) => {
      // a recursive type with 1,200 places: one parent key for each
      const places = Array.from(
        { length: 1200 },
        (_, at) =>
          `<xs:element name="p${at}"><xs:complexType><xs:sequence><xs:element name="n" minOccurs="0" maxOccurs="2"/><xs:element name="t" type="T" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element>`,
      );
      const source =
        compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:choice maxOccurs="unbounded">${places.join('')}</xs:choice></xs:complexType></xs:element>
      <xs:complexType name="T"><xs:sequence><xs:element name="t" type="T" minOccurs="0" maxOccurs="2"/></xs:sequence><xs:attribute name="a"/></xs:complexType></xs:schema>`);
      const model = modelOf(source, mapLevel);
      const shared = model.tables.filter(({ name }) => /^t(_\d)?$/.test(name));
      expect(shared.map(({ columns }) => columns.length > 600)).toEqual([true, false]);
      const roles = shared.map(({ columns }) => columns.map(({ role }) => role));
      expect(roles.map((all) => all.includes('position'))).toEqual([true, false]);
      const document =
        '<r><p3><n>x</n><n>y</n><t a="1"><t a="2"/></t></p3><p1100><t a="3"/><t a="4"><t/></t></p1100><p3><t/></p3></r>';
      const [written] = await roundTrip(model, [document]);
      expect(compareXml(bytesOf(document), written!, { source })).toEqual([]);
    },
  );
});

function escaped(text: string): string {
  return text.replaceAll(/[[\]\\^$.*+?()|{}]/g, String.raw`\$&`);
}
