/** The schedule of a watch: an interval, or five fields of cron in UTC. */
import { AppError } from '../errors.ts';

export interface Schedule {
  /** epoch milliseconds, after `afterMs` */
  next(afterMs: number): number;
  /** time of the first look; null: at once */
  first(nowMs: number): number | null;
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
/** Times must stay times: a century is long enough. */
const longestMs = 100 * 366 * 86_400_000;

/** Parses `30s`, `5m`, `2h`, `1d`; returns milliseconds, or null for other text. */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(\d{1,10})(s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return null;
  const ms = Number(count) * unitMs[unit]!;
  return ms > longestMs ? null : ms;
}

/** AppError `invalid_body` describes the right form. */
export function parseSchedule(text: string): Schedule {
  const everyMs = parseDuration(text);
  if (everyMs !== null) {
    if (everyMs < 1000) throw refused('must be at least 1s');
    return { next: (afterMs) => afterMs + everyMs, first: () => null };
  }
  const cron = parseCron(text);
  return { next: (afterMs) => nextOf(cron, afterMs), first: (nowMs) => nextOf(cron, nowMs) };
}

interface Cron {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  /** if both days of the month and of the week are restricted, a match of either suffices */
  readonly eitherDay: boolean;
}

const monthNames = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ');
const dayNames = 'sun mon tue wed thu fri sat'.split(' ');

function parseCron(text: string): Cron {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== 5)
    throw refused(
      'must be a duration such as 30s, 5m or 1h, or five fields of cron in UTC such as "0 6 * * mon-fri"',
    );
  const [minute, hour, day, month, weekday] = fields as [string, string, string, string, string];
  const weekdays = fieldOf('day of the week', weekday, 0, 7, dayNames, 0);
  const cron = {
    minutes: fieldOf('minute', minute, 0, 59, [], 0),
    hours: fieldOf('hour', hour, 0, 23, [], 0),
    days: fieldOf('day of the month', day, 1, 31, [], 0),
    months: fieldOf('month', month, 1, 12, monthNames, 1),
    // 7 is Sunday, too
    weekdays: new Set([...weekdays].map((number) => number % 7)),
    eitherDay: !day.startsWith('*') && !weekday.startsWith('*'),
  };
  if (Number.isNaN(nextOf(cron, 0))) throw refused(`${text}: there is no such day`);
  return cron;
}

function fieldOf(
  what: string,
  text: string,
  min: number,
  max: number,
  names: readonly string[],
  firstName: number,
): ReadonlySet<number> {
  const wrong = (): AppError =>
    refused(`${what}: ${text} is no number, list, range or step from ${min} to ${max}`);
  const numberOf = (word: string): number => {
    const named = names.indexOf(word.toLowerCase());
    if (named >= 0) return named + firstName;
    const number = /^\d{1,2}$/.test(word) ? Number(word) : Number.NaN;
    if (!(number >= min && number <= max)) throw wrong();
    return number;
  };
  const found = new Set<number>();
  for (const part of text.split(',')) {
    const [, range, step] = /^([^/]+)(?:\/(\d{1,2}))?$/.exec(part) ?? [];
    if (range === undefined) throw wrong();
    const [from, to] = range === '*' ? [min, max] : boundsOf(range);
    const by = step === undefined ? 1 : Number(step);
    if (by < 1 || from > to) throw wrong();
    for (let number = from; number <= to; number += by) found.add(number);

    function boundsOf(words: string): [number, number] {
      const [first = '', last, ...more] = words.split('-');
      if (more.length > 0) throw wrong();
      const start = numberOf(first);
      if (last === undefined) return [start, step === undefined ? start : max];
      const end = numberOf(last);
      // Sunday is 0 and 7: `fri-sun` ends with it
      return [start, end === 0 && start > 0 && max === 7 ? 7 : end];
    }
  }
  return found;
}

/** Days to search: the 29th of February of a leap year occurs within eight years. */
const daysAhead = 366 * 8 + 3;

/** Returns NaN if there is no such time. */
function nextOf(cron: Cron, afterMs: number): number {
  const start = new Date(afterMs - (afterMs % 60_000) + 60_000);
  let day = Date.UTC(start.getUTCFullYear(), start.getUTCMonth(), start.getUTCDate());
  for (let ahead = 0; ahead < daysAhead; ahead += 1, day += 86_400_000) {
    if (!isDay(cron, new Date(day))) continue;
    for (let minute = ahead === 0 ? (start.getTime() - day) / 60_000 : 0; minute < 1440; minute += 1)
      if (cron.hours.has(Math.floor(minute / 60)) && cron.minutes.has(minute % 60))
        return day + minute * 60_000;
  }
  return Number.NaN;
}

function isDay({ days, months, weekdays, eitherDay }: Cron, date: Date): boolean {
  if (!months.has(date.getUTCMonth() + 1)) return false;
  const ofMonth = days.has(date.getUTCDate());
  const ofWeek = weekdays.has(date.getUTCDay());
  return eitherDay ? ofMonth || ofWeek : ofMonth && ofWeek;
}

function refused(detail: string): AppError {
  return new AppError('invalid_body', `every ${detail}`, { errors: [{ pointer: '/every', detail }] });
}
