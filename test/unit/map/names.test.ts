import { describe, expect, it } from 'vitest';
import { byteLength, identifierOf, NameScope, shortenName } from '../../../src/engine/map/names.ts';
import { createStepChooser } from '../../../src/engine/map/telling-steps.ts';

const shorten = (steps: readonly string[], maxBytes: number): string =>
  shortenName(steps.join('_'), '/a', maxBytes, steps).replace(/_[0-9a-f]{8}$/, '');

describe('names of tables and columns', () => {
  it.each([
    ['shipTo', 'ship_to'],
    ['HTTPStatus-Code', 'http_status_code'],
    ['IBAN', 'iban'],
    ['GrpHdr', 'grp_hdr'],
    ['UBLVersionID', 'ubl_version_id'],
    ['größe', 'größe'],
    ['a.b', 'a_b'],
    ['_x_', 'x'],
    ['Line2Text', 'line2_text'],
  ])('%s becomes %s', (local, name) => {
    expect(identifierOf(local, 'l')).toBe(name);
  });

  it('keeps the source spelling or goes upper case on request', () => {
    expect(identifierOf('shipTo', 'c')).toBe('shipTo');
    expect(identifierOf('shipTo', 'u')).toBe('SHIP_TO');
  });

  it('shortens by bytes, with a suffix that depends on the path alone', () => {
    const long = 'ü'.repeat(60);
    const short = shortenName(long, '/a/b', 63);
    expect(byteLength(short)).toBeLessThanOrEqual(63);
    expect(short).toBe(shortenName(long, '/a/b', 63));
    expect(short).not.toBe(shortenName(long, '/a/c', 63));
    expect(shortenName('plain', '/a/b', 63)).toBe('plain');
  });

  it('leaves out steps in the middle: what a value is stands at the end, whose it is at the start', () => {
    const buyer = ['buyer', 'tax_representative', 'postal_address', 'country_code'];
    expect(shorten(buyer, 44)).toBe('buyer_postal_address_country_code');
    expect(shorten(buyer, 40)).toBe('buyer_postal_country_code');
    expect(shorten(buyer, 30)).toBe('buyer_country_code');
    // words of a step that is too long alone, from its start and its end
    expect(shorten(['third_intermediary_or_issuing_party', 'party', 'tax_code'], 40)).toBe(
      'third_intermediary_or_tax_code',
    );
    expect(shorten(['party', 'identification_of_the_registered_office'], 40)).toBe(
      'identification_of_the_office',
    );
    expect(shorten([`${'x'.repeat(60)}`], 40)).toBe('x'.repeat(31));
    for (let limit = 10; limit < 60; limit += 1)
      expect(byteLength(shortenName(buyer.join('_'), '/a', limit, buyer))).toBeLessThanOrEqual(limit);
  });

  it('keep the steps that tell which of the columns it is, where those are known', () => {
    const invoice = 'supply_chain_trade_transaction';
    const columns = ['agreement', 'delivery', 'settlement'].flatMap((part) => [
      [invoice, `header_trade_${part}`, 'buyer_order_document', 'issue_date_time', 'format'],
      [invoice, `header_trade_${part}`, 'contract_document', 'issue_date_time', 'format'],
      [invoice, `header_trade_${part}`, 'code'],
    ]);
    columns.push(
      ['exchanged_document', 'code'],
      [invoice, 'header_trade_settlement', 'monetary_summation', 'total'],
    );
    const choose = createStepChooser(() => columns);
    const chosen = (path: readonly string[], maxBytes: number): string => choose(path, maxBytes).join('_');
    expect(columns.map((path) => chosen(path, 54))).toEqual([
      'header_trade_agreement_buyer_order_document_format',
      'header_trade_agreement_contract_document_format',
      'header_trade_agreement_code',
      'header_trade_delivery_buyer_order_document_format',
      'header_trade_delivery_contract_document_format',
      'header_trade_delivery_code',
      'header_trade_settlement_buyer_order_document_format',
      'header_trade_settlement_contract_document_format',
      'header_trade_settlement_code',
      'exchanged_document_code',
      'header_trade_settlement_monetary_summation_total',
    ]);
    expect(chosen(columns.at(-1)!, 30)).toBe('monetary_summation_total');
    expect(chosen(columns.at(-1)!, 18)).toBe('monetary_total');
    expect(chosen(columns.at(-1)!, 4)).toBe('total');
  });

  it('tells names apart whatever their case', () => {
    const scope = new NameScope(63);
    expect(scope.claim(['Name'], '/a')).toBe('Name');
    expect(scope.claim(['name', 'name_2'], '/b')).toBe('name_2');
    expect(scope.claim(['NAME'], '/c')).toMatch(/^NAME_[0-9a-f]{8}$/);
  });
});
