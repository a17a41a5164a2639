/** XSD sets that are made to exhaust the compiler. */
import { describe, expect, it } from 'vitest';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import { diagnose, schemaFile, view } from './fixture-sets.ts';
import { isHere } from '../../../support/needs.ts';

const range = (count: number) => Array.from({ length: count }, (_, index) => index);

/** A document with a sequence in a sequence, `depth` times. */
function nested(depth: number) {
  const [open, close] = ['<xs:sequence>'.repeat(depth), '</xs:sequence>'.repeat(depth)];
  const content = `<xs:complexType name="T">${open}<xs:element name="x"/>${close}</xs:complexType>`;
  return [schemaFile('a.xsd', content)];
}

/** Compiles one document and looks at it. */
function compile(content: string) {
  const { model, diagnostics } = diagnose([schemaFile('a.xsd', content)]);
  return view(model!, diagnostics);
}

describe('sets made to blow up', () => {
  it('doubles groups 40 deep without expanding them', () => {
    const groups = range(40).map(
      (n) =>
        `<xs:group name="g${n + 1}"><xs:sequence><xs:group ref="g${n}"/><xs:group ref="g${n}"/></xs:sequence></xs:group>`,
    );
    const { children, type } = compile(
      `<xs:group name="g0"><xs:sequence><xs:element name="a"/></xs:sequence></xs:group>${groups.join('')}` +
        '<xs:complexType name="small"><xs:group ref="g3"/></xs:complexType>' +
        '<xs:complexType name="T"><xs:group ref="g40"/></xs:complexType>',
    );
    expect(children(type('small'))).toEqual(['a 8..8']);
    expect(children(type('T'))).toEqual([`a ${2 ** 31 - 1}..*`]);
  });

  it('multiplies ranges in the millions; over 2^31-1 is unbounded', () => {
    const { children, type } = compile(
      '<xs:complexType name="T"><xs:sequence minOccurs="5000000" maxOccurs="9000000">' +
        '<xs:element name="a" minOccurs="3000000" maxOccurs="99999999999999999999999"/>' +
        '<xs:element name="b" maxOccurs="7"/></xs:sequence></xs:complexType>',
    );
    expect(children(type('T'))).toEqual([`a ${2 ** 31 - 1}..*`, 'b 5000000..63000000']);
  });

  it('follows a chain of thousands of includes', () => {
    const count = isHere('whole run') ? 10_000 : 2_000;
    const files = range(count).map((n) =>
      schemaFile(
        `f${n}.xsd`,
        `${n < count - 1 ? `<xs:include schemaLocation="f${n + 1}.xsd"/>` : ''}<xs:element name="e${n}"/>`,
      ),
    );
    const { model } = diagnose(files);
    expect(model!.elements).toHaveLength(count);
  });

  it.each([
    [
      'extensions',
      (n: number) =>
        `<xs:complexType name="t${n + 1}"><xs:complexContent><xs:extension base="t${n}"/></xs:complexContent></xs:complexType>`,
      '<xs:complexType name="t0"/>',
    ],
    [
      'groups',
      (n: number) =>
        `<xs:group name="t${n + 1}"><xs:sequence><xs:group ref="t${n}"/></xs:sequence></xs:group>`,
      '<xs:group name="t0"><xs:sequence/></xs:group>',
    ],
    [
      'restrictions',
      (n: number) => `<xs:simpleType name="t${n + 1}"><xs:restriction base="t${n}"/></xs:simpleType>`,
      '<xs:simpleType name="t0"><xs:restriction base="xs:int"/></xs:simpleType>',
    ],
    [
      'substitutions',
      (n: number) => `<xs:element name="t${n + 1}" substitutionGroup="t${n}"/>`,
      '<xs:element name="t0"/>',
    ],
    [
      'attribute groups',
      (n: number) =>
        `<xs:attributeGroup name="t${n + 1}"><xs:attributeGroup ref="t${n}"/></xs:attributeGroup>`,
      '<xs:attributeGroup name="t0"/>',
    ],
  ])('takes chains of 900 %s and refuses 20,000 with a reason', (_, link, start) => {
    const chain = (length: number) => [schemaFile('a.xsd', start + range(length).map(link).join(''))];
    expect(diagnose(chain(900))).toMatchObject({ usable: true, diagnostics: [] });
    const long = diagnose(chain(20_000));
    expect(long.usable).toBe(false);
    expect(long.diagnostics).toMatchObject([{ code: 'xsd_too_deep', file: 'a.xsd', line: 1 }]);
  });

  it('compares copies of large documents once, not for each of their components', () => {
    const elements = range(20_000).map((n) => `<xs:element name="e${n}" type="xs:string"/>`);
    const copies = ['a', 'b'].flatMap((folder) => [
      schemaFile(
        `${folder}/main.xsd`,
        `<xs:include schemaLocation="all.xsd"/><xs:element name="${folder}"/>`,
      ),
      schemaFile(`${folder}/all.xsd`, elements.join('\n')),
    ]);
    const { usable, diagnostics, model } = diagnose(copies);
    expect({ usable, diagnostics }).toEqual({ usable: true, diagnostics: [] });
    expect(model!.elements).toHaveLength(20_002);
  });

  it('reads deep documents and refuses those deeper still', () => {
    const deep = diagnose(nested(390));
    expect(view(deep.model!).children(view(deep.model!).type('T'))).toEqual(['x 1..1 ordered']);
    expect(diagnose(nested(1000))).toMatchObject({ usable: false, diagnostics: [{ code: 'xsd_too_deep' }] });
  });

  it('keeps unions of unions small', () => {
    const unions = range(500).map(
      (n) => `<xs:simpleType name="u${n + 1}"><xs:union memberTypes="u${n} u${n}"/></xs:simpleType>`,
    );
    const { type } = compile(
      `<xs:simpleType name="u0"><xs:union memberTypes="xs:int xs:date"/></xs:simpleType>${unions.join('')}`,
    );
    expect(type('u500').value!.memberTypes).toHaveLength(2);
  });

  it('stops at the limits on files and components', () => {
    const limits = { ...defaultEngineLimits, xsdMaxFiles: 2, xsdMaxComponents: 100 };
    const three = range(3).map((n) => schemaFile(`${n}.xsd`, ''));
    expect(diagnose(three, { limits }).diagnostics).toMatchObject([{ code: 'xsd_too_many_files' }]);
    const elements = range(101).map((n) => `<xs:element name="e${n}"/>`);
    expect(diagnose([schemaFile('a.xsd', elements.join(''))], { limits }).diagnostics).toMatchObject([
      { code: 'xsd_too_many_components', file: 'a.xsd' },
    ]);
    const children = range(20).map((n) => `<xs:element name="e${n}"/>`);
    const users = range(20).map((n) => `<xs:complexType name="t${n}"><xs:group ref="g"/></xs:complexType>`);
    const wide = `<xs:group name="g"><xs:sequence>${children.join('')}</xs:sequence></xs:group>${users.join('')}`;
    expect(diagnose([schemaFile('a.xsd', wide)], { limits }).diagnostics).toMatchObject([
      { code: 'xsd_model_too_large' },
    ]);
  });
});
