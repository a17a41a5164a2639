/** A stream cut into parts of one size, the last one smaller. */
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
function grown(part: Uint8Array, filled: number, wanted: number, mostBytes: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(wanted, Math.min(2 * filled, mostBytes)));
  larger.set(part.subarray(0, filled));
  return larger;
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large', `the file is larger than ${maxBytes} bytes`);
}
