/** What a log says of an XSD set. */
import { describe, expect, it } from 'vitest';
import { compileXsdSet } from '../../../../src/engine/xsd/compile-set.ts';
import { XsdSetError } from '../../../../src/engine/xsd/report.ts';
import { diagnosticLines, entriesLine } from '../../../../src/tools/schemas/convert-xsd.ts';

const schema = (content: string): Uint8Array =>
  new TextEncoder().encode(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${content}</xs:schema>`);

function diagnosticsOf(files: Readonly<Record<string, string>>) {
  try {
    return compileXsdSet(Object.entries(files).map(([name, text]) => ({ name, bytes: schema(text) })))
      .diagnostics;
  } catch (error) {
    if (error instanceof XsdSetError) return error.diagnostics;
    throw error;
  }
}

describe('a missing document', () => {
  it('is told once, with who refers to it and what of it is needed', () => {
    const lines = diagnosticLines(
      diagnosticsOf({
        'a.xsd': '<xs:include schemaLocation="shared/money.xsd"/><xs:element name="a" type="Amount"/>',
        'b.xsd': '<xs:include schemaLocation="./shared/money.xsd"/><xs:element name="b" type="Rate"/>',
        'shared/c.xsd': '<xs:include schemaLocation="money.xsd"/><xs:element name="c" type="xs:string"/>',
      }),
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^error: the document shared\/money\.xsd is not in the set; it is referred to by a\.xsd line 1, b\.xsd line 1, shared\/c\.xsd line 1; components needed from it: .*Amount, .*Rate$/,
    );
  });

  it('that one place needs is told there', () => {
    const lines = diagnosticLines(
      diagnosticsOf({
        'a.xsd': '<xs:include schemaLocation="gone.xsd"/><xs:element name="a" type="xs:int"/>',
      }),
    );
    expect(lines).toEqual([
      expect.stringMatching(/^warning: a\.xsd: line 1, .*"gone\.xsd" is not in the set$/),
    ]);
  });
});

it('entries of a folder are told', () => {
  const files = {
    'main.xsd': '<xs:include schemaLocation="part.xsd"/><xs:element name="main" type="Part"/>',
    'part.xsd': '<xs:complexType name="Part"/>',
  };
  const { entries } = compileXsdSet(
    Object.entries(files).map(([name, text]) => ({ name, bytes: schema(text) })),
  );
  expect(entriesLine(entries, 2)).toBe(
    'entry files: main.xsd, which no other file of the 2 includes or imports',
  );
});

const assertingType = (name: string): string =>
  `<xs:complexType name="${name}"><xs:assert test="true()"/></xs:complexType>`;

it('what is not looked at of many types is told once', () => {
  const lines = diagnosticLines(diagnosticsOf({ 'a.xsd': ['A', 'B', 'C'].map(assertingType).join('') }));
  expect(lines).toEqual([
    expect.stringMatching(/^info: a\.xsd: line 1, .*Assertions \(XSD 1\.1\) are not checked.*; so 2 more$/),
  ]);
  expect(diagnosticLines(diagnosticsOf({ 'a.xsd': assertingType('A') }))).toEqual([
    expect.stringMatching(/are not checked$/),
  ]);
});
