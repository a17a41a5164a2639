/** Acronyms in names: whole in new models, and split in all that goes on from models of earlier releases. */
import { describe, expect, it } from 'vitest';
import { buildRelationalModel, type MappingOptions } from '../../../../../src/engine/map/build-model.ts';
import { identifierOf } from '../../../../../src/engine/map/names/identifiers.ts';
import type { RelationalModel } from '../../../../../src/engine/model/relational-model.ts';
import { entityViews } from '../../../../../src/engine/views/statements.ts';
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

function earlierName(name: string): string {
  return name
    .replace(/nfe/g, 'n_fe')
    .replace(/\bid_ref|_id_ref/g, (one) => one.replace('id_ref', 'i_dref'))
    .replace(/_ids/g, '_i_ds');
}

/** A model of a release that split acronyms, as far as its names go. */
function earlierModel(xsd: string): RelationalModel {
  const { wholeAcronyms: _, ...model } = modelOf(compiled(xsd), 3);
  return {
    ...model,
    tables: model.tables.map((table) => ({
      ...table,
      name: earlierName(table.name),
      columns: table.columns.map((column) => ({ ...column, name: earlierName(column.name) })),
    })),
  };
}

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

  it.each([
    ['IDref', 'i_dref'],
    ['NFe', 'n_fe'],
    ['mzML', 'mz_ml'],
    ['X3DMaterial', 'x3_d_material'],
  ])('%s was %s in models of earlier releases', (local, name) => {
    expect(identifierOf(local, 'l', true)).toBe(name);
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
    expect(next.wholeAcronyms).toBe(true);
    expect(namesOf(next)['nfe']).toContain('ref_nfe');
  });

  it('stay split after a model that split them, in new columns, and in views', async () => {
    const before = earlierModel(invoice());
    const next = nextModel(before, invoice(refNFe));
    expect(next.wholeAcronyms).toBeUndefined();
    const { n_fe: columns, ...others } = namesOf(next);
    expect(Object.keys(others)).toEqual(['lote', 'linked_i_ds']);
    expect(columns).toEqual(expect.arrayContaining(['n_fe_key', 'ch_n_fe', 'info_i_dref', 'ref_n_fe']));
    // columns of their own have their tables' names, texts below are called by words
    const views = await entityViews(next, { dialect: 'postgresql' });
    expect(views.map(({ query }) => query).join('\n')).toMatch(/AS "linked_i_ds"/);
  });

  it('are whole in a version that is to have new names', () => {
    const next = nextModel(earlierModel(invoice()), invoice(refNFe), { keepNames: false });
    expect(next.wholeAcronyms).toBe(true);
    expect(Object.keys(namesOf(next))).toContain('nfe');
  });
});
