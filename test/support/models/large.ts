/** A source model and its tables as large as real standards are: so many tables of so many columns each. */
import { buildRelationalModel } from '../../../src/engine/map/build-model.ts';
import type { RelationalModel } from '../../../src/engine/model/relational-model.ts';
import { compileXsdSet } from '../../../src/engine/xsd/compile-set.ts';
import type { SourceModel } from '../../../src/engine/model/source-model.ts';

/** Every table below the root one is a list of records with a value for each of `fields`. */
export function largeModel(
  tables: number,
  fields: number,
): { readonly source: SourceModel; readonly model: RelationalModel } {
  const columns = Array.from({ length: fields }, (_, at) => field(at)).join('');
  const record = (at: number): string =>
    `<xs:element name="record${at}" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:sequence>${columns}</xs:sequence></xs:complexType></xs:element>`;
  const records = Array.from({ length: tables - 1 }, (_, at) => record(at)).join('\n');
  const xsd = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="large"><xs:complexType><xs:sequence>
    ${records}</xs:sequence></xs:complexType></xs:element></xs:schema>`;
  const source = compileXsdSet([{ name: 'large.xsd', bytes: new TextEncoder().encode(xsd) }]).model;
  return { source, model: buildRelationalModel(source, { mapLevel: 1 }) };
}

function field(at: number): string {
  return `<xs:element name="field${at}" type="xs:${at % 3 === 0 ? 'decimal' : 'string'}" minOccurs="0"/>`;
}
