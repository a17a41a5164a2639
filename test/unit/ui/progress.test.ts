/** The figures of running jobs, from the lines that tools write. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProgressLines } from '../../../src/tools/reports/progress-lines.ts';
import { figuresOf, runText, timeLeft } from '../../../src/ui/jobs/progress.ts';
import type { ShownJob } from '../../../src/ui/shell/client.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('reads the last line on progress of a log', () => {
  let log = 'documents: found 40\n';
  const lines = createProgressLines((line) => (log += `${line}\n`), 10_000);
  expect(figuresOf(log)).toBeNull();
  lines.take(0.25, { pass: 'loading', documents: 12, bytes: 30e6, rows: 3400 });
  vi.advanceTimersByTime(10_000);
  expect(figuresOf(log)).toEqual({ documents: 12, mbPerSecond: 3, rows: 3400 });
  lines.take(1, { pass: 'publishing', documents: 40, bytes: 90e6, rows: 9000 });
  vi.advanceTimersByTime(10_000);
  lines.end();
  expect(figuresOf(log)).toEqual({ documents: 40, mbPerSecond: null, rows: 9000 });
});

it('tells the time left by the share that is done', () => {
  const job = { status: 'R', start_date: 1000, progress: 0.25 } as ShownJob;
  expect(timeLeft(job, 11_000)).toBe(30_000);
  expect(timeLeft({ ...job, progress: 0.001 }, 11_000)).toBeNull();
  expect(timeLeft({ ...job, status: 'Q' }, 11_000)).toBeNull();
  vi.setSystemTime(11_000);
  expect(runText(job, { documents: 1, mbPerSecond: 3.1, rows: 1 })).toBe(
    '3.1 MB/s, 1 document, 1 row, 30 s left',
  );
});
