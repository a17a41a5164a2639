/** Documents of XML 1.1: their line ends are read, and what 1.0 has no room for is refused by name. */
import { describe, expect, test } from 'vitest';
import { bytesOf, failureAt, readFailure, readTokens } from './read-tokens.ts';

const version = (number: string, more = '') => `<?xml version="${number}"${more}?>`;
const tokens = (text: string) => ['START d', `TEXT ${JSON.stringify(text)}`, 'END d'];

describe('XML 1.1', () => {
  test.each([
    ['U+0085', 'a\u0085b', 'a\nb'],
    ['U+2028', 'a\u2028b', 'a\nb'],
    ['CR and U+0085', 'a\r\u0085b', 'a\nb'],
    ['each by itself', '\u0085\u2028\r\r\n\r\u0085\n', '\n\n\n\n\n\n'],
    ['not U+2029 and other characters of these bytes', 'é\u2029\u00c2â', 'é\u2029\u00c2â'],
  ])('%s is a line end in a document of version 1.1, wherever the bytes are cut', (_, body, text) => {
    const bytes = bytesOf(`${version('1.1')}<d>${body}</d>`);
    for (const chunkBytes of [1, 2, 3, 4, 1000])
      expect(readTokens(bytes, { chunkBytes })).toEqual(tokens(text));
  });

  test('line ends of attributes are spaces, those of CDATA line feeds, and references stay', () => {
    expect(readTokens(`${version('1.1')}<d k="a\u0085b&#x85;"><![CDATA[\u2028]]></d>`)).toEqual([
      'START d',
      `ATTRIBUTE k ${JSON.stringify('a b\u0085')}`,
      'TEXT "\\n"',
      'END d',
    ]);
  });

  test('in UTF-16 and ISO-8859-1, too', () => {
    const text = `\uFEFF${version('1.1')}<d>a\u2028b</d>`;
    const utf16 = Uint8Array.from({ length: text.length * 2 }, (_, at) =>
      at % 2 === 0 ? text.charCodeAt(at >> 1) & 255 : text.charCodeAt(at >> 1) >> 8,
    );
    expect(readTokens(utf16)).toEqual(tokens('a\nb'));
    const latin1 = `${version('1.1', ' encoding="ISO-8859-1"')}<d>a\x85b</d>`;
    expect(readTokens(Uint8Array.from(latin1, (character) => character.charCodeAt(0)))).toEqual(
      tokens('a\nb'),
    );
  });

  test.each(['1.0', '1.2', '1.10'])('they are text in a document of version %s', (number) => {
    expect(readTokens(`${version(number)}<d>a\u0085b\u2028c</d>`)).toEqual(tokens('a\u0085b\u2028c'));
    expect(failureAt(`${version(number)}<d>\u0085&#1;</d>`)).toMatch(/^xml_invalid_character/);
  });

  test('a control character is refused by name, with what to do', () => {
    const failure = readFailure(`${version('1.1')}<d>\u0085a&#x1;</d>`);
    expect(failure).toMatchObject({ code: 'xml_version_1_1', line: 2, column: 2 });
    expect(failure.message).toBe(
      '&#x1; refers to a control character, which XML 1.1 allows and XML 1.0 does not; documents of XML 1.1 are read, but not their control characters: replace them in the document',
    );
    expect(failureAt(`${version('1.1')}<d k="&#31;"/>`)).toMatch(/^xml_version_1_1/);
    expect(failureAt(`${version('1.1')}<d>&#0;</d>`)).toMatch(/^xml_invalid_character/);
    expect(failureAt(`${version('1.1')}<d>\x01</d>`)).toMatch(/^xml_invalid_character/);
    expect(readFailure(`${version('1.1')}<d>ab\u0081</d>`).message).toContain('U+0081');
  });

  test('a prefix that is undeclared is refused by name', () => {
    expect(readFailure(`${version('1.1')}<d xmlns:p="urn:x"><e xmlns:p=""/></d>`).message).toContain(
      'XML 1.1',
    );
  });
});
