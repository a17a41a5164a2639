/** `--prune`: what documents had of a child decides whether it is read in the row of its parent, and stays so. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { bytesOf, compiled, outline, shred, statisticsOf } from '../../../support/models/shredding.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';

/** Coded values as CDA has them: translations and an original text are there at few of their places. */
const record = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="Code"><xs:sequence><xs:element name="original" type="Text" minOccurs="0"/><xs:element name="translation" type="Code" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="code"/><xs:attribute name="system"/></xs:complexType>
  <xs:complexType name="Text" mixed="true"><xs:sequence><xs:element name="link" minOccurs="0"><xs:complexType><xs:attribute name="to"/></xs:complexType></xs:element></xs:sequence></xs:complexType>
  <xs:complexType name="Part"><xs:sequence><xs:element name="kind" type="Code"/><xs:element name="title" type="Text" minOccurs="0"/><xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType>
  <xs:element name="record"><xs:complexType><xs:sequence>
    <xs:element name="kind" type="Code"/><xs:element name="secrecy" type="Code" minOccurs="0"/><xs:element name="subject" type="Code" minOccurs="0"/><xs:element name="title" type="Text" minOccurs="0"/>
    <xs:element name="part" type="Part" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`);

const first = [
  '<record><kind code="a" system="s"/><secrecy code="n"/><subject code="x"><translation code="y"/><translation code="z"/></subject><title>All</title><part><kind code="p"><original>as it was said</original></kind><title>One</title></part></record>',
  '<record><kind code="b"/><part><kind code="q"/><part><kind code="r"/></part></part></record>',
];
const later = [
  '<record><kind code="c"><original>see <link to="o"/></original><translation code="k1"/></kind><secrecy code="n"><translation code="s1" system="t"/></secrecy><title>A <link to="l"/> title</title><part><kind code="p"><translation code="k2"/></kind><title>Two</title></part></record>',
];

function pruned(
  documents: readonly string[],
  mapLevel: MapLevel,
  previous?: RelationalModel,
): RelationalModel {
  const statistics = statisticsOf(documents);
  return buildRelationalModel(pruneSourceModel(record, statistics), {
    mapLevel,
    met: { statistics, declared: record },
    ...(previous === undefined ? {} : { previous }),
  });
}

async function differences(model: RelationalModel, documents: readonly string[]): Promise<unknown[]> {
  const written = await roundTrip(model, documents);
  return documents.flatMap((document, at) => compareXml(bytesOf(document), written[at]!, { source: record }));
}

const shape = (model: RelationalModel): string[] =>
  outline(model)
    .split('\n')
    .map((line) => line.replaceAll(/ (bigint|integer|text)!?/g, ''));

describe('a child that stands at most once', () => {
  it('lies in the row of its parent where documents had no rows in it, whatever its type has elsewhere', () => {
    expect(shape(pruned(first, 3))).toEqual([
      'record: record_key, document_key, kind_code, kind_system, secrecy_code, subject_key -> code, title',
      'code: code_key, document_key, parent_code_key -> code, position, code',
      'part: part_key, document_key, record_key -> record, parent_part_key -> part, position, kind_code, kind_original, title',
    ]);
  });

  it.each([0, 1, 2, 3] as const)(
    'comes back as it was, and what comes later, too (level %i)',
    async (level) => {
      const model = pruned(first, level);
      expect(shred(model, first).deviations.total).toBe(0);
      expect(await differences(model, [...first, ...later])).toEqual([]);
    },
  );

  it.each([1, 3] as const)('stays there when later documents have rows in it (level %i)', async (level) => {
    const before = pruned(first, level);
    const after = pruned([...first, ...later], level, before);
    const kept = before.tables.flatMap(({ name, columns }) =>
      columns.map((column) => `${name}.${column.name}`),
    );
    expect(
      after.tables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)),
    ).toEqual(
      expect.arrayContaining(kept.filter((name) => !name.endsWith('.title') && !name.endsWith('_original'))),
    );
    expect(shred(after, later).deviations.total).toBe(0);
    expect(await differences(after, [...first, ...later])).toEqual([]);
    // and in a model of all that the schema declares
    const whole = buildRelationalModel(record, { mapLevel: level, previous: after });
    expect(whole.tables[0]!.columns.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['kind_code', 'kind_system', 'secrecy_code']),
    );
    expect(await differences(whole, [...first, ...later])).toEqual([]);
  });

  it('has the rows that an earlier model gave it, where the target holds those', () => {
    const { foldedPlaces: _, ...before } = pruned([...first, ...later], 3);
    const next = pruned(first, 3, before);
    expect(next.foldedPlaces).toBeUndefined();
    expect(next.tables.map(({ name }) => name)).toEqual(expect.arrayContaining(['code']));
  });
});
