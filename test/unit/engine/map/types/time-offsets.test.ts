/** Which times have a column of the offsets that documents write them with. */
import { describe, expect, it } from 'vitest';
import { pruneSourceModel } from '../../../../../src/engine/map/prune.ts';
import { buildRelationalModel, type MappingOptions } from '../../../../../src/engine/map/build-model.ts';
import { leaveOutInactive } from '../../../../../src/engine/map/deactivate.ts';
import { lineIdentity } from '../../../../../src/engine/map/mappings.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { hasOffsetBehind } from '../../../../../src/engine/model/zones.ts';
import { compiled, inferred, modelOf, outline, statisticsOf } from '../../../../support/models/shredding.ts';

const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="plan"><xs:complexType><xs:sequence><xs:element name="leg" maxOccurs="unbounded"><xs:complexType>
    <xs:sequence>
      <xs:element name="departure" type="xs:dateTime" minOccurs="0"/><xs:element name="stop" type="xs:dateTime" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="arrival" type="xs:dateTime" minOccurs="0"/><xs:element name="hours" minOccurs="0"><xs:simpleType><xs:list itemType="xs:dateTime"/></xs:simpleType></xs:element>
    </xs:sequence><xs:attribute name="day" type="xs:date"/><xs:attribute name="departure_offset" type="xs:string"/>
  </xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
</xs:schema>`;
const source = compiled(xsd);
const inUtc = '2024-07-01T10:00:00Z';
const atOffset = '2024-07-01T12:00:00+02:00';

function leg(departure: string, arrival = inUtc, more = ''): string {
  return `<plan><leg day="2024-07-01+02:00"><departure>${departure}</departure><stop>${atOffset}</stop><arrival>${arrival}</arrival><hours>${atOffset} ${inUtc}</hours>${more}</leg></plan>`;
}

function pruned(documents: readonly string[], options: Partial<MappingOptions> = {}): RelationalModel {
  const statistics = statisticsOf(documents);
  const met = { statistics, declared: source };
  return buildRelationalModel(pruneSourceModel(source, statistics), { mapLevel: 3, met, ...options });
}

function offsetsOf({ tables }: RelationalModel): string[] {
  return tables.flatMap(({ columns }) =>
    columns.flatMap(({ role, name }) => (role === 'offset' ? [name] : [])),
  );
}

describe('a column of offsets', () => {
  it('stands behind each time that documents have with one', () => {
    expect(outline(pruned([leg(inUtc), leg(atOffset)]))).toBe(`\
plan: plan_key bigint!, document_key bigint!
leg: leg_key bigint!, document_key bigint!, plan_key bigint! -> plan, position integer!, day date, departure timestamptz, departure_offset smallint, arrival timestamptz, hours timestamptz[]
stop: stop_key bigint!, document_key bigint!, leg_key bigint! -> leg, position integer!, value timestamptz!, value_offset smallint`);
  });

  it.each([0, 1, 2, 3] as const)('is one of models that are inferred, at level %i', (mapLevel) => {
    const model = modelOf(inferred([leg(atOffset), leg(inUtc)]), mapLevel);
    expect(offsetsOf(model)).toEqual([
      expect.stringMatching(/departure_offset$/),
      expect.stringMatching(/_offset$/),
    ]);
    for (const { columns } of model.tables)
      for (const [at, { role }] of columns.entries())
        if (role === 'offset') expect(hasOffsetBehind(columns, at - 1)).toBe(true);
  });

  it('is listed in the map of paths and columns behind its time', () => {
    const { tables, mappings } = pruned([leg(atOffset)]);
    const lines = mappings.map(({ xpath, nodeType, sourceType, minOccurs, table, column }) => [
      column === null ? null : tables[table]!.columns[column]!.name,
      xpath,
      nodeType,
      sourceType,
      minOccurs,
    ]);
    const departure = '/plan/leg/departure';
    expect(lines).toContainEqual(['departure', departure, 'element', 'xs:dateTime', 0]);
    expect(lines.filter(([name]) => String(name).endsWith('_offset'))).toEqual([
      ['departure_offset', departure, 'element', 'offset', 0],
      ['value_offset', '/plan/leg/stop', 'text', 'offset', 0],
    ]);
    expect(lines.findIndex(([name]) => name === 'departure_offset')).toBe(
      lines.findIndex(([name]) => name === 'departure') + 1,
    );
  });

  it('is there for times that have white space around them', () => {
    expect(
      offsetsOf(pruned([leg(`\n      ${atOffset}\n    `).replace(`<stop>${atOffset}</stop>`, '')])),
    ).toEqual(['departure_offset']);
  });

  it('is none of models of an XSD alone, and none where all times are in UTC', () => {
    expect(offsetsOf(modelOf(source, 3))).toEqual([]);
    expect(offsetsOf(modelOf(inferred([`<r><t>${inUtc}</t></r>`]), 3))).toEqual([]);
    expect(offsetsOf(modelOf(inferred(['<r><t>2024-07-01T12:00:00</t></r>']), 3))).toEqual([]);
  });

  it('gives way to a column of documents that is called so', () => {
    const model = pruned([leg(atOffset).replace('<leg ', '<leg departure_offset="2h" ')]);
    expect(offsetsOf(model)).toEqual(['departure_offset_2', 'value_offset']);
  });

  it('is called in the words and within the length of other names', () => {
    const naming = {
      maxBytes: 12,
      nameMode: 'u' as const,
      tablePrefix: '',
      tableSuffix: '',
      rename: new Map(),
    };
    const [first, second] = offsetsOf(pruned([leg(atOffset)], { naming }));
    expect(first!.length).toBeLessThanOrEqual(12);
    expect(second).toBe('VALUE_OFFSET');
  });

  it('is called as the time that was renamed, and as it was renamed itself', () => {
    const rename = new Map([
      ['departure', 'leaves'],
      ['value_offset', 'minutes_ahead'],
    ]);
    const naming = { maxBytes: 63, nameMode: 'l' as const, tablePrefix: '', tableSuffix: '', rename };
    expect(offsetsOf(pruned([leg(atOffset)], { naming }))).toEqual(['leaves_offset', 'minutes_ahead']);
  });
});

describe('the next version of a model', () => {
  it('has the columns of the one before, whatever its documents have', () => {
    const first = pruned([leg(atOffset)]);
    const next = pruned([leg(inUtc)], { previous: first });
    expect(offsetsOf(next)).toEqual(offsetsOf(first));
    expect(outline(next)).toBe(outline(first));
  });

  it('has none for times that the one before had without, and one for times that are new', () => {
    const first = pruned([leg(inUtc).replace(/<arrival>.*?<\/arrival>/, '')]);
    expect(offsetsOf(first)).toEqual(['value_offset']);
    const next = pruned([leg(atOffset, atOffset)], { previous: first });
    expect(offsetsOf(next)).toEqual(['arrival_offset', 'value_offset']);
  });

  it('has them in a target of its own', () => {
    const next = pruned([leg(atOffset)], { previous: modelOf(source, 3), keepSplits: false });
    // the name that it would have is that of an attribute there
    expect(offsetsOf(next)).toEqual(['departure_offset_2', 'value_offset']);
  });
});

describe('a time with an offset', () => {
  it('lies in one table with it, where rows are wider than a table', () => {
    const times = Array.from({ length: 1200 }, (_, at) => `t${at}="${at % 3 === 0 ? inUtc : atOffset}"`);
    const model = modelOf(inferred([`<r ${times.join(' ')}/>`]), 3);
    expect(model.tables.length).toBeGreaterThan(3);
    const places = model.tables.flatMap(({ columns }) =>
      columns.map((column, at) => ({ column, paired: hasOffsetBehind(columns, at) })),
    );
    expect(places.filter(({ paired }) => paired).length).toBe(800);
    expect(places.filter(({ column }) => column.role === 'offset').length).toBe(800);
  });

  it('goes with it where it is left out of the target', () => {
    const statistics = statisticsOf([leg(atOffset)]);
    const model = pruned([leg(atOffset)]);
    const left = model.mappings.filter(({ xpath }) => xpath === '/plan/leg/departure').map(lineIdentity);
    const without = leaveOutInactive(pruneSourceModel(source, statistics), model, new Set(left));
    expect(offsetsOf(without)).toEqual(['value_offset']);
    const { columns } = without.tables.find(({ name }) => name === 'stop')!;
    expect(
      hasOffsetBehind(
        columns,
        columns.findIndex(({ name }) => name === 'value'),
      ),
    ).toBe(true);
  });
});
