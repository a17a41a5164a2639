/** What lies in the place of one document: several, a page of HTML, JSON. */
import { describe, expect, test } from 'vitest';
import { readFailure, readTokens } from './read-tokens.ts';

describe('several documents', () => {
  test.each([
    ['<a/>\n<a/>', 2, 1],
    ['<a></a><b/>', 1, 8],
    ['<?xml version="1.0"?>\n<a/>\n<?xml version="1.0"?>\n<a/>', 3, 1],
    ['<a/>\n\n<!DOCTYPE a>\n<a/>', 3, 1],
    ['<a/><!-- c --><?p?>\n\uFEFF<a/>', 2, 1],
    ['<a/><é/>', 1, 5],
  ])('%j is told by the line of the second, and by the option', (text, line, column) => {
    const failure = readFailure(text);
    expect(failure).toMatchObject({ code: 'xml_second_document', line, column });
    expect(failure.message).toContain('--concatenated');
  });

  test.each(['<a/>x', '<a/></a>', '<a/><', '<a/>&amp;', '<a><?xml version="1.0"?></a>'])(
    '%j is none',
    (text) => {
      expect(readFailure(text).code).not.toBe('xml_second_document');
    },
  );
});

describe('pages of HTML that are not well-formed', () => {
  test.each([
    '<!DOCTYPE html><html><body><p>Error 502<br></p></body></html>',
    '<!doctype html><html></html>',
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN"><HTML></HTML>',
    '<html lang=en><body></body></html>',
    '<HTML><BODY>a &nbsp; b</BODY></HTML>',
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><br></body></html>',
    '<html><body></body></html>x',
  ])('%j', (text) => {
    expect(readFailure(text).message).toContain('this looks like an HTML page');
  });

  test.each([
    '<htm><br></htm>',
    '<a><html></a>',
    '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:ix="http://www.xbrl.org/2013/inlineXBRL"><br></html>',
    '<x:html xmlns:x="urn:x"><br></x:html>',
    '<htmlish lang=en/>',
  ])('%j is none', (text) => {
    expect(readFailure(text).message).not.toContain('HTML');
  });

  test('a document after a page is none', () => {
    expect(readTokens('<html/>')).toEqual(['START html', 'END html']);
  });
});

describe('what else is no XML', () => {
  test.each(['{"a": 1}', ' [1, 2]', '\uFEFF{}'])('%j looks like JSON', (text) => {
    expect(readFailure(text).message).toContain('this looks like JSON');
  });

  test('a byte order mark at the end is named, and is no second document', () => {
    expect(readFailure('<a/>\n\uFEFF\n').message).toBe(
      'expected nothing but comments and processing instructions after the root element, found U+FEFF, a byte order mark, which may only begin a document: remove it',
    );
    expect(readFailure('<a/>\uFEFF<b/>').message).toMatch(/^a second document begins here/);
  });

  test('a second byte order mark is named', () => {
    expect(readFailure('\uFEFF\uFEFF<a/>').message).toBe(
      'expected the root element, found U+FEFF, a byte order mark, of which a document may begin with one: remove it',
    );
  });

  test.each([
    ['\u200b<a/>', 'U+200B'],
    ['\u00a0<a/>', 'U+00A0'],
    ['<a \u2060="1"/>', 'U+2060'],
    ['<a><b\u200d></a>', 'U+200D'],
    ['<a>&\u200d;</a>', 'U+200D'],
  ])('%j: a character that shows nothing is told as its number', (text, number) => {
    const { message } = readFailure(text);
    expect(message).toContain(number);
    expect(message).toMatch(/^[\x20-\x7e]*$/);
  });
});
