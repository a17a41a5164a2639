/** Encodings of documents. */
import { describe, expect, test } from 'vitest';
import { bytesOf, failureAt, readFailure, readTokens } from './read-tokens.ts';

function utf16(text: string, isBigEndian: boolean): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i++) view.setUint16(i * 2, text.charCodeAt(i), !isBigEndian);
  return bytes;
}

const latin1 = (text: string) => Uint8Array.from(text, (c) => c.charCodeAt(0));
const declaration = (encoding: string) => `<?xml version="1.0" encoding="${encoding}"?>`;
const tokens = (text: string) => ['START a', `TEXT ${JSON.stringify(text)}`, 'END a'];

describe('encodings', () => {
  const text = 'é中😀';

  test.each([
    ['UTF-8', bytesOf(`<a>${text}</a>`)],
    ['UTF-8 with a mark', bytesOf(`\uFEFF<a>${text}</a>`)],
    ['UTF-8 with a mark and declared', bytesOf(`\uFEFF${declaration('utf-8')}<a>${text}</a>`)],
    ['UTF-16LE with a mark', utf16(`\uFEFF<a>${text}</a>`, false)],
    ['UTF-16BE with a mark', utf16(`\uFEFF${declaration('UTF-16')}<a>${text}</a>`, true)],
    ['UTF-16LE without a mark', utf16(`${declaration('UTF-16LE')}<a>${text}</a>`, false)],
    ['UTF-16BE without mark or declaration', utf16(`<a>${text}</a>`, true)],
  ])('%s', (_, bytes) => {
    expect(readTokens(bytes)).toEqual(tokens(text));
    for (let chunkBytes = 1; chunkBytes < 9; chunkBytes++)
      expect(readTokens(bytes, { chunkBytes })).toEqual(tokens(text));
  });

  test('ISO-8859-1 is itself, windows-1252 has its own characters', () => {
    const body = '<a>\xe9\x80</a>';
    expect(readTokens(latin1(declaration('ISO-8859-1') + body))).toEqual(tokens('é\x80'));
    expect(readTokens(latin1(declaration('windows-1252') + body))).toEqual(tokens('é€'));
    expect(readTokens(latin1(declaration('iso-8859-15') + '<a>\xa4</a>'))).toEqual(tokens('€'));
  });

  test('encodings of several bytes to a character', () => {
    const bytes = latin1(`${declaration('Shift_JIS')}<a>\x93\xfa\x96\x7b</a>`);
    expect(readTokens(bytes, { chunkBytes: 1 })).toEqual(tokens('日本'));
    expect(readTokens(latin1(`${declaration('GB18030')}<a>\xd6\xd0</a>`))).toEqual(tokens('中'));
  });

  test('an encoding known from outside stands above mark and declaration', () => {
    const bytes = latin1(`${declaration('UTF-8')}<a>\xe9</a>`);
    expect(readTokens(bytes, { encoding: 'iso-8859-1' })).toEqual(tokens('é'));
    expect(readTokens(utf16(`\uFEFF${declaration('utf-8')}<a>é</a>`, false), { encoding: 'utf-16' })).toEqual(
      tokens('é'),
    );
  });

  test.each([
    ['UTF-8 that is not', latin1('<a>\xe9</a>'), 'xml_invalid_encoding 1:4'],
    ['an overlong form', latin1('<a>\xc0\x80</a>'), 'xml_invalid_encoding 1:4'],
    ['a surrogate in UTF-8', latin1('<a>\xed\xa0\x80</a>'), 'xml_invalid_encoding 1:4'],
    ['UTF-8 cut short', latin1('<a>\xe4\xb8</a>'), 'xml_invalid_encoding 1:4'],
    [
      'a byte over 127 in US-ASCII',
      latin1(`${declaration('US-ASCII')}\n<a>x\xe9</a>`),
      'xml_invalid_encoding 2:5',
    ],
    ['an unpaired surrogate', utf16('\uFEFF<a>\uD83D</a>', false), 'xml_invalid_encoding 1:4'],
    ['half a character', utf16('\uFEFF<a>é</a>', false).subarray(0, -1), 'xml_invalid_encoding 1:8'],
    [
      'bytes that Shift_JIS does not have',
      latin1(`${declaration('Shift_JIS')}\n<a>\xff</a>`),
      'xml_invalid_encoding 2:4',
    ],
    [
      'UTF-16 declared as UTF-8',
      utf16(`\uFEFF${declaration('UTF-8')}<a/>`, true),
      'xml_encoding_mismatch 1:31',
    ],
    ['UTF-8 declared as UTF-16', bytesOf(`${declaration('UTF-16')}<a/>`), 'xml_encoding_mismatch 1:31'],
    [
      'a UTF-8 mark declared as ISO-8859-1',
      bytesOf(`\uFEFF${declaration('ISO-8859-1')}<a/>`),
      'xml_encoding_mismatch 1:31',
    ],
    ['an unknown encoding', bytesOf(`${declaration('klingon')}<a/>`), 'xml_unsupported_encoding 1:1'],
    ['UTF-32', Uint8Array.of(0, 0, 0, 0x3c, 0, 0, 0, 0x61), 'xml_unsupported_encoding 1:1'],
    ['EBCDIC', Uint8Array.of(0x4c, 0x6f, 0xa7, 0x94, 0x93), 'xml_unsupported_encoding 1:1'],
    ['a wrong name', bytesOf(`${declaration('-8')}<a/>`), 'xml_syntax 1:33'],
  ])('refuses %s', (_, bytes, failure) => {
    expect(failureAt(bytes)).toBe(failure);
    expect(failureAt(bytes, { chunkBytes: 3 })).toBe(failure);
  });

  test('a fault before the wrong bytes is reported first', () => {
    expect(readFailure(latin1(`${declaration('US-ASCII')}<a></b>\xe9`)).code).toBe('xml_mismatched_tag');
  });
});
