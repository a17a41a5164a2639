/** Which columns of dates with times show what is written, and which show instants. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../../src/engine/map/prune.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { compiled, modelOf, shred, statisticsOf } from '../../../../support/models/shredding.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const restricted = (facets: string, base = 'xs:dateTime'): string =>
  `<xs:simpleType><xs:restriction base="${base}">${facets}</xs:restriction></xs:simpleType>`;
const pattern = (value: string): string => restricted(`<xs:pattern value="${value}"/>`);
const times = (...types: readonly string[]): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>${types
    .map((type, at) =>
      type.startsWith('<')
        ? `<xs:element name="t${at}" minOccurs="0">${type}</xs:element>`
        : `<xs:element name="t${at}" type="${type}" minOccurs="0"/>`,
    )
    .join(
      '',
    )}</xs:sequence><xs:attribute name="seen" type="xs:dateTime"/></xs:complexType></xs:element></xs:schema>`;
const kinds = (model: RelationalModel): string[] =>
  model.tables[0]!.columns.filter(({ role }) => role === 'value').map(({ type }) => type.kind);

describe('a date with a time', () => {
  it.each([
    ['xs:dateTime', 'timestamp'],
    ['xs:dateTimeStamp', 'timestamptz'],
    [restricted('', 'xs:dateTimeStamp'), 'timestamptz'],
    [restricted('<xs:explicitTimezone value="required"/>'), 'timestamptz'],
    [restricted('<xs:explicitTimezone value="prohibited"/>'), 'timestamp'],
    [pattern('.*Z'), 'timestamptz'],
    [pattern('.+T.*(Z|[+\\-]\\d\\d:\\d\\d)'), 'timestamptz'],
    [pattern('.+T[^.]+(Z|[+-].+)'), 'timestamptz'],
    [pattern('[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:00Z'), 'timestamptz'],
    [pattern('[^Z+]+T[^Z+\\-]+'), 'timestamp'],
    [pattern('\\d{4}-.*(Z)?'), 'timestamp'],
    [restricted('<xs:enumeration value="2024-01-01T00:00:00Z"/>'), 'timestamptz'],
    [restricted('<xs:minInclusive value="2024-01-01T00:00:00Z"/>'), 'timestamp'],
  ])('%s: %s', (type, kind) => {
    for (const level of [0, 1, 2, 3] as const)
      expect(kinds(modelOf(compiled(times(type)), level)).at(-1)).toBe(kind);
  });

  it('shows what is written where documents of a pruned model have no time zone', () => {
    const source = compiled(times('xs:dateTime', 'xs:dateTime', 'xs:dateTime', 'xs:dateTime'));
    const statistics = statisticsOf([
      '<r seen="2024-01-01T00:00:00Z"><t0>2024-01-01T00:00:00</t0><t1>2024-01-01T00:00:00+01:00</t1><t2>2024-01-01T00:00:00.1234567+01:00</t2><t3>2024-02-01T00:00:00</t3></r>',
      '<r><t0>2024-01-01T00:00:00</t0><t3>2024-01-01T00:00:00Z</t3></r>',
    ]);
    const met = { statistics, declared: source };
    const pruned = buildRelationalModel(pruneSourceModel(source, statistics), { mapLevel: 3, met });
    expect(pruned.tables[0]!.columns.slice(2).map(({ name, type }) => [name, type.kind])).toEqual([
      ['seen', 'timestamptz'],
      ['t0', 'timestamp'],
      ['t1', 'timestamptz'],
      ['t1_offset', 'smallint'],
      ['t2', 'timestamptz'],
      ['t2_offset', 'smallint'],
      ['t3', 'timestamptz'],
    ]);
  });

  it('goes on as an earlier version of the model had it', () => {
    const first = modelOf(compiled(times('xs:dateTime')), 3);
    const earlier: RelationalModel = {
      ...first,
      tables: first.tables.map((table) => ({
        ...table,
        columns: table.columns.map((column) =>
          column.name === 't0' ? { ...column, type: { kind: 'timestamptz' } } : column,
        ),
      })),
    };
    const later = compiled(times('xs:dateTime', 'xs:dateTime'));
    const next = buildRelationalModel(later, { mapLevel: 3, previous: earlier });
    expect(kinds(next)).toEqual(['timestamp', 'timestamptz', 'timestamp']);
  });

  it('keeps what its column does not show beside it', async () => {
    const source = compiled(times('xs:dateTime', 'xs:dateTimeStamp'));
    const model = modelOf(source, 3);
    const document =
      '<r seen="2024-01-01T00:00:00"><t0>2024-07-01T10:00:00+02:00</t0><t1>2024-07-01T10:00:00</t1></r>';
    const { rows } = shred(model, [document]);
    expect(rows['r']![0]).toMatchObject({ t0: '2024-07-01T10:00:00', t1: '2024-07-01T10:00:00Z' });
    expect(rows['_lexical']!.map(({ content }) => content)).toEqual([
      '2024-07-01T10:00:00+02:00',
      '2024-07-01T10:00:00',
    ]);
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { source })).toEqual([]);
  });
});
