/** Progress of a run in its log. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createProgressLines } from '../../../../src/tools/reports/progress-lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('tells every ten seconds how far the run is, also while one piece takes longer', () => {
  const said: string[] = [];
  const lines = createProgressLines((line) => said.push(line), 10_000);
  lines.take(0, { pass: 'loading', documents: 0, bytes: 0, rows: 0 });
  vi.advanceTimersByTime(9_000);
  lines.take(0.25, { pass: 'loading', documents: 12, bytes: 30e6, rows: 3400 });
  vi.advanceTimersByTime(1_000);
  vi.advanceTimersByTime(10_000);
  lines.take(1, { pass: 'publishing', documents: 40, bytes: 90e6, rows: 9000 });
  vi.advanceTimersByTime(10_000);
  lines.end();
  vi.advanceTimersByTime(60_000);
  expect(said).toEqual([
    'loading: 12 documents, 3.0 MB/s, 3400 rows; 25 % of the job',
    'loading: 12 documents, 1.5 MB/s, 3400 rows; 25 % of the job; no progress for 10 s',
    'publishing: 40 documents, 9000 rows; 100 % of the job',
  ]);
});

it('tells of a run that waits less and less often', () => {
  const said: string[] = [];
  const lines = createProgressLines((line) => said.push(line), 10_000);
  lines.take(1, { pass: 'publishing', documents: 3, bytes: 1e6, rows: 5 });
  vi.advanceTimersByTime(600_000);
  lines.take(1, { pass: 'publishing', documents: 4, bytes: 1e6, rows: 6 });
  vi.advanceTimersByTime(10_000);
  lines.end();
  const waits = ['', ...[10, 20, 40, 80, 160, 320].map((seconds) => `; no progress for ${seconds} s`)];
  expect(said).toEqual([
    ...waits.map((wait) => `publishing: 3 documents, 5 rows; 100 % of the job${wait}`),
    'publishing: 4 documents, 6 rows; 100 % of the job',
  ]);
});
