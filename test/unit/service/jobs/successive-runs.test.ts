/** Processes that do one run after the other: whose runs those are, and that each ends as if it had a process of its own. */
import { setTimeout as delay } from 'node:timers/promises';
import { onTestFinished, describe, expect, it } from 'vitest';
import type { ProcessEnd, ToolProcess } from '../../../../src/ports/processes.ts';
import { createTestRunner, eventually, isGone, runs, type TestRunner } from './tool-runner.ts';

const well: ProcessEnd = { code: 0, signal: null, logFault: null, outOfMemory: null, overLimit: null };

async function waitingRunner(
  waiting = { most: 2, waitMs: 60_000 },
  maskOf?: (idJob: number) => Promise<(text: string) => string>,
): Promise<TestRunner> {
  const test = await createTestRunner({}, maskOf, null, undefined, waiting);
  onTestFinished(() => test.runner.close());
  return test;
}

const start = (
  { runner }: TestRunner,
  idJob: number,
  { idOrg, argv = ['goes'] }: { readonly idOrg?: number; readonly argv?: readonly string[] } = {},
): Promise<ToolProcess<ProcessEnd>> =>
  runner.start({
    tool: 'does-runs',
    argv,
    environment: { SVC_JOB_EPOCH: String(idJob * 10) },
    idJob,
    epoch: idJob * 10,
    ...(idOrg === undefined ? {} : { idOrg }),
  });

const end = async (...given: Parameters<typeof start>): Promise<ProcessEnd> => (await start(...given)).ended;

async function shown(test: TestRunner, idJob: number): Promise<{ pid: number; run: number; epoch: number }> {
  const [, pid, run, epoch] = await eventually(async () =>
    /^(\d+) run (\d+) epoch (\d+)/.exec(await test.log(idJob)),
  );
  return { pid: Number(pid), run: Number(run), epoch: Number(epoch) };
}

describe('successive runs', () => {
  it('of one organisation follow one another in one process, each with its log and its environment', async () => {
    const test = await waitingRunner();
    const pids: number[] = [];
    for (const idJob of [1, 2, 3]) {
      expect(await end(test, idJob, { idOrg: 7, argv: ['goes', `${idJob}`] })).toEqual(well);
      const { pid, run, epoch } = await shown(test, idJob);
      pids.push(pid);
      expect({ run, epoch, lines: (await test.log(idJob)).split('\n').length }).toEqual({
        run: idJob,
        epoch: idJob * 10,
        lines: 2,
      });
    }
    expect(new Set(pids).size).toBe(1);
    await test.runner.close();
    await isGone(pids[0]!);
  });

  it('of several organisations, tools or callers do not', async () => {
    const test = await waitingRunner();
    await end(test, 1, { idOrg: 7 });
    await end(test, 2, { idOrg: 8 });
    await end(test, 3);
    const processes = await Promise.all([1, 2, 3].map((idJob) => shown(test, idJob)));
    expect(new Set(processes.map(({ pid }) => pid)).size).toBe(3);
    expect(processes.map(({ run }) => run)).toEqual([1, 1, 1]);
    await isGone(processes[2]!.pid);
    await (
      await test.runner.start({ tool: 'exits-0', argv: [], environment: {}, idJob: 4, epoch: 1, idOrg: 7 })
    ).ended;
    expect(await test.log(4)).toBe('done\n');
  });

  it('have a process each where they are at the same time', async () => {
    const test = await waitingRunner();
    const first = await start(test, 1, { idOrg: 7, argv: ['sleeps'] });
    const { pid } = await shown(test, 1);
    await end(test, 2, { idOrg: 7 });
    expect((await shown(test, 2)).pid).not.toBe(pid);
    first.stop(0);
    expect(await first.ended).toMatchObject({ code: null, signal: 'SIGKILL' });
  });

  it('end with one that fails', async () => {
    const test = await waitingRunner();
    await end(test, 1, { idOrg: 7 });
    expect(await end(test, 2, { idOrg: 7, argv: ['ends', '75'] })).toEqual({ ...well, code: 75 });
    const { pid, run } = await shown(test, 2);
    expect(run).toBe(2);
    await isGone(pid);
    await end(test, 3, { idOrg: 7 });
    expect((await shown(test, 3)).run).toBe(1);
  });

  it('are stopped as the first one is, and a run that has ended no longer', async () => {
    const test = await waitingRunner();
    const first = await start(test, 1, { idOrg: 7 });
    await first.ended;
    const second = await start(test, 2, { idOrg: 7, argv: ['sleeps'] });
    const { pid, run } = await shown(test, 2);
    expect(run).toBe(2);
    first.stop(0);
    await delay(100);
    expect(await runs(pid)).toBe(true);
    second.stop(30_000);
    expect(await second.ended).toEqual({ ...well, code: null, signal: 'SIGTERM' });
    await isGone(pid);
  });

  it('leave nothing behind that one of them has started', async () => {
    const test = await waitingRunner();
    expect(await end(test, 1, { idOrg: 7, argv: ['leaves-child'] })).toEqual(well);
    const { pid } = await shown(test, 1);
    expect(await runs(pid)).toBe(false);
    expect(await runs(Number(/child (\d+)/.exec(await test.log(1))![1]))).toBe(false);
  });

  it('do not go on in a process that has grown', async () => {
    const test = await waitingRunner();
    expect(await end(test, 1, { idOrg: 7, argv: ['grows'] })).toEqual(well);
    await isGone((await shown(test, 1)).pid);
  });

  it('are not called too large where they followed others, as those may have left it', async () => {
    const test = await createTestRunner({}, undefined, null, 500 * 1024 ** 2, { most: 2, waitMs: 60_000 });
    onTestFinished(() => test.runner.close());
    const over = expect.stringMatching(/^it held \d+ MB of memory/) as string;
    const killed = { code: null, signal: 'SIGKILL' };
    const argv = ['hoards'];
    expect(await end(test, 1, { idOrg: 7, argv })).toMatchObject({
      ...killed,
      outOfMemory: null,
      overLimit: over,
    });
    await end(test, 2, { idOrg: 7 });
    expect(await end(test, 3, { idOrg: 7, argv })).toMatchObject({
      ...killed,
      outOfMemory: over,
      overLimit: null,
    });
    expect((await shown(test, 3)).run).toBe(2);
  });

  it('do not go on where too little of the memory that each may have would be left', async () => {
    const memoryBytes = 100 * 1024 ** 2;
    const waiting = { most: 2, waitMs: 60_000 };
    const test = await createTestRunner({}, undefined, null, memoryBytes, waiting);
    onTestFinished(() => test.runner.close());
    expect(await end(test, 1, { idOrg: 7 })).toEqual(well);
    await isGone((await shown(test, 1)).pid);
    expect(await end(test, 2, { idOrg: 7 })).toEqual(well);
    expect((await shown(test, 2)).run).toBe(1);
  });

  it('have their output told apart to the byte, and masked as each is to be', async () => {
    const test = await waitingRunner({ most: 1, waitMs: 60_000 }, (idJob) =>
      Promise.resolve((text) => text.replaceAll(`secret${idJob}`, '***')),
    );
    await end(test, 1, { idOrg: 7, argv: ['secret1', 'secret2'] });
    await end(test, 2, { idOrg: 7, argv: ['talks', 'secret1', 'secret2'] });
    await end(test, 3, { idOrg: 7 });
    expect(await test.log(1)).toMatch(/ \*\*\* secret2\n$/);
    const [head, ...lines] = (await test.log(2)).split('\n');
    expect(head).toMatch(/ run 2 epoch 20 talks secret1 \*\*\*$/);
    expect(lines.map((line) => line.length)).toEqual([9, 32, 33, 36, 1_000_000, 4]);
    expect(await test.log(3)).toMatch(/^\d+ run 3 epoch 30 goes\n$/);
  });

  it('wait no longer than they may, and no more of them', async () => {
    const test = await waitingRunner({ most: 1, waitMs: 300 });
    await end(test, 1, { idOrg: 7 });
    const { pid } = await shown(test, 1);
    await end(test, 2, { idOrg: 8 });
    // one of one organisation waits, and not the other's
    await isGone(pid);
    await isGone((await shown(test, 2)).pid);
  });

  it('wait only as long as there is room beside those that run', async () => {
    const test = await waitingRunner();
    await end(test, 1, { idOrg: 7 });
    const { pid } = await shown(test, 1);
    const first = await start(test, 2, { idOrg: 8, argv: ['sleeps'] });
    expect(await runs(pid)).toBe(true);
    const second = await start(test, 3, { idOrg: 8, argv: ['sleeps'] });
    await isGone(pid);
    for (const run of [first, second]) run.stop(0);
    await Promise.all([first.ended, second.ended]);
  });

  it('begin anew where the process that waited was killed', async () => {
    const test = await waitingRunner();
    await end(test, 1, { idOrg: 7 });
    const { pid } = await shown(test, 1);
    process.kill(pid, 'SIGKILL');
    await isGone(pid);
    await eventually(async () => {
      const again = await end(test, 2, { idOrg: 7 });
      return again.code === 0 ? again : null;
    });
    expect((await shown(test, 2)).run).toBe(1);
  });

  it('do not begin without a mask, and the process waits on', async () => {
    let isKnown = true;
    const test = await waitingRunner(undefined, () =>
      isKnown ? Promise.resolve((text) => text) : Promise.reject(new Error('no such job')),
    );
    await end(test, 1, { idOrg: 7 });
    isKnown = false;
    await expect(start(test, 2, { idOrg: 7 })).rejects.toThrow('no such job');
    isKnown = true;
    await end(test, 3, { idOrg: 7 });
    expect((await shown(test, 3)).run).toBe(2);
  });
});
