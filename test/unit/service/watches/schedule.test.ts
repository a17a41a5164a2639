/** When a watch looks: durations, and five fields of cron in UTC. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseDuration, parseSchedule } from '../../../../src/service/watches/define.ts';

const at = (text: string): number => Date.parse(`${text}Z`);
const shown = (ms: number): string => new Date(ms).toISOString().slice(0, 16);

describe('a duration', () => {
  it.each([
    ['1s', 1000],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
  ])('%s', (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each(['', '5', 'm', '5 m', '-1s', '1.5h', '1w', '99999999999s', '9999999999d'])('%s is none', (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});

describe('every so often', () => {
  it('looks at once, then after each span', () => {
    const schedule = parseSchedule('5m');
    expect(schedule.first(at('2026-11-25T10:00:00'))).toBeNull();
    expect(shown(schedule.next(at('2026-11-25T10:00:00')))).toBe('2026-11-25T10:05');
  });

  it('is at least a second', () => expect(() => parseSchedule('0s')).toThrow('at least 1s'));
});

describe('cron', () => {
  // 2026-11-25 is a Wednesday
  it.each([
    ['0 6 * * mon-fri', '2026-11-27T06:00', '2026-11-30T06:00'],
    ['*/15 * * * *', '2026-11-25T10:14', '2026-11-25T10:15'],
    ['*/15 * * * *', '2026-11-25T10:15', '2026-11-25T10:30'],
    ['30 23 31 * *', '2026-11-25T00:00', '2026-12-31T23:30'],
    ['0 0 29 2 *', '2026-11-25T00:00', '2028-02-29T00:00'],
    ['0 0 1,15 * *', '2026-11-25T00:00', '2026-12-01T00:00'],
    // both days are restricted: one of them is enough
    ['0 0 13 * fri', '2026-11-25T00:00', '2026-11-27T00:00'],
    ['0 12 * * 7', '2026-11-25T00:00', '2026-11-29T12:00'],
    ['5/20 8-9 * jan,DEC *', '2026-11-25T00:00', '2026-12-01T08:05'],
    ['59 23 31 12 *', '2026-12-31T23:59', '2027-12-31T23:59'],
    // Sunday is 0 and 7, and ends a week as well as it begins one
    ['0 0 * * fri-sun', '2026-11-28T12:00', '2026-11-29T00:00'],
    ['0 0 * * sat-sun', '2026-11-29T12:00', '2026-12-05T00:00'],
    ['0 0 * * 5-0', '2026-11-28T12:00', '2026-11-29T00:00'],
    ['0 0 * * 0-7', '2026-11-25T12:00', '2026-11-26T00:00'],
    ['0 0 * * SUN-sat', '2026-11-25T12:00', '2026-11-26T00:00'],
    ['0 0 1-31/10 * *', '2026-11-25T00:00', '2026-12-01T00:00'],
    // the second of two times, and the same time twice
    ['10,5,5 3 * * *', '2026-11-25T03:06', '2026-11-25T03:10'],
    ['7 \t6  * * *', '2026-11-25T00:00', '2026-11-25T06:07'],
    // a step of a star does not restrict the day: both have to fit
    ['0 0 */2 * mon', '2026-11-25T00:00', '2026-12-07T00:00'],
    // 2100 is no leap year
    ['0 0 29 2 *', '2096-03-01T00:00', '2104-02-29T00:00'],
  ])('%s after %s is %s', (text, after, next) => {
    expect(shown(parseSchedule(text).next(at(`${after}:30`)))).toBe(next);
  });

  // two of these change their clocks that week, one by half an hour; the last are a day, and a quarter of an hour, off
  it.each(['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Pacific/Apia', 'Asia/Kathmandu'])(
    'is in UTC in %s, on days that have 23 or 25 hours there, too',
    (zone) => {
      vi.stubEnv('TZ', zone);
      for (const [from, days] of [
        ['2026-03-06T00:00:00', 5],
        ['2026-10-30T00:00:00', 5],
        ['2026-04-03T00:00:00', 4],
      ] as const) {
        const { next } = parseSchedule('30 2 * * *');
        const found: string[] = [];
        for (let time = at(from); found.length < days; found.push(shown(time))) time = next(time);
        const expected = Array.from({ length: days }, (_, day) =>
          shown(at(from) + day * 86_400_000 + 9_000_000),
        );
        expect(found).toEqual(expected);
      }
    },
  );
  afterEach(() => vi.unstubAllEnvs());

  it('waits for its first time', () => {
    const first = parseSchedule('0 6 * * *').first(at('2026-11-25T07:00:00'));
    expect(shown(first!)).toBe('2026-11-26T06:00');
  });

  it.each([
    ['* * * *', 'five fields of cron in UTC'],
    ['', 'five fields of cron in UTC'],
    ['@daily', 'five fields of cron in UTC'],
    ['0 0 6 * * *', 'five fields of cron in UTC'],
    ['CRON_TZ=Europe/Berlin 0 6 * * *', 'five fields of cron in UTC'],
    ['60 * * * *', 'minute: 60 is not a number, list, range or step from 0 to 59'],
    ['* 24 * * *', 'hour: 24'],
    ['* * 0 * *', 'day of the month: 0'],
    ['* * L * *', 'day of the month: L'],
    ['* * ? * *', 'day of the month: ?'],
    ['* * 15W * *', 'day of the month: 15W'],
    ['* * * 13 *', 'month: 13'],
    ['* * * januar *', 'month: januar'],
    ['* * * * 8', 'day of the week: 8'],
    ['* * * * mon#2', 'day of the week: mon#2'],
    ['mon * * * *', 'minute: mon'],
    ['*/0 * * * *', 'minute: */0'],
    ['*/x * * * *', 'minute: */x'],
    ['5/ * * * *', 'minute: 5/'],
    ['/5 * * * *', 'minute: /5'],
    ['1-5-9 * * * *', 'minute: 1-5-9'],
    ['9-5 * * * *', 'minute: 9-5'],
    ['-5 * * * *', 'minute: -5'],
    ['5- * * * *', 'minute: 5-'],
    ['1,,2 * * * *', 'minute: 1,,2'],
    ['0x5 * * * *', 'minute: 0x5'],
    ['٥ * * * *', 'minute: ٥'],
  ])('%s is refused with what it must be', (text, why) => {
    expect(() => parseSchedule(text)).toThrow(`every ${why.startsWith('five') ? 'must be' : why}`);
    expect(() => parseSchedule(text)).toThrow(why);
  });

  it.each(['0 0 31 2 *', '0 0 30 feb *'])('%s never comes', (text) => {
    expect(() => parseSchedule(text)).toThrow('this day does not exist');
  });
});
