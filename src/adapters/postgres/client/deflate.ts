/** Bytes as they are stored: deflated. The data is packed already, a higher level gains little and costs much. */
import { promisify } from 'node:util';
import { deflateRaw, inflateRaw, inflateRawSync } from 'node:zlib';

const deflateAsync = promisify(deflateRaw);
const inflateAsync = promisify<Uint8Array, Buffer<ArrayBuffer>>(inflateRaw);

export function deflated(bytes: Uint8Array): Promise<Buffer> {
  return deflateAsync(bytes, { level: 1 });
}

/** Inflates synchronously, because it is not known in advance which parts of a model are read. */
export function inflated(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return inflateRawSync(bytes);
}

export function inflatedApart(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return inflateAsync(bytes);
}
