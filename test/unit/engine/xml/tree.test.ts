/** Small documents as trees. */
import { expect, test } from 'vitest';
import { InputError } from '../../../../src/engine/diagnostics.ts';
import { parseXmlTree } from '../../../../src/engine/xml/tree.ts';
import type { XmlElement } from '../../../../src/engine/xml/tree.ts';
import { bytesOf } from './read-tokens.ts';

const document = `<?xml version="1.0"?>
<xs:schema xmlns:xs="urn:xs" xmlns="urn:d" id=" 1 ">
  <!-- left out -->
  <xs:a type="b">x&amp;<![CDATA[<]]>y</xs:a><c xmlns="" xmlns:q="urn:q"/>
</xs:schema>`;

function elements(element: XmlElement): XmlElement[] {
  return element.children.filter((child) => typeof child !== 'string');
}

test('a tree has names, attributes, text and places', () => {
  const root = parseXmlTree(bytesOf(document));
  expect(root.name).toEqual({ namespaceUri: 'urn:xs', localName: 'schema' });
  expect(root.attributes).toEqual([{ name: { namespaceUri: '', localName: 'id' }, value: ' 1 ' }]);
  expect({ line: root.line, column: root.column }).toEqual({ line: 2, column: 1 });
  const [a, c] = elements(root) as [XmlElement, XmlElement];
  expect(a.children).toEqual(['x&<y']);
  expect({ line: a.line, column: a.column }).toEqual({ line: 4, column: 3 });
  expect(c.name).toEqual({ namespaceUri: '', localName: 'c' });
  expect(root.children.filter((child) => typeof child === 'string')).toEqual(['\n  \n  ', '\n']);
});

test('namespaces in scope are shared where nothing is declared', () => {
  const root = parseXmlTree(bytesOf(document));
  const [a, c] = elements(root) as [XmlElement, XmlElement];
  expect(a.namespaces).toBe(root.namespaces);
  expect(Object.fromEntries(root.namespaces)).toEqual({
    xml: 'http://www.w3.org/XML/1998/namespace',
    xs: 'urn:xs',
    '': 'urn:d',
  });
  expect(c.namespaces.has('')).toBe(false);
  expect(c.namespaces.get('q')).toBe('urn:q');
});

test('a document that is not well-formed is an InputError with its place', () => {
  expect(() => parseXmlTree(bytesOf('<a>\n</b>'), { fileName: 'x.xsd' })).toThrow(InputError);
  expect(() => parseXmlTree(bytesOf('<a>\n</b>'), { fileName: 'x.xsd' })).toThrow(
    'x.xsd: line 2, column 1: expected the end tag </a>, found </b>',
  );
});
