/**
 * Arrays that grow without copying once they are large: their address space is reserved, and they are freed at once. A copy would briefly
 * need twice the memory, and allocators keep much of the memory that they have had.
 */

/** bytes from which on an array grows in place */
const largeBytes = 1024 * 1024;
/** address space reserved for such an array, in bytes; unused space costs nothing */
const reservedBytes = 512 * 1024 * 1024;

/** Returns an array with the content of `array` and room for at least `length` bytes. */
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

/** Frees an array that is no longer needed. */
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
