/** What patterns say of the texts that they allow, without matching any by a regular expression. */
import { describe, expect, it } from 'vitest';
import {
  lengthsOfPatterns,
  mayAllowText,
  mayHoldCharacter,
  translatePattern,
} from '../../../../src/engine/xsd/values/pattern.ts';

describe('texts that patterns allow', () => {
  it.each([
    ['[A-Z]{3,3}', 3, 3],
    ['[A-Z]{2,2}[0-9]{2,2}[a-zA-Z0-9]{1,30}', 5, 34],
    ['[A-Z]{4}([A-Z]{2})?|\\d+', 1, Infinity],
    ['(ab|cde){2,3}x?', 4, 10],
    ['', 0, 0],
    ['(a*){0}', 0, 0],
    ['(b{0}){0,5}', 0, 0],
    ['[\u{1F600}-\u{1F64F}]{2}', 2, 2],
    ['a{2,}', 2, Infinity],
  ])('%s: have lengths', (pattern, min, max) => {
    expect(lengthsOfPatterns([[pattern]])).toEqual({ min, max });
  });

  it('match one pattern of each step', () => {
    expect(lengthsOfPatterns([['a{2,5}', 'b{7}'], ['[ab]{3,6}']])).toEqual({ min: 3, max: 6 });
    expect(mayAllowText([['a+', 'b+'], ['.{2}']], 'bb')).toBe(true);
    expect(mayAllowText([['a+', 'b+'], ['.{2}']], 'ab')).toBe(false);
    // what is no regular expression says nothing
    expect(lengthsOfPatterns([['('], ['x{4}']])).toEqual({ min: 4, max: 4 });
  });

  it.each([
    ['\\d{4}-\\d{2}', ['2024-01'], ['2024-1', '2024-011']],
    ['(a|b)*c{2,3}', ['cc', 'abbaccc'], ['c', 'cccc', 'ab']],
    ['((x?)*)*y', ['y', 'xxy'], ['x', '']],
    ['(ab?){3}', ['aaa', 'ababab', 'aaba'], ['aa', 'bbb']],
    ['(a{2}){2,}', ['aaaa', 'aaaaaa'], ['aaa', 'aa']],
    ['x{1000000000}', [], ['x', 'xxx']],
    ['(x?){1000000000}', ['', 'x', 'xxx'], ['y']],
  ])('%s: are told from others', (pattern, matching, others) => {
    for (const text of matching) expect([text, mayAllowText([[pattern]], text)]).toEqual([text, true]);
    for (const text of others) expect([text, mayAllowText([[pattern]], text)]).toEqual([text, false]);
    if (pattern.includes('1000000000')) return;
    for (const text of [...matching, ...others])
      expect(mayAllowText([[pattern]], text)).toBe(translatePattern(pattern)!.test(text));
  });

  it('are given up on where that takes long', () => {
    let nested = '[a-z]?';
    for (let depth = 0; depth < 200; depth += 1) nested = `(${nested})*`;
    expect(mayAllowText([[`${nested}!`]], 'abcdefghijklmnopqrstuvwxyz')).toBe(true);
  });

  it('hold some characters', () => {
    expect(mayHoldCharacter([['[A-Z]{3}']], ' ')).toBe(false);
    expect(mayHoldCharacter([['[A-Z ]{3}']], ' ')).toBe(true);
    expect(mayHoldCharacter([['.{3}'], ['\\S+']], ' ')).toBe(false);
  });
});
