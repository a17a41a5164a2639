/** White space in the scope of xml:space="preserve" is content (XML 1.0 §2.10), and comes back; elsewhere between elements it is layout. */
import { describe, expect, it } from 'vitest';
import type { MapLevel } from '../../../../src/engine/model/relational-model.ts';
import { contentMeanings } from '../../../support/documents/content-meanings.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { compiled, inferred, modelOf, shred } from '../../../support/models/shredding.ts';
import { shredToBytes } from '../../../support/models/shredded-bytes.ts';

const levels: readonly MapLevel[] = [0, 1, 2, 3];

/** A document, and the same without the white space that is layout. */
const documents: Readonly<Record<string, readonly [given: string, meant: string]>> = {
  'of the root': [
    '<d xml:space="preserve"> <p><b>Hello</b> <i>world</i></p>\n</d>',
    '<d xml:space="preserve"> <p><b>Hello</b> <i>world</i></p>\n</d>',
  ],
  'of an element, until default': [
    '<d> <a xml:space="preserve"> <b>1</b>\n\t<c xml:space="default"> <b>2</b> </c> </a> <a> <b>3</b> </a></d>',
    '<d><a xml:space="preserve"> <b>1</b>\n\t<c xml:space="default"><b>2</b></c> </a><a><b>3</b></a></d>',
  ],
  'of what has white space alone': [
    '<d><a xml:space="preserve"> </a><a xml:space="preserve"><b>1</b></a><e xml:space="preserve" k="1">\n</e> </d>',
    '<d><a xml:space="preserve"> </a><a xml:space="preserve"><b>1</b></a><e xml:space="preserve" k="1">\n</e></d>',
  ],
  'by a DTD': [
    '<!DOCTYPE d [<!ATTLIST a xml:space (default|preserve) "preserve">]><d> <a> <b>1</b> </a> <e> <b>1</b> </e></d>',
    '<d><a xml:space="preserve"> <b>1</b> </a><e><b>1</b></e></d>',
  ],
  'around children in any order': [
    '<d xml:space="preserve"><r> <x>1</x>  <y>2</y></r><r><y>3</y> <x>4</x>   </r><r> <z k="1"/> <x>5</x><z/> </r></d>',
    '<d xml:space="preserve"><r> <x>1</x>  <y>2</y></r><r><y>3</y> <x>4</x>   </r><r> <z k="1"/> <x>5</x><z/> </r></d>',
  ],
  'cut by comments': [
    '<d xml:space="preserve"> <!-- c --> <a>1</a><?p?> </d>',
    '<d xml:space="preserve">  <a>1</a> </d>',
  ],
  'with a value that it does not have': [
    '<d xml:space="keep"> <a>1</a> </d>',
    '<d xml:space="keep"><a>1</a></d>',
  ],
  'of many elements': [
    `<d>${'<w xml:space="preserve"><t>a</t> <t>b</t></w>\n<w><t>c</t> </w>'.repeat(500)}</d>`,
    `<d>${'<w xml:space="preserve"><t>a</t> <t>b</t></w><w><t>c</t></w>'.repeat(500)}</d>`,
  ],
};

describe('without an XSD', () => {
  describe.each(Object.entries(documents))('%s', (_, [given, meant]) => {
    it.each(levels)('at level %i', async (mapLevel) => {
      const [written] = await roundTrip(modelOf(inferred([given]), mapLevel), [given]);
      expect(contentMeanings(written!)).toEqual(contentMeanings(meant));
    });

    it('the rows are the same by WebAssembly and by TypeScript', () => {
      const model = modelOf(inferred([given]), 3);
      for (const encoding of ['copy-text', 'csv', 'json-lines'] as const) {
        const [kernel, plain] = [0, Infinity].map((kernelFrom) =>
          shredToBytes(model, [given, given], { encoding, tokenizer: 'shared', kernelFrom }),
        );
        expect(kernel).toEqual(plain);
      }
    });

    it('loaded by the model of a document without white space', async () => {
      const model = modelOf(inferred([meant.replaceAll(/>\s+</g, '><')]), 3);
      const [written] = await roundTrip(model, [given]);
      expect(contentMeanings(written!)).toEqual(contentMeanings(meant));
    });
  });

  it('documents without it have no more rows than before', () => {
    const [given] = documents['of many elements']!;
    const plain = given.replaceAll(' xml:space="preserve"', '');
    const { rows, model } = shred(modelOf(inferred([plain]), 3), [plain]);
    expect(rows['_unmapped'] ?? []).toEqual([]);
    expect(model.tables.map(({ name }) => name).filter((name) => name.includes('text'))).toEqual([]);
  });
});

const xsd = (use: string) => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="xml.xsd"/>
    <xs:element name="d"><xs:complexType><xs:sequence maxOccurs="unbounded"><xs:element ref="listing"/><xs:element name="plain" minOccurs="0"><xs:complexType><xs:sequence><xs:element name="n" type="xs:int" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
    <xs:element name="listing"><xs:complexType><xs:sequence><xs:element name="line" type="xs:string" minOccurs="0" maxOccurs="unbounded"/><xs:element name="end" type="xs:int" minOccurs="0"/></xs:sequence>
      <xs:attribute ref="xml:space" ${use}/></xs:complexType></xs:element></xs:schema>`;

describe('with an XSD', () => {
  const xml = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="http://www.w3.org/XML/1998/namespace"><xs:attribute name="space"><xs:simpleType><xs:restriction base="xs:NCName"><xs:enumeration value="default"/><xs:enumeration value="preserve"/></xs:restriction></xs:simpleType></xs:attribute></xs:schema>`;
  const sourceOf = (use: string) => compiled({ 'd.xsd': xsd(use), 'xml.xsd': xml });

  it.each(levels)('element-only content, at level %i', async (mapLevel) => {
    const given =
      '<d> <listing xml:space="preserve"> <line>a</line>\n<line>b</line> <end>1</end>\t</listing> <plain> <n>1</n> </plain></d>';
    const [written] = await roundTrip(modelOf(sourceOf(''), mapLevel), [given]);
    expect(contentMeanings(written!)).toEqual(
      contentMeanings(
        '<d><listing xml:space="preserve"> <line>a</line>\n<line>b</line> <end>1</end>\t</listing><plain><n>1</n></plain></d>',
      ),
    );
  });

  describe.each(['default="preserve"', 'fixed="preserve"'])('declared with %s', (use) => {
    it.each(levels)('at level %i', async (mapLevel) => {
      const given =
        '<d> <listing> <line>a</line>\n</listing> <plain> <n>1</n> <n>2</n></plain> <listing xml:space="default"> <line>b</line> </listing></d>';
      const [written] = await roundTrip(modelOf(sourceOf(use), mapLevel), [given]);
      expect(contentMeanings(written!)).toEqual(
        contentMeanings(
          '<d><listing> <line>a</line>\n</listing><plain><n>1</n><n>2</n></plain><listing xml:space="default"><line>b</line></listing></d>',
        ),
      );
    });
  });

  it('is no deviation, and is not kept with --unmapped report', () => {
    const model = modelOf(sourceOf(''), 3);
    const given = '<d xml:space="preserve"><listing xml:space="preserve"> <line>a</line></listing></d>';
    const { rows, deviations } = shred(model, [given]);
    expect(rows['_unmapped']!.map(({ kind, content }) => [kind, content])).toEqual([
      ['attribute', 'preserve'],
      ['text', ' '],
    ]);
    expect(deviations.total).toBe(1);
    expect(shred(model, [given], { unmapped: 'report' }).rows['_unmapped'] ?? []).toEqual([]);
  });
});
