/** `--prune`: rows of mixed content in which documents had text alone have it in a column, and elements without a type have tables of their own. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel, type MappingOptions } from '../../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../../src/engine/map/prune.ts';
import type { MapLevel, RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { bytesOf, compiled, outline, shred, statisticsOf } from '../../../../support/models/shredding.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

const item = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="Block" mixed="true"><xs:choice minOccurs="0" maxOccurs="unbounded"><xs:element name="br"><xs:complexType/></xs:element><xs:any namespace="##other" processContents="lax"/></xs:choice><xs:attribute name="lang"/></xs:complexType>
  <xs:complexType name="Long"><xs:complexContent><xs:extension base="Block"><xs:attribute name="pages"/></xs:extension></xs:complexContent></xs:complexType>
  <xs:element name="item"><xs:complexType><xs:sequence>
    <xs:element name="note" type="Block" minOccurs="0" maxOccurs="unbounded"/>
    <xs:element name="concept" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="definition" type="Block" minOccurs="0" maxOccurs="unbounded"/>
      <xs:element name="label" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
    <xs:element name="place" minOccurs="0" maxOccurs="unbounded"/>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>`);

const texts = [
  '<item><note lang="en">one</note><note/><note> two <!-- and a half --> three </note><concept><definition>first<br/>second</definition><label>L</label></concept><place>P</place><place>Q</place></item>',
];
const later = [
  '<item><note lang="en">one<br/></note><note xmlns:o="urn:o"><o:b>bold</o:b></note><note>plain</note><place><inner at="7"/>there</place></item>',
];
const typed = [
  '<item><note xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="Long" pages="2">long</note><note>short</note></item>',
];

function pruned(
  documents: readonly string[],
  mapLevel: MapLevel,
  more: Partial<MappingOptions> = {},
): RelationalModel {
  const statistics = statisticsOf(documents);
  const met = { statistics, declared: item };
  return buildRelationalModel(pruneSourceModel(item, statistics), { mapLevel, met, ...more });
}

async function differences(model: RelationalModel, documents: readonly string[]): Promise<unknown[]> {
  const written = await roundTrip(model, documents);
  return documents.flatMap((document, at) => compareXml(bytesOf(document), written[at]!, { source: item }));
}

const tables = (model: RelationalModel): string[] =>
  outline(model)
    .split('\n')
    .map((line) => line.replaceAll(/ (bigint|integer|text)!?/g, ''));

describe('mixed content of rows', () => {
  it('is a column where documents had text alone, rows where they had more', () => {
    expect(tables(pruned(texts, 1))).toEqual([
      'item: item_key, document_key',
      'note: note_key, document_key, item_key -> item, position, lang, value',
      'concept: concept_key, document_key, item_key -> item, position',
      'place: place_key, document_key, item_key -> item, position, value',
      'definition: definition_key, document_key, concept_key -> concept, position',
      'label: label_key, document_key, concept_key -> concept, position, value',
      'definition_text: definition_text_key, document_key, definition_key -> definition, position, content',
      'br: br_key, document_key, definition_key -> definition, position',
    ]);
  });

  it.each([0, 1, 2, 3] as const)('comes back, and so does what comes later (level %i)', async (level) => {
    const model = pruned(texts, level);
    expect(shred(model, texts).deviations.total).toBe(0);
    expect(await differences(model, [...texts, ...later, ...typed])).toEqual([]);
    const next = pruned([...texts, ...later], level, { previous: model });
    expect(shred(next, later).deviations.total).toBe(0);
    expect(await differences(next, [...texts, ...later, ...typed])).toEqual([]);
    const last = pruned([...texts, ...later, ...typed], level, { previous: next });
    expect(await differences(last, [...texts, ...later, ...typed])).toEqual([]);
  });

  it('has rows where documents named derived types', async () => {
    const model = pruned(typed, 3);
    expect(model.tables.map(({ kind }) => kind)).toContain('text');
    expect(await differences(model, typed)).toEqual([]);
  });

  it('goes on to have the rows of a model that was not pruned, but in a target of its own', () => {
    const earlier = buildRelationalModel(item, { mapLevel: 1 });
    const kinds = (more: Partial<MappingOptions>): string[] => {
      const model = pruned(texts, 1, more);
      return model.tables.filter(({ path }) => path?.includes('note')).map(({ name }) => name);
    };
    expect(kinds({ previous: earlier })).toEqual(['note', 'note_text']);
    expect(kinds({ previous: earlier, keepSplits: false })).toEqual(['note']);
    expect(kinds({ previous: pruned(texts, 1) })).toEqual(['note']);
  });
});

describe('elements without a type', () => {
  it('have no table in common, and go on to have none', async () => {
    const model = pruned(texts, 3);
    const names = model.tables.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['label', 'place']));
    const next = pruned([...texts, ...later], 3, { previous: model });
    expect(next.tables.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
    expect(await differences(next, [...texts, ...later])).toEqual([]);
  });

  it('have the one table for all that an earlier model gave them', () => {
    const { typesApart: _, ...whole } = buildRelationalModel(item, { mapLevel: 3 });
    const next = pruned(texts, 3, { previous: whole });
    const shared = whole.tables.find(({ path }) => path === '/(type xs:anyType)')!;
    expect(next.tables.map(({ name }) => name)).toContain(shared.name);
  });
});
