/** What a load says of elements that the schema gives no type. */
import { expect, it } from 'vitest';
import { adviceOnUntyped } from '../../../../src/tools/convert/documents.ts';
import { compiled, modelOf, statisticsOf } from '../../../support/models/shredding.ts';

const source =
  compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="people"><xs:complexType><xs:sequence>
  <xs:element name="p" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="first"/><xs:element name="last" minOccurs="0"/><xs:element name="age" type="xs:int" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`);

it.each([0, 3] as const)('names those that hold text alone, level %i', (level) => {
  const advice = (people: string): string | null =>
    adviceOnUntyped(modelOf(source, level), statisticsOf([`<people>${people}</people>`]));
  expect(advice('<p><first>aa</first><last>bb</last><age>3</age></p><p><first>cc</first></p>')).toMatch(
    /^the schema gives no type to \/people\/p\/first, \/people\/p\/last, .*--prune/,
  );
  expect(advice('<p><first>aa</first></p><p><first><x>cc</x></first><last k="1">x</last></p>')).toBeNull();
});
