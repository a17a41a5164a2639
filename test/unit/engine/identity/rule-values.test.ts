/** Values that rules hold, and the hash they are found by. */
import { describe, expect, it } from 'vitest';
import { RuleValues, INNER, SeededHash } from '../../../../src/engine/identity/rule-values.ts';
import { bytesOf } from '../../../support/models/shredding.ts';

const hash = new SeededHash();

function add(values: RuleValues, rule: number, text: string): number {
  const bytes = bytesOf(text);
  return values.add(rule, bytes, bytes.length, hash.of(bytes, bytes.length));
}

function find(values: RuleValues, rule: number, text: string): number {
  const bytes = bytesOf(text);
  return values.find(rule, bytes, bytes.length, hash.of(bytes, bytes.length));
}

function longText(at: number): string {
  return `${'long '.repeat(20)}${at}`;
}

describe('held values', () => {
  it('are found by rule and bytes, as many as there are', () => {
    const values = new RuleValues();
    for (let at = 0; at < 3000; at += 1) add(values, at % 3, `value ${at}`);
    const all = Array.from({ length: 3000 }, (_, at) => at);
    expect(all.map((at) => find(values, at % 3, `value ${at}`))).toEqual(all);
    expect(all.every((at) => find(values, (at + 1) % 3, `value ${at}`) === -1)).toBe(true);
    expect(find(values, 0, 'value')).toBe(-1);
    values.clear();
    expect(values.count).toBe(0);
    expect(find(values, 0, 'value 0')).toBe(-1);
  });

  it('go to another place for another rule, once', () => {
    const [inner, outer] = [new RuleValues(), new RuleValues()];
    const entry = add(inner, 7, '');
    expect(outer.addOf(inner, entry, 7 + INNER)).toBe(true);
    expect(outer.addOf(inner, entry, 7 + INNER)).toBe(false);
    expect(find(outer, 7 + INNER, '')).toBe(0);
    expect(outer.has(0, 7)).toBe(false);
  });

  it('tell how often they were met, and where', () => {
    const values = new RuleValues();
    const entry = add(values, 1, 'a');
    values.countOneMore(entry);
    values.setPlace(entry, { line: 3, column: 9 });
    const other = add(values, 2, 'a');
    expect(values.times(entry)).toBe(2);
    expect(values.place(entry)).toEqual({ line: 3, column: 9 });
    expect(values.times(other)).toBe(1);
    expect(values.place(other)).toEqual({ line: 0, column: 0 });
    values.clear();
    const again = add(values, 1, 'a');
    expect(values.times(again)).toBe(1);
    values.countOneMore(again);
    expect(values.place(again)).toEqual({ line: 0, column: 0 });
  });

  it('are held in room that grows and is given up, for one rule or many', () => {
    const values = new RuleValues();
    const many = Array.from({ length: 25_000 }, (_, at) => at);
    for (let round = 0; round < 2; round += 1) {
      for (const at of many) for (const rule of [1, 2, 3]) add(values, rule, longText(at));
      for (const at of many) values.setPlace(at * 3, { line: at, column: round });
      expect(values.count).toBe(3 * many.length);
      expect(many.every((at) => find(values, 2, longText(at)) === 3 * at + 1)).toBe(true);
      expect(many.every((at) => values.place(3 * at).line === at)).toBe(true);
      expect(new TextDecoder().decode(values.bytes(3 * 24_999 + 2))).toBe(longText(24_999));
      values.clear();
      expect(find(values, 2, longText(0))).toBe(-1);
    }
  });
});

describe('hashes', () => {
  it('follow from all bytes and their number, and from the seed', () => {
    const texts = ['', '\0', '\0\0', 'a', 'b', 'aa', 'abc', 'abcd', 'abcde', 'abcdf', 'bbcde', 'abcdeabcde'];
    const of = (one: SeededHash): number[] => texts.map((text) => one.of(bytesOf(text), text.length));
    expect(new Set(of(hash)).size).toBe(texts.length);
    expect(of(hash)).toEqual(of(hash));
    expect(of(new SeededHash())).not.toEqual(of(hash));
  });
});
