/** The output of a process that does several runs: each run has its own, to the byte, and none waits for another. */
import { PassThrough, type Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { splitOutput } from '../../../src/process/tool-runner.ts';

const ending = 'mark waits\n';
const piece = Buffer.alloc(60_000, 'a');

async function lengthOf(output: Readable): Promise<number> {
  let length = 0;
  for await (const chunk of output as AsyncIterable<Buffer>) length += chunk.length;
  return length;
}

describe('the output of a process that does several runs', () => {
  it('goes on with the next one where what a run wrote last was more than its log took at once', async () => {
    const output = new PassThrough({ highWaterMark: 1024 ** 2 });
    let ends = 0;
    const runs = splitOutput(output, Buffer.from(ending), () => (ends += 1));
    const first = runs.begin();
    for (const bytes of [piece, piece, Buffer.concat([piece, Buffer.from(ending)])]) output.write(bytes);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(await lengthOf(first)).toBe(3 * piece.length);
    const second = runs.begin();
    output.write(`second\n${ending}`);
    expect(await lengthOf(second)).toBe('second\n'.length);
    expect(ends).toBe(2);
  });

  it('waits for a log that takes no more, and loses nothing of it', async () => {
    const output = new PassThrough({ highWaterMark: 1 });
    const runs = splitOutput(output, Buffer.from(ending), () => undefined);
    const run = runs.begin();
    for (let written = 0; written < 40; written += 1) output.write(piece);
    output.end();
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    expect(output.isPaused()).toBe(true);
    expect(await lengthOf(run)).toBe(40 * piece.length);
  });
});
