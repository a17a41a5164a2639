/**
 * Converts values to cells of a workbook. A cell is typed if Excel returns the value unchanged: it keeps 15 digits of a number, and for
 * times, days from 1900-03-01 to 9999-12-31 with three fraction digits of a second. Every other value is text.
 */
import type { ColumnType } from '../../../../engine/model/relational-model.ts';
import { booleanCell, numberCell, styleOfFormat, textCell } from '../../../../engine/workbook.ts';

/** The number formats in the workbook. An instant is shown in UTC. */
const formats = {
  text: '@',
  whole: '0',
  date: 'yyyy\\-mm\\-dd',
  moment: 'yyyy\\-mm\\-dd\\ hh:mm:ss',
  momentMillis: 'yyyy\\-mm\\-dd\\ hh:mm:ss.000',
  instant: 'yyyy\\-mm\\-dd\\ hh:mm:ss"Z"',
  instantMillis: 'yyyy\\-mm\\-dd\\ hh:mm:ss.000"Z"',
  time: 'hh:mm:ss',
  timeMillis: 'hh:mm:ss.000',
} as const;

export const numberFormats: readonly string[] = Object.values(formats);

function styleOf(name: keyof typeof formats): number {
  return styleOfFormat(Object.keys(formats).indexOf(name));
}

const style = {
  text: styleOf('text'),
  whole: styleOf('whole'),
  date: styleOf('date'),
  moment: [styleOf('moment'), styleOf('momentMillis')],
  instant: [styleOf('instant'), styleOf('instantMillis')],
  time: [styleOf('time'), styleOf('timeMillis')],
} as const;
/** the number format of numbers that are not whole: Excel shows as many digits as fit */
const general = 0;

/** Makes the cell of a value in the encoding `words`, at a reference such as `B2`. */
export type MakeCell = (text: string, reference: string) => string;

export function cellMaker({ kind, list }: ColumnType): MakeCell {
  const typed = list === true ? asText : typedCells[kind];
  return (text, reference) => typed(text, reference) ?? textCell(reference, text, style.text);
}

/** Returns null for a value that stays text. */
type TypedCell = (text: string, reference: string) => string | null;

const asText: TypedCell = () => null;
const typedCells: Readonly<Record<ColumnType['kind'], TypedCell>> = {
  text: asText,
  boolean: (text, reference) =>
    text === 'true' || text === 'false' ? booleanCell(reference, text === 'true', general) : null,
  smallint: wholeCell,
  integer: wholeCell,
  bigint: wholeCell,
  numeric: (text, reference) => wholeCell(text, reference) ?? decimalCell(text, reference),
  real: floatCell,
  double: floatCell,
  date: (text, reference) => {
    const day = dateForm.exec(text);
    const serial = day === null ? null : serialOf(day, 0);
    return serial === null ? null : numberCell(reference, serial, style.date);
  },
  time: (text, reference) => {
    const [, hour, minute, second, fraction = ''] = timeForm.exec(text) ?? [];
    const millis = hour === undefined ? null : millisOf(hour, minute!, second!, fraction);
    return millis === null
      ? null
      : numberCell(reference, millis / dayMillis, style.time[fraction === '' ? 0 : 1]);
  },
  timestamp: (text, reference) => momentCell(text, reference, false),
  timestamptz: (text, reference) => momentCell(text, reference, true),
};

const mostDigits = 15;

function wholeCell(text: string, reference: string): string | null {
  if (!/^[+-]?\d+$/.test(text)) return null;
  return text.replace(/^[+-]?0*/, '').length > mostDigits
    ? null
    : numberCell(reference, numberIn(text), style.whole);
}

function decimalCell(text: string, reference: string): string | null {
  if (!/^[+-]?(?:\d+\.\d*|\.\d+)$/.test(text)) return null;
  const digits = text
    .replace(/0*$/, '')
    .replace('.', '')
    .replace(/^[+-]?0*/, '');
  return digits.length > mostDigits ? null : numberCell(reference, numberIn(text), general);
}

/** Returns the number for the workbook: the text itself if XML Schema and Excel write the number in the same way. */
function numberIn(text: string): number | string {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text) ? text : Number(text);
}

/** the smallest number that Excel does not round to zero */
const leastFloat = 2.225_073_858_507_201_4e-308;

function floatCell(text: string, reference: string): string | null {
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) return null;
  const value = Number(text);
  const isKept = Number.isFinite(value) && (value === 0 || Math.abs(value) >= leastFloat);
  return isKept ? numberCell(reference, value, general) : null;
}

const dayMillis = 86_400_000;
/** days from Excel's day 0 to 1 January 1970 */
const epochDay = 25_569;
/** Excel has a 29 February 1900: earlier serial numbers mean other days to other programs */
const [firstDay, lastDay] = [61, 2_958_465];

const dateForm = /^(\d{4})-(\d\d)-(\d\d)$/;
const timeForm = /^(\d\d):(\d\d):(\d\d)(?:\.(\d+))?$/;
const momentForm = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/;

function momentCell(text: string, reference: string, isInstant: boolean): string | null {
  const parts = momentForm.exec(text);
  if (parts === null) return null;
  const [, , , , hour, minute, second, fraction = '', zone] = parts;
  if ((zone !== undefined) !== isInstant) return null;
  const millis = millisOf(hour!, minute!, second!, fraction);
  const serial = millis === null ? null : serialOf(parts, millis - offsetMillis(zone));
  if (serial === null) return null;
  const styles = isInstant ? style.instant : style.moment;
  return numberCell(reference, serial, styles[fraction === '' ? 0 : 1]);
}

/** Returns the milliseconds since midnight; null if the time is invalid, or has more fraction digits than Excel keeps. */
function millisOf(hour: string, minute: string, second: string, fraction: string): number | null {
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  if (hours > 23 || minutes > 59 || seconds > 59 || /[1-9]/.test(fraction.slice(3))) return null;
  return ((hours * 60 + minutes) * 60 + seconds) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

function offsetMillis(zone = 'Z'): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

/** Returns the days since Excel's day 0; null if the date is invalid, or outside Excel's range. */
function serialOf([, year, month, day]: readonly string[], millis: number): number | null {
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  // an invalid date, such as 30 February
  if (new Date(date).getUTCDate() !== Number(day)) return null;
  const serial = (date + millis) / dayMillis + epochDay;
  return serial < firstDay || serial >= lastDay + 1 ? null : serial;
}
