/** An element of a declared name may also stand where a wildcard takes it. */
import { describe, expect, it } from 'vitest';
import { roundTrip } from '../../../support/round-trip/in-memory.ts';
import { compiled, modelOf, shred } from '../../../support/models/shredding.ts';

describe('a second element where the model has room for one', () => {
  const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    <xs:element name="r"><xs:complexType><xs:sequence>
      <xs:element name="a" type="xs:string"/><xs:any namespace="##any" processContents="lax" minOccurs="0" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element></xs:schema>`);
  const model = modelOf(source, 1);
  const document = '<r><a>1</a><a>2</a><b/></r>';

  it('is content of the wildcard, and no deviation', () => {
    const { rows, deviations } = shred(model, [document]);
    expect(deviations.total).toBe(0);
    expect(rows['r']![0]).toMatchObject({ a: '1' });
    expect(rows['r_any']!.map((row) => [row['position'], row['content']])).toEqual([
      ['2', '<a>2</a>'],
      ['3', '<b/>'],
    ]);
  });

  it('comes back in its place', async () => {
    const [written] = await roundTrip(model, [document]);
    expect(new TextDecoder().decode(written)).toContain('<a>1</a><a>2</a><b/>');
  });
});
