/** Members of substitution groups that have a row beside their head's: WebAssembly and TypeScript make the same rows of them, byte for byte. */
import { describe, expect, it } from 'vitest';
import type { RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { createShredder } from '../../../../src/engine/shred/shredder.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { bytesOf, compiled, modelOf } from '../../../support/models/shredding.ts';
import { shredToBytes, type ShreddingWay } from '../../../support/models/shredded-bytes.ts';
import { uuidOfJob } from '../../../support/models/job-names.ts';

function attributes(count: number): string {
  return Array.from({ length: count }, (_, at) => `<xs:attribute name="w${at}" type="xs:string"/>`).join('');
}

/** So many that the members' columns do not fit one table. */
const wideAttributes = attributes(200);

const schema = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:complexType name="Thing"><xs:sequence><xs:element name="name" type="xs:string" minOccurs="0"/></xs:sequence>
    <xs:attribute name="id" type="xs:int"/></xs:complexType>
  <xs:complexType name="Box"><xs:complexContent><xs:extension base="Thing"><xs:sequence>
    <xs:element name="size" type="xs:decimal" minOccurs="0"/><xs:element ref="thing" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="SpecialBox"><xs:complexContent><xs:extension base="Box"><xs:sequence>
    <xs:element name="lid" type="xs:string" minOccurs="0"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:complexType name="Text"><xs:simpleContent><xs:extension base="xs:string">
    <xs:attribute name="id" type="xs:int"/><xs:attribute name="language" type="xs:string"/></xs:extension></xs:simpleContent></xs:complexType>
  <xs:complexType name="Wide"><xs:complexContent><xs:extension base="Thing">${wideAttributes}</xs:extension></xs:complexContent></xs:complexType>
  <xs:element name="thing" abstract="true"/>
  <xs:element name="wide" type="Wide" substitutionGroup="thing"/>
  <xs:element name="plain" type="Thing" substitutionGroup="thing"/>
  <xs:element name="box" type="Box" substitutionGroup="thing"/>
  <xs:element name="text" type="Text" substitutionGroup="thing"/>
  <xs:element name="all"><xs:complexType><xs:sequence><xs:element ref="thing" maxOccurs="unbounded"/></xs:sequence>
    <xs:attribute name="id" type="xs:int"/></xs:complexType></xs:element>
</xs:schema>`;

const type = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type';
const plain = (id: number): string => `<plain id="${id}"><name>n${id}</name></plain>`;
const text = (id: number, value: string): string => `<text id="${id}" language="e,&quot;n">${value}</text>`;
const nested = (depth: number): string =>
  depth === 0 ? plain(0) : `<box id="${depth}"><size>1.50</size>${nested(depth - 1)}</box>`;

const few = [
  plain(1),
  text(2, 'a\tb\n"c", d'),
  '<box/>',
  '<plain><name/><other/></plain>',
  `<box id="x">${plain(3)}stray${text(4, '')}<size>late</size></box>`,
  `<box ${type}="SpecialBox"><name>s</name>${plain(5)}<lid>l</lid></box>`,
  '<wide id="7" w0="zero" w99="a&#10;b"><name>w</name></wide>',
  `<box>${text(6, 'x'.repeat(300))}<text>a<b/>c</text></box>`,
];

const documents = {
  'a few': `<all>${few.join('\n')}</all>`,
  'many, so that buffers are handed over': `<all>${Array.from({ length: 1500 }, (_, at) => few[at % few.length]!).join('')}</all>`,
  'deep within one another, so that rows outgrow the kernel': `<all>${nested(1500)}${plain(1)}</all>`,
  'with values that outgrow it': `<all>${text(1, 'y'.repeat(600_000))}${plain(2)}${text(3, '"'.repeat(60_000))}</all>`,
};

function membersWithHeads({ nodes }: RelationalModel): number {
  return nodes.flatMap(({ edges }) => edges).filter(({ head }) => head !== undefined).length;
}

/** Pieces of output that a document's rows are handed over in. */
function countChunks(model: RelationalModel, document: string, kernelFrom: number): number {
  const names = createNameTable();
  const shredder = createShredder({
    model,
    names,
    encoding: 'copy-text',
    idJob: 1,
    jobUuid: uuidOfJob(1),
    keyOffsets: new Map(),
    widensInPlace: true,
    unmapped: 'capture',
    extraValues: () => [],
    kernelFrom,
  });
  shredder.beginDocument('document.xml');
  const tokenizer = createXmlTokenizer({
    names,
    onBatch: (batch) => shredder.consume(batch, (record) => tokenizer.locate(record)),
  });
  tokenizer.write(bytesOf(document));
  tokenizer.end();
  shredder.output.flush();
  return shredder.output.chunks.length;
}

it('of which a row lies in several tables are handed over in as few pieces', () => {
  const model = modelOf(compiled(schema.replace(wideAttributes, attributes(600))), 0);
  expect(model.tables.filter(({ name }) => /^wide(_\d)?$/.test(name)).length).toBeGreaterThan(1);
  const document = `<all>${'<wide w0="zero" w599="last"><name>w</name></wide>'.repeat(300)}</all>`;
  expect(countChunks(model, document, 0)).toBe(countChunks(model, document, Infinity));
});

describe('members of a substitution group', () => {
  const models = ([0, 2] as const).map((level) => modelOf(compiled(schema), level));

  it('have rows of two tables', () => {
    expect(models.map(membersWithHeads).every((count) => count > 0)).toBe(true);
  });

  for (const encoding of ['copy-text', 'csv', 'json-lines'] as const)
    for (const [name, document] of Object.entries(documents))
      it.each(encoding === 'csv' ? [true, false] : [false])(
        `are the same: ${name}, ${encoding}, hashed keys: %s`,
        (isHashed) => {
          for (const model of models) {
            const hashes = isHashed ? { hashes: ['ab'.repeat(32), 'cd'.repeat(32)] } : {};
            const way: ShreddingWay = { encoding, kernelFrom: Infinity, tokenizer: 'plain', ...hashes };
            const both = [document, document];
            const expected = shredToBytes(model, both, way);
            for (const windowBytes of [200, 40_000])
              expect(
                shredToBytes(model, both, { ...way, kernelFrom: 0, tokenizer: 'shared', windowBytes }),
              ).toEqual(expected);
          }
        },
      );
});
