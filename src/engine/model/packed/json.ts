/**
 * Packed JSON: a JSON value in few bytes, of which a reader decodes no more than is looked at. Keys of objects are written once per
 * set of keys, texts once each, and a path as its last step after the path above it. Equal values, with keys in the same order,
 * pack to equal bytes.
 */
import { PackedReader } from './reader.ts';
import { PackedWriter, type LazyParts } from './writer.ts';

/** Members that are undefined are left out, as JSON.stringify does. */
export function packJson(value: unknown, lazy: LazyParts = {}): Uint8Array<ArrayBuffer> {
  return new PackedWriter(lazy).pack(value);
}

/** The value again. RangeError where the bytes are none of `packJson`. */
export function unpackJson(packed: Uint8Array): unknown {
  return new PackedReader(packed).value();
}

/** The elements of a packed array, each decoded as it is asked for. RangeError as `unpackJson`, and where it is no array. */
export function unpackElements(packed: Uint8Array): Iterable<unknown> {
  return new PackedReader(packed).elements();
}
