/** Tokens of documents that are well-formed, and faults of those that are not. */
import { describe, expect, test } from 'vitest';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { describeRecord } from '../../../../src/engine/xml/kernel/tape.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { KIND_MASK, KIND_START, RECORD_INTS } from '../../../../src/engine/xml/tokens.ts';
import { bytesOf, failureAt, readFailure, readTokens } from './read-tokens.ts';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';

describe('content', () => {
  test('elements, text and empty elements', () => {
    expect(readTokens('<a>x<b/>y<c></c></a>')).toEqual([
      'START a',
      'TEXT "x"',
      'START b',
      'END b',
      'TEXT "y"',
      'START c',
      'END c',
      'END a',
    ]);
  });

  test('references, CDATA and comments join into one text', () => {
    expect(readTokens('<a>1&lt;&#65;&#x1F600;<!-- no --><![CDATA[<&]]]]><?no no?>&gt;</a>')).toEqual([
      'START a',
      'TEXT "1<A😀<&]]>"',
      'END a',
    ]);
  });

  test('line ends become LF, but not those written as references', () => {
    expect(readTokens('<a>\r\n1\r2\n3&#13;\r\r\n<![CDATA[\r\n]]></a>')).toEqual([
      'START a',
      'TEXT "\\n1\\n2\\n3\\r\\n\\n\\n"',
      'END a',
    ]);
  });

  test('white space is marked, unless it came from a reference or CDATA', () => {
    const lines: string[] = [];
    const names = createNameTable();
    const tokenizer = createXmlTokenizer({
      names,
      onBatch(batch) {
        for (let i = 0; i < batch.count; i++) lines.push(describeRecord(batch, i, names));
      },
    });
    tokenizer.write(bytesOf('<a> \n<b>&#32;</b>\r\n\t<c><![CDATA[ ]]></c></a>'));
    tokenizer.end();
    expect(lines.filter((line) => line.startsWith('TEXT'))).toEqual([
      'TEXT " \\n" white',
      'TEXT " "',
      'TEXT "\\n\\t" white',
      'TEXT " "',
    ]);
  });

  test('comments and processing instructions on demand, also outside the root', () => {
    expect(readTokens('<!--é\r\n--><?p  q?><a><!----><?r?></a><!-- z -->', { comments: true })).toEqual([
      'COMMENT "é\\n"',
      'INSTRUCTION p "q"',
      'START a',
      'COMMENT ""',
      'INSTRUCTION r ""',
      'END a',
      'COMMENT " z "',
    ]);
  });

  test.each([
    ['<a>]]></a>', 'xml_syntax 1:4'],
    ['<a><!-- -- --></a>', 'xml_syntax 1:9'],
    ['<a>\u0001</a>', 'xml_invalid_character 1:4'],
    ['<a>\uffff</a>', 'xml_invalid_character 1:4'],
    ['<a>é&#0;</a>', 'xml_invalid_character 1:5'],
    ['<a>&#xD800;</a>', 'xml_invalid_character 1:4'],
    ['<a>&nope;</a>', 'xml_undeclared_entity 1:4'],
    ['<a>a & b</a>', 'xml_syntax 1:6'],
    ['<a></b>', 'xml_mismatched_tag 1:4'],
    ['<a>\n<b></a>', 'xml_mismatched_tag 2:4'],
    ['<a/><b/>', 'xml_second_document 1:5'],
    ['<a/>x', 'xml_content_after_root 1:5'],
    ['x', 'xml_syntax 1:1'],
    ['', 'xml_unexpected_end 1:1'],
    ['<a>\r\n<b>', 'xml_unexpected_end 2:4'],
    ['<a', 'xml_unexpected_end 1:3'],
    ['<a><![CDATA[x', 'xml_unexpected_end 1:14'],
    ['<a><!-- x', 'xml_unexpected_end 1:10'],
    [' <?xml version="1.0"?><a/>', 'xml_syntax 1:4'],
    ['<?xml version="2.0"?><a/>', 'xml_unsupported_version 1:19'],
    ['<?xml encoding="UTF-8"?><a/>', 'xml_syntax 1:7'],
    ['<a><?xml x?></a>', 'xml_syntax 1:6'],
    ['<a><?p:q x?></a>', 'xml_bad_qualified_name 1:6'],
  ])('refuses %j', (document, failure) => {
    expect(failureAt(document)).toBe(failure);
  });

  test('messages tell what was expected, where, and in which file', () => {
    expect(readFailure('<a>\n  <b></c></a>', { fileName: 'x.xml' })).toEqual({
      code: 'xml_mismatched_tag',
      severity: 'error',
      message: 'expected the end tag </b>, found </c>',
      file: 'x.xml',
      line: 2,
      column: 6,
      path: '/a/b',
    });
  });

  test.each([
    ['<a>b & c</a>', 'expected a name, found U+0020; an "&" that is meant as text is written &amp;'],
    [
      '<a>b&c d</a>',
      'expected ";" at the end of a reference, found U+0020; an "&" that is meant as text is written &amp;',
    ],
    ['<a>b < c</a>', 'expected a name, found U+0020; a "<" that is meant as text is written &lt;'],
    ['<a>< /a>', 'expected a name, found U+0020; a "<" that is meant as text is written &lt;'],
    [
      '<a>&nbsp;</a>',
      'the entity "nbsp" is not declared; write the character itself, or its number as in &#160;, or declare the entity in a DTD',
    ],
  ])('%j is refused with what to write instead', (document, message) => {
    expect(readFailure(document)).toMatchObject({ message, path: '/a' });
  });

  test.each([
    ['<p:a xmlns:p="u"><b/><c><p:d>\u0001', '/p:a/c/p:d'],
    ['<a><b></b>&#0;</a>', '/a'],
    ['<a/><b', undefined],
    [`${'<a>'.repeat(20)}<b>&`, `…/${'a/'.repeat(11)}b`],
    ['<!DOCTYPE a [<!ENTITY e "<b>&#60;</b>">]><a><c>&e;</c></a>', '/a/c/b'],
  ])('%j is refused with the elements that are open', (document, path) => {
    expect(readFailure(document).path).toBe(path);
  });

  test('an element too deep is refused with those around it', () => {
    const limits = { ...defaultEngineLimits, xmlMaxDepth: 3 };
    expect(readFailure('<a><b><c><d/></c></b></a>', { limits }).path).toBe('/a/b/c');
  });
});

describe('start tags', () => {
  test('attribute values are normalised', () => {
    expect(readTokens(`<a b=' x\ty\r\nz ' c = "&#10;&quot;'" d=""/>`)).toEqual([
      'START a',
      'ATTRIBUTE b " x y z "',
      'ATTRIBUTE c "\\n\\"\'"',
      'ATTRIBUTE d ""',
      'END a',
    ]);
  });

  test.each([
    ['<a b="1" b="2"/>', 'xml_duplicate_attribute 1:10'],
    ['<a b="1"c="2"/>', 'xml_syntax 1:9'],
    ['<a b/>', 'xml_syntax 1:5'],
    ['<a b=1/>', 'xml_syntax 1:6'],
    ['<a b="<"/>', 'xml_syntax 1:7'],
    ['<a b="&x"/>', 'xml_syntax 1:7'],
    ['<a / >', 'xml_syntax 1:5'],
    ['<a></a b="1">', 'xml_syntax 1:8'],
    ['<1a/>', 'xml_syntax 1:2'],
    ['<a:/>', 'xml_bad_qualified_name 1:2'],
    ['<a:b:c xmlns:a="u"/>', 'xml_bad_qualified_name 1:2'],
    ['<a:1 xmlns:a="u"/>', 'xml_bad_qualified_name 1:2'],
  ])('refuses %j', (document, failure) => {
    expect(failureAt(document)).toBe(failure);
  });

  test('a start tag with more attributes than a batch holds lies in one batch', () => {
    const attributes = Array.from({ length: 9000 }, (_, i) => ` a${i}="${i}"`).join('');
    const counts: number[] = [];
    const tokenizer = createXmlTokenizer({
      onBatch(batch) {
        for (let i = 0; i < batch.count; i++)
          if ((batch.events[i * RECORD_INTS]! & KIND_MASK) === KIND_START) counts.push(batch.count - i);
      },
    });
    tokenizer.write(bytesOf(`<r>${'<x/>'.repeat(5000)}<a${attributes}/></r>`));
    tokenizer.end();
    expect(counts.at(-1)).toBeGreaterThanOrEqual(9001);
  });
});

describe('namespaces', () => {
  test('declarations come before attributes, wherever they stand', () => {
    expect(readTokens('<p:a p:x="1" x="2" xmlns:p="urn:p" xmlns="urn:d"><b y="3"/></p:a>')).toEqual([
      'START {urn:p}a',
      'NAMESPACE p "urn:p"',
      'NAMESPACE  "urn:d"',
      'ATTRIBUTE {urn:p}x "1"',
      'ATTRIBUTE x "2"',
      'START {urn:d}b',
      'ATTRIBUTE y "3"',
      'END {urn:d}b',
      'END {urn:p}a',
    ]);
  });

  test('scopes end with their element, and the same names alternate between contexts', () => {
    const rows = '<r xmlns="u1"><v/></r><r xmlns="u2"><v/></r><r><v/></r>'.repeat(3);
    const starts = readTokens(`<a>${rows}</a>`).filter((line) => line.startsWith('START'));
    const once = ['START {u1}r', 'START {u1}v', 'START {u2}r', 'START {u2}v', 'START r', 'START v'];
    expect(starts).toEqual(['START a', ...once, ...once, ...once]);
  });

  test('xml is always bound, and the default namespace can be undeclared', () => {
    expect(readTokens('<a xmlns="u" xml:lang="en"><b xmlns=""/></a>')).toEqual([
      'START {u}a',
      'NAMESPACE  "u"',
      'ATTRIBUTE {http://www.w3.org/XML/1998/namespace}lang "en"',
      'START b',
      'NAMESPACE  ""',
      'END b',
      'END {u}a',
    ]);
  });

  test.each([
    ['<p:a/>', 'xml_undeclared_prefix'],
    ['<a p:b="1"/>', 'xml_undeclared_prefix'],
    ['<a><b xmlns:p="u"/><p:c/></a>', 'xml_undeclared_prefix'],
    ['<a xmlns:p=""/>', 'xml_bad_namespace_declaration'],
    ['<a xmlns:xmlns="u"/>', 'xml_bad_namespace_declaration'],
    ['<a xmlns:xml="u"/>', 'xml_bad_namespace_declaration'],
    ['<a xmlns:x="http://www.w3.org/XML/1998/namespace"/>', 'xml_bad_namespace_declaration'],
    ['<a xmlns="http://www.w3.org/2000/xmlns/"/>', 'xml_bad_namespace_declaration'],
    ['<xmlns:a/>', 'xml_reserved_prefix'],
    ['<a xmlns:p="u" xmlns:q="u" p:x="1" q:x="2"/>', 'xml_duplicate_attribute'],
    ['<a xmlns:p="u" xmlns:p="u"/>', 'xml_duplicate_attribute'],
  ])('refuses %j', (document, code) => {
    expect(readFailure(document).code).toBe(code);
  });

  test('one name table serves many documents', () => {
    const names = createNameTable();
    readTokens('<a xmlns="u"/>', { names });
    const size = names.size;
    readTokens('<p:a xmlns:p="u"/>', { names });
    expect(names.intern('u', 'a')).toBeLessThan(size);
    expect(() => names.localName(names.size)).toThrow(RangeError);
  });
});

describe('places', () => {
  test('of records, after text with every kind of line end', () => {
    const document = '<a>\r\n<b>\r<c x="é"/></b>\n\n  <d>😀<e/></d></a>';
    expect(
      readTokens(document, { places: true }).filter(
        (line) => line.includes('START') || line.includes('ATTR'),
      ),
    ).toEqual([
      '1:1 START a',
      '2:1 START b',
      '3:1 START c',
      '3:7 ATTRIBUTE x "é"',
      '5:3 START d',
      '5:7 START e',
    ]);
  });

  test('of decoded values are those in the document', () => {
    const document = '<a>\n<b x="1" y="&amp;\r\n"/></a>';
    expect(readTokens(document, { places: true }).filter((line) => line.includes('ATTR'))).toEqual([
      '2:7 ATTRIBUTE x "1"',
      '2:13 ATTRIBUTE y "& "',
    ]);
  });
});
