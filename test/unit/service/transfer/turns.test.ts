/** How many transfers of an organisation run at a time. */
import { describe, expect, it } from 'vitest';
import { createSlots } from '../../../../src/service/transfer/run-transfer.ts';

/** Work that goes on until it is told to end, and how much of it is under way. */
function createWork() {
  const ends: (() => void)[] = [];
  let most = 0;
  let under = 0;
  const work = async (): Promise<string> => {
    under += 1;
    most = Math.max(most, under);
    await new Promise<void>((resolve) => ends.push(resolve));
    under -= 1;
    return 'done';
  };
  return { work, ends, most: () => most, under: () => under };
}

describe('transfers of an organisation', () => {
  it('run so many at a time, wait in their order, and are refused where too many wait', async () => {
    const places = createSlots({ running: 2, waiting: 3 });
    const own = createWork();
    const runs = Array.from({ length: 5 }, () => places.within(1, own.work));
    await expect(places.within(1, own.work)).rejects.toMatchObject({
      code: 'too_many_requests',
      headers: { 'Retry-After': '5' },
    });
    expect(own.under()).toBe(2);
    const others = createWork();
    const other = places.within(2, others.work);
    await expect.poll(others.under).toBe(1);
    others.ends[0]!();
    expect(await other).toBe('done');
    for (let at = 0; at < 5; at += 1) {
      await expect.poll(() => own.ends.length).toBeGreaterThan(at);
      own.ends[at]!();
    }
    expect(await Promise.all(runs)).toEqual(Array.from({ length: 5 }, () => 'done'));
    expect(own.most()).toBe(2);
  });

  it('are refused by what they wait for, past the most that may wait', async () => {
    const slots = createSlots({ running: 1, waiting: 1, what: 'maps' });
    const end = Promise.withResolvers<void>();
    const runs = [slots.within(1, () => end.promise), slots.within(1, async () => undefined)];
    await expect(slots.within(1, async () => undefined)).rejects.toMatchObject({
      code: 'too_many_requests',
      message: 'too many maps of this organisation wait',
    });
    end.resolve();
    await Promise.all(runs);
  });

  it('give up their place when they fail', async () => {
    const places = createSlots({ running: 1, waiting: 1 });
    for (let at = 0; at < 3; at += 1)
      await expect(places.within(1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await places.within(1, async () => 'done')).toBe('done');
  });
});
