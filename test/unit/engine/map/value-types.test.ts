/** Elements whose value is an attribute (FHIR's kind): what they are called, where they lie, and where the rest of them is kept. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../src/engine/map/prune.ts';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import {
  bytesOf,
  compiled,
  modelOf,
  outline,
  shred,
  statisticsOf,
} from '../../../support/models/shredding.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { emptyModel } from '../../../support/models/name-meanings.ts';

const valueType = (name: string, value: string): string =>
  `<xs:complexType name="${name}"><xs:complexContent><xs:extension base="Part"><xs:attribute name="value" type="${value}"/></xs:extension></xs:complexContent></xs:complexType>`;
const resources = ['Patient', 'Visit', 'Drug', 'Dose', 'Site', 'Claim', 'Trial', 'Nurse'];

/** A Bundle of resources as FHIR has it: each part may have an id and notes. */
const clinic = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="Part"><xs:sequence><xs:element name="note" type="Note" minOccurs="0" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="id" type="xs:string"/></xs:complexType>
  <xs:complexType name="Note"><xs:complexContent><xs:extension base="Part"><xs:choice minOccurs="0">
    <xs:element name="valueText" type="text"/><xs:element name="valueDay" type="day"/>
  </xs:choice><xs:attribute name="url" type="xs:anyURI" use="required"/></xs:extension></xs:complexContent></xs:complexType>
  ${valueType('text', 'xs:string')}${valueType('day', 'xs:date')}${valueType('count', 'xs:int')}
  <xs:complexType name="Name"><xs:complexContent><xs:extension base="Part"><xs:sequence>
    <xs:element name="family" type="text" minOccurs="0"/><xs:element name="given" type="text" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Resource" abstract="true"><xs:complexContent><xs:extension base="Part"><xs:sequence>
    <xs:element name="label" type="text" minOccurs="0"/><xs:element name="born" type="day" minOccurs="0"/><xs:element name="visits" type="count" minOccurs="0"/>
    <xs:element name="name" type="Name" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  ${resources.map((name) => `<xs:element name="${name}" type="${name}"/><xs:complexType name="${name}"><xs:complexContent><xs:extension base="Resource"/></xs:complexContent></xs:complexType>`).join('')}
  <xs:complexType name="AnyResource"><xs:choice>${resources.map((name) => `<xs:element ref="${name}"/>`).join('')}</xs:choice></xs:complexType>
  <xs:element name="Bundle"><xs:complexType><xs:sequence>
    <xs:element name="total" type="count" minOccurs="0"/>
    <xs:element name="entry" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="url" type="text" minOccurs="0"/><xs:element name="resource" type="AnyResource" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`);

const plain =
  '<Bundle><total value="2"/><entry><url value="u1"/><resource><Patient id="p1"><note url="n"><valueDay value="2020-02-02"/></note><label value="First"/><born value="1980-01-31"/><name><family value="Chalmers"/><given value="Peter"/><given value="James"/></name></Patient></resource></entry><entry><resource><Visit><visits value="3"/></Visit></resource></entry></Bundle>';
const noted =
  '<Bundle><total id="t"/><entry><resource><Patient><label id="l1" value="Second"><note url="why"><valueText value="said" id="v"/></note></label><born><note url="absent"/></born><name><given id="g1" value="Ann"><note url="n1"/><note url="n2"/></given><given/></name></Patient></resource></entry></Bundle>';

function model(mapLevel: MapLevel): RelationalModel {
  const bundle = [{ namespaceUri: '', localName: 'Bundle' }];
  return buildRelationalModel(clinic, { mapLevel, roots: bundle });
}

function prunedBy(documents: readonly string[], mapLevel: MapLevel): RelationalModel {
  const statistics = statisticsOf(documents);
  const met = { statistics, declared: clinic };
  return buildRelationalModel(pruneSourceModel(clinic, statistics), { mapLevel, met });
}

describe('an element whose value is an attribute', () => {
  it('is a column called as the element, of the type of its value', () => {
    const tables = outline(model(3)).split('\n');
    expect(tables.find((line) => line.startsWith('patient:'))).toMatch(
      /, id text, label text, born date, visits integer$/,
    );
    expect(tables.find((line) => line.startsWith('name:'))).toMatch(/, id text, family text$/);
    expect(tables.find((line) => line.startsWith('bundle:'))).toMatch(/, total integer$/);
  });

  it.each([0, 1, 2, 3] as const)('has a table of its place where it repeats (level %i)', (level) => {
    const names = model(level).tables.map(({ name }) => name);
    expect(names.filter((name) => name.endsWith('given'))).not.toEqual([]);
    expect(names.filter((name) => /^(text|day|count)$/.test(name))).toEqual([]);
  });

  it('keeps beside its row what the schema declares for it besides, and that is no deviation', () => {
    for (const unmapped of ['capture', 'report', 'fail'] as const) {
      const { rows, deviations } = shred(model(3), [plain, noted], { unmapped });
      expect(deviations.total).toBe(0);
      expect(rows['_unmapped']!.map(({ parent_table, xpath, kind }) => [parent_table, xpath, kind])).toEqual([
        ['bundle', '/Bundle/total/@id', 'attribute'],
        ['patient', '/Bundle/entry/resource/Patient/label/@id', 'attribute'],
        ['patient', '/Bundle/entry/resource/Patient/label/note', 'element'],
        ['patient', '/Bundle/entry/resource/Patient/born/note', 'element'],
        [expect.stringMatching(/given/), expect.stringMatching(/given\/@id$/), 'attribute'],
        [expect.stringMatching(/given/), expect.stringMatching(/given\/note$/), 'element'],
        [expect.stringMatching(/given/), expect.stringMatching(/given\/note$/), 'element'],
      ]);
    }
    const stranger = '<Bundle><total value="1"><other/></total><entry/></Bundle>';
    expect(shred(model(3), [stranger]).deviations.total).toBe(1);
  });

  it.each([0, 1, 2, 3] as const)('comes back as it was (level %i)', async (level) => {
    const documents = [plain, noted];
    for (const drawn of [model(level), prunedBy(documents, level), prunedBy([plain], level)]) {
      const written = await roundTrip(drawn, documents);
      expect(
        documents.flatMap((document, at) => compareXml(bytesOf(document), written[at]!, { source: clinic })),
      ).toEqual([]);
    }
  });

  it('has columns for what else documents had at its place, where the rest is left out', () => {
    const tables = outline(prunedBy([plain, noted], 3)).split('\n');
    const patient = tables.find((line) => line.startsWith('patient:'))!;
    expect(patient).toMatch(/, label text, label_id text, born date$/);
    const notes = tables.find((line) => line.startsWith('note:'))!;
    expect(notes).toMatch(/patient_key bigint -> patient, .*role text/);
    const { rows } = shred(prunedBy([plain, noted], 3), [noted]);
    expect(rows['note']!.map(({ role }) => role)).toEqual(['label/note', 'born/note', 'note', 'note']);
  });

  it('is not one that has content of its own beside the value', () => {
    const xsd = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:complexType name="Quantity"><xs:attribute name="value" type="xs:decimal"/><xs:attribute name="unit" type="xs:string"/></xs:complexType>
      <xs:complexType name="Limit"><xs:attribute name="value" type="xs:decimal"/><xs:attribute name="unit" type="xs:string"/></xs:complexType>
      <xs:complexType name="Interval"><xs:complexContent><xs:extension base="Quantity"><xs:sequence><xs:element name="low" type="Limit" minOccurs="0"/><xs:element name="high" type="Limit" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
      <xs:element name="dose"><xs:complexType><xs:sequence><xs:element name="rate" type="Interval" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
    </xs:schema>`);
    const drawn = modelOf(xsd, 3);
    expect(drawn.keptBeside).toBeUndefined();
    const [dose, limit] = outline(drawn).split('\n');
    expect(dose).toMatch(
      /, rate numeric, rate_unit text, rate_low_present boolean, rate_low numeric, rate_low_unit text$/,
    );
    expect(limit).toMatch(/^limit: .*, value numeric, unit text$/);
  });

  it('has rows still in later versions of a model that gave it rows', () => {
    // as versions drew them that had no values of attributes
    const { keptBeside: _, ...empty } = emptyModel(3);
    const before = buildRelationalModel(clinic, { mapLevel: 3, previous: empty });
    const next = buildRelationalModel(clinic, { mapLevel: 3, previous: before });
    for (const drawn of [before, next]) {
      expect(drawn.keptBeside).toBeUndefined();
      expect(drawn.tables.find(({ name }) => name === 'name')!.columns.map(({ name }) => name)).toContain(
        'family_key',
      );
    }
    const later = buildRelationalModel(clinic, { mapLevel: 3, previous: model(3) });
    expect(later.keptBeside).toHaveLength(1);
  });
});

describe('a choice of many elements that could be documents', () => {
  it('gives each of them a table, however few were met', () => {
    const tables = prunedBy([plain], 3).tables.map(({ name }) => name);
    expect(tables).toEqual(expect.arrayContaining(['bundle', 'entry', 'patient', 'visit']));
  });

  it('gives them the names that a model of all has', () => {
    const whole = model(3);
    const statistics = statisticsOf([plain]);
    const drawn = buildRelationalModel(pruneSourceModel(clinic, statistics), {
      mapLevel: 3,
      met: { statistics, declared: clinic },
      previous: whole,
    });
    expect(drawn.tables.map(({ name }) => name).filter((name) => /_\d$/.test(name))).toEqual([]);
  });
});
