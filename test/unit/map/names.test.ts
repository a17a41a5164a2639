import { describe, expect, it } from 'vitest';
import { byteLength, identifierOf, NameScope, shortenName } from '../../../src/engine/map/names.ts';

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

  it('tells names apart whatever their case', () => {
    const scope = new NameScope(63);
    expect(scope.claim(['Name'], '/a')).toBe('Name');
    expect(scope.claim(['name', 'name_2'], '/b')).toBe('name_2');
    expect(scope.claim(['NAME'], '/c')).toMatch(/^NAME_[0-9a-f]{8}$/);
  });
});
