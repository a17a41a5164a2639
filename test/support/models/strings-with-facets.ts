/** XSD sets of one string with facets, and the column that it becomes. */
import type { Column, RelationalModel } from '../../../src/engine/model/relational-model.ts';

/** Of an element `r` with values `v`. */
export function schemaOfStrings(base: string, facets: string): string {
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="r"><xs:complexType><xs:sequence><xs:element name="v" maxOccurs="99"><xs:simpleType>
  <xs:restriction base="xs:${base}">${facets}</xs:restriction></xs:simpleType></xs:element></xs:sequence></xs:complexType></xs:element></xs:schema>`;
}

/** Facets of one step: a value keeps one of the patterns. */
export function patternFacets(...values: readonly string[]): string {
  return values.map((value) => `<xs:pattern value="${value}"/>`).join('');
}

export function valueColumnOf({ tables }: RelationalModel): Column {
  return tables
    .flatMap(({ columns }) => columns)
    .find(({ role, name }) => role === 'value' && name === 'value')!;
}
