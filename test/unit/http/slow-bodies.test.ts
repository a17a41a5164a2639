/** Bodies that arrive slowly. */
import { describe, expect, it } from 'vitest';
import { atPace } from '../../../src/service/files/upload.ts';

/** Sends the chunks with these pauses before them, in milliseconds. */
function bodyOf(...pieces: readonly (readonly [pauseMs: number, bytes: number])[]) {
  let at = 0;
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const piece = pieces[at++];
      if (piece === undefined) return controller.close();
      await new Promise((resolve) => setTimeout(resolve, piece[0]));
      if (!cancelled) controller.enqueue(new Uint8Array(piece[1]));
    },
    cancel: () => void (cancelled = true),
  });
  return { body, wasCancelled: () => cancelled };
}

async function sizeOf(body: ReadableStream<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const chunk of body) size += chunk.byteLength;
  return size;
}

describe('a body', () => {
  it('that keeps its pace arrives whole', async () => {
    const { body } = bodyOf([0, 100], [1, 100], [1, 5]);
    expect(await sizeOf(atPace(body, { bytes: 100, everyMs: 5000 }))).toBe(205);
    expect(await sizeOf(atPace(bodyOf().body, { bytes: 100, everyMs: 5000 }))).toBe(0);
  });

  it('that brings a byte now and then is given up, and its sender told', async () => {
    const drops = Array.from({ length: 1000 }, () => [20, 1] as const);
    const { body, wasCancelled } = bodyOf(...drops);
    await expect(sizeOf(atPace(body, { bytes: 100, everyMs: 200 }))).rejects.toMatchObject({
      code: 'invalid_body',
      message: 'the body arrives too slowly',
    });
    expect(wasCancelled()).toBe(true);
  });

  it('that says nothing any more is given up too', async () => {
    const silent = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new Uint8Array(5)),
    });
    await expect(sizeOf(atPace(silent, { bytes: 100, everyMs: 50 }))).rejects.toMatchObject({
      code: 'invalid_body',
    });
  });

  it('that breaks off, or is not wanted any more, leaves no clock running', async () => {
    const gone = Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
    const broken = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(gone) });
    await expect(sizeOf(atPace(broken, { bytes: 1, everyMs: 50 }))).rejects.toMatchObject({
      code: 'invalid_body',
      message: 'the body ended early',
    });
    const { body, wasCancelled } = bodyOf([0, 1], [0, 1]);
    const reader = atPace(body, { bytes: 100, everyMs: 50 }).getReader();
    await reader.read();
    await reader.cancel();
    expect(wasCancelled()).toBe(true);
  });
});
