// Part of src/engine/parquet/kernel/columns.as: numbers in decimal digits. Each answers whether the text is one that the type holds.

const ZEROS: u64 = 0x3030303030303030;

/** What the last number was: its magnitude, and whether a minus stood before it. */
let magnitude: u64 = 0;
let magnitudeHigh: u64 = 0;

/** 10 to the power of 0 … 19 */
// @ts-ignore: decorator
@inline
function powerOfTen(exponent: i32): u64 {
  return load<u64>(POWERS_AT + ((<usize>exponent) << 3));
}

/** The value of eight digits, the first of them lowest; sets `areDigits` to false where one is none. */
let areDigits = true;
// @ts-ignore: decorator
@inline
function eightDigits(text: u64): u64 {
  let v = text ^ ZEROS;
  if (((v + 0x7676767676767676) | v) & 0x8080808080808080) areDigits = false;
  v = v * 10 + (v >> 8);
  return ((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32;
}

/** Up to eight digits before `to`; what stands before them is left out. */
// @ts-ignore: decorator
@inline
function fewDigits(length: i32, to: usize): u64 {
  const shift = <u64>((8 - length) << 3);
  return length == 0 ? 0 : eightDigits(((load<u64>(to - 8) >> shift) << shift) | (ZEROS & (((<u64>1) << shift) - 1)));
}

/** One to eight bytes before `to`, of digits alone; -1: others are among them. */
// @ts-ignore: decorator
@inline
function wholeOfFew(length: i32, to: usize): i64 {
  const shift = <u64>((8 - length) << 3);
  let v = (load<u64>(to - 8) ^ ZEROS) >> shift << shift;
  if (((v + 0x7676767676767676) | v) & 0x8080808080808080) return -1;
  v = v * 10 + (v >> 8);
  return <i64>(((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32);
}

const POINTS: u64 = 0x2e2e2e2e2e2e2e2e;
const LOW_BITS: u64 = 0x0101010101010101;
const HIGH_BITS: u64 = 0x8080808080808080;

/** Of the last decimal of few digits: how many stand behind its point. */
let fewFraction = 0;

/** One to eight bytes before `to`, of digits and at most one point, without it; -1: they are no number, or have a sign. */
// @ts-ignore: decorator
@inline
function decimalOfFew(length: i32, to: usize): i64 {
  const shift = <u64>((8 - length) << 3);
  let text = (load<u64>(to - 8) >> shift << shift) | (ZEROS & (((<u64>1) << shift) - 1));
  const other = text ^ POINTS;
  const found = (other - LOW_BITS) & ~other & HIGH_BITS;
  let fraction = 0;
  if (found != 0) {
    // the first byte is lowest: what stands before the point moves up by one
    const at = ctz(found) & ~7;
    const before = ((<u64>1) << at) - 1;
    fraction = 7 - <i32>(at >> 3);
    // bytes behind the point, then those before it, then a zero
    text = (text & ~((before << 8) | 0xff)) | ((text & before) << 8) | 0x30;
    if (length == 1) return -1;
  }
  fewFraction = fraction;
  let v = text ^ ZEROS;
  if (((v + 0x7676767676767676) | v) & HIGH_BITS) return -1;
  v = v * 10 + (v >> 8);
  return <i64>(((v & 0x000000ff000000ff) * 0x000f424000000064 + ((v >> 16) & 0x000000ff000000ff) * 0x0000271000000001) >> 32);
}

/** Up to 19 digits: what they are worth may be more than 64 bits hold only where the first of 20 would. */
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

/** Where the point of a number is, its end where it has none. */
// @ts-ignore: decorator
@inline
function pointOf(from: usize, to: usize): usize {
  for (; from < to; from += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(from), i8x16.splat(POINT)));
    if (found != 0) return min(from + ctz(found), to);
  }
  return to;
}

/** The magnitude of a number, times 10 to the power of `scale`, in 128 bits; false for what is none, or has more digits. */
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
