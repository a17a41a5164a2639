/** Names that were chosen to fall into one slot of the name table: reading them takes no longer than as many others. */
import { describe, expect, test } from 'vitest';
import { ByteInterner, hashBytes, hashStep } from '../../../../src/engine/xml/names/interned.ts';
import { createFastXmlTokenizer, createTokenizerKernels } from '../../../../src/engine/xml/tokenizer/fast.ts';
import { createXmlTokenizer } from '../../../../src/engine/xml/tokenizer/portable.ts';
import { bytesOf, readTokens } from './read-tokens.ts';

/** Names of one hash: each of several steps may be spelled in two ways, after which the hash is the same. */
function collidingNames(count: number): string[] {
  const steps: (readonly [string, string])[] = [];
  for (let hash = 0; 2 ** steps.length < count;) {
    const step = twoSpellings(hash);
    for (const byte of bytesOf(step[0])) hash = hashStep(hash, byte);
    steps.push(step);
  }
  return Array.from({ length: count }, (_, number) =>
    steps.map((step, at) => step[(number >> at) & 1]).join(''),
  );
}

function twoSpellings(from: number): readonly [string, string] {
  const known = new Map<number, string>();
  for (let number = 1; ; number += 1) {
    const mixed = Math.imul(number, 0x9e3779b1) >>> 0;
    const text = `n${mixed
      .toString(26)
      .padStart(7, '0')
      .replaceAll(/\d/g, (digit) => 'qrstuvwxyz'[Number(digit)]!)}`;
    let hash = from;
    for (const byte of bytesOf(text)) hash = hashStep(hash, byte);
    const other = known.get(hash);
    if (other !== undefined) return [other, text];
    known.set(hash, text);
  }
}

describe('names that were made to collide', () => {
  const names = collidingNames(60_000);

  test('are such', () => {
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(names.map((name) => hashBytes(bytesOf(name), 0, name.length))).size).toBe(1);
  });

  test('have ids of their own, in a time that does not grow with their square', () => {
    const interner = new ByteInterner();
    const intern = (text: string): number => {
      const bytes = bytesOf(text);
      return interner.intern(bytes, 0, bytes.length, hashBytes(bytes, 0, bytes.length));
    };
    const wanted = names.map((_, at) => at + 1);
    expect(names.map(intern)).toEqual(wanted.map((id) => -1 - id));
    expect(names.map(intern)).toEqual(wanted);
    expect(intern('other')).toBeLessThan(0);
    expect(names.map((_, at) => interner.text(at + 1))).toEqual(names);
  });

  test.for([
    ['TypeScript', createXmlTokenizer],
    [
      'WebAssembly',
      (options: Parameters<typeof createXmlTokenizer>[0]) =>
        createFastXmlTokenizer(options, createTokenizerKernels(0)),
    ],
  ] as const)('are read by %s', ([, create]) => {
    const some = names.slice(0, 20_000);
    const content = some.map((name) => `<${name} ${name}=""></${name}>`).join('');
    const tokens = readTokens(`<r>${content}${content}</r>`, { create, chunkBytes: 60_000 });
    expect(tokens).toHaveLength(2 + 2 * 3 * some.length);
    expect(new Set(tokens).size).toBe(2 + 3 * some.length);
  });
});
