/** Rows taken off a connection: wherever its pieces are cut, the driver sees all but the rows. */
import { expect, it } from 'vitest';
import { createRowTap } from '../../../src/postgres/row-tap.ts';

function message(kind: string, body: string): Buffer {
  const head = Buffer.alloc(5);
  head.write(kind, 'latin1');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, Buffer.from(body, 'latin1')]);
}

const rows = [message('D', 'one'), message('D', ''), message('D', 'D\0\0\0\x05'), message('D', 'three')];
const rest = [
  message('T', 'columns D'),
  message('N', 'a notice'),
  message('C', 'FETCH 4\0'),
  message('Z', 'T'),
];
const answer = Buffer.concat([
  rest[0]!,
  rows[0]!,
  rows[1]!,
  rest[1]!,
  rows[2]!,
  rows[3]!,
  rest[2]!,
  rest[3]!,
]);

it.each([1, 2, 3, 4, 5, 6, 7, 11, 16, 1000])('pieces of %i bytes', async (size) => {
  const tap = createRowTap();
  const divert = tap.divert();
  const seen: Uint8Array[] = [divert(message('S', 'a setting')), divert(message('D', 'not asked for'))];
  const taken = await tap.take(async () => {
    for (let at = 0; at < answer.length; at += size) seen.push(divert(answer.subarray(at, at + size)));
  });
  expect(Buffer.from(taken)).toEqual(Buffer.concat(rows));
  expect(Buffer.concat(seen)).toEqual(
    Buffer.concat([message('S', 'a setting'), message('D', 'not asked for'), ...rest]),
  );
  expect(Buffer.from(divert(rows[0]!))).toEqual(rows[0]);
});
