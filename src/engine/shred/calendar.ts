/** Lexical forms of date, time and dateTime (XSD 1.0 Part 2 §3.2.7-3.2.9), read from bytes. */

/** No zone, `Z`, or an offset such as `+02:00`. */
export type Zone = 'none' | 'utc' | 'offset';

export interface CalendarValue {
  readonly zone: Zone;
  /** end of the date and time, and start of the zone */
  readonly zoneStart: number;
  /** digits of the fraction of a second, trailing zeros included */
  readonly fractionDigits: number;
  /** the fraction ends in 0: databases print it without */
  readonly trailingZero: boolean;
  /** hour 24 */
  readonly endOfDay: boolean;
}

const DASH = 45;
const COLON = 58;

function digit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  return digit(bytes[at]) && digit(bytes[at + 1]) ? (bytes[at]! - 48) * 10 + bytes[at + 1]! - 48 : -1;
}

/** `2024-01-31T10:00:00+02:00` */
const shortestWithOffset = 25;

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns the position after `YYYY-MM-DD` with a year of 1 to 9999 and a day that exists, or -1 for anything else. */
function readDate(bytes: Uint8Array, start: number, end: number): number {
  if (start + 10 > end || bytes[start + 4] !== DASH || bytes[start + 7] !== DASH) return -1;
  const century = twoDigits(bytes, start);
  const inCentury = twoDigits(bytes, start + 2);
  const month = twoDigits(bytes, start + 5);
  const day = twoDigits(bytes, start + 8);
  if (century < 0 || inCentury < 0 || month < 1 || month > 12 || day < 1) return -1;
  const year = century * 100 + inCentury;
  if (year === 0) return -1;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const last = month === 2 && leap ? 29 : daysOfMonth[month - 1]!;
  return day > last ? -1 : start + 10;
}

function readTime(bytes: Uint8Array, start: number, end: number): CalendarValue | null {
  if (start + 8 > end || bytes[start + 2] !== COLON || bytes[start + 5] !== COLON) return null;
  const hour = twoDigits(bytes, start);
  const minute = twoDigits(bytes, start + 3);
  const second = twoDigits(bytes, start + 6);
  if (hour < 0 || hour > 24 || minute < 0 || minute > 59 || second < 0 || second > 59) return null;
  let at = start + 8;
  let fractionDigits = 0;
  if (bytes[at] === 46 && at < end) {
    at += 1;
    while (at < end && digit(bytes[at])) {
      fractionDigits += 1;
      at += 1;
    }
    if (fractionDigits === 0) return null;
  }
  const trailingZero = fractionDigits > 0 && bytes[at - 1] === 48;
  if (hour === 24) {
    if (minute !== 0 || second !== 0) return null;
    for (let i = at - fractionDigits; i < at; i += 1) if (bytes[i] !== 48) return null;
  }
  const zone = readZone(bytes, at, end);
  return zone === null ? null : { zone, zoneStart: at, fractionDigits, trailingZero, endOfDay: hour === 24 };
}

function readZone(bytes: Uint8Array, start: number, end: number): Zone | null {
  if (start === end) return 'none';
  if (bytes[start] === 90 && start + 1 === end) return 'utc';
  const sign = bytes[start];
  if ((sign !== 43 && sign !== DASH) || start + 6 !== end || bytes[start + 3] !== COLON) return null;
  const hours = twoDigits(bytes, start + 1);
  const minutes = twoDigits(bytes, start + 4);
  return hours < 0 || minutes < 0 || minutes > 59 || hours > 14 || (hours === 14 && minutes > 0)
    ? null
    : 'offset';
}

/**
 * Returns the offset from UTC of a date with a time, in minutes, ignoring white space around it. Returns null if it is in UTC (`Z`) or
 * has no zone.
 */
export function offsetMinutes(bytes: Uint8Array, start: number, end: number): number | null {
  let to = end;
  while (to > start && bytes[to - 1]! <= 32) to -= 1;
  const sign = bytes[to - 6];
  if (bytes[to - 3] !== COLON || (sign !== 43 && sign !== DASH) || to - start < shortestWithOffset)
    return null;
  const minutes = twoDigits(bytes, to - 5) * 60 + twoDigits(bytes, to - 2);
  return sign === DASH && minutes > 0 ? -minutes : minutes;
}

/**
 * True if the instant and the minutes of its offset reproduce the zone of a date with a time. False for `-00:00`, and if the instant may
 * be in a year that columns cannot hold.
 */
export function isRestoredByMinutes(bytes: Uint8Array, start: number, zoneStart: number): boolean {
  if (bytes[zoneStart] === DASH && offsetMinutes(bytes, start, zoneStart + 6) === 0) return false;
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
  return year > 1 && year < 9999;
}

/** Returns null if the text is not a date that a database column holds (also for years beyond 1 … 9999). */
export function readDateValue(bytes: Uint8Array, start: number, end: number): CalendarValue | null {
  const at = readDate(bytes, start, end);
  if (at < 0) return null;
  const zone = readZone(bytes, at, end);
  return zone === null
    ? null
    : { zone, zoneStart: at, fractionDigits: 0, trailingZero: false, endOfDay: false };
}

export function readTimeValue(bytes: Uint8Array, start: number, end: number): CalendarValue | null {
  return readTime(bytes, start, end);
}

export function readDateTimeValue(bytes: Uint8Array, start: number, end: number): CalendarValue | null {
  const at = readDate(bytes, start, end);
  if (at < 0 || bytes[at] !== 84) return null;
  return readTime(bytes, at + 1, end);
}
