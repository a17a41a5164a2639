/** Elements of one name that hold much the same are one table where types are reused, though no XSD says they are of one type. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';
import { bytesOf, inferred, modelOf, outline, shred } from '../../../../support/models/shredding.ts';

const document = `<orders>
  <order><buyer><name>A</name><address zip="1"><street>x</street><street>y</street><city>Ulm</city></address></buyer>
    <seller><name>B</name><address zip="D-2"><street>z</street><city>Bonn</city><country>DE</country></address></seller>
    <line no="1"><note lang="de">n</note></line><line no="2"><note lang="en"><b>bold</b></note></line></order>
  <order><buyer><name>C</name><address zip="3"><street>v</street><city>Jena</city></address></buyer>
    <seller><name>D</name><address zip="4"><street>u</street><city>Kiel</city></address></seller>
    <address host="h" port="1"><street>s</street></address><address host="i" port="2"/></order></orders>`;
const source = inferred([document]);

describe('a model of documents alone', () => {
  it('has a table for every path where types are not reused', () => {
    const names = modelOf(source, 0).tables.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['buyer_address', 'seller_address', 'order_address']));
  });

  it('has one for those that are alike, and another for what is not, where they are', () => {
    expect(outline(modelOf(source, 2)).split('\n')).toEqual(
      expect.arrayContaining([
        'buyer: buyer_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, name text!, address_key bigint! -> address',
        'seller: seller_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, name text!, address_key bigint! -> address',
        'address: address_key bigint!, document_key bigint!, position integer!, zip text!, city text!, country text',
        'order_address: order_address_key bigint!, document_key bigint!, order_key bigint! -> order, position integer!, host text!, port integer!, street text',
        // repeated in one place, it has rows in both
        'street: street_key bigint!, document_key bigint!, address_key bigint! -> address, position integer!, value text!',
      ]),
    );
    expect(outline(modelOf(source, 3)).split('\n')).toContain(
      'address: address_key bigint!, document_key bigint!, position integer!, zip text!, city text!, country text',
    );
  });

  it.each([0, 1, 2, 3] as const)('gives the document back, level %i', async (level) => {
    const model = modelOf(source, level);
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(bytesOf(document), written!, { source, asText: true })).toEqual([]);
    expect(shred(model, [document]).unconvertedValues).toEqual([]);
  });

  it('is drawn the same whenever it is drawn', () => {
    expect(JSON.stringify(modelOf(inferred([document]), 3))).toBe(JSON.stringify(modelOf(source, 3)));
  });
});

describe('an element that one place leaves empty, of a type that others fill', () => {
  const changes = `<repo>
  <file name="a"><change><at>2026-01-02</at><by>x</by><size>3</size><paths>
    <path>p</path>
    <path>q</path>
  </paths></change></file>
  <file name="b"><change><at>2026-01-03</at><by>y</by><size/><paths/></change></file>
  <change><at/><by>z</by><size/><paths/></change>
</repo>`;
  const changesSource = inferred([changes]);

  it.each([2, 3] as const)('has the type that values have elsewhere, and no texts, level %i', (level) => {
    const tables = outline(modelOf(changesSource, level));
    expect(tables).toContain(' at date, by text!, size integer');
    expect(tables).not.toMatch(/content text|paths text/);
  });

  it.each([0, 1, 2, 3] as const)('comes back, level %i', async (level) => {
    const [written] = await roundTrip(modelOf(changesSource, level), [changes]);
    expect(compareXml(bytesOf(changes), written!, { source: changesSource, asText: true })).toEqual([]);
  });
});
