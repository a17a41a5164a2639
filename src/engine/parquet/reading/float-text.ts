/** Floating-point numbers in the shortest form of XML Schema that gives the same number back. */

/** `isSingle`: of 32 bits. */
export function floatText(value: number, isSingle: boolean): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'INF' : '-INF';
  if (Object.is(value, -0)) return '-0';
  return String(isSingle ? shortest(value) : value);
}

/** The number of the fewest digits that a single-precision number is the nearest one of. */
function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number(value.toPrecision(9));
}
