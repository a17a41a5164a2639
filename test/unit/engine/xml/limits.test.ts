/** Limits of the tokenizer. */
import { describe, expect, test } from 'vitest';
import { defaultEngineLimits, type EngineLimits } from '../../../../src/engine/limits.ts';
import { createNameTable } from '../../../../src/engine/xml/names/interned.ts';
import { readFailure, readTokens } from './read-tokens.ts';

function limited(changes: Partial<EngineLimits>): { limits: EngineLimits } {
  return { limits: { ...defaultEngineLimits, ...changes } };
}

/** A start tag with a hundred namespace declarations of its own. */
const declaring = (level: number): string =>
  `<a ${Array.from({ length: 100 }, (_, at) => `xmlns:p${level}.${at}="u"`).join(' ')}>`;

const spread = (levels: number): string =>
  Array.from({ length: levels }, (_, level) => declaring(level)).join('') + '</a>'.repeat(levels);

const nest = (depth: number) => `${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}`;

/** One value of so many bytes, out of as many pieces. */
const pieces = (bytes: number): string => `<a>${'x<!-- -->'.repeat(bytes - 3)}<![CDATA[y]]>&lt;z</a>`;

const long = (at: number): string => 'n'.repeat(16_000) + String(1000 + at);
const each = (count: number, text: (name: string) => string): string =>
  Array.from({ length: count }, (_, at) => text(long(at))).join('');

const part = (from: number): string =>
  `<r>${Array.from({ length: 60 }, (_, at) => `<${long(from + at)}/>`).join('')}</r>`;

describe('limits', () => {
  test('depth', () => {
    expect(readTokens(nest(4096))).toHaveLength(8192);
    expect(readFailure(nest(4097))).toMatchObject({ code: 'xml_depth_limit', line: 1, column: 4096 * 3 + 1 });
    expect(readTokens('<a><b/></a>', limited({ xmlMaxDepth: 2 }))).toHaveLength(4);
    expect(readFailure('<a><b/></a>', limited({ xmlMaxDepth: 1 })).code).toBe('xml_depth_limit');
    expect(readTokens(nest(9000), limited({ xmlMaxDepth: 9000 }))).toHaveLength(18_000);
  });

  test('attributes of an element, defaults included', () => {
    const few = limited({ xmlMaxAttributes: 2 });
    expect(readTokens('<a b="" c=""/>', few)).toHaveLength(4);
    expect(readFailure('<a b="" c="" d=""/>', few).code).toBe('xml_attribute_limit');
    const document = '<!DOCTYPE a [<!ATTLIST a d CDATA "">]><a b="" c=""/>';
    expect(readFailure(document, few).code).toBe('xml_attribute_limit');
  });

  test('namespace declarations in force, however they are spread over elements', () => {
    expect(readTokens(spread(100))).toHaveLength(200 + 100 * 100);
    expect(readFailure(spread(101)).code).toBe('xml_name_count_limit');
    // those of siblings are not in force together
    const siblings = Array.from({ length: 300 }, (_, level) => `${declaring(level)}</a>`).join('');
    expect(readTokens(`<r>${siblings}</r>`)).toHaveLength(2 + 600 + 300 * 100);
  });

  describe('names and namespaces that are long', () => {
    const kinds: Readonly<Record<string, (count: number) => string>> = {
      elements: (count) => `<r>${each(count, (name) => `<${name}/>`)}</r>`,
      attributes: (count) => `<r>${each(count, (name) => `<a ${name}=""/>`)}</r>`,
      namespaces: (count) => `<r>${each(count, (name) => `<a xmlns="${name}"/>`)}</r>`,
      prefixes: (count) => `<r>${each(count, (name) => `<a xmlns:${name}="u"/>`)}</r>`,
      entities: (count) => `<!DOCTYPE r [${each(count, (name) => `<!ENTITY ${name} "">`)}]><r/>`,
      'declared elements': (count) => `<!DOCTYPE r [${each(count, (name) => `<!ELEMENT ${name} ANY>`)}]><r/>`,
    };

    test.each(Object.entries(kinds))('%s: a hundred', (kind, make) => {
      const few = kind === 'prefixes' ? 50 : 100;
      expect(readTokens(make(few)).length).toBeGreaterThan(1);
      expect(readFailure(make(102)).code).toBe('xml_name_count_limit');
    });

    test('of all documents that share their names', () => {
      const names = createNameTable();
      expect(readTokens(part(0), { names })).toHaveLength(122);
      expect(readTokens(part(0), { names })).toHaveLength(122);
      expect(readFailure(part(100), { names }).code).toBe('xml_name_count_limit');
    });
  });

  test('length of a name', () => {
    const short = limited({ xmlMaxNameBytes: 10 });
    expect(readTokens('<abcdefghij/>', short)).toHaveLength(2);
    expect(readFailure('<abcdefghijk/>', short).code).toBe('xml_name_limit');
    expect(readFailure('<a abcdefghijk=""/>', short).code).toBe('xml_name_limit');
    expect(readFailure(`<${'n'.repeat(70_000)}/>`).code).toBe('xml_name_limit');
  });

  test('length of a value', () => {
    const short = limited({ xmlMaxTextBytes: 1000 });
    const ok = 'x'.repeat(1000);
    expect(readTokens(`<a b="${ok}">${ok}</a>`, short)).toHaveLength(4);
    expect(readFailure(`<a>${ok}x</a>`, short).code).toBe('xml_text_limit');
    expect(readFailure(`<a b="${ok}x"/>`, short).code).toBe('xml_text_limit');
    expect(readFailure(`<a><![CDATA[${ok}x]]></a>`, short).code).toBe('xml_text_limit');
    expect(readFailure(`<a>${'&amp;'.repeat(1001)}</a>`, short).code).toBe('xml_text_limit');
    // joined from several pieces, in one batch and over their borders: to the byte
    for (const windowBytes of [64, 333, 4096, 65_536]) {
      const cut = { ...short, windowBytes };
      expect(readTokens(`<r>${pieces(1000)}${pieces(1000)}</r>`, cut).length).toBeGreaterThan(5);
      expect(readFailure(`<r>${pieces(1000)}${pieces(1001)}</r>`, cut).code).toBe('xml_text_limit');
    }
    const small = { ...short, windowBytes: 64 };
    expect(readTokens(`<a>${'<b>x</b>'.repeat(2000)}</a>`, small)).toHaveLength(6002);
    expect(readFailure(`<a>${'x<!-- -->'.repeat(1100)}</a>`, small).code).toBe('xml_text_limit');
    expect(readFailure(`<a>${ok}x</a>`, small).code).toBe('xml_text_limit');
  });

  test('nested entities that grow tenfold at each level', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `<!ENTITY e${i + 1} "${`&e${i};`.repeat(10)}">`);
    const document = `<!DOCTYPE a [<!ENTITY e0 "lol">${levels.join('')}]><a`;
    expect(readFailure(`${document}>&e9;</a>`).code).toBe('xml_entity_amplification_limit');
    expect(readFailure(`${document} b="&e9;"/>`).code).toBe('xml_entity_amplification_limit');
    const markup = document.replace('lol', '<b/>');
    expect(readFailure(`${markup}>&e9;</a>`).code).toBe('xml_entity_amplification_limit');
  });

  test('one long entity referred to many times', () => {
    const document = `<!DOCTYPE a [<!ENTITY e "${'x'.repeat(100_000)}">]><a>${'&e;'.repeat(1000)}</a>`;
    expect(readFailure(document).code).toBe('xml_entity_amplification_limit');
    expect(readFailure(document, limited({ xmlMaxEntityAmplification: 10_000 })).code).toBe(
      'xml_entity_expansion_limit',
    );
  });

  test('parameter entities count as well', () => {
    const levels = Array.from({ length: 9 }, (_, i) => `<!ENTITY % e${i + 1} "${`&#37;e${i};`.repeat(10)}">`);
    const document = `<!DOCTYPE a [<!ENTITY % e0 "<!-- lol -->">${levels.join('')}%e9;]><a/>`;
    expect(readFailure(document).code).toBe('xml_entity_amplification_limit');
  });

  test('entities nested too deep', () => {
    const chain = Array.from({ length: 70 }, (_, i) => `<!ENTITY e${i + 1} "&e${i};">`).join('');
    const document = `<!DOCTYPE a [<!ENTITY e0 "x">${chain}]>`;
    expect(readFailure(`${document}<a>&e70;</a>`).code).toBe('xml_entity_depth_limit');
    expect(readFailure(`${document}<a b="&e70;"/>`).code).toBe('xml_entity_depth_limit');
    expect(readTokens(`${document}<a>&e30;</a>`)).toContain('TEXT "x"');
  });

  test('attribute defaults that outgrow the document', () => {
    const list = `<!ATTLIST b k CDATA "${'x'.repeat(10_000)}">`;
    const document = `<!DOCTYPE a [${list}]><a>${'<b/>'.repeat(2000)}</a>`;
    expect(readFailure(document).code).toBe('xml_entity_amplification_limit');
  });
});
