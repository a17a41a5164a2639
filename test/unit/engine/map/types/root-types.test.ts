/** Types of which a document may be, and an element of another document: both have the same tables. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import { pruneSourceModel } from '../../../../../src/engine/map/prune.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compareXml } from '../../../../support/documents/canonical-xml.ts';
import { bytesOf, compiled, modelOf, statisticsOf } from '../../../../support/models/shredding.ts';
import { roundTrip } from '../../../../support/round-trip/in-memory.ts';

/** An invoice alone, and as it was when the authority had answered, as Brazil's fiscal documents are exchanged. */
const source =
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="invoice" type="TInvoice"/>
  <xs:element name="processed"><xs:complexType><xs:sequence><xs:element name="invoice" type="TInvoice"/><xs:element name="answer" type="xs:string"/></xs:sequence></xs:complexType></xs:element>
  <xs:complexType name="TInvoice"><xs:sequence><xs:element name="line" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="tax" type="xs:string" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
    <xs:attribute name="sku"/></xs:complexType></xs:element></xs:sequence><xs:attribute name="number"/></xs:complexType></xs:schema>`);
const alone = '<invoice number="1"><line sku="a"><tax>x</tax></line><line sku="b"/></invoice>';
const answered =
  '<processed><invoice number="2"><line sku="c"><tax>y</tax><tax>z</tax></line></invoice><answer>yes</answer></processed>';
const documents = [alone, answered];

function pruned(met: readonly string[], previous?: RelationalModel): RelationalModel {
  const statistics = statisticsOf(met);
  return buildRelationalModel(pruneSourceModel(source, statistics), {
    mapLevel: 3,
    met: { statistics, declared: source },
    ...(previous === undefined ? {} : { previous }),
  });
}

const namesOf = ({ tables }: RelationalModel): string[] => tables.map(({ name }) => name).toSorted();
const shared = ['invoice', 'line', 'processed', 'tax'];

describe('a type of which documents are, and elements that stand once in others', () => {
  it('has the same tables for both', async () => {
    for (const model of [modelOf(source, 3), pruned(documents)]) {
      expect(namesOf(model)).toEqual(shared);
      const written = await roundTrip(model, documents);
      for (const [at, document] of documents.entries())
        expect(compareXml(bytesOf(document), written[at]!, { source })).toEqual([]);
    }
  });

  it('is written out in the row of the other as long as no document was of it', () => {
    expect(namesOf(pruned([answered]))).toEqual(['line', 'processed', 'tax']);
  });

  it('has the same tables in the next version of a model', () => {
    const goesOn = buildRelationalModel(source, { mapLevel: 3, previous: modelOf(source, 3) });
    expect(goesOn).toEqual(modelOf(source, 3));
  });
});
