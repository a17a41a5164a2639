/** Processes that look at places of watches: reused by one organisation, and ended at their limits. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  createLookProcesses,
  LookProcessEnd,
  type LookProcesses,
  type LookProcessesOptions,
} from '../../../src/process/look-processes.ts';
import { collectGarbage } from '../../support/garbage.ts';

const mebi = 1024 * 1024;
const entry = [fileURLToPath(new URL('../../fixtures/processes/answers-looks.mjs', import.meta.url))];

describe('processes of looks', () => {
  const opened: LookProcesses[] = [];
  afterEach(async () => {
    for (const processes of opened.splice(0)) await processes.close();
  });
  const create = (options: Partial<LookProcessesOptions> = {}): LookProcesses => {
    const processes = createLookProcesses({
      entry,
      workingDirectory: '/',
      memoryBytes: 256 * mebi,
      most: 4,
      waitMs: 10_000,
      ...options,
    });
    opened.push(processes);
    return processes;
  };

  it('serve one look after the other of one organisation, and none of another', async () => {
    const processes = create();
    const first = await pidOf(processes, 1);
    expect(await pidOf(processes, 1)).toBe(first);
    expect(await pidOf(processes, 2)).not.toBe(first);
    const [one, two] = [await processes.take(1), await processes.take(1)];
    expect(await one.ask({ what: 'pid' })).toBe(first);
    expect(await two.ask({ what: 'pid' })).not.toBe(first);
  });

  it('end when they have waited, when others need their place, and with the service', async () => {
    const processes = create({ most: 2, waitMs: 2000 });
    const first = await pidOf(processes, 1);
    const second = await pidOf(processes, 2);
    const third = await pidOf(processes, 3);
    expect([first, second, third].map(isPresent)).toEqual([false, true, true]);
    await vi.waitFor(() => expect([second, third].map(isPresent)).toEqual([false, false]), 10_000);
    const last = await pidOf(processes, 4);
    await processes.close();
    expect(isPresent(last)).toBe(false);
  });

  it('tell errors, and lists part by part', async () => {
    const look = await create().take(1);
    await expect(look.ask({ what: 'error' })).rejects.toEqual({ code: 'not_found', message: 'no' });
    const parts: unknown[] = [];
    for await (const part of look.parts({ what: 'parts', count: 1000 })) parts.push(part);
    expect(parts).toEqual(Array.from({ length: 1000 }, (_, at) => at));
  });

  it.each([
    ['hoard', /^it held \d+ MB of memory, more than the 268 MB of svc\.limits\.look_memory$/],
    ['objects of JavaScript', /svc\.limits\.look_memory/],
  ])('that %s are ended, which is told', async (what, limit) => {
    const look = await create().take(1);
    const error = (await look.ask({ what }).catch((reason: unknown) => reason)) as LookProcessEnd;
    expect(error).toBeInstanceOf(LookProcessEnd);
    expect(error.limit).toMatch(limit);
    await expect(look.ask({ what: 'pid' })).rejects.toBeInstanceOf(LookProcessEnd);
  });

  it.each([
    ['crash', null, /^the process that checked it was ended with exit code 3$/],
    ['SIGTERM', null, /^the process that checked it was ended by SIGTERM$/],
    ['SIGKILL', 'it was ended by SIGKILL', /SIGKILL/],
  ])('that end by themselves are told of: %s', async (what, limit, message) => {
    const look = await create().take(1);
    const pid = (await look.ask({ what: 'pid' })) as number;
    const asked = look.ask({ what: what === 'crash' ? what : 'nothing' }).catch((reason: unknown) => reason);
    if (what !== 'crash') process.kill(pid, what);
    const error = (await asked) as LookProcessEnd;
    expect(error).toBeInstanceOf(LookProcessEnd);
    expect(error.limit).toBe(limit);
    expect(error.message).toMatch(message);
  });

  it('are ended when a look is over that they have not answered', async () => {
    const processes = create();
    for (const what of ['spin', 'nothing']) {
      const look = await processes.take(1);
      const pid = (await look.ask({ what: 'pid' })) as number;
      const asked = look.ask({ what });
      look.release();
      await expect(asked).rejects.toMatchObject({ limit: null });
      expect(await pidOf(processes, 1)).not.toBe(pid);
    }
  });

  it('are ended when a list is too long, or is given up', async () => {
    const processes = create();
    const before = memoryInUse();
    const look = await processes.take(1);
    const readAll = async (): Promise<void> => {
      for await (const part of look.parts({ what: 'endless' })) expect(part).toHaveLength(60_000);
    };
    await expect(readAll()).rejects.toMatchObject({ limit: 'its list has more than 256 MiB of names' });
    expect(memoryInUse() - before).toBeLessThan(64 * mebi);
    const other = await processes.take(1);
    const pid = (await other.ask({ what: 'pid' })) as number;
    for await (const _ of other.parts({ what: 'endless' })) break;
    await expect(other.ask({ what: 'pid' })).rejects.toBeInstanceOf(LookProcessEnd);
    expect(await pidOf(processes, 1)).not.toBe(pid);
  });
});

function memoryInUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The process that served a look, which is over. */
async function pidOf(processes: LookProcesses, idOrg: number): Promise<number> {
  const look = await processes.take(idOrg);
  const pid = (await look.ask({ what: 'pid' })) as number;
  look.release();
  await new Promise((resolve) => setTimeout(resolve, 100));
  return pid;
}

function isPresent(pid: number): boolean {
  return existsSync(`/proc/${pid}`);
}
