// Part of src/engine/parquet/kernel/columns.as: reads numbers in decimal digits. Each function returns true if the type holds the text.

const ZEROS: u64 = 0x3030303030303030;

/** The last number's magnitude, and whether it had a minus sign. */
let magnitude: u64 = 0;
let magnitudeHigh: u64 = 0;

/** 10 to the power of 0 … 19 */
// @ts-ignore: decorator
@inline
function powerOfTen(exponent: i32): u64 {
  return load<u64>(POWERS_AT + ((<usize>exponent) << 3));
}

/** Returns the value of eight digits, the first of them lowest. Sets `areDigits` to false if one is not a digit. */
let areDigits = true;
// @ts-ignore: decorator
@inline
function eightDigits(text: u64): u64 {
  let v = text ^ ZEROS;
  if (((v + 0x7676767676767676) | v) & 0x8080808080808080) areDigits = false;
  v = v * 10 + (v >> 8);
  return ((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32;
}

/** Reads up to eight digits before `to`, and ignores the bytes before them. */
// @ts-ignore: decorator
@inline
function fewDigits(length: i32, to: usize): u64 {
  const shift = <u64>((8 - length) << 3);
  return length == 0 ? 0 : eightDigits(((load<u64>(to - 8) >> shift) << shift) | (ZEROS & (((<u64>1) << shift) - 1)));
}

/** Reads one to eight bytes before `to`, which must all be digits. Returns -1 if they are not. */
// @ts-ignore: decorator
@inline
function wholeOfFew(length: i32, to: usize): i64 {
  const shift = <u64>((8 - length) << 3);
  let v = (load<u64>(to - 8) ^ ZEROS) >> shift << shift;
  if (((v + 0x7676767676767676) | v) & 0x8080808080808080) return -1;
  v = v * 10 + (v >> 8);
  return <i64>(((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32);
}

/** The number of digits after the point in the last decimal of few digits. */
let fewFraction = 0;

/** Returns the value of 16 digits, one per byte, with the first digit in the lowest byte. */
// @ts-ignore: decorator
@inline
function worthOf(digits: v128): i64 {
  const pairs = i16x8.add(i16x8.mul(v128.and(digits, i16x8.splat(0xff)), i16x8.splat(10)), i16x8.shr_u(digits, 8));
  const fours = i32x4.dot_i16x8_s(pairs, i16x8(100, 1, 100, 1, 100, 1, 100, 1));
  const eights = i32x4.dot_i16x8_s(i16x8.narrow_i32x4_s(fours, fours), i16x8(10000, 1, 10000, 1, 10000, 1, 10000, 1));
  return <i64>i32x4.extract_lane(eights, 0) * 100_000_000 + <i64>i32x4.extract_lane(eights, 1);
}

/** Reads one to 16 bytes before `to`, which must all be digits. Returns -1 if they are not. */
// @ts-ignore: decorator
@inline
function wholeOfSixteen(length: i32, to: usize): i64 {
  const digits = v128.and(i8x16.sub(v128.load(to - 16), i8x16.splat(ZERO)), v128.load(LAST_BYTES_AT + <usize>length));
  return v128.any_true(i8x16.gt_u(digits, i8x16.splat(9))) ? -1 : worthOf(digits);
}

/** One to 16 bytes before `to`, of digits and at most one point, without it; -1: they are no number, or have a sign. */
// @ts-ignore: decorator
@inline
function decimalOfSixteen(length: i32, to: usize): i64 {
  const text = v128.and(i8x16.sub(v128.load(to - 16), i8x16.splat(ZERO)), v128.load(LAST_BYTES_AT + <usize>length));
  const point = ctz(i8x16.bitmask(i8x16.eq(text, i8x16.splat(<i8>(POINT - ZERO)))) | 0x10000);
  fewFraction = point == 16 ? 0 : 15 - point;
  const digits = i8x16.swizzle(text, v128.load(WITHOUT_POINT_AT + ((<usize>point) << 4)));
  if (v128.any_true(i8x16.gt_u(digits, i8x16.splat(9))) || (length == 1 && point < 16)) return -1;
  return worthOf(digits);
}

/** Writes the vectors for reading numbers. Must be called once, before any other function. */
function prepareVectors(): void {
  v128.store(LAST_BYTES_AT, i8x16.splat(0));
  v128.store(LAST_BYTES_AT, i8x16.splat(-1), 16);
  for (let point = 0; point <= 16; point++) {
    for (let i = 0; i < 16; i++) {
      // an index beyond the vector gives zero
      const from = point == 16 || i > point ? i : i - 1;
      store<u8>(WITHOUT_POINT_AT + <usize>(point * 16 + i), <u8>from);
    }
  }
}

/** Reads up to 19 digits. Only a number of 20 digits may exceed 64 bits. */
// @ts-ignore: decorator
@inline
function digits(from: usize, to: usize): u64 {
  const length = <i32>(to - from);
  if (length <= 8) return fewDigits(length, to);
  if (length <= 16) return fewDigits(length - 8, to - 8) * 100_000_000 + eightDigits(load<u64>(to - 8));
  return (
    (fewDigits(length - 16, to - 16) * 100_000_000 + eightDigits(load<u64>(to - 16))) * 100_000_000 +
    eightDigits(load<u64>(to - 8))
  );
}

/** A × b in 128 bits: `magnitudeHigh`, and `magnitude`. */
function multiply(a: u64, b: u64): void {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const low = aLow * bLow;
  const middle = aHigh * bLow + (low >> 32);
  const other = aLow * bHigh + (middle & 0xffffffff);
  magnitude = (other << 32) | (low & 0xffffffff);
  magnitudeHigh = aHigh * bHigh + (middle >> 32) + (other >> 32);
}

/** Returns the position of a number's point, or the number's end if it has none. */
// @ts-ignore: decorator
@inline
function pointOf(from: usize, to: usize): usize {
  for (; from < to; from += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(from), i8x16.splat(POINT)));
    if (found != 0) return min(from + ctz(found), to);
  }
  return to;
}

/**
 * Reads the magnitude of a number, times 10 to the power of `scale`, in 128 bits. Returns false if the text is not a number, or has more
 * digits.
 */
function readScaled(from: usize, to: usize, scale: i32): bool {
  areDigits = true;
  let point = pointOf(from, to);
  while (from < point && load<u8>(from) == ZERO) from++;
  let end = to;
  if (<i32>(end - point) - 1 > scale) {
    while (end > point + 1 && load<u8>(end - 1) == ZERO) end--;
    if (<i32>(end - point) - 1 > scale) return false;
  }
  const whole = <i32>(point - from);
  const fraction: i32 = end > point ? <i32>(end - point) - 1 : 0;
  if (whole + fraction <= 18 && whole + scale <= 36 && scale - fraction <= 18) {
    const number = digits(from, point) * powerOfTen(fraction) + (fraction == 0 ? 0 : digits(point + 1, end));
    if (!areDigits) return false;
    multiply(number, powerOfTen(scale - fraction));
    return true;
  }
  if (whole + scale > 38) return false;
  magnitude = 0;
  magnitudeHigh = 0;
  let rest = scale - fraction;
  for (let i = from; i < end || rest > 0; i++) {
    let digit: u64 = 0;
    if (i < end) {
      if (i == point) continue;
      digit = load<u8>(i) - ZERO;
      if (digit > 9) return false;
    } else {
      rest--;
    }
    const high = magnitudeHigh;
    multiply(magnitude, 10);
    magnitudeHigh += high * 10;
    magnitude += digit;
    if (magnitude < digit) magnitudeHigh++;
  }
  return true;
}

/** A whole number that `magnitude` holds. */
// @ts-ignore: decorator
@inline
function readWhole(from: usize, to: usize): bool {
  areDigits = true;
  while (to - from > 19 && load<u8>(from) == ZERO) from++;
  if (to - from - 1 > 18) return false;
  magnitude = digits(from, to);
  return areDigits;
}

/** A number of few digits as a double, exactly; false for all that is to be rounded. `most`: of the mantissa, and of the exponent. */
function readExact(from: usize, to: usize, most: u64, mostExponent: i32): bool {
  areDigits = true;
  const point = pointOf(from, to);
  const fraction: i32 = to > point ? <i32>(to - point) - 1 : 0;
  const whole = <i32>(point - from);
  if (whole + fraction == 0 || whole + fraction > 18 || fraction > mostExponent) return false;
  magnitude = digits(from, point) * powerOfTen(fraction) + (fraction == 0 ? 0 : digits(point + 1, to));
  magnitudeHigh = <u64>fraction;
  return areDigits && magnitude <= most;
}
