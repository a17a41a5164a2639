/** NOT NULL stands where every valid document fills the column, and nowhere else. */
import { describe, expect, it } from 'vitest';
import { compiled, inferred, modelOf, outline, shred } from '../../../support/models/shredding.ts';

describe('columns that may stay empty', () => {
  it('an empty element stands for its default, and has no value of a type like integer', () => {
    const source =
      compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>
      <xs:element name="count" type="xs:int" default="1"/>
      <xs:element name="unit" type="xs:string" default="kg"/>
      <xs:element name="price" type="xs:decimal"/>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`);
    const model = modelOf(source, 1);
    expect(outline(model)).toBe(
      'r: r_key bigint!, document_key bigint!, count integer, unit text!, price numeric!',
    );
    expect(shred(model, ['<r><count/><unit/><price>1</price></r>']).nullAllowed).toEqual([]);
  });

  it('a type inferred from some values is that of others that were empty, too', () => {
    const documents = ['<r><v n="1">1</v><v n="">2</v><v n="3"/></r>'];
    const model = modelOf(inferred(documents), 1);
    expect(outline(model)).toContain('position integer!, n integer, value integer');
    expect(shred(model, documents).nullAllowed).toEqual([]);
  });
});
