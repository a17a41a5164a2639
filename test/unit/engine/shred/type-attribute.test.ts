/** xsi:type where it changes nothing: valid, so no deviation, and yet part of the document. */
import { describe, expect, it } from 'vitest';
import { compareXml } from '../../../support/documents/canonical-xml.ts';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { compiled, inferred, modelOf, shred } from '../../../support/models/shredding.ts';

const source =
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:t="urn:t" targetNamespace="urn:t">
  <xs:complexType name="Order"><xs:sequence><xs:element name="amount" type="xs:decimal"/></xs:sequence></xs:complexType>
  <xs:element name="order" type="t:Order"/></xs:schema>`);
const model = modelOf(source, 1);
const document = `<t:order xmlns:t="urn:t" xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:x="http://www.w3.org/2001/XMLSchema"
  i:type="t:Order"><amount i:type="x:int">1</amount></t:order>`;

describe('xsi:type that names the declared type, or a simple one', () => {
  it('is kept, and is no deviation', () => {
    const { rows, deviations } = shred(model, [document]);
    expect(deviations.total).toBe(0);
    expect(rows['_unmapped']!.map((row) => [row['kind'], row['content']])).toEqual([
      ['attribute', '{urn:t}Order'],
      ['attribute', '{http://www.w3.org/2001/XMLSchema}int'],
    ]);
    expect(shred(model, [document], { unmapped: 'fail' }).rows['order']).toHaveLength(1);
  });

  it('comes back', async () => {
    const [written] = await roundTrip(model, [document]);
    expect(compareXml(document, written!, { source })).toEqual([]);
    expect(new TextDecoder().decode(written).match(/xsi:type=/g)).toHaveLength(2);
  });

  it('with a prefix that is not declared is a deviation', () => {
    const { deviations } = shred(model, [document.replace('t:Order', 'nobody:Order')]);
    expect([...deviations.paths.values()].map(({ kind, sample }) => [kind, sample])).toEqual([
      ['attribute', 'nobody:Order'],
    ]);
  });

  it('with a prefix that is declared in other documents alone stays as it is, also where the model is inferred', async () => {
    const bound = `<r xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:p="urn:p"><v i:type="p:a">1</v></r>`;
    const unbound = bound.replace(' xmlns:p="urn:p"', '');
    const guessed = inferred([bound]);
    const written = await roundTrip(modelOf(guessed, 1), [unbound, bound]);
    expect(compareXml(unbound, written[0]!, { source: guessed, asText: true })).toEqual([]);
    expect(compareXml(bound, written[1]!, { source: guessed, asText: true })).toEqual([]);
  });
});
