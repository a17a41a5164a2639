/**
 * Headers of members of tar archives (POSIX.1-2001, "pax Interchange Format" and "ustar Interchange Format"; GNU tar manual, "Basic Tar
 * Format").
 */

export const blockBytes = 512;

const nameBytes = 100;
const sizeAt = 124;
const sumAt = 148;
const sumBytes = 8;
const flagAt = 156;
const magicAt = 257;
const ustarMagic = Buffer.from('ustar\0');
const gnuMagic = Buffer.from('ustar  \0');
const prefixAt = 345;
const prefixBytes = 155;
const space = 0x20;
/** first byte of a number that is no octal digits but a binary one (GNU tar) */
const binary = 0x80;

export interface TarHeader {
  name: string;
  /** the type flag, one character; a file's is `0`, a directory's `5` */
  readonly flag: string;
  size: number;
  /** records of the pax header in front of it and of the global ones; null: no pax header precedes it */
  pax: PaxRecords | null;
}

export type PaxRecords = Readonly<Record<string, string>>;

/** Returns null if the block is empty, as at the end of an archive. */
export function readTarHeader(bytes: Buffer, at: number): TarHeader | null {
  const sum = sumOf(bytes, at);
  if (sum === sumBytes * space) return null;
  if (sum !== numberIn(bytes, at + sumAt, sumBytes))
    throw new Error('a header has another check sum: the archive is damaged, or no tar archive');
  const name = textIn(bytes, at, nameBytes);
  const flag = bytes[at + flagAt] === 0 ? '0' : String.fromCharCode(bytes[at + flagAt]!);
  const isUstar = holds(bytes, at + magicAt, ustarMagic);
  if (!isUstar && !holds(bytes, at + magicAt, gnuMagic))
    throw new Error('a header is neither of ustar nor of GNU tar');
  const hasPrefix = isUstar && bytes[at + prefixAt] !== 0;
  return {
    name: hasPrefix ? `${textIn(bytes, at + prefixAt, prefixBytes)}/${name}` : name,
    // archives of old mark directories by their names
    flag: flag === '0' && name.endsWith('/') ? '5' : flag,
    size: numberIn(bytes, at + sizeAt, 12),
    pax: null,
  };
}

/** Records of a pax header: `LENGTH KEY=VALUE` and a line end, the length counting its own digits. */
export function readPaxRecords(bytes: Buffer): PaxRecords {
  const records: Record<string, string> = {};
  for (let at = 0; at < bytes.length;) {
    const digits = bytes.indexOf(space, at);
    const length = digits < 0 ? 0 : Number(bytes.toString('latin1', at, digits));
    const equals = bytes.indexOf('=', digits);
    if (!(length > 0) || equals < 0 || equals >= at + length) break;
    records[bytes.toString('utf8', digits + 1, equals)] = bytes.toString('utf8', equals + 1, at + length - 1);
    at += length;
  }
  return records;
}

/** Text of a field, which ends with it or with its first NUL. */
export function textIn(bytes: Buffer, at: number, length: number): string {
  const end = bytes.indexOf(0, at);
  return bytes.toString('utf8', at, end < 0 || end > at + length ? at + length : end);
}

function holds(bytes: Buffer, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i += 1) if (bytes[at + i] !== wanted[i]) return false;
  return true;
}

/** Sums all bytes of a header, with those of the sum itself counted as spaces. */
function sumOf(bytes: Buffer, at: number): number {
  let sum = sumBytes * space;
  for (let i = at; i < at + sumAt; i += 1) sum += bytes[i]!;
  for (let i = at + sumAt + sumBytes; i < at + blockBytes; i += 1) sum += bytes[i]!;
  return sum;
}

/** Parses octal digits, or a binary number if it is too large for the digits. Returns NaN if the field holds neither. */
function numberIn(bytes: Buffer, at: number, length: number): number {
  const end = at + length;
  let value = 0;
  if (bytes[at] === binary) {
    for (let i = at + 1; i < end; i += 1) value = value * 256 + bytes[i]!;
    return value;
  }
  let i = at;
  while (i < end && (bytes[i] === space || bytes[i] === 0)) i += 1;
  for (; i < end; i += 1) {
    const digit = bytes[i]! - 0x30;
    if (digit < 0 || digit > 7) break;
    value = value * 8 + digit;
  }
  return i === end || bytes[i] === 0 || bytes[i] === space ? value : Number.NaN;
}
