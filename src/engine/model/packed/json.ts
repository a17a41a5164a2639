/**
 * Packed JSON: a compact form of a JSON value, of which a reader only decodes the parts that are accessed. The keys of objects are stored
 * once per set of keys, each text once, and a path as its last step after the path above it. Equal values with keys in the same order
 * have equal bytes.
 */
import { PackedReader } from './reader.ts';
import { PackedWriter, type LazyParts } from './writer.ts';

/** Members that are undefined are left out, as JSON.stringify does. */
export function packJson(value: unknown, lazy: LazyParts = {}): Uint8Array<ArrayBuffer> {
  return new PackedWriter(lazy).pack(value);
}

/** Returns the unpacked value. Throws RangeError if the bytes are not from `packJson`. */
export function unpackJson(packed: Uint8Array): unknown {
  return new PackedReader(packed).value();
}

/**
 * Yields the elements of a packed array, each decoded on request. Throws RangeError like `unpackJson`, and if the value is not an array.
 */
export function unpackElements(packed: Uint8Array): Iterable<unknown> {
  return new PackedReader(packed).elements();
}
