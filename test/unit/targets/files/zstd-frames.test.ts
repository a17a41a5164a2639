/** Pages become frames of Zstandard that anything reads alone, whatever their size and however many wait at once. */
import zlib from 'node:zlib';
import { expect, test } from 'vitest';
import { openZstdFrames } from '../../../../src/targets/files/parquet/file-maker.ts';
import { SpareBuffers } from '../../../../src/engine/spare-buffers.ts';

/** Of that length, half of it noise. */
function page(length: number, seed: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, (_, at) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return at % 2 === 0 ? state >>> 24 : at >> 4;
  });
}

test('each page is a frame of its own', async () => {
  const frames = openZstdFrames(new SpareBuffers());
  // more than what frames are cut from, and more of them than fit there
  const lengths = [0, 1, 100, 700_000, 3_000_000, ...Array.from({ length: 60 }, (_, at) => 20_000 + at)];
  const pages = lengths.map((length, at) => page(length, at + 1));
  const made = await Promise.all(pages.map((bytes) => frames.compress(bytes)));
  frames.close();
  for (const [at, frame] of made.entries()) {
    expect(Buffer.compare(zlib.zstdDecompressSync(frame), pages[at]!), `page ${at}`).toBe(0);
    // readers take memory by the size that a frame tells of
    expect(zlib.zstdDecompressSync(frame).length).toBe(pages[at]!.length);
  }
});

test('frames lie in buffers that are used again', async () => {
  const buffers = new SpareBuffers();
  const frames = openZstdFrames(buffers);
  const seen = new Set<ArrayBufferLike>();
  for (let at = 0; at < 40; at += 1) {
    const bytes = page(100_000, at + 1);
    const frame = await frames.compress(bytes);
    expect(Buffer.compare(zlib.zstdDecompressSync(frame), bytes), `page ${at}`).toBe(0);
    seen.add(frame.buffer);
    buffers.giveBack(frame);
  }
  frames.close();
  expect(seen.size).toBeLessThan(4);
});

test('what waits when it is closed is told', async () => {
  const frames = openZstdFrames(new SpareBuffers());
  frames.close();
  await expect(frames.compress(page(1000, 1))).rejects.toThrow(/destroyed|closed/i);
});
