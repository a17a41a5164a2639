/** What metadata is written with: YAML, and names of few characters. */
import { describe, expect, it } from 'vitest';
import { plainNames } from '../../../../src/engine/metadata/names.ts';
import { yaml } from '../../../../src/engine/metadata/dbt.ts';
import { readYaml } from './block-yaml.ts';

describe('YAML', () => {
  it('has quotes wherever a reader might see something else than a text', () => {
    const texts = [
      'yes',
      'No',
      'null',
      '~',
      '1e3',
      '0x1F',
      '1_000',
      '2026-01-01',
      'a: b',
      'a #b',
      '- a',
      '',
      ' a',
      '*x',
    ];
    expect(yaml(texts)).toBe(texts.map((text) => `- ${JSON.stringify(text)}\n`).join(''));
    expect(yaml('row key')).toBe('row key\n');
  });

  it('escapes what is no character of YAML, or a line end for some', () => {
    expect(yaml('\u{0}\u{7F}\u{85}\u{A0}\u{2028}\u{FEFF}\u{FFFF}\u{D800}😀"\\')).toBe(
      '"\\u0000\\u007f\\u0085\u{A0}\\u2028\\ufeff\\uffff\u{FFFD}😀\\"\\\\"\n',
    );
  });

  it('nests lists and members, and leaves out what is undefined', () => {
    const value = {
      a: [{ b: [1, true, null], c: {} }, 'x', { d: { 'e f': [] } }],
      'on: ': '',
      gone: undefined,
    };
    const { gone: _, ...kept } = value;
    expect(readYaml(yaml(value))).toEqual(kept);
    expect(yaml(value)).toBe(
      'a:\n  - b:\n      - 1\n      - true\n      - null\n    c: {}\n  - x\n  - d:\n      e f: []\n"on: ": ""\n',
    );
  });
});

describe('plain names', () => {
  it('stay where they are such, and are unique in any case of letters', () => {
    const names = ['a', 'a b', 'a_b', 'A', '1', '', 'é', 'e\u{301}', '日本', '😀', 'a-b', 'a+b'];
    const plain = plainNames(names);
    expect(plain[0]).toBe('a');
    expect(plain[2]).toBe('a_b');
    for (const name of plain) expect(name).toMatch(/^[A-Za-z_]\w*$/);
    expect(new Set(plain.map((name) => name.toLowerCase())).size).toBe(names.length);
    const letters = plainNames(names, { allScripts: true });
    expect([letters[6], letters[8]]).toEqual(['é', '日本']);
    expect(new Set(letters.map((name) => name.toLowerCase())).size).toBe(names.length);
  });

  it('are cut to the limit, and stay different', () => {
    const names = ['x'.repeat(80), `${'x'.repeat(80)}y`, 'é'.repeat(40)];
    const plain = plainNames(names, { maxBytes: 63, allScripts: true });
    for (const name of plain) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
    expect(new Set(plain).size).toBe(3);
  });
});
