/** Names of values that are something else in the next version of a schema. */
import { expect, it } from 'vitest';
import { buildRelationalModel } from '../../../../../src/engine/map/build-model.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compiled, modelOf } from '../../../../support/models/shredding.ts';

const payments = (due: string): string =>
  `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="payments"><xs:complexType><xs:sequence>
    <xs:element name="payment" maxOccurs="unbounded"><xs:complexType><xs:sequence><xs:element name="id" type="xs:string"/>${due}</xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;

const valuesOf = ({ tables }: RelationalModel): string[] =>
  tables
    .find(({ name }) => name === 'payment')!
    .columns.filter(({ role }) => role === 'value')
    .map(({ name }) => name);

it('a date that becomes a choice of dates and times has names that say all steps', () => {
  const before = modelOf(compiled(payments('<xs:element name="DueDt" type="xs:date"/>')), 3);
  expect(valuesOf(before)).toEqual(['id', 'due_dt']);
  const choice = compiled(
    payments(
      '<xs:element name="DueDt"><xs:complexType><xs:choice><xs:element name="Dt" type="xs:date"/><xs:element name="Tm" type="xs:time"/></xs:choice></xs:complexType></xs:element>',
    ),
  );
  // a target may hold the other date under its name
  const after = buildRelationalModel(choice, { mapLevel: 3, previous: before });
  expect(valuesOf(after)).toEqual(['id', 'due_dt_dt', 'due_dt_tm']);
  // without one, words are said once
  expect(valuesOf(modelOf(choice, 3))).toEqual(['id', 'due_dt', 'due_dt_tm']);
});
