/** Files of Avro that claim more than they hold. */
import { describe, expect, it } from 'vitest';
import { readAvro, writeAvro } from '../../../../src/targets/files/lake/iceberg/manifests.ts';

const schema = { type: 'record', name: 'r', fields: [{ name: 'a', type: 'long' }] };
const magic = Buffer.from('Obj\u0001', 'latin1');
/** the largest negative and positive numbers of 64 bits, as Avro writes them */
const [least, most] = [
  Buffer.from('ffffffffffffffffff01', 'hex'),
  Buffer.from('feffffffffffffffff01', 'hex'),
];

/** A file with one record, whose only field has the type and the bytes. */
function fileOf(type: unknown, field: Buffer): Uint8Array {
  const text = JSON.stringify({ type: 'record', name: 'r', fields: [{ name: 'a', type }] });
  const head = Buffer.concat([
    Buffer.from([2, 22]),
    Buffer.from('avro.schema'),
    varint(text.length),
    Buffer.from(text),
    Buffer.from([0]),
  ]);
  const sync = Buffer.alloc(16);
  return Buffer.concat([magic, head, sync, Buffer.from([2]), varint(field.length), field, sync]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value * 2;
  for (; left > 127; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

describe('a file of Avro', () => {
  it('is read as it was written', () => {
    const bytes = writeAvro(schema, [{ a: 1n }, { a: -2n }], { more: 'x' });
    expect(readAvro(bytes, 'f')).toEqual([{ a: 1n }, { a: -2n }]);
    expect(readAvro(writeAvro(schema, [], {}), 'f')).toEqual([]);
  });

  it('has arrays and maps, in blocks of any size', () => {
    const lists = {
      type: 'record',
      name: 'r',
      fields: [
        { name: 'a', type: { type: 'array', items: ['null', 'string'] } },
        { name: 'm', type: ['null', { type: 'map', values: { type: 'array', items: 'long' } }] },
      ],
    };
    const records = [
      { a: ['x', null, 'y'], m: { k: [1n, 2n], __proto__x: [] } },
      { a: [], m: null },
    ];
    expect(readAvro(writeAvro(lists, records, {}), 'f')).toEqual(records);
    // two blocks, the first with its size
    const raw = Buffer.from([1, 4, 2, 0x61, 2, 2, 0x62, 0]);
    const sized = readAvro(fileOf({ type: 'array', items: 'string' }, raw), 'f');
    expect(sized).toEqual([{ a: ['a', 'b'] }]);
  });

  it.each([
    ['array', { type: 'array', items: 'long' }],
    ['array of arrays', { type: 'array', items: { type: 'array', items: 'boolean' } }],
    ['array of nothing', { type: 'array', items: 'null' }],
    ['map', { type: 'map', values: 'long' }],
    ['map in a union', ['null', { type: 'map', values: 'bytes' }]],
  ])('whose %s claims items without end is refused at once', (_, type) => {
    const isUnion = Array.isArray(type);
    for (const count of [most, Buffer.from('feffffff0f', 'hex'), Buffer.concat([least, most])]) {
      const raw = Buffer.concat([Buffer.from(isUnion ? [2] : []), count, Buffer.alloc(100, 2)]);
      const begun = performance.now();
      expect(() => readAvro(fileOf(type, raw), 'f')).toThrow('cannot be read as Avro: it');
      expect(performance.now() - begun).toBeLessThan(1000);
    }
  });

  it('that claims entries, records or bytes without end is refused at once', () => {
    const empty = writeAvro(schema, [], {});
    const sync = Buffer.alloc(16);
    for (const bytes of [
      Buffer.concat([magic, most, Buffer.alloc(100)]),
      Buffer.concat([magic, least, most, Buffer.alloc(100, 0xff)]),
      Buffer.concat([empty, most, Buffer.from([2, 0]), sync]),
      Buffer.concat([empty, Buffer.from([2]), least, sync]),
      Buffer.concat([empty, least, Buffer.from([2, 0]), sync]),
      Buffer.concat([empty, Buffer.from([2]), most, sync]),
    ])
      expect(() => readAvro(bytes, 'f')).toThrow(
        expect.objectContaining({
          code: 'conflict',
          message: expect.stringContaining('cannot be read as Avro'),
        }),
      );
  });
});
