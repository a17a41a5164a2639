/** Bytes for an object store: streams cut into parts of one size, the last one smaller; and objects that are created only once. */
import { AppError } from '../../errors.ts';

/** An empty stream has no part. AppError `payload_too_large` as soon as more than `maxBytes` have come. */
export async function* inParts(
  body: ReadableStream<Uint8Array>,
  partBytes: number,
  maxBytes: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  let part = new Uint8Array(0);
  let filled = 0;
  let total = 0;
  let whole = false;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      total += value.byteLength;
      if (total > maxBytes) throw tooLarge(maxBytes);
      for (let at = 0; at < value.byteLength;) {
        if (filled === part.byteLength)
          part = grown(part, filled, Math.min(partBytes, filled + value.byteLength), partBytes);
        const taken = Math.min(part.byteLength - filled, value.byteLength - at);
        part.set(value.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
        if (filled < partBytes) continue;
        yield part;
        part = new Uint8Array(0);
        filled = 0;
      }
    }
    whole = true;
    if (filled > 0) yield part.subarray(0, filled);
  } finally {
    // a consumer that stopped reading does not need to know how the source ends
    if (!whole) await reader.cancel().catch(() => undefined);
  }
}

/** Twice as large, at least `wanted`: small bodies take little, large ones are not copied often. */
function grown(part: Uint8Array, filled: number, wanted: number, maxBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(wanted, Math.min(2 * filled, maxBytes)));
  larger.set(part.subarray(0, filled));
  return larger;
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `the file is larger than ${maxBytes} bytes`);
}

// Creates an object only if it does not exist. One writer alone succeeds.

const busyTries = 5;

/**
 * Returns false if another writer created the object. After a failure, or a conflict with an earlier try of ours that did arrive, the
 * content shows who created it: each writer's content is unique. AppError `service_unavailable` if that cannot be found out. `put`:
 * sends one conditional request; `busy`: another request for the same key is pending.
 */
export async function createOnce(
  bytes: Uint8Array,
  put: () => Promise<'made' | 'there' | 'busy'>,
  get: () => Promise<Response>,
): Promise<boolean> {
  for (let number = 1; ; number += 1) {
    let outcome: Awaited<ReturnType<typeof put>>;
    try {
      outcome = await put();
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalid_option') throw error;
      const there = await contentOf(get).catch(() => null);
      if (there === null) throw error;
      return isSame(there, bytes);
    }
    if (outcome === 'made') return true;
    if (outcome === 'there') {
      const there = await contentOf(get);
      return there !== null && isSame(there, bytes);
    }
    if (number === busyTries)
      throw new AppError(
        'service_unavailable',
        'the object store cannot be used now (other requests are creating the same object)',
      );
    await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** number * Math.random()));
  }
}

async function contentOf(get: () => Promise<Response>): Promise<Uint8Array | null> {
  const answer = await get();
  if (answer.status === 404) {
    await answer.body?.cancel();
    return null;
  }
  return new Uint8Array(await answer.arrayBuffer());
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && one.every((byte, at) => byte === other[at]);
}
