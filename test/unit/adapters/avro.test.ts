/** Files of Avro that claim more than they hold. */
import { describe, expect, it } from 'vitest';
import { readAvro, writeAvro } from '../../../src/adapters/lake/iceberg/avro.ts';

const schema = { type: 'record', name: 'r', fields: [{ name: 'a', type: 'long' }] };
const magic = Buffer.from('Obj\u0001', 'latin1');
/** the largest negative and positive numbers of 64 bits, as Avro writes them */
const [least, most] = [
  Buffer.from('ffffffffffffffffff01', 'hex'),
  Buffer.from('feffffffffffffffff01', 'hex'),
];

describe('a file of Avro', () => {
  it('is read as it was written', () => {
    const bytes = writeAvro(schema, [{ a: 1n }, { a: -2n }], { more: 'x' });
    expect(readAvro(bytes, 'f')).toEqual([{ a: 1n }, { a: -2n }]);
    expect(readAvro(writeAvro(schema, [], {}), 'f')).toEqual([]);
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
