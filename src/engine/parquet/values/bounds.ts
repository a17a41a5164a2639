/** The least and the greatest value of a page or column, in the form of Parquet's statistics. Long text is truncated. */
import * as layout from '../kernel/layout.ts';
import type { ColumnsKernel } from '../kernel/instance.ts';
import { PHYSICAL, type ParquetType } from './column-types.ts';

export interface Bound {
  readonly bytes: Uint8Array;
  /** false: no value is less (greater), but none may be equal */
  readonly isExact: boolean;
  /** the value for comparing numbers */
  readonly value: bigint | number | null;
}

export interface Bounds {
  readonly least: Bound;
  readonly greatest: Bound;
}

const mostTextBytes = 64;

/**
 * Returns the bounds of the values that the kernel has just read, of which there must be at least one. Returns null if some values are
 * not ordered or a text has no bound.
 */
export function boundsOf(kernel: ColumnsKernel, type: ParquetType): Bounds | null {
  const { view } = kernel;
  const [leastAt, greatestAt] = [
    layout.CONTROL_AT + layout.LEAST * 4,
    layout.CONTROL_AT + layout.GREATEST * 4,
  ];
  switch (type.physical) {
    case PHYSICAL.bytes:
      return textBounds(kernel);
    case PHYSICAL.float:
    case PHYSICAL.double:
      return floatBounds(
        view.getFloat64(leastAt, true),
        view.getFloat64(greatestAt, true),
        type.physical === PHYSICAL.float,
      );
    case PHYSICAL.fixed:
      return { least: wide(view, leastAt), greatest: wide(view, greatestAt) };
    default:
      return {
        least: whole(view.getBigInt64(leastAt, true), type.width),
        greatest: whole(view.getBigInt64(greatestAt, true), type.width),
      };
  }
}

export function widest(a: Bounds | null, b: Bounds): Bounds {
  if (a === null) return b;
  return {
    least: order(a.least, b.least) <= 0 ? tied(a.least, b.least) : b.least,
    greatest: order(a.greatest, b.greatest) >= 0 ? tied(a.greatest, b.greatest) : b.greatest,
  };
}

function order(a: Bound, b: Bound): number {
  if (a.value !== null && b.value !== null) return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
  return compareBytes(a.bytes, b.bytes);
}

/** Returns the bound that is not exact if both are equal. */
function tied(kept: Bound, other: Bound): Bound {
  return kept.isExact && !other.isExact && order(kept, other) === 0 ? other : kept;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return a.length - b.length;
}

function whole(value: bigint, width: number): Bound {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, value, true);
  return { bytes: bytes.subarray(0, width), isExact: true, value };
}

function wide(view: DataView, at: number): Bound {
  const [low, high] = [view.getBigUint64(at, true), view.getBigInt64(at + 8, true)];
  const bytes = new Uint8Array(16);
  const out = new DataView(bytes.buffer);
  out.setBigInt64(0, high);
  out.setBigUint64(8, low);
  return { bytes, isExact: true, value: (high << 64n) | low };
}

/** Zero has two signs, which some order and some do not. */
function floatBounds(least: number, greatest: number, isSingle: boolean): Bounds | null {
  if (Number.isNaN(least) || Number.isNaN(greatest)) return null;
  const bound = (value: number): Bound => {
    const bytes = new Uint8Array(isSingle ? 4 : 8);
    const view = new DataView(bytes.buffer);
    if (isSingle) view.setFloat32(0, value, true);
    else view.setFloat64(0, value, true);
    return { bytes, isExact: true, value };
  };
  return { least: bound(least === 0 ? -0 : least), greatest: bound(greatest === 0 ? 0 : greatest) };
}

function textBounds(kernel: ColumnsKernel): Bounds | null {
  const text = (atSlot: number, lengthSlot: number): readonly [Uint8Array, isWhole: boolean] => {
    const [at, length] = [kernel.result(atSlot), kernel.result(lengthSlot)];
    const bytes = kernel.bytes([at, at + Math.min(length, mostTextBytes + 4)]);
    return length <= mostTextBytes ? [bytes, true] : [characters(bytes), false];
  };
  const [least, isLeast] = text(layout.LEAST_AT, layout.LEAST_LENGTH);
  const [greatest, isGreatest] = text(layout.GREATEST_AT, layout.GREATEST_LENGTH);
  const above = isGreatest ? greatest : next(greatest);
  if (above === null) return null;
  return {
    least: { bytes: least, isExact: isLeast, value: null },
    greatest: { bytes: above, isExact: isGreatest, value: null },
  };
}

/** Returns as many whole characters as fit. */
function characters(bytes: Uint8Array): Uint8Array {
  let end = mostTextBytes;
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

/** Returns the least text greater than all texts with this prefix, or null if there is none. */
function next(bytes: Uint8Array): Uint8Array | null {
  const points = Array.from(new TextDecoder().decode(bytes), (character) => character.codePointAt(0)!);
  while (points.length > 0) {
    const last = points.pop()!;
    if (last === 0x10ffff) continue;
    points.push(last === 0xd7ff ? 0xe000 : last + 1);
    return new TextEncoder().encode(String.fromCodePoint(...points));
  }
  return null;
}
