/** The order of values of a primitive type. */
import type { BuiltInType } from '../../model/source-model.ts';
import { hasLexicalForm } from './lexical-form.ts';

/** Longer numerals are not compared: arithmetic on them costs more than a check is worth. */
const maxDigits = 10_000;

/**
 * Compares two values of a primitive type: negative, 0 or positive; null when the type has no order or the two have none
 * (XSD Part 2 §3.2), as when one is no value of the type. Values without a time zone count as UTC.
 */
export function compareValues(primitive: BuiltInType, a: string, b: string): number | null {
  switch (primitive) {
    case 'decimal':
      return compareDecimals(a, b);
    case 'float':
    case 'double':
      return compareNumbers(floatOf(a), floatOf(b));
    case 'duration':
      return compareDurations(a, b);
    case 'dateTime':
    case 'date':
    case 'time':
    case 'gYear':
    case 'gYearMonth':
    case 'gMonth':
    case 'gMonthDay':
    case 'gDay':
      return compareNumbers(secondsOf(primitive, a), secondsOf(primitive, b));
    case 'boolean':
      return /^[1t]/u.test(a) === /^[1t]/u.test(b) ? 0 : null;
    case 'hexBinary':
      return a.toLowerCase() === b.toLowerCase() ? 0 : null;
    default:
      return a === b ? 0 : null;
  }
}

function compareNumbers(a: number, b: number): number | null {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) && Number.isNaN(b) ? 0 : null;
  return a < b ? -1 : a > b ? 1 : 0;
}

function floatOf(text: string): number {
  return text === 'INF' ? Infinity : text === '-INF' ? -Infinity : Number(text);
}

function compareDecimals(a: string, b: string): number | null {
  if (a.length > maxDigits || b.length > maxDigits) return null;
  if (!hasLexicalForm('decimal', a) || !hasLexicalForm('decimal', b)) return null;
  const scale = Math.max(fractionLength(a), fractionLength(b));
  const [left, right] = [scaled(a, scale), scaled(b, scale)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function fractionLength(text: string): number {
  const dot = text.indexOf('.');
  return dot < 0 ? 0 : text.length - dot - 1;
}

function scaled(text: string, scale: number): bigint {
  const digits = text.replace(/[+-]/u, '');
  const value = BigInt(digits.replace('.', '') + '0'.repeat(scale - fractionLength(text)) || '0');
  return text.startsWith('-') ? -value : value;
}

/** Decided when months and seconds agree in direction; null otherwise. */
function compareDurations(a: string, b: string): number | null {
  const [left, right] = [durationOf(a), durationOf(b)];
  const months = Math.sign(left.months - right.months);
  const seconds = Math.sign(left.seconds - right.seconds);
  if (months === 0 || seconds === 0 || months === seconds) return months === 0 ? seconds : months;
  const difference = (left.months - right.months) * 30.436875 * 86_400 + left.seconds - right.seconds;
  const margin = 4 * 86_400;
  return Math.abs(difference) > margin ? Math.sign(difference) : null;
}

function durationOf(text: string): { months: number; seconds: number } {
  const parts = /^(-?)P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?$/u.exec(
    text,
  );
  if (parts === null) return { months: 0, seconds: 0 };
  const sign = parts[1] === '-' ? -1 : 1;
  const at = (index: number) => Number(parts[index] ?? 0);
  return {
    months: sign * (at(2) * 12 + at(3)),
    seconds: sign * (at(4) * 86_400 + at(5) * 3600 + at(6) * 60 + at(7)),
  };
}

/** Seconds on one time line; missing fields as on 1 January 2000. */
function secondsOf(primitive: BuiltInType, text: string): number {
  const zoned = /(Z|[+-]\d\d:\d\d)$/u.exec(text);
  const bare = zoned === null ? text : text.slice(0, zoned.index);
  let [years, months, days, clock] = [2000, 1, 1, ''];
  if (primitive === 'time') clock = bare;
  else if (primitive === 'gMonth') months = Number(bare.slice(2, 4));
  else if (primitive === 'gDay') days = Number(bare.slice(3, 5));
  else if (primitive === 'gMonthDay') [months, days] = [Number(bare.slice(2, 4)), Number(bare.slice(5, 7))];
  else {
    const parts = /^(-?\d+)(?:-(\d\d))?(?:-(\d\d))?(?:T(.*))?$/u.exec(bare);
    if (parts === null) return Number.NaN;
    [years, months, days, clock] = [
      Number(parts[1]),
      Number(parts[2] ?? 1),
      Number(parts[3] ?? 1),
      parts[4] ?? '',
    ];
  }
  const [hours = 0, minutes = 0, seconds = 0] = clock === '' ? [] : clock.split(':').map(Number);
  const offset = zoned === null || zoned[1] === 'Z' ? 0 : offsetMinutes(zoned[1]!);
  return daysSinceEpoch(years, months, days) * 86_400 + hours * 3600 + (minutes - offset) * 60 + seconds;
}

function offsetMinutes(zone: string): number {
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return zone.startsWith('-') ? -minutes : minutes;
}

/** Proleptic Gregorian day number, for any year. */
function daysSinceEpoch(years: number, months: number, days: number): number {
  const shifted = months <= 2 ? years - 1 : years;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (months + (months > 2 ? -3 : 9)) + 2) / 5) + days - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  );
}
