/** Waiting for at most so long: what comes of it, and that no timer is left to keep the process. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { settlesWithin } from '../../../src/tools/cli/run-tool.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('settlesWithin', () => {
  test('leaves no timer where the work ends in time', async () => {
    expect(await settlesWithin(Promise.resolve('done'), 5000)).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('says that the work took too long', async () => {
    const settled = settlesWithin(new Promise(() => undefined), 5000);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await settled).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });
});
