/** Turns of organisations at what they share. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTurns, type TurnSettings } from '../../../src/process/schema-compiler.ts';

const settings: TurnSettings = { slots: 2, slotsOfOne: 1, maxWaiting: 3, waitMs: 1000, what: 'schemas' };

const settled = () => vi.advanceTimersByTimeAsync(0);

describe('turns', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('go round the organisations, each of which has so many slots', async () => {
    const turns = createTurns(settings);
    const order: string[] = [];
    const ends: (() => void)[] = [];
    const ask = (idOrg: number, name: string): void =>
      void turns.take(idOrg).then((end) => {
        order.push(name);
        ends.push(end);
      });
    for (const name of ['a1', 'a2', 'a3']) ask(1, name);
    await settled();
    expect(order).toEqual(['a1']);
    ask(2, 'b1');
    ask(2, 'b2');
    ask(3, 'c1');
    await settled();
    expect(order).toEqual(['a1', 'b1']);
    for (let at = 0; at < 4; at += 1) {
      ends.shift()!();
      await settled();
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'b2', 'c1', 'a3']);
    ends.splice(0).forEach((end) => end());
    ask(1, 'a4');
    ask(2, 'b3');
    await settled();
    expect(order.slice(-2)).toEqual(['a4', 'b3']);
  });

  it('are waited for by so many, and for so long', async () => {
    const turns = createTurns(settings);
    const end = await turns.take(1);
    const late = [1, 2, 3].map(() => turns.take(1).catch((error: unknown) => error));
    await expect(turns.take(1)).rejects.toMatchObject({
      code: 'too_many_requests',
      headers: { 'Retry-After': '10' },
    });
    await vi.advanceTimersByTimeAsync(1000);
    for (const answer of await Promise.all(late))
      expect(answer).toMatchObject({ code: 'service_unavailable', headers: { 'Retry-After': '10' } });
    end();
    (await turns.take(1))();
    (await turns.take(1))();
  });
});
