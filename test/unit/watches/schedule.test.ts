/** When a watch looks: durations, and five fields of cron in UTC. */
import { describe, expect, it } from 'vitest';
import { parseDuration, parseSchedule } from '../../../src/watches/schedule.ts';

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
  ])('%s after %s is %s', (text, after, next) => {
    expect(shown(parseSchedule(text).next(at(`${after}:30`)))).toBe(next);
  });

  it('waits for its first time', () => {
    const first = parseSchedule('0 6 * * *').first(at('2026-11-25T07:00:00'));
    expect(shown(first!)).toBe('2026-11-26T06:00');
  });

  it.each(['* * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8', '*/0 * * * *'])(
    '%s is refused with what it must be',
    (text) => expect(() => parseSchedule(text)).toThrow(/^every /),
  );

  it.each(['0 0 31 2 *', '0 0 30 feb *'])('%s never comes', (text) => {
    expect(() => parseSchedule(text)).toThrow('there is no such day');
  });
});
