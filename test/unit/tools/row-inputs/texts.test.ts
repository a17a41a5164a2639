/** What cells become: names that files can have, values that columns take, bytes that a parser reads as they were meant. */
import { describe, expect, it } from 'vitest';
import { bytesOf, nameOf, valueOf } from '../../../../src/tools/session/spooled-rows.ts';

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

describe('the name of a document', () => {
  it('is made of all columns that have a value', () => {
    expect(
      nameOf(
        [
          ['id', '17'],
          ['note', null],
          ['at', '2026-11-25T08:00:00Z'],
        ],
        3,
      ),
    ).toBe('id=17,at=2026-11-25T08:00:00Z.xml');
    expect(nameOf([['id', null]], 3)).toBe('row-3.xml');
    expect(nameOf([], 3)).toBe('row-3.xml');
  });

  it.each([
    [[['id', '../../etc/passwd']], 'id=..%2F..%2Fetc%2Fpasswd.xml'],
    [[['.id', 'a\\b#1%']], '%2Eid=a%5Cb%231%25.xml'],
    [[['C:', 'x\n\u0000']], 'C%3A=x%0A%00.xml'],
    [[['id', '\uD800']], 'id=\uFFFD.xml'],
  ] as const)('is one that a file can have: %j', (values, name) => {
    expect(nameOf(values, 1)).toBe(name);
  });

  it('is no longer than names of files, and tells long values apart', () => {
    const [a, b] = ['a', 'b'].map((end) => nameOf([['id', `${'é'.repeat(300)}${end}`]], 1));
    expect(Buffer.byteLength(a!)).toBeLessThanOrEqual(204);
    expect(a).toMatch(/^id=é+~[0-9a-f]{12}\.xml$/);
    expect(a).not.toBe(b);
  });
});

describe('the bytes of a document', () => {
  it.each([
    [
      '<?xml version="1.0" encoding="ISO-8859-1"?>\n<a>é</a>',
      '<?xml version="1.0"                      ?>\n<a>é</a>',
    ],
    [
      "<?xml version='1.0' encoding = 'utf-16' standalone='yes'?><a/>",
      "<?xml version='1.0'                     standalone='yes'?><a/>",
    ],
    ['<a encoding="x"/>', '<a encoding="x"/>'],
    ['<?xml version="1.0"?><a encoding="x"/>', '<?xml version="1.0"?><a encoding="x"/>'],
  ])('of text are UTF-8, whatever it declares: %s', (given, wanted) => {
    expect(text(bytesOf(given))).toBe(wanted);
    expect(wanted.length).toBe(given.length);
  });

  it('of bytes are those', () => {
    const bytes = Uint8Array.of(0xff, 0xfe, 0x3c, 0);
    expect(bytesOf(bytes)).toBe(bytes);
  });
});

describe('the value of a column', () => {
  it.each([
    ['timestamptz', '2026-11-25 08:00:00.5+00', '2026-11-25T08:00:00.5Z'],
    ['timestamptz', '2026-11-25 08:00:00', '2026-11-25T08:00:00Z'],
    ['timestamp', '2026-11-25 08:00:00', '2026-11-25T08:00:00'],
    ['double', '-Infinity', '-INF'],
    ['real', 'inf', 'INF'],
    ['double', 'nan', 'NaN'],
    ['numeric', '12.50', '12.50'],
    ['text', 'a b', 'a b'],
  ] as const)('is in the form of XSD: %s %s', (type, cell, value) => {
    expect(valueOf(type, cell)).toBe(value);
  });

  it('is nothing, or base64 of bytes', () => {
    expect(valueOf('text', null)).toBeNull();
    expect(valueOf('text', Uint8Array.of(1, 2))).toBe('AQI=');
  });
});
