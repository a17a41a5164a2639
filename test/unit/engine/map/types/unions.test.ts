/** Columns of unions: of numbers, of what documents had, and of text. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../../src/engine/map/prune.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { shredToBytes } from '../../../../support/models/shredded-bytes.ts';
import { compiled, modelOf, shred, statisticsOf } from '../../../../support/models/shredding.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const union = (...members: readonly string[]): string =>
  `<xs:simpleType><xs:union memberTypes="${members.filter((member) => !member.startsWith('<')).join(' ')}">${members
    .filter((member) => member.startsWith('<'))
    .join('')}</xs:union></xs:simpleType>`;
const restricted = (base: string, facets: string): string =>
  `<xs:simpleType><xs:restriction base="xs:${base}">${facets}</xs:restriction></xs:simpleType>`;
const schema = (type: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence><xs:element name="v" maxOccurs="9"><xs:complexType><xs:attribute name="n">${type}</xs:attribute></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
const typeOf = (model: RelationalModel): unknown =>
  model.tables.flatMap(({ columns }) => columns).find(({ name }) => name === 'n')!.type;

/** as FHIR has it */
const number = union(
  restricted('decimal', '<xs:pattern value="-?(0|[1-9][0-9]*)(\\.[0-9]+)?"/>'),
  restricted('double', '<xs:pattern value="-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)"/>'),
);

const documentOf = (texts: readonly string[]): string =>
  `<r>${texts.map((text) => `<v n="${text}"/>`).join('')}</r>`;

describe('a union', () => {
  it.each([
    [number, { kind: 'numeric' }],
    [union('xs:int', 'xs:long'), { kind: 'bigint' }],
    [union('xs:short', 'xs:byte', 'xs:int'), { kind: 'integer' }],
    [union('xs:int', 'xs:decimal'), { kind: 'numeric' }],
    [union('xs:float', 'xs:double'), { kind: 'double' }],
    [union('xs:float', 'xs:int'), { kind: 'numeric' }],
    [union('xs:int', 'xs:boolean'), { kind: 'text' }],
    [union('xs:int', restricted('string', '<xs:enumeration value="none"/>')), { kind: 'text' }],
    [union('xs:date', 'xs:gYear'), { kind: 'text' }],
  ])('%s', (type, expected) => {
    expect(typeOf(modelOf(compiled(schema(type)), 3))).toEqual(expected);
  });

  it.each([
    ['1.50', '1.50', null],
    ['-0.001', '-0.001', null],
    ['12', '12', null],
    ['1.5e3', '1500.0', '1.5e3'],
    ['-25E-4', '-0.0025', '-25E-4'],
    ['125e-2', '1.25', '125e-2'],
    ['.5e1', '5.0', '.5e1'],
    ['0e0', '0.0', '0e0'],
    ['+7', '7', '+7'],
    ['007', '007', '007'],
    ['1e300', `1${'0'.repeat(300)}.0`, '1e300'],
    // no numbers that a decimal has
    ['1e999', null, null],
    ['NaN', null, null],
    ['e5', null, null],
    ['.e5', null, null],
    ['', null, ''],
  ])('of decimals and doubles holds %s', async (value, inColumn, beside) => {
    const source = compiled(schema(number));
    const model = modelOf(source, 3);
    const document = `<r><v n="${value}"/></r>`;
    const { rows, unconvertedValues } = shred(model, [document]);
    expect(rows['v']![0]!['n']).toBe(inColumn);
    expect(rows['_lexical']?.[0]?.['content'] ?? null).toBe(beside);
    expect(unconvertedValues.map(({ text }) => text)).toEqual(
      inColumn === null && beside === null ? [value] : [],
    );
    for (const encoding of ['copy-text', 'csv'] as const)
      expect(shredToBytes(model, [document], { encoding, tokenizer: 'shared', kernelFrom: 0 })).toEqual(
        shredToBytes(model, [document], { encoding, tokenizer: 'shared', kernelFrom: Infinity }),
      );
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { source })).toEqual([]);
  });

  it.each([
    [union('xs:date', 'xs:gYear'), ['2024-01-02', '2024-03-04'], 'date', '2024'],
    [union('xs:date', 'xs:gYear'), ['2024-01-02', '2024'], 'text', '2023'],
    [union('xs:dateTime', 'xs:date'), ['2024-01-02T03:04:05Z'], 'timestamptz', '2024-01-02'],
    [union('xs:dateTime', 'xs:date'), ['2024-01-02T03:04:05'], 'timestamp', '2024-01-02'],
    [union('xs:int', restricted('string', '<xs:enumeration value="none"/>')), ['5', '17'], 'bigint', 'none'],
    [union('xs:decimal', 'xs:boolean'), ['1.5', '2'], 'numeric', 'true'],
    [union('xs:boolean', 'xs:NCName'), ['true', 'false'], 'boolean', '1'],
    // numbers that the union does not have are text
    [union('xs:gYear', 'xs:NMTOKEN'), ['2024', '2025'], 'text', '12'],
    [union('xs:date', 'xs:gYear'), ['2024-01-02', ''], 'date', '2024-01-02Z'],
  ])('%s of pruned documents with %s: %s', async (type, values, kind, later) => {
    const source = compiled(schema(type));
    const statistics = statisticsOf([documentOf(values)]);
    const met = { statistics, declared: source };
    const model = buildRelationalModel(pruneSourceModel(source, statistics), { mapLevel: 3, met });
    expect(typeOf(model)).toMatchObject({ kind });
    for (const texts of [values, [...values, later]]) {
      const [written] = await roundTrip(model, [documentOf(texts)]);
      expect(compareXml(documentOf(texts), written!, { source })).toEqual([]);
    }
  });
});
