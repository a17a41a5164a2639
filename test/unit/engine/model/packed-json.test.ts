/** Packed JSON: every value comes back as JSON would give it, equal values in equal bytes, decoded when looked at. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type LazyParts, packJson, unpackJson } from '../../../../src/engine/model/packed/writer.ts';
import {
  memberOf,
  membersOf,
  peekElements,
  hasKeyUndecoded,
  peekMember,
} from '../../../../src/engine/model/packed/reader.ts';

const again = (value: unknown, lazy?: LazyParts): unknown => unpackJson(packJson(value, lazy));
/** Members, or elements, that are still to be decoded. */
const pending = (value: object): number =>
  Array.isArray(value)
    ? value.length - Object.keys(value).length
    : Object.values(Object.getOwnPropertyDescriptors(value)).filter(({ get }) => get !== undefined).length;

const hasKey = (value: unknown, key: string): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ((!Array.isArray(value) && Object.hasOwn(value, key)) ||
    Object.values(value).some((inner) => hasKey(inner, key)));

const table = (columns: number) => ({
  name: 'a table',
  columns: Array.from({ length: columns }, (_, at) => ({ name: `c${at}`, columns: [] })),
});

describe('packed JSON', () => {
  test('gives back any JSON value, and packs equal values to equal bytes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const json = JSON.stringify(value);
        expect(JSON.stringify(again(value))).toBe(json);
        expect(packJson(JSON.parse(json))).toEqual(packJson(value));
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    [
      'numbers at every border of their forms',
      [0, 63, 64, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 53 - 1],
    ],
    ['negative and fractional numbers', [-1, -63, -64, -(2 ** 40), 0.1, -0.5, 1e300, 2 ** 60, 5e-324]],
    [
      'arrays around the short form',
      [31, 32, 33, 300].map((length) => Array.from({ length }, (_, at) => at)),
    ],
    [
      'texts of every kind',
      ['', '/', '//', '/a', '/a/b', '/a/b/', '/a//b', 'a/b', '\0', '\u{FEFF}x', 'ä€𐍈', '/ä/𐍈'],
    ],
    ['half a surrogate pair', { text: 'a\ud800b', other: '\udc00' }],
    [
      'objects in a row with other keys',
      [{ a: 1 }, { a: 1, b: 2 }, { b: 2, a: 1 }, {}, { a: { a: { a: null } } }],
    ],
    ['a member that is called like one of every object', [JSON.parse('{"__proto__": 1, "constructor": 2}')]],
  ])('%s', (_name, value) => {
    expect(JSON.stringify(again(value))).toBe(JSON.stringify(value));
  });

  test('more texts and more shapes than their short forms hold', () => {
    const texts = Array.from({ length: 20_000 }, (_, at) => `/top/part${at % 100}/leaf${at}`);
    const shapes = Array.from({ length: 200 }, (_, at) => ({ [`key${at}`]: at }));
    expect(again({ texts, shapes })).toEqual({ texts, shapes });
  });

  test('a path costs its last step', () => {
    const below = '/a-long-name-of-a-top/with-a-long-name-below'.repeat(20);
    const paths = Array.from({ length: 1000 }, (_, at) => `${below}/p${at}`);
    expect(packJson(paths).length).toBeLessThan(15_000);
    expect(again(paths)).toEqual(paths);
  });

  test('members that are undefined are left out; what is no JSON is refused', () => {
    expect(again({ a: undefined, b: 1 })).toEqual({ b: 1 });
    expect(packJson({ a: undefined, b: 1 })).toEqual(packJson({ b: 1 }));
    for (const value of [() => 1, 1n, [undefined]]) expect(() => packJson(value)).toThrow(TypeError);
  });

  test('elements of indexed arrays are decoded when they are looked at, in any order, and then stay', () => {
    const rows = Array.from({ length: 1000 }, (_, at) => ({ name: `/rows/row${at}`, columns: [at, { at }] }));
    const lazy = { indexed: ['rows'] };
    const read = again({ rows, others: rows }, lazy) as { rows: typeof rows; others: typeof rows };
    expect(pending(read.rows)).toBe(1000);
    expect(read.rows[70]).toEqual(rows[70]);
    expect(read.rows[3]).toBe(read.rows[3]);
    expect(pending(read.rows)).toBe(998);
    expect(read.rows.length).toBe(1000);
    expect(read.rows.map(({ name }) => name)).toEqual(rows.map(({ name }) => name));
    expect(read).toEqual({ rows, others: rows });
    expect(JSON.stringify(again({ rows }, lazy))).toBe(JSON.stringify({ rows }));
    const few = again({ rows: rows.slice(0, 10) }, lazy) as { rows: typeof rows };
    expect(pending(few.rows)).toBe(0);
    expect(few.rows).toEqual(rows.slice(0, 10));
  });

  test('long arrays that are held are decoded when they are read, short ones at once', () => {
    const tables = [table(3), table(50)];
    const read = again({ tables }, { held: ['columns'] }) as { tables: typeof tables };
    expect(read.tables.map(pending)).toEqual([0, 1]);
    expect(Object.keys(read.tables[1]!)).toEqual(['name', 'columns']);
    expect(read.tables[1]!.columns).toBe(read.tables[1]!.columns);
    expect(pending(read.tables[1]!)).toBe(0);
    expect(read).toEqual({ tables });
    expect({ ...(again({ tables }, { held: ['columns'] }) as { tables: typeof tables }).tables[1] }).toEqual(
      tables[1],
    );
  });

  test('what is looked at in passing is not kept, and what was kept is the same', () => {
    const tables = Array.from({ length: 400 }, (_, index) => ({
      index,
      columns: Array.from({ length: 300 }, (__, at) => ({ at })),
    }));
    const read = again({ tables }, { indexed: ['tables'], held: ['columns'] }) as { tables: typeof tables };
    const kept = read.tables[7];
    const seen = [...peekElements(read.tables)];
    expect(seen.map(({ index }) => index)).toEqual(tables.map(({ index }) => index));
    expect(seen[7]).toBe(kept);
    expect(pending(read.tables)).toBe(tables.length - 1);
    expect(peekMember(kept!, 'columns')).toEqual(tables[7]!.columns);
    expect(pending(kept!)).toBe(1);
  });

  test('a member of an element is read without the element', () => {
    const tables = Array.from({ length: 400 }, (_, index) => ({
      columns: Array.from({ length: index % 20 }, (__, at) => ({ at, of: [at, { deep: 'x'.repeat(at) }] })),
      name: `table ${index}`,
      ...(index % 3 === 0 ? { continues: index - 1 } : {}),
    }));
    const read = again({ tables }, { indexed: ['tables'], held: ['columns'] }) as { tables: typeof tables };
    expect(membersOf(read.tables, 'name')).toEqual(tables.map(({ name }) => name));
    expect(membersOf(read.tables, 'continues')).toEqual(tables.map(({ continues }) => continues));
    expect(memberOf(read.tables, 19, 'columns')).toEqual(tables[19]!.columns);
    expect(pending(read.tables)).toBe(tables.length);
    expect(read.tables[5]!.name).toBe('table 5');
    expect(memberOf(read.tables, 5, 'name')).toBe('table 5');
  });

  test('small members that are equal are one, where nothing else lies in them', () => {
    const columns = Array.from({ length: 300 }, (_, at) => ({
      at,
      type: at % 2 === 0 ? { kind: 'text', length: at % 7 } : { kind: 'numeric' },
      list: [{ kind: 'text' }],
    }));
    const read = again(columns) as typeof columns;
    expect(read).toEqual(columns);
    expect(read[3]!.type).toBe(read[1]!.type);
    expect(read[14]!.type).toBe(read[0]!.type);
    expect(read[2]!.type).not.toBe(read[0]!.type);
    expect(read[1]!.list[0]).not.toBe(read[0]!.list[0]);
  });

  test('whether an object in what is held has a key is known before it is decoded', () => {
    const key = fc.constantFrom('a', 'b', 'columns', 'rows', 'x');
    const { tree } = fc.letrec((tie) => ({
      leaf: fc.oneof(
        fc.jsonValue({ maxDepth: 0 }),
        fc.integer(),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
      ),
      tree: fc.oneof(
        { maxDepth: 3 },
        tie('leaf'),
        fc.array(tie('tree'), { maxLength: 5 }),
        fc.dictionary(key, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.array(tree, { minLength: 8, maxLength: 35 }), key, (columns, name) => {
        const read = again({ columns }, { held: ['columns'] }) as { readonly columns: unknown };
        expect(hasKeyUndecoded(read, 'columns', name)).toBe(hasKey(columns, name));
        expect(pending(read)).toBe(1);
        expect(JSON.stringify(read.columns)).toBe(JSON.stringify(columns));
        expect(hasKeyUndecoded(read, 'columns', name)).toBeNull();
      }),
      { numRuns: 100 },
    );
  });

  test('bytes that are no packed JSON are refused', () => {
    const packed = packJson({ a: ['text', 1, null] });
    expect(() => unpackJson(new Uint8Array([9, 9, 9]))).toThrow(RangeError);
    expect(() => unpackJson(packed.subarray(0, packed.length - 2))).toThrow(RangeError);
    expect(() => unpackJson(new Uint8Array())).toThrow(RangeError);
  });
});
