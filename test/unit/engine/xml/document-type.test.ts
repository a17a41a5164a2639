/** Document type declarations: entities, attribute lists. */
import { describe, expect, test } from 'vitest';
import { failureAt, readFailure, readTokens } from './read-tokens.ts';

function withSubset(subset: string, content: string): string {
  return `<!DOCTYPE a [${subset}]>${content}`;
}

describe('internal entities', () => {
  test('bring text and markup, themselves with references', () => {
    const subset = `<!ENTITY e "1<b c='&f;'>&f;</b>"><!ENTITY f "x&#38;amp;y">`;
    expect(readTokens(withSubset(subset, '<a k="&f;">&e;&f;</a>'))).toEqual([
      'START a',
      'ATTRIBUTE k "x&y"',
      'TEXT "1"',
      'START b',
      'ATTRIBUTE c "x&y"',
      'TEXT "x&y"',
      'END b',
      'TEXT "x&y"',
      'END a',
    ]);
  });

  test('the first declaration binds, and predefined entities may be declared as what they are', () => {
    const subset = `<!ENTITY e "1"><!ENTITY e "2"><!ENTITY lt "&#38;#60;"><!ENTITY amp "&#38;#x0026;"><!ENTITY apos "'">`;
    expect(readTokens(withSubset(subset, '<a>&e;&lt;&amp;</a>'))).toEqual(['START a', 'TEXT "1<&"', 'END a']);
    expect(readFailure(withSubset('<!ENTITY lt "x">', '<a/>')).code).toBe('xml_syntax');
  });

  test('white space of an entity becomes spaces in an attribute and stays in text', () => {
    const subset = '<!ENTITY e "\r\n\t&#13;">';
    expect(readTokens(withSubset(subset, '<a k="&e;">&e;</a>'))).toEqual([
      'START a',
      'ATTRIBUTE k "   "',
      'TEXT "\\n\\t\\r"',
      'END a',
    ]);
  });

  test('prefixes of an entity are those in scope at the reference', () => {
    const subset = '<!ENTITY e "<p:b/>">';
    expect(readTokens(withSubset(subset, '<a xmlns:p="u1">&e;<c xmlns:p="u2">&e;</c></a>'))).toContain(
      'START {u2}b',
    );
  });

  test.each([
    ['<!ENTITY e "<b>">', '<a>&e;</a>', 'xml_unbalanced_entity'],
    ['<!ENTITY e "</a><a>">', '<a>&e;</a>', 'xml_unbalanced_entity'],
    ['<!ENTITY e "&#60;![CDATA[x">', '<a>&e;]]></a>', 'xml_unbalanced_entity'],
    ['<!ENTITY e "<b">', '<a>&e;/></a>', 'xml_unbalanced_entity'],
    ['<!ENTITY e "&#38;">', '<a>&e;lt;</a>', 'xml_unbalanced_entity'],
    ['<!ENTITY e "&e;">', '<a>&e;</a>', 'xml_entity_recursion'],
    ['<!ENTITY e "&f;"><!ENTITY f "&e;">', '<a b="&e;"/>', 'xml_entity_recursion'],
    ['<!ENTITY e "<b/>">', '<a b="&e;"/>', 'xml_syntax'],
    ['<!ENTITY e SYSTEM "e.xml">', '<a>&e;</a>', 'xml_external_entity'],
    ['<!ENTITY e SYSTEM "file:///etc/passwd">', '<a b="&e;"/>', 'xml_external_entity'],
    ['<!ENTITY e SYSTEM "e.gif" NDATA gif>', '<a>&e;</a>', 'xml_unparsed_entity'],
    ['<!ENTITY e "]]>">', '<a>&e;</a>', 'xml_syntax'],
    ['<!ENTITY f "x">', '<a>&e;</a>', 'xml_undeclared_entity'],
    ['<!ENTITY e "&#0;">', '<a/>', 'xml_invalid_character'],
    ['<!ENTITY p:e "x">', '<a/>', 'xml_bad_qualified_name'],
    ['<!ENTITY e "100%">', '<a/>', 'xml_syntax'],
    ['<!ENTITY e "a & b">', '<a/>', 'xml_syntax'],
    ['<!ENTITY % p "x"><!ELEMENT a %p;>', '<a/>', 'xml_syntax'],
  ])('refuses %s in %s', (subset, content, code) => {
    expect(readFailure(withSubset(subset, content)).code).toBe(code);
  });

  test('a fault in an entity is placed at the reference, and the message names the entity', () => {
    const document = withSubset('<!ENTITY e "x<b></c>">', '\n<a>\n  &e;</a>');
    expect(readFailure(document)).toMatchObject({
      line: 3,
      column: 3,
      message: 'expected the end tag </b>, found </c> (in the replacement text of the entity "e")',
    });
  });
});

describe('parameter entities', () => {
  test('bring declarations', () => {
    const subset = `<!ENTITY % d "<!ENTITY e 'x'><!ATTLIST a k CDATA 'v'>"> %d; `;
    expect(readTokens(withSubset(subset, '<a>&e;</a>'))).toEqual([
      'START a',
      'ATTRIBUTE k "v" defaulted',
      'TEXT "x"',
      'END a',
    ]);
  });

  test.each([
    ['<!ENTITY % d "<!ENTITY e">%d;', 'xml_syntax'],
    ['<!ENTITY % d "&#37;d;">%d;', 'xml_entity_recursion'],
    [`<!ENTITY % d "<!ENTITY f '">%d;`, 'xml_syntax'],
  ])('refuses %s', (subset, code) => {
    expect(readFailure(withSubset(subset, '<a/>')).code).toBe(code);
  });

  test('one that is external is passed over, and what follows it is not used', () => {
    const subset = '<!ENTITY e "1"><!ENTITY % d SYSTEM "d.dtd">%d;<!ENTITY f "2"><!ATTLIST a k CDATA "v">';
    expect(readTokens(withSubset(subset, '<a>&e;</a>'))).toEqual(['START a', 'TEXT "1"', 'END a']);
    expect(readFailure(withSubset(subset, '<a>&f;</a>')).message).toMatch(
      /external parts of the DTD are not read/,
    );
    expect(readTokens(`<?xml version="1.0" standalone="yes"?>${withSubset(subset, '<a>&f;</a>')}`)).toEqual([
      'START a',
      'ATTRIBUTE k "v" defaulted',
      'TEXT "2"',
      'END a',
    ]);
  });
});

describe('attribute lists', () => {
  test('collapse tokenised values and supply defaults, namespace declarations too', () => {
    const subset =
      '<!ATTLIST a k NMTOKENS #IMPLIED l (x|y) " y " m CDATA #FIXED " z " xmlns:p CDATA "u" p:n ID "&#32; 1" k CDATA "never">';
    expect(readTokens(withSubset(subset, '<a k="  1&#32;&#10; 2 "><p:b/></a>'))).toEqual([
      'START a',
      'NAMESPACE p "u" defaulted',
      'ATTRIBUTE k "1 \\n 2"',
      'ATTRIBUTE l "y" defaulted',
      'ATTRIBUTE m " z " defaulted',
      'ATTRIBUTE {u}n "1" defaulted',
      'START {u}b',
      'END {u}b',
      'END a',
    ]);
  });

  test('what a tag says itself stands above the default', () => {
    const subset = '<!ATTLIST a k CDATA "d"><!ATTLIST a l CDATA "e" k CDATA "f">';
    expect(readTokens(withSubset(subset, '<a k="1"/>'))).toEqual([
      'START a',
      'ATTRIBUTE k "1"',
      'ATTRIBUTE l "e" defaulted',
      'END a',
    ]);
  });

  test.each([
    '<!ATTLIST a k CDATA "<">',
    '<!ATTLIST a k TEXT #IMPLIED>',
    '<!ATTLIST a k (x|) #IMPLIED>',
    '<!ATTLIST a k NOTATION(x) #IMPLIED>',
    '<!ATTLIST a k CDATA>',
    '<!ATTLIST a k CDATA #IMPLIED l CDATA#IMPLIED>',
  ])('refuses %s', (subset) => {
    expect(readFailure(withSubset(subset, '<a/>')).code).toBe('xml_syntax');
  });
});

describe('the rest of the declaration', () => {
  test.each([
    '<!DOCTYPE a><a/>',
    '<!DOCTYPE a SYSTEM "a.dtd"><a/>',
    '<!DOCTYPE a PUBLIC \'-//X//Y\' "a.dtd" [ ] ><a/>',
    '<!DOCTYPE a[<!ELEMENT a (b,(c|d)?,(e)*)+><!ELEMENT b (#PCDATA)><!ELEMENT c (#PCDATA|a)*><!ELEMENT d EMPTY><!ELEMENT e ANY>]><a/>',
    '<!DOCTYPE a[<!NOTATION n PUBLIC "x"><!NOTATION m SYSTEM "y"><!-- [ -->]><a/>',
  ])('accepts %s', (document) => {
    expect(readTokens(document)).toEqual(['START a', 'END a']);
  });

  test.each([
    ['<!DOCTYPE a><!DOCTYPE a><a/>', 'xml_syntax 1:13'],
    ['<a/><!DOCTYPE a>', 'xml_second_document 1:5'],
    ['<!DOCTYPE a PUBLIC "x"><a/>', 'xml_syntax 1:23'],
    ['<!DOCTYPE a PUBLIC "{" "y"><a/>', 'xml_syntax 1:21'],
    ['<!DOCTYPE a[<!ELEMENT a (b,c|d)>]><a/>', 'xml_syntax 1:30'],
    ['<!DOCTYPE a[<!ELEMENT a (#PCDATA|b)>]><a/>', 'xml_syntax 1:36'],
    ['<!DOCTYPE a[<![INCLUDE[]]>]><a/>', 'xml_syntax 1:13'],
    ['<!DOCTYPE a[x]><a/>', 'xml_syntax 1:13'],
    ['<!DOCTYPE a[<!-- -- -->]><a/>', 'xml_syntax 1:18'],
  ])('refuses %s', (document, failure) => {
    expect(failureAt(document)).toBe(failure);
  });
});
