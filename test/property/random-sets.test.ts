/** The short form of `npm run random`: random XSD sets, checked by an oracle that shares no code with the engine. */
import { describe, expect, it } from 'vitest';
import { checkSet, makeSet } from '../../scripts/random/set.ts';
import { needs } from '../support/needs.ts';

describe('random XSD sets', { timeout: 60_000 }, () => {
  it('give back each document, and have each value where the map says', needs('xmllint'), async () => {
    for (let number = 0; number < 12; number += 1) {
      const { faults } = await checkSet(makeSet(45, number, 4));
      expect([number, faults]).toEqual([number, []]);
    }
  });
});
