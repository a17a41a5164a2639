/** Numbers with a fraction that are to be rounded, as IEEE 754 says. */

/** `text`: with the words that rows have (`Infinity`, `NaN`). Returns null if it is not a number. */
export function readFloat(text: string, isSingle: boolean): number | null {
  const value = Number(text);
  if (text.trim() === '' || (Number.isNaN(value) && text !== 'NaN')) return null;
  return isSingle ? toSingle(text, value) : value;
}

/** Rounded once: a double in the middle between two floats may have been rounded there. */
function toSingle(text: string, double: number): number {
  const single = Math.fround(double);
  if (!Number.isFinite(double) || single === double) return single;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, double);
  if ((view.getUint32(4) & 0x1fffffff) !== 0x10000000) return single;
  const side = compareExactly(text, double);
  if (side === 0) return single;
  // just beside the midpoint: the next double is on the correct side
  const bits = view.getBigInt64(0) + BigInt(double > 0 ? side : -side);
  view.setBigInt64(0, bits);
  return Math.fround(view.getFloat64(0));
}

/** Compares the decimal with the double: returns -1 if it is less, 0 if equal, 1 if greater. */
function compareExactly(text: string, double: number): number {
  const [, sign, whole = '', fraction = '', power = '0'] = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(
    text,
  )!;
  let decimal = BigInt(`${whole}${fraction}`);
  let exponent = Number(power) - fraction.length;
  // a double is a whole number times a power of two
  let binary = 0;
  let mantissa = Math.abs(double);
  for (; !Number.isInteger(mantissa); binary -= 1) mantissa *= 2;
  let other = BigInt(mantissa) * 10n ** BigInt(Math.max(0, -exponent));
  decimal *= 10n ** BigInt(Math.max(0, exponent));
  decimal <<= BigInt(-binary);
  const order = decimal < other ? -1 : decimal > other ? 1 : 0;
  return sign === '-' ? -order : order;
}
