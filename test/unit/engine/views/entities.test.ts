/** Which rows get views, and what their columns are called. */
import { describe, expect, it } from 'vitest';
import { dialectOf } from '../../../../src/engine/sql/dialects/every-dialect.ts';
import { entityViews } from '../../../../src/engine/views/statements.ts';
import { compiled, modelOf } from '../../../support/models/shredding.ts';

const item = (name: string): string =>
  `<xs:element name="${name}"><xs:complexType><xs:sequence>
    <xs:element name="label"><xs:complexType><xs:attribute name="value" type="xs:string" use="required"/></xs:complexType></xs:element>
    <xs:element name="day" type="xs:date"/><xs:element name="place" type="xs:string"/>
    <xs:element name="note" type="xs:string" maxOccurs="unbounded"/>
    ${Array.from({ length: 8 }, (_, at) => `<xs:element name="${name}${at}" type="xs:string" minOccurs="0"/>`).join('')}
  </xs:sequence></xs:complexType></xs:element>`;
const names = ['visit', 'order', 'claim', 'trial', 'dose', 'scan', 'bill', 'stay'];

describe('rows that hold one thing or another', () => {
  const source = compiled(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
    ${names.map(item).join('')}
    <xs:element name="file"><xs:complexType><xs:sequence><xs:element name="entry" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="number" type="xs:int"/>
      <xs:element name="content"><xs:complexType><xs:choice>${names.map((name) => `<xs:element ref="${name}"/>`).join('')}</xs:choice></xs:complexType></xs:element>
    </xs:sequence></xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>
  </xs:schema>`);

  it('have a view of each, whose values that are attributes are called as their elements', async () => {
    const views = await entityViews(modelOf(source, 3), { dialect: dialectOf('postgresql') });
    expect(views.map(({ name }) => name)).toEqual(
      expect.arrayContaining(names.map((name) => `${name}_view`)),
    );
    const visit = views.find(({ name }) => name === 'visit_view')!.statements.join('\n');
    expect(visit).toMatch(/"label"/);
    expect(visit).not.toMatch(/label_value/);
  });
});
