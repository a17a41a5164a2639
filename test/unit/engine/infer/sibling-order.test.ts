/** Ordinals of siblings, packed. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  packBits,
  packOrdinals,
  someOrdinal,
  unpackOrdinals,
} from '../../../../src/engine/infer/declared-places.ts';

describe('ordinals of siblings', () => {
  it.each([
    [[], []],
    [[3], [3]],
    [
      [3, 4],
      [3, 4],
    ],
    [
      [0, 1, 2],
      [0, -2],
    ],
    [
      [0, 1, 2, 4, 6, 7, 8, 9],
      [0, -2, 4, 6, -9],
    ],
  ])('%j are written %j', (ordinals, packed) => {
    expect(packOrdinals(10, (ordinal) => ordinals.includes(ordinal))).toEqual(packed);
    expect(unpackOrdinals(packed)).toEqual(ordinals);
  });

  it('come back, whatever they are, also as they were written one by one', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(100)), (given) => {
        const ordinals = given.toSorted((a, b) => a - b);
        const words = [0, 0, 0, 0];
        for (const ordinal of ordinals) words[ordinal >>> 5]! |= 1 << (ordinal & 31);
        const packed = packBits(words);
        expect(unpackOrdinals(packed)).toEqual(ordinals);
        expect(unpackOrdinals(ordinals)).toEqual(ordinals);
        for (const wanted of [0, 31, 32, 63, 100])
          expect(someOrdinal(packed, (ordinal) => ordinal === wanted)).toBe(ordinals.includes(wanted));
      }),
    );
  });

  it('of thousands in a row are few numbers', () => {
    expect(packBits(Array.from({ length: 1000 }, () => -1))).toEqual([0, -31_999]);
  });
});
