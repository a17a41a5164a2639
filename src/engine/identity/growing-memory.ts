/**
 * Arrays that grow without being copied once they are large: their room is reserved, and given back at once. One that is copied is there twice
 * for a moment, and of what an allocator has had, it keeps much.
 */

/** bytes from which on an array grows where it lies */
const largeBytes = 1024 * 1024;
/** bytes that such an array has reserved; those that it does not reach cost nothing */
const reservedBytes = 512 * 1024 * 1024;

/** With room for `length` bytes, or more, and what `array` holds. */
export function grownBytes(array: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const buffer = grownBuffer(array, length);
  const grown = new Uint8Array(buffer, 0, buffer.byteLength);
  if (buffer !== array.buffer) grown.set(array);
  return grown;
}

/** Does the same as `grownBytes` for numbers. */
export function grownInts(array: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  const buffer = grownBuffer(array, length * 4);
  const grown = new Int32Array(buffer, 0, buffer.byteLength / 4);
  if (buffer !== array.buffer) grown.set(array);
  return grown;
}

/** It is needed no more. */
export function giveUp({ buffer }: Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>): void {
  if (buffer.resizable) buffer.resize(0);
}

/** Returns the array's own buffer if it can grow, otherwise a new one. */
function grownBuffer(
  { buffer }: Uint8Array<ArrayBuffer> | Int32Array<ArrayBuffer>,
  bytes: number,
): ArrayBuffer {
  const { byteLength } = buffer;
  if (Math.max(bytes, byteLength) < largeBytes)
    return new ArrayBuffer(wholeInts(Math.max(bytes, byteLength * 2)));
  const wanted = wholeInts(Math.max(bytes, byteLength * 1.25));
  try {
    if (!buffer.resizable) return new ArrayBuffer(wanted, { maxByteLength: reservedBytes });
    buffer.resize(wanted);
    return buffer;
  } catch {
    // there is no room to reserve, or the array is larger than that
    return new ArrayBuffer(wanted);
  }
}

function wholeInts(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}
