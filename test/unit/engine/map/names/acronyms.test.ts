/** Acronyms in names are whole words. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel, type MappingOptions } from '../../../../../src/engine/map/build-model.ts';
import { identifierOf } from '../../../../../src/engine/map/names/identifiers.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { compiled, modelOf } from '../../../../support/models/shredding.ts';

const invoice = (more = ''): string => `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="lote"><xs:complexType><xs:sequence>
    <xs:element name="NFe" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="chNFe" type="xs:string"/><xs:element name="info"><xs:complexType><xs:attribute name="IDref" type="xs:string"/></xs:complexType></xs:element>
      ${more}<xs:element name="linkedIDs" type="xs:string" maxOccurs="unbounded"/>
    </xs:sequence></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element></xs:schema>`;
const namesOf = ({ tables }: RelationalModel): Record<string, string[]> =>
  Object.fromEntries(tables.map(({ name, columns }) => [name, columns.map((column) => column.name)]));

function nextModel(previous: RelationalModel, xsd: string, more: Partial<MappingOptions> = {}) {
  return buildRelationalModel(compiled(xsd), { mapLevel: 3, previous, ...more });
}

const refNFe = '<xs:element name="refNFe" type="xs:string"/>';

describe('words', () => {
  it.each([
    ['IDref', 'id_ref'],
    ['LinkedSystemIDs', 'linked_system_ids'],
    ['IDrefs', 'id_refs'],
    ['IDREF', 'idref'],
    ['FIELDref', 'field_ref'],
    ['FIELDrefs', 'field_refs'],
    ['URLname', 'url_name'],
    ['XMLhttp', 'xml_http'],
    ['ISBNnumber', 'isbn_number'],
    ['VATrateCode', 'vat_rate_code'],
    ['XMLHttpRequest', 'xml_http_request'],
    ['UKBorder', 'uk_border'],
    ['eID', 'e_id'],
    ['iPhone', 'i_phone'],
    ['UUIDs', 'uuids'],
    ['URLsType', 'urls_type'],
    ['NFe', 'nfe'],
    ['infNFeSupl', 'inf_nfe_supl'],
    ['MDFeDFe', 'mdfe_dfe'],
    ['BICOrBEI', 'bic_or_bei'],
    ['UETRId', 'uetr_id'],
    ['indexedmzML', 'indexed_mzml'],
    ['MathML', 'math_ml'],
    ['annualkWh', 'annual_kwh'],
    ['pHValue', 'ph_value'],
    ['pHSoil', 'ph_soil'],
    ['xProd', 'x_prod'],
    ['nNF', 'n_nf'],
    ['X3DMaterial', 'x3d_material'],
    ['H2O', 'h2o'],
    ['T2SParty', 't2s_party'],
    ['ISO8601UTC', 'iso8601_utc'],
    ['xmlLang', 'xml_lang'],
  ])('%s becomes %s', (local, name) => {
    expect(identifierOf(local, 'l')).toBe(name);
  });
});

describe('acronyms', () => {
  it('are whole in the names of new models, and of those that go on from them', () => {
    const model = modelOf(compiled(invoice()), 3);
    expect(namesOf(model)).toEqual({
      lote: ['lote_key', 'document_key'],
      nfe: ['nfe_key', 'document_key', 'lote_key', 'position', 'ch_nfe', 'info_id_ref'],
      linked_ids: ['linked_ids_key', 'document_key', 'nfe_key', 'position', 'value'],
    });
    const next = nextModel(model, invoice(refNFe));
    expect(namesOf(next)['nfe']).toContain('ref_nfe');
  });
});
