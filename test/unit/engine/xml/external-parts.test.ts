/** External DTD subsets and entities: what they declare, and the limits that hold for them. */
import { describe, expect, it } from 'vitest';
import type { ExternalPart, ExternalParts } from '../../../../src/engine/xml/dtd/document-type.ts';
import { defaultEngineLimits } from '../../../../src/engine/limits.ts';
import { bytesOf, readFailure, readTokens } from './read-tokens.ts';

/** Files by name; the same part each time. */
function parts(files: Readonly<Record<string, string | Uint8Array>>): ExternalParts {
  const known = new Map<string, ExternalPart>();
  return {
    read({ systemId }) {
      const name = systemId ?? '';
      if (!(name in files)) return { refused: 'not here' };
      if (!known.has(name)) known.set(name, { bytes: bytesOf(files[name]!), base: name });
      return known.get(name)!;
    },
  };
}

const read = (document: string, files: Readonly<Record<string, string | Uint8Array>>): string[] =>
  readTokens(document, { external: parts(files) });

describe('a DTD outside of the document', () => {
  it('declares entities and defaults, also with parameter entities and conditional sections', () => {
    const dtd = `<?xml version="1.0" encoding="UTF-8"?>
<!ENTITY % local.atts "">
<!ENTITY % common "lang NMTOKEN '  eo ' %local.atts;">
<!ENTITY % use "INCLUDE">
<![%use;[<!ENTITY e "&#xE9;t&#233;"><![IGNORE[ <!ENTITY f "no"> <![ x ]]> ]]>]]>
<!ENTITY f "yes">
<!ENTITY % name "p">
<!ATTLIST %name; %common;>
<!ENTITY % part SYSTEM "part.ent">
%part;
<!ENTITY both "%two;-%two;">`;
    const part = '<!ENTITY % two "2&#38;#37;">\r\n<!ATTLIST p x CDATA "a&#9;b">';
    const document =
      '<!DOCTYPE p SYSTEM "a.dtd" [<!ENTITY f "own"><!ENTITY % local.atts "own CDATA \'1\'">]><p>&e;&f;&both;</p>';
    expect(read(document, { 'a.dtd': dtd, 'part.ent': part })).toEqual([
      'START p',
      'ATTRIBUTE lang "eo" defaulted',
      'ATTRIBUTE own "1" defaulted',
      'ATTRIBUTE x "a\\tb" defaulted',
      'TEXT "étéown2%-2%"',
      'END p',
    ]);
  });

  it('is the same for each document that names it', () => {
    const external = parts({
      'a.dtd': '<!ENTITY e "1"><!ENTITY x SYSTEM "x.ent"><!ATTLIST d a CDATA "2">',
      'x.ent': '<i>3</i>',
    });
    const document = '<!DOCTYPE d SYSTEM "a.dtd"><d>&e;&x;</d>';
    const tokens = [
      'START d',
      'ATTRIBUTE a "2" defaulted',
      'TEXT "1"',
      'START i',
      'TEXT "3"',
      'END i',
      'END d',
    ];
    for (let time = 0; time < 3; time += 1) expect(readTokens(document, { external })).toEqual(tokens);
  });

  it('is read in its own encoding', () => {
    const latin = Uint8Array.from(Buffer.from('<?xml encoding="ISO-8859-1"?><!ENTITY e "\u00e9">', 'latin1'));
    const wide = new Uint8Array(Buffer.from('\ufeff<!ENTITY f "\u0125">', 'utf16le'));
    expect(
      read('<!DOCTYPE d SYSTEM "a" [<!ENTITY % w SYSTEM "w"> %w;]><d>&e;&f;</d>', { a: latin, w: wide }),
    ).toEqual(['START d', 'TEXT "\u00e9\u0125"', 'END d']);
  });

  it('that is not read is told of with the reason', () => {
    const failure = readFailure('<!DOCTYPE d SYSTEM "x.dtd"><d>&e;</d>', { external: parts({}) });
    expect(failure).toMatchObject({ code: 'xml_undeclared_entity' });
    expect(failure.message).toContain('x.dtd: not here');
    expect(readTokens('<!DOCTYPE d SYSTEM "x.dtd"><d/>', { external: parts({}) })).toEqual([
      'START d',
      'END d',
    ]);
  });

  it('has faults with its name and line', () => {
    const files = { 'a.dtd': '<!ENTITY a "1">\n\n<!ATTLIST d x CDATA>' };
    expect(readFailure('<!DOCTYPE d SYSTEM "a.dtd"><d/>', { external: parts(files) }).message).toContain(
      '(in a.dtd, line 3)',
    );
  });
});

/** Files whose entities multiply from one to the next. */
const laughs = (depth: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: depth }, (_, at) => [
      `${at}.dtd`,
      at === 0
        ? '<!ENTITY e0 "ha ha ha ha ha ha ha ha ha ha">'
        : `<!ENTITY % p${at - 1} SYSTEM "${at - 1}.dtd">%p${at - 1};<!ENTITY e${at} "${`&e${at - 1};`.repeat(10)}">`,
    ]),
  );

describe('limits hold for what lies outside', () => {
  it.each([
    [
      'a laugh over several files',
      '<!DOCTYPE d SYSTEM "8.dtd"><d>&e8;</d>',
      laughs(9),
      'xml_entity_amplification_limit',
    ],
    [
      '… in an attribute',
      '<!DOCTYPE d SYSTEM "8.dtd"><d a="&e8;"/>',
      laughs(9),
      'xml_entity_amplification_limit',
    ],
    [
      'parameter entities that multiply',
      '<!DOCTYPE d SYSTEM "a"><d/>',
      {
        a: `<!ENTITY % p0 "<!ENTITY x '1'> ">${Array.from({ length: 9 }, (_, at) => `<!ENTITY % p${at + 1} "${`%p${at};`.repeat(10)}">`).join('')}%p9;`,
      },
      'xml_entity_amplification_limit',
    ],
    [
      '… within a declaration',
      '<!DOCTYPE d SYSTEM "a"><d/>',
      {
        a: `<!ENTITY % p0 "a CDATA #IMPLIED ">${Array.from({ length: 9 }, (_, at) => `<!ENTITY % p${at + 1} "${`&#37;p${at}; `.repeat(10)}">`).join('')}<!ATTLIST d %p9;>`,
      },
      'xml_entity_amplification_limit',
    ],
    [
      'a file that names itself',
      '<!DOCTYPE d SYSTEM "a"><d/>',
      { a: '<!ENTITY % a SYSTEM "a">%a;' },
      'xml_entity_recursion',
    ],
    [
      'files that name each other',
      '<!DOCTYPE d SYSTEM "a"><d/>',
      { a: '<!ENTITY % b SYSTEM "b">%b;', b: '<!ENTITY % a SYSTEM "a">%a;' },
      'xml_entity_recursion',
    ],
    [
      'content that includes itself',
      '<!DOCTYPE d [<!ENTITY e SYSTEM "e">]><d>&e;</d>',
      { e: '<i>&e;</i>' },
      'xml_entity_recursion',
    ],
    [
      'an external entity in an attribute',
      '<!DOCTYPE d [<!ENTITY e SYSTEM "e">]><d a="&e;"/>',
      { e: 'text' },
      'xml_external_entity',
    ],
  ])('%s', (_, document, files, code) => {
    expect(readFailure(document, { external: parts(files as Record<string, string>) }).code).toBe(code);
  });

  it('the bytes of all parts', () => {
    const limits = { ...defaultEngineLimits, xmlMaxEntityExpansionBytes: 1000 };
    const files = { a: `<!-- ${'x'.repeat(2000)} -->` };
    expect(readFailure('<!DOCTYPE d SYSTEM "a"><d/>', { limits, external: parts(files) }).code).toBe(
      'xml_entity_expansion_limit',
    );
  });
});
