/** Prefixes that content alone uses mean the same when a document comes back, at every map level, with an XSD and without. */
import { describe, expect, it } from 'vitest';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { contentMeanings } from '../../../support/documents/content-meanings.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { compiled, inferred, modelOf, shred } from '../../../support/models/shredding.ts';
import { shredToBytes } from '../../../support/models/shredded-bytes.ts';

const levels: readonly MapLevel[] = [0, 1, 2, 3];

const documents: Readonly<Record<string, readonly string[]>> = {
  'of an element, and of the root': ['<r xmlns:p="urn:x"><t xmlns:q="urn:y">q:n</t><u>p:n</u></r>'],
  'in attributes, XPaths and CURIEs': [
    '<r xmlns:p="urn:p" xmlns:s="urn:s"><t select="p:a/s:b[@p:c]"/><t select="//p:*"/><t select="[s:x]"/></r>',
  ],
  'bound otherwise in another document': [
    '<r xmlns:p="urn:1"><t>p:n</t></r>',
    '<r xmlns:p="urn:2"><t>p:n</t></r>',
    '<r><t>p:n</t></r>',
    '<r xmlns:p="urn:3"><t>none</t></r>',
  ],
  'bound otherwise within': [
    '<r xmlns:p="urn:1"><t>p:a</t><g xmlns:p="urn:2"><t>p:b</t><g xmlns:p="urn:1"><t>p:c</t></g></g><t>p:d</t></r>',
  ],
  'that names have, bound otherwise within': [
    '<p:r xmlns:p="urn:1"><p:t>p:a</p:t><o:g xmlns:o="urn:1" xmlns:p="urn:2" o:k="v"><o:t o:k="p:z">p:b</o:t><p:u>x</p:u></o:g><p:t>p:d</p:t></p:r>',
  ],
  'of the root itself, which another document has for names': [
    '<p:r xmlns:p="urn:1"><p:t>x</p:t></p:r>',
    '<o:r xmlns:o="urn:1" xmlns:p="urn:2" o:k="1"><o:t>p:b</o:t><o:t>p:c</o:t></o:r>',
  ],
  'two for one namespace': ['<a:r xmlns:a="urn:1" xmlns:b="urn:1"><a:t>b:n</a:t></a:r>'],
  'in mixed content': [
    '<r xmlns:q="urn:q"><p>see <i xmlns:w="urn:w">w:x</i> and q:y, not http://q:z</p></r>',
  ],
  'behind what is not mapped': ['<r xmlns:q="urn:q"><t>1</t></r>', '<r xmlns:q="urn:q"><t>q:a</t></r>'],
  'declared again and again': [
    '<r xmlns:q="urn:q"><t xmlns:q="urn:q"><u xmlns:q="urn:q">q:n</u></t><t><u>q:m</u></t></r>',
  ],
  'with names that look like others': [
    '<r xmlns:ns1="urn:a" xmlns:p_1="urn:b" xmlns:_1="urn:c"><x xmlns="urn:d">ns1:a p_1:b _1:c</x></r>',
  ],
  'beyond ASCII': ['<r xmlns:é="urn:é"><t>é:n aé:n</t></r>'],
};

async function expectSameMeanings(model: RelationalModel, texts: readonly string[]): Promise<void> {
  const written = await roundTrip(model, texts);
  expect(written.map((document) => contentMeanings(document))).toEqual(
    texts.map((document) => contentMeanings(document)),
  );
}

function withPlainText(content: string): string {
  return `<r xmlns:q="urn:q" xmlns:w="urn:w">${content}${'<t>12:30 http://x/y a::b : q</t>'.repeat(50)}</r>`;
}

/** Without xsi:type, and white space. */
function ownMeanings(document: string | Uint8Array): string[] {
  return contentMeanings(document).filter((line) => !/@\{.*instance\}|^\S+ "\s*"/.test(line));
}

/** QNames by namespace, whatever their prefix. */
function namesOf(document: string | Uint8Array): string[] {
  return contentMeanings(document).map((line) => line.replace(/"\w+:(\w)" \w+=/, '$1 '));
}

describe('without an XSD', () => {
  describe.each(Object.entries(documents))('%s', (_, texts) => {
    it.each(levels)('at level %i', async (mapLevel) => {
      await expectSameMeanings(modelOf(inferred(texts), mapLevel), texts);
    });

    it('loaded by the model of the first document alone', async () => {
      await expectSameMeanings(modelOf(inferred([texts[0]!]), 3), texts);
    });

    it('the rows are the same by WebAssembly and by TypeScript', () => {
      const model = modelOf(inferred(texts), 3);
      for (const encoding of ['copy-text', 'csv', 'json-lines'] as const) {
        const ways = [0, Infinity].map((kernelFrom) =>
          shredToBytes(model, texts, { encoding, tokenizer: 'shared', kernelFrom }),
        );
        expect(ways[0]).toEqual(ways[1]);
      }
    });
  });

  it('nothing is kept of documents whose content uses no prefix, and one row for each that is used', () => {
    const model = modelOf(inferred([withPlainText('')]), 3);
    expect(shred(model, [withPlainText('')]).rows['_unmapped'] ?? []).toEqual([]);
    const { rows, deviations } = shred(model, [withPlainText('<t>q:a</t><t>q:b</t>')]);
    expect(rows['_unmapped']!.map(({ xpath, kind, content }) => [xpath, kind, content])).toEqual([
      ['/r/@xmlns:q', 'attribute', 'urn:q'],
    ]);
    expect(deviations.total).toBe(0);
  });

  it('many documents, and many prefixes', async () => {
    const many = Array.from({ length: 60 }, (_, at) => ` xmlns:p${at}="urn:${at}"`).join('');
    const texts = Array.from(
      { length: 40 },
      (_, at) => `<r${many}>${`<t>plain ${at}</t>`.repeat(60)}<t>p${at}:n</t><t k="p59:m p1:o"/></r>`,
    );
    await expectSameMeanings(modelOf(inferred(texts), 3), texts);
  });
});

describe('with an XSD', () => {
  const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t" elementFormDefault="qualified">
    <xs:complexType name="Base"><xs:sequence><xs:element name="path" type="xs:string" maxOccurs="unbounded"/></xs:sequence><xs:attribute name="select" type="xs:string"/><xs:attribute name="ref" type="xs:QName"/></xs:complexType>
    <xs:complexType name="More"><xs:complexContent><xs:extension base="t:Base"><xs:sequence><xs:element name="note" type="xs:string"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
    <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="rule" type="t:Base" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element></xs:schema>`;
  const xsi = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"';
  const texts = [
    '<r xmlns="urn:t" xmlns:m="urn:m"><rule select="m:a"><path>m:b</path><path>c</path></rule></r>',
    '<r xmlns="urn:t" xmlns:t="urn:other"><rule select="t:a"><path>t:b</path></rule><rule><path>x</path></rule></r>',
    `<t:r xmlns:t="urn:t" ${xsi}><t:rule i:type="t:More" xmlns:n="urn:n" select="n:a"><t:path>t:b</t:path><t:note xmlns:t="urn:z">t:c n:d</t:note></t:rule></t:r>`,
    `<x:r xmlns:x="urn:t" ${xsi}><x:rule i:type="x:More" xmlns:t="urn:n" select="t:a"><x:path>t:b</x:path><x:note>t:d</x:note></x:rule><x:rule><x:path>x:y</x:path></x:rule></x:r>`,
  ];

  it.each(levels)('content of type string, at level %i', async (mapLevel) => {
    const written = await roundTrip(modelOf(compiled(xsd), mapLevel), texts);
    expect(written.map(ownMeanings)).toEqual(texts.map(ownMeanings));
  });

  it('a QName in the scope of another binding of its prefix', async () => {
    const text =
      '<r xmlns="urn:t" xmlns:t="urn:t"><rule ref="t:a" xmlns:t="urn:u" select="t:b"><path xmlns:t="urn:t">t:c</path></rule><rule ref="t:d"><path>t:e</path></rule></r>';
    const [written] = await roundTrip(modelOf(compiled(xsd), 3), [text]);
    expect(namesOf(written!)).toEqual(namesOf(text));
  });
});
