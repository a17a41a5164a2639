/** Values read in one walk over their bytes: the same statistics as from their texts, one by one. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addToSketch, forgetDigits, isLess } from '../../../../src/engine/infer/statistics.ts';
import { CLASS_DECIMAL, classesOf } from '../../../../src/engine/infer/value-classes.ts';
import { ValueCollector } from '../../../../src/engine/infer/value-collector.ts';
import { emptyValueStatistics } from '../../../../src/engine/infer/statistics.ts';
import type { ValueStatistics } from '../../../../src/engine/infer/statistics.ts';

const encoder = new TextEncoder();

/** Slow and plain: every value as a text. */
function expected(values: readonly string[]): ValueStatistics {
  const result = emptyValueStatistics();
  for (const value of values) {
    const isFirst = result.count === result.empty;
    result.count += 1;
    if (value === '') {
      result.empty += 1;
      continue;
    }
    const bytes = encoder.encode(value);
    const { length } = [...value];
    result.minLength = isFirst ? length : Math.min(result.minLength, length);
    result.maxLength = Math.max(result.maxLength, length);
    const before = result.classes;
    result.classes = classesOf(bytes, 0, bytes.length, before);
    if ((result.classes & CLASS_DECIMAL) !== 0) {
      const [whole = '', fraction = ''] = value.replace('-', '').split('.');
      result.wholeDigits = Math.max(result.wholeDigits, whole.length);
      result.minFraction = isFirst ? fraction.length : Math.min(result.minFraction, fraction.length);
      result.maxFraction = Math.max(result.maxFraction, fraction.length);
    } else forgetDigits(result);
    let hash = 0x811c9dc5;
    for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
    hash ^= hash >>> 15;
    hash = Math.imul(hash, 0x2c1b3c6d);
    hash ^= hash >>> 12;
    addToSketch(result.sketch, hash >>> 0);
    const kept = value.slice(0, 200);
    if (result.min === null || isLess(kept, result.min)) result.min = kept;
    if (result.max === null || isLess(result.max, kept)) result.max = kept;
  }
  return result;
}

function collected(values: readonly string[], samples = true): ValueStatistics {
  const collector = new ValueCollector(samples);
  for (const value of values) {
    // not at the start of the buffer, and not up to its end
    const bytes = encoder.encode(`xx${value}xx`);
    collector.add(bytes, 2, bytes.length - 2);
  }
  return collector.statistics;
}

const number = fc.oneof(
  fc.integer({ min: -20, max: 20 }).map(String),
  fc.integer().map(String),
  fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String),
  fc
    .tuple(fc.integer({ min: -9, max: 9 }), fc.stringMatching(/^\d{1,18}$/))
    .map(([whole, rest]) => `${whole}.${rest}`),
  fc.constantFrom(
    '0',
    '-0',
    '00',
    '01',
    '1.0',
    '1.00',
    '1.',
    '.5',
    '-',
    '+1',
    '0.1',
    '0.10',
    '1e3',
    '1.5e3',
    '-2E-7',
    '0.5E+300',
    '-0.0',
    '9'.repeat(210),
  ),
);
const other = fc.oneof(
  fc.constantFrom(
    '',
    'true',
    'false',
    '2026-01-31',
    '2026-02-30',
    '12:00:00',
    '2026-01-31T12:00:00Z',
    ' 1',
    'ä'.repeat(250),
  ),
  fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed()),
  fc.stringMatching(/^[a-c]{190,210}$/),
);

test.each([
  ['numbers', number],
  ['texts', other],
  ['both', fc.oneof(number, other)],
])('%s', (_name, value) => {
  fc.assert(
    fc.property(fc.array(value, { maxLength: 120 }), (values) => {
      expect(collected(values)).toEqual(expected(values));
      expect(collected(values, false)).toEqual({ ...expected(values), min: null, max: null });
    }),
    { numRuns: 300 },
  );
});
