/** Regular expressions of XSD. */
import { describe, expect, it } from 'vitest';
import { translatePattern } from '../../../../src/engine/xsd/values/pattern.ts';

describe('patterns of XSD', () => {
  it.each([
    ['[A-Z]{2}\\d+', ['AB1', 'ZZ٣'], ['A1', 'AB']],
    ['\\i\\c*', ['_a-b.c', 'é1'], ['1a', '']],
    ['[a-z-[aeiou]]+', ['bcd'], ['abc']],
    ['[^a-c]', ['d'], ['a', 'dd']],
    ['a|b^$', ['a', 'b^$'], ['b']],
    ['.{2}', ['ab', '\u{1F600}b'], ['a\n']],
    ['[-+]?[0-9]+', ['-1', '+22', '3'], ['--1']],
    ['\\p{Lu}\\P{L}', ['A1'], ['a1', 'AB']],
    ['(ab){2,3}', ['abab'], ['ab', 'abababab']],
    ['', [''], ['a']],
  ])('translates %s', (pattern, matching, others) => {
    const expression = translatePattern(pattern)!;
    for (const text of matching) expect([text, expression.test(text)]).toEqual([text, true]);
    for (const text of others) expect([text, expression.test(text)]).toEqual([text, false]);
  });

  it.each([
    '(',
    ')',
    '[',
    '[]',
    'a{2,1}',
    'a**',
    '*',
    '\\q',
    '[z-a]',
    '\\p{Xx}',
    '[a',
    'a{',
    ']',
    '(?=a)',
    '\\',
  ])('refuses %s', (pattern) => {
    expect(translatePattern(pattern)).toBeNull();
  });
});
