/** A document in ranges: its rows, findings and statistics are those of the document as a whole. */
import { describe, expect, it } from 'vitest';
import type { MapLevel, RelationalModel } from '../../../../src/engine/model/relational-model.ts';
import { readCorpus } from '../../../support/corpus.ts';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { memoryDocumentRows } from '../../../support/memory/document-rows.ts';
import { byValue, loaded } from '../../../support/models/loaded.ts';
import { compiled, inferred, modelOf, type Shredded } from '../../../support/models/shredding.ts';
import { needs } from '../../../support/needs.ts';
import { corpusGroups, groupModel, groupSource } from '../../../support/round-trip/corpus.ts';
import { writeDocuments } from '../../../support/round-trip/in-memory.ts';

const levels: readonly MapLevel[] = [0, 1, 2, 3];
const utf8 = new TextEncoder();

/** Rows of three kinds, one after the other, behind a head of all sorts and before a tail. */
function list(rows: number): string {
  const row = (at: number): string => {
    if (at < rows / 2)
      return `<order id="${at}" p:kind="k${at % 3}">${'<line sku="a">1.50</line>'.repeat(at % 4)}<p:note>n &amp; ${at}</p:note></order>`;
    if (at < (rows * 3) / 4) return `<refund of="${at}"/>`;
    return at % 5 === 0 ? `<p:odd><order/></p:odd>` : `<order id="${at}"><line>${at}</line></order>`;
  };
  const body = Array.from(
    { length: rows },
    (_, at) => `${row(at)}${['\n', '', '<!-- <order> -->', '<?go on?>'][at % 4]}`,
  ).join('');
  return `<?xml version="1.0"?>\n<!-- <x> --><p:shop xmlns:p="urn:p" xmlns="urn:d" name="The &quot;shop&quot;" xml:lang="de">
  <owner><name>Ö</name><name>B</name></owner><currency>EUR</currency>
  <orders since="2026-01-01" p:by="x">${body}</orders><count>${rows}</count><total>12.50</total></p:shop>\n<!-- end -->`;
}

async function compare(model: RelationalModel, text: string, rangeBytes: number): Promise<number> {
  const document = utf8.encode(text);
  const whole = await loaded(model, document, null);
  const ranges = await loaded(model, document, rangeBytes);
  expect(byValue(model, ranges)).toEqual(byValue(model, whole));
  expect(ranges.statistics).toEqual(whole.statistics);
  expect(ranges.findings).toEqual(whole.findings);
  expect(ranges.nullAllowed).toEqual(whole.nullAllowed);
  const rows = memoryDocumentRows({ ...ranges, model } as unknown as Shredded);
  const [written] = await writeDocuments(model, rows, ['1']);
  const [alone] = await writeDocuments(
    model,
    memoryDocumentRows({ ...whole, model } as unknown as Shredded),
    ['1'],
  );
  expect(new TextDecoder().decode(written)).toBe(new TextDecoder().decode(alone));
  return ranges.ranges;
}

const ordersXsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:o" xmlns="urn:o" elementFormDefault="qualified">
  <xs:complexType name="Line"><xs:sequence><xs:element name="amount" type="xs:decimal"/><xs:element name="kind" type="xs:QName" minOccurs="0"/></xs:sequence></xs:complexType>
  <xs:complexType name="Gift"><xs:complexContent><xs:extension base="Line"><xs:sequence><xs:element name="card" type="xs:string" maxOccurs="2"/></xs:sequence></xs:extension></xs:complexContent></xs:complexType>
  <xs:element name="orders"><xs:complexType><xs:sequence>
    <xs:element name="head"><xs:complexType><xs:sequence><xs:element name="by" type="xs:string"/><xs:element name="tag" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>
    <xs:element name="kind" type="xs:QName" minOccurs="0"/>
    <xs:choice maxOccurs="unbounded"><xs:element name="line" type="Line" nillable="true"/><xs:element name="text"><xs:complexType mixed="true"><xs:sequence><xs:element name="b" type="xs:string" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element><xs:any namespace="##other" processContents="lax"/></xs:choice>
    <xs:element name="sum" type="xs:decimal"/><xs:element name="closed" type="xs:boolean"/>
  </xs:sequence><xs:attribute name="made" type="xs:date"/></xs:complexType></xs:element>
</xs:schema>`;

const orderLine = (at: number): string =>
  [
    `<line><amount>${at}.10</amount></line>`,
    `<line xsi:type="o:Gift"><amount>+${at}</amount><kind>k:a</kind><card>x</card></line>`,
    '<line xsi:nil="true"/>',
    '<line><amount>many</amount><more at="1">kept</more></line>',
    '<text>one <b>two</b> three</text>',
    '<k:any><line/></k:any>',
    '<strange xmlns="urn:s">kept</strange>',
    '<line xmlns:k="urn:inner"><amount>1</amount><kind>k:b</kind></line>',
  ][at % 8]!;

/** Lines of a schema of its own, some of which deviate; `between`: behind every tenth. */
function orders(lines: number, between = ''): string {
  const body = Array.from({ length: lines }, (_, at) => `${orderLine(at)}${at % 10 === 9 ? between : ''}\n`);
  return `<o:orders xmlns:o="urn:o" xmlns="urn:o" xmlns:k="urn:k" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" made="2026-01-02Z" odd="1">
  <head><by>Ä</by><tag>1</tag><tag>2</tag></head><kind>k:x</kind><line><amount>0</amount></line>${body.join('')}<sum>12.50</sum><closed>1</closed><late/></o:orders>`;
}

async function reasonOf(text: string, request: Parameters<typeof loaded>[3] = {}): Promise<string> {
  const model = modelOf(inferred([text]), 0);
  const { ranges, log } = await loaded(model, utf8.encode(text), 500, request);
  expect(ranges).toBe(1);
  return log.join('\n');
}

/** sets that compile quickly; of all others the models are inferred */
const quickSets = ['entsoe', 'junit', 'iso20022', 'siri', 'cdisc-odm', 'musicxml', 'sumo', 'xmark'];

describe('documents of the corpus in ranges', needs(['corpus', 'whole run']), () => {
  it.each(levels)('have the rows of the whole, at level %i', { timeout: 1_200_000 }, async (level) => {
    let cut = 0;
    for (const group of corpusGroups()) {
      const documents = group.documents.slice(0, 6).map((name) => readCorpus(name));
      const usual = documents.filter(({ length }) => length > 3000 && length < 1_000_000);
      if (usual.length === 0) continue;
      const source = quickSets.includes(group.corpus) ? groupSource(group).source : inferred(usual);
      // what broken keys are, is known of whole documents alone
      const model = { ...groupModel(source, level, usual), identityRules: [] };
      for (const [index, document] of usual.entries()) {
        const whole = await loaded(model, document, null);
        const ranges = await loaded(model, document, Math.floor(document.length / (3 + ((index * 7) % 11))));
        if (ranges.ranges > 1) cut += 1;
        const where = `${group.corpus} ${index}`;
        expect(byValue(model, ranges), where).toEqual(byValue(model, whole));
        expect(ranges.findings, where).toEqual(whole.findings);
        expect(ranges.statistics, where).toEqual(whole.statistics);
      }
    }
    expect(cut).toBeGreaterThan(10);
  });
});

describe('a document in ranges', () => {
  it.each(levels)('has the rows of the whole, at level %i', async (level) => {
    const text = list(200);
    const model = modelOf(inferred([text]), level);
    for (const rangeBytes of [50, 333, 1000, 4000])
      expect(await compare(model, text, rangeBytes)).toBeGreaterThan(3);
  });

  it.each(levels)('has them where documents deviate from their schema, at level %i', async (level) => {
    const source = compiled(ordersXsd);
    const model = modelOf(source, level);
    for (const rangeBytes of [100, 1500]) {
      const text = orders(300);
      expect(await compare(model, text, rangeBytes)).toBeGreaterThan(5);
      const { rows, unconvertedValues } = await loaded(model, utf8.encode(text), rangeBytes);
      const document = {
        ...(await loaded(model, utf8.encode(text), rangeBytes)),
        rows,
        unconvertedValues,
        model,
      };
      const [written] = await writeDocuments(model, memoryDocumentRows(document as unknown as Shredded), [
        '1',
      ]);
      expect(compareXml(utf8.encode(text), written!, { source })).toEqual([]);
    }
  });

  it('is cut behind what is folded among its first rows, and before what is later', async () => {
    const model = modelOf(compiled(ordersXsd), 0);
    for (const between of ['<closed>0</closed>', 'text', '<![CDATA[text]]>', '&amp;', '<head><by/></head>']) {
      const text = orders(200).replace('</k:any>', `</k:any>${between}`);
      expect(await compare(model, text, 300), between).toBeGreaterThan(3);
    }
  });

  it('is whole where it cannot be cut, and says why', async () => {
    const text = list(100);
    expect(await reasonOf(text, { keys: 'hash' })).toMatch(
      /is not split among threads or executors: its row keys are hashes/,
    );
    expect(await reasonOf(`<!DOCTYPE x>${text.slice(text.indexOf('<!--'))}`)).toMatch(/tags alone/);
    expect(await reasonOf(`<a>${'<b>1</b>2'.repeat(500)}</a>`)).toMatch(/text belongs/);
    expect(await reasonOf(`<a><b>${'x'.repeat(9999)}</b></a>`)).toMatch(
      /no element near its beginning that has many small children/,
    );
    const sections = `<s>${'<row><c/><c/></row>'.repeat(40)}</s>`;
    expect(await reasonOf(`<a><s/>${sections}${sections}</a>`)).toMatch(
      /elements around its rows may occur again/,
    );
    expect(await reasonOf(`<a>${'<row><a><row/></a></row>'.repeat(90)}</a>`)).toMatch(/may be within these/);
  });
});
