/** What schema documents refer to, without their being read whole. */
import { describe, expect, it } from 'vitest';
import { createReferenceReader } from '../../../src/inputs/xsd-files.ts';
import { parseXmlTree } from '../../../src/engine/xml/tree.ts';
import { corpusFiles, readCorpus } from '../../support/corpus.ts';
import { needs, some } from '../../support/needs.ts';

const xs = 'http://www.w3.org/2001/XMLSchema';
const kinds = ['include', 'import', 'redefine', 'override'];

/** As a parse of the whole document tells it. */
function wholeReferences(bytes: Uint8Array): unknown[] {
  return parseXmlTree(bytes).children.flatMap((child) => {
    if (typeof child === 'string' || child.name.namespaceUri !== xs || !kinds.includes(child.name.localName))
      return [];
    const of = (wanted: string): string | null =>
      child.attributes.find(({ name }) => name.localName === wanted)?.value.trim() || null;
    return [{ location: of('schemaLocation'), namespace: of('namespace') }];
  });
}

const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const utf16 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(`\uFEFF${text}`, 'utf16le'));
const latin1 = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text, 'latin1'));
const schema = (content: string): string => `<xs:schema xmlns:xs="${xs}">${content}</xs:schema>`;
const a = { location: 'a.xsd', namespace: null };
const b = { location: 'b.xsd', namespace: null };
const longComment = `<!-- ${'x'.repeat(20_000)} <xs:include schemaLocation="no.xsd"/> -->`;

describe('the references of a schema document', () => {
  it.each([
    ['none', schema('<xs:element name="import"/>'), []],
    [
      'each kind',
      schema('<xs:include schemaLocation="a.xsd"/><xs:redefine schemaLocation=" b.xsd "></xs:redefine>'),
      [a, b],
    ],
    [
      'an import without a location',
      schema('<xs:import namespace="urn:b"/>'),
      [{ location: null, namespace: 'urn:b' }],
    ],
    ['an import of no namespace', schema('<xs:import/>'), [{ location: null, namespace: null }]],
    ['the default namespace', `<schema xmlns="${xs}"><include\nschemaLocation='a.xsd'/></schema>`, [a]],
    ['a namespace of its own', `<s><i:include xmlns:i="${xs}" schemaLocation="a.xsd"/></s>`, [a]],
    ['another namespace', schema('<include schemaLocation="a.xsd"/>'), []],
    [
      'what stands deeper',
      schema(
        '<xs:annotation><xs:appinfo><xs:include schemaLocation="no.xsd"/></xs:appinfo></xs:annotation><xs:include schemaLocation="a.xsd"/>',
      ),
      [a],
    ],
    [
      'behind other components',
      schema(`<xs:element name="e"/>${longComment}<xs:include schemaLocation="a.xsd"/>`),
      [a],
    ],
    ['in comments', schema(`${longComment}<xs:include schemaLocation="a.xsd"/>${longComment}`), [a]],
    [
      'in CDATA',
      schema(
        '<xs:annotation><xs:documentation><![CDATA[<xs:include schemaLocation="no.xsd"/>]]></xs:documentation></xs:annotation>',
      ),
      [],
    ],
    ['character references', schema('<xs:include schemaLocation="&#97;.xsd"/>'), [a]],
    [
      'an entity for a location',
      `<!DOCTYPE xs:schema [<!ENTITY f "a.xsd">]>${schema('<xs:include schemaLocation="&f;"/>')}`,
      [a],
    ],
    [
      'an entity for elements',
      `<!DOCTYPE xs:schema [<!ENTITY i '<xs:include schemaLocation="a.xsd"/>'>]>${schema('&i;<xs:element name="e"/>&i;')}`,
      [a, a],
    ],
    ['no schema', '<html><body>import</body></html>', []],
  ])('are read: %s', (_name, text, references) => {
    const read = createReferenceReader();
    expect(wholeReferences(utf8(text))).toEqual(references);
    expect(read(utf8(text))).toEqual(references);
    expect(read(utf8(`\uFEFF${text}`))).toEqual(references);
    expect(read(utf16(text))).toEqual(references);
    expect(read(latin1(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`))).toEqual(references);
  });

  it('are read in whatever prefix and encoding', () => {
    const read = createReferenceReader();
    const text = `<é:schema xmlns:é="${xs}"><é:include schemaLocation="ü.xsd"/></é:schema>`;
    const umlaut = [{ location: 'ü.xsd', namespace: null }];
    expect(read(utf8(text))).toEqual(umlaut);
    expect(read(latin1(`<?xml version="1.0" encoding="ISO-8859-1"?>${text}`))).toEqual(umlaut);
    // \e$B4A\e(B is one character, whose bytes are those of "4A"
    const japanese = `<?xml version="1.0" encoding="ISO-2022-JP"?><\u001B$B4A\u001B(B:schema xmlns:\u001B$B4A\u001B(B="${xs}"><\u001B$B4A\u001B(B:include schemaLocation="a.xsd"/></\u001B$B4A\u001B(B:schema>`;
    expect(read(latin1(japanese))).toEqual([a]);
  });

  it('are read no further than to the last of them', () => {
    const read = createReferenceReader();
    const rest = `<xs:element name="e"/>${' '.repeat(20_000)}`;
    const broken = `<xs:schema xmlns:xs="${xs}"><xs:include schemaLocation="a.xsd"/>${rest}</xs:wrong>`;
    expect(read(utf8(broken))).toEqual([a]);
    expect(() => wholeReferences(utf8(broken))).toThrow('</xs:wrong>');
  });

  it('are none where the document is not well-formed before them, and the next one is read', () => {
    const read = createReferenceReader();
    const broken = `<xs:schema xmlns:xs="${xs}"><xs:include schemaLocation="a.xsd"></xs:import><xs:include schemaLocation="b.xsd"/></xs:schema>`;
    expect(read(utf8(broken))).toEqual([]);
    expect(read(utf8(schema('<xs:include schemaLocation="b.xsd"/>')))).toEqual([b]);
  });

  it('are those of the whole parse in real sets', needs('corpus'), () => {
    const read = createReferenceReader();
    let found = 0;
    for (const corpus of some(['fpml', 'eforms', 'iso20022', 'siri', 'scap', 'netex'], 2))
      for (const name of corpusFiles(corpus, '.xsd')) {
        const bytes = new Uint8Array(readCorpus(corpus, name));
        const references = read(bytes);
        expect(references, name).toEqual(wholeReferences(bytes));
        found += references.length;
      }
    expect(found).toBeGreaterThan(100);
  });
});
