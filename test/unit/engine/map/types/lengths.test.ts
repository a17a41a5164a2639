/** Lengths of text, as facets and patterns have them, and values that break them. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import type { ColumnType, RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { dialectOf } from '../../../../../src/engine/sql/dialects/every-dialect.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { compiled, modelOf, shred } from '../../../../support/models/shredding.ts';
import { shredToBytes } from '../../../../support/models/shredded-bytes.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const restricted = (base: string, facets: string): string =>
  `<xs:simpleType><xs:restriction base="xs:${base}">${facets}</xs:restriction></xs:simpleType>`;
const patterns = (base: string, ...values: readonly string[]): string =>
  restricted(base, values.map((value) => `<xs:pattern value="${value}"/>`).join(''));
const schema = (...types: readonly string[]): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>${types
    .map((type, at) => `<xs:element name="v${at}" minOccurs="0">${type}</xs:element>`)
    .join('')}</xs:sequence></xs:complexType></xs:element></xs:schema>`;
const typesOf = (model: RelationalModel): ColumnType[] =>
  model.tables[0]!.columns.filter(({ role }) => role === 'value').map(({ type }) => type);

const currency = patterns('string', '[A-Z]{3,3}');
const iban = patterns('string', '[A-Z]{2,2}[0-9]{2,2}[a-zA-Z0-9]{1,30}');

const inDatabases = (type: Omit<ColumnType, 'kind'>): string[] =>
  (['oracle', 'redshift', 'sqlserver', 'mysql', 'bigquery', 'duckdb'] as const).map((name) =>
    dialectOf(name).typeName({ kind: 'text', ...type }),
  );

describe('text', () => {
  it.each([
    [currency, { length: 3, fixed: true, fitsBytes: true }, 'char(3)'],
    [iban, { length: 34, fitsBytes: true }, 'varchar(34)'],
    [patterns('string', '[A-Z]{3}', '[0-9]{5}'), { length: 5, fitsBytes: true }, 'varchar(5)'],
    [patterns('token', '\\d{3}'), { length: 3, fixed: true }, 'char(3)'],
    [patterns('string', '[A-Z ]{3}'), { length: 3, fitsBytes: true }, 'varchar(3)'],
    [patterns('string', '[A-Z]+'), {}, 'text'],
    [
      restricted('string', '<xs:maxLength value="9"/><xs:pattern value="[A-Z]+"/>'),
      { length: 9, fitsBytes: true },
      'varchar(9)',
    ],
    [
      restricted('string', '<xs:maxLength value="9"/><xs:pattern value=".{1,4}"/>'),
      { length: 4 },
      'varchar(4)',
    ],
    [restricted('string', '<xs:length value="2"/>'), { length: 2 }, 'varchar(2)'],
    [restricted('token', '<xs:length value="2"/>'), { length: 2, fixed: true }, 'char(2)'],
    [
      restricted('token', '<xs:minLength value="2"/><xs:maxLength value="2"/>'),
      { length: 2, fixed: true },
      'char(2)',
    ],
    [
      restricted('string', '<xs:enumeration value="on"/><xs:enumeration value="up"/>'),
      { length: 2, fitsBytes: true },
      'varchar(2)',
    ],
    [patterns('hexBinary', '[0-9A-F]{32}'), {}, 'text'],
  ])('%s', (type, expected, inPostgres) => {
    const [found] = typesOf(modelOf(compiled(schema(type)), 3));
    expect(found).toEqual({ kind: 'text', ...expected });
    expect(dialectOf('postgresql').typeName(found!)).toBe(inPostgres);
  });

  it('has room in databases that count bytes or UTF-16 units', () => {
    expect(inDatabases({ length: 3, fixed: true, fitsBytes: true })).toEqual([
      'CHAR(3 CHAR)',
      'CHAR(3)',
      'NCHAR(3)',
      'CHAR(3)',
      'STRING(3)',
      'VARCHAR',
    ]);
    expect(inDatabases({ length: 3, fixed: true })).toEqual([
      'CHAR(3 CHAR)',
      'VARCHAR(12)',
      'NVARCHAR(6)',
      'CHAR(3)',
      'STRING(3)',
      'VARCHAR',
    ]);
    expect(inDatabases({ length: 34 })).toEqual([
      'VARCHAR2(34 CHAR)',
      'VARCHAR(136)',
      'NVARCHAR(68)',
      'VARCHAR(34)',
      'STRING(34)',
      'VARCHAR',
    ]);
  });

  it('that may be shorter in an earlier version of the model stays so', () => {
    const before = modelOf(compiled(schema(restricted('string', '<xs:maxLength value="3"/>'), currency)), 3);
    const after = buildRelationalModel(compiled(schema(currency, currency)), {
      mapLevel: 3,
      previous: before,
    });
    expect(typesOf(after)).toEqual([
      { kind: 'text', length: 3, fitsBytes: true },
      { kind: 'text', length: 3, fixed: true, fitsBytes: true },
    ]);
  });

  it.each(['EU', 'EURO', 'EU ', 'ÄÖÜ', '', '\u{1F600}\u{1F600}', ' EUR'])(
    'of another length comes back: "%s"',
    async (value) => {
      const source = compiled(schema(currency, patterns('token', '[A-Z]{3}'), iban));
      const model = modelOf(source, 3);
      const document = `<r><v0>${value}</v0><v1>${value}</v1><v2>${value}</v2></r>`;
      const [written] = await roundTrip(model, [document]);
      expect(compareXml(document, written!, { source })).toEqual([]);
      const bytes = { encoding: 'copy-text', tokenizer: 'shared' } as const;
      expect(shredToBytes(model, [document], { ...bytes, kernelFrom: 0 })).toEqual(
        shredToBytes(model, [document], { ...bytes, kernelFrom: Infinity }),
      );
      const { unconvertedValues, rows } = shred(model, [document]);
      const isCode = /^...$/u.test(value) && !value.endsWith(' ');
      const [first] = unconvertedValues;
      expect([first?.text, rows['r']![0]!['v0']]).toEqual(
        isCode ? [undefined, value] : value === '' ? [undefined, null] : [value, null],
      );
    },
  );
});
