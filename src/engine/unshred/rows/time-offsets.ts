/**
 * Writes dates with times in their original form: the instants with the offsets from UTC that are kept beside them
 * (docs/decisions/model/offsets-of-times.md).
 */
import type { RowColumn } from '../../model/wide-rows.ts';
import { hasOffsetBehind } from '../../model/zones.ts';
import type { SpareBuffers } from '../../spare-buffers.ts';
import type { RowBlock, RowBlocks } from './document-rows.ts';
import { copyWithRoom, RewrittenBlocks } from './rewritten.ts';

/** `columns`: of a row. */
export function withOffsets(blocks: RowBlocks, columns: readonly RowColumn[]): RowBlocks {
  const own = columns.map(({ column }) => column);
  const times = own.flatMap((_, at) => (hasOffsetBehind(own, at) ? [at] : []));
  if (times.length === 0) return blocks;
  return new RewrittenBlocks(blocks, (block, buffers) =>
    atOffsets(block, times, columns.length * 2, buffers),
  );
}

/** the number of bytes that an offset has more than `Z` */
const addedBytes = 5;

/** `times`: columns whose offset is in the next one; `width`: cells of a row. */
function atOffsets(
  block: RowBlock,
  times: readonly number[],
  width: number,
  buffers: SpareBuffers,
): RowBlock {
  const { cells, rows } = block;
  let room = 0;
  const end = rows * width;
  for (const time of times)
    for (let at = time * 2; at < end; at += width)
      if (cells[at]! >= 0 && cells[at + 2]! >= 0) room += cells[at + 1]! - cells[at]! + addedBytes;
  if (room === 0) return block;
  const written = copyWithRoom(block, room, buffers);
  const { bytes } = written;
  let to = block.bytes.length;
  for (const time of times)
    for (let at = time * 2; at < end; at += width) {
      if (cells[at]! < 0 || cells[at + 2]! < 0) continue;
      const minutes = minutesIn(bytes, cells[at + 2]!, cells[at + 3]!);
      const from = to;
      to = writeAtOffset(bytes, cells[at]!, cells[at + 1]!, minutes, from);
      if (to === from) continue;
      written.cells[at] = from;
      written.cells[at + 1] = to;
    }
  return written;
}

/** 14:00, the most that an offset may be */
const mostMinutes = 840;

const MINUS = 45;
const ZERO = 48;

/** NaN: they are no minutes of an offset. */
function minutesIn(bytes: Uint8Array, from: number, to: number): number {
  const isNegative = bytes[from] === MINUS;
  let minutes = 0;
  for (let at = isNegative ? from + 1 : from; at < to; at += 1) {
    const digit = bytes[at]! - ZERO;
    if (digit < 0 || digit > 9) return NaN;
    minutes = minutes * 10 + digit;
  }
  return minutes > mostMinutes ? NaN : isNegative ? -minutes : minutes;
}

function twoDigits(bytes: Uint8Array, at: number): number {
  return (bytes[at]! - ZERO) * 10 + bytes[at + 1]! - ZERO;
}

function putTwoDigits(bytes: Uint8Array, at: number, value: number): void {
  const tens = Math.trunc(value / 10);
  bytes[at] = ZERO + tens;
  bytes[at + 1] = ZERO + value - tens * 10;
}

const minutesOfDay = 1440;
/** `2024-01-31T10:00:00Z` */
const shortestTime = 20;

/** Writes the instant [start, end), given in UTC, with the offset at `out`. Returns its end, or `out` if it is not such an instant. */
function writeAtOffset(bytes: Uint8Array, start: number, end: number, minutes: number, out: number): number {
  if (
    end - start < shortestTime ||
    bytes[end - 1] !== 90 ||
    bytes[start + 10] !== 84 ||
    Number.isNaN(minutes)
  )
    return out;
  bytes.copyWithin(out, start, end - 1);
  let clock = twoDigits(bytes, start + 11) * 60 + twoDigits(bytes, start + 14) + minutes;
  if (clock < 0) {
    clock += minutesOfDay;
    toDayBefore(bytes, out);
  } else if (clock >= minutesOfDay) {
    clock -= minutesOfDay;
    toDayAfter(bytes, out);
  }
  const hours = Math.trunc(clock / 60);
  putTwoDigits(bytes, out + 11, hours);
  putTwoDigits(bytes, out + 14, clock - hours * 60);
  const zone = out + end - 1 - start;
  const ahead = Math.abs(minutes);
  const hoursAhead = Math.trunc(ahead / 60);
  bytes[zone] = minutes < 0 ? MINUS : 43;
  putTwoDigits(bytes, zone + 1, hoursAhead);
  bytes[zone + 3] = 58;
  putTwoDigits(bytes, zone + 4, ahead - hoursAhead * 60);
  return zone + 6;
}

const daysOfMonth = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function lastDayOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : daysOfMonth[month - 1]!;
}

function yearAt(bytes: Uint8Array, date: number): number {
  return twoDigits(bytes, date) * 100 + twoDigits(bytes, date + 2);
}

function putDate(bytes: Uint8Array, date: number, year: number, month: number, day: number): void {
  const century = Math.trunc(year / 100);
  putTwoDigits(bytes, date, century);
  putTwoDigits(bytes, date + 2, year - century * 100);
  putTwoDigits(bytes, date + 5, month);
  putTwoDigits(bytes, date + 8, day);
}

function toDayBefore(bytes: Uint8Array, date: number): void {
  const year = yearAt(bytes, date);
  const month = twoDigits(bytes, date + 5);
  const day = twoDigits(bytes, date + 8);
  if (day > 1) putTwoDigits(bytes, date + 8, day - 1);
  else if (month > 1) putDate(bytes, date, year, month - 1, lastDayOf(year, month - 1));
  else putDate(bytes, date, year - 1, 12, 31);
}

function toDayAfter(bytes: Uint8Array, date: number): void {
  const year = yearAt(bytes, date);
  const month = twoDigits(bytes, date + 5);
  const day = twoDigits(bytes, date + 8);
  if (day < lastDayOf(year, month)) putTwoDigits(bytes, date + 8, day + 1);
  else if (month < 12) putDate(bytes, date, year, month + 1, 1);
  else putDate(bytes, date, year + 1, 1, 1);
}
