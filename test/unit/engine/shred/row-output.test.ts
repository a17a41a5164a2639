/** Memory of rows on their way out, which is bounded in bytes whatever the number of tables. */
import { expect, test } from 'vitest';
import { RowOutput } from '../../../../src/engine/shred/row-output.ts';

/** of the model, and of those with rows */
const tables = 3000;
const filled = 600;

/** With a place for the rows of each table, as the kernel gives it. */
function outputWithPlaces(): RowOutput {
  const output = new RowOutput(tables, 'copy-text');
  const places = Array.from({ length: tables }, () => new Uint8Array(output.bufferBytes));
  output.moveTo(places, new Int32Array(tables), new Int32Array(tables));
  return output;
}

function addRow(output: RowOutput, table: number, bytes: number): void {
  output.buffer(table).push(new Uint8Array(bytes), 0, bytes);
  output.rowWritten(table);
}

test('buffers that a sink gives back together are all used again', () => {
  const output = outputWithPlaces();
  const full = output.bufferBytes - 100;
  const buffers = new Set<ArrayBufferLike>();
  for (let round = 0; round < 4; round += 1) {
    for (let table = 0; table < filled; table += 1) addRow(output, table, full);
    const chunks = output.chunks.splice(0);
    expect(chunks).toHaveLength(filled);
    for (const { bytes } of chunks) {
      buffers.add(bytes.buffer);
      output.recycle(bytes);
    }
  }
  expect(buffers.size * output.bufferBytes).toBeLessThanOrEqual(8 * 1024 * 1024);
});

test('few rows of a table take no more memory than they have bytes', () => {
  const output = outputWithPlaces();
  for (let table = 0; table < filled; table += 1) addRow(output, table, 100);
  output.flush();
  const held = output.chunks.reduce((sum, { bytes }) => sum + bytes.buffer.byteLength, 0);
  expect(held).toBe(filled * 100);
});
