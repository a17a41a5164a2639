/** Ranges of keys: apart from each other, in the order of the units, and wide enough for what documents can have. */
import { expect, it } from 'vitest';
import { checkLastKeys, KeyRanges } from '../../../../src/tools/load/document-cut.ts';

it('keys of units follow on those of the target, and on one another', () => {
  const ranges = new KeyRanges(
    new Map([
      ['order', 70],
      ['_documents', 9],
    ]),
    false,
    'too many',
  );
  expect(ranges.next({ firstIndex: 0, bytes: 100, packed: false })).toEqual({
    key: 70,
    document: 9,
    lastKey: 1194,
  });
  expect(ranges.next({ firstIndex: 30, bytes: 0, packed: true })).toEqual({
    key: 1194,
    document: 39,
    lastKey: 1194 + 2 ** 32,
  });
  const parts = new KeyRanges(new Map(), true, 'too many');
  parts.next({ firstIndex: 0, bytes: 5000, packed: false });
  expect(parts.next({ firstIndex: 0, bytes: 1, packed: false })).toMatchObject({ key: 6024, document: 6024 });
});

it('what cannot be numbered ends with its reason', () => {
  const full = new KeyRanges(new Map([['order', Number.MAX_SAFE_INTEGER - 2000]]), false, 'too many');
  expect(() => full.next({ firstIndex: 0, bytes: 1000, packed: false })).toThrow('too many');
  const range = { key: 0, document: 0, lastKey: 12 };
  checkLastKeys(new Map([['order', 12]]), range, 'a.xml', 'do this');
  expect(() => checkLastKeys(new Map([['order', 13]]), range, 'a.xml', 'do this')).toThrow(
    'a.xml: it, or a document after it, has more rows than bytes; do this',
  );
});
