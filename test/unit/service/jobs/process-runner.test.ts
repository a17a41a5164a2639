/** Tools as processes: logs, environment, process groups. */
import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  createTestRunner,
  eventually,
  isGone,
  runs,
  temporaryFolder,
  type TestRunner,
} from './tool-runner.ts';

const pidIn = (test: TestRunner, idJob: number): Promise<number> =>
  eventually(async () => {
    const match = /^(\d+)\n/.exec(await test.log(idJob));
    return match === null ? null : Number(match[1]);
  });

describe('process runner', () => {
  it('writes both streams to the log in the order they were written, for its owner alone', async () => {
    const test = await createTestRunner();
    const child = await test.runner.start({
      tool: 'writes-both-streams',
      argv: [],
      environment: {},
      idJob: 7,
      epoch: 1,
    });
    expect(await child.ended).toEqual({
      code: 0,
      signal: null,
      logFault: null,
      outOfMemory: null,
      overLimit: null,
    });
    const lines = Array.from({ length: 50 }, (_, at) => `line ${at + 1}\n`);
    expect(await test.log(7)).toBe(lines.join(''));
    expect((await stat(join(test.directory, 'logs', 'job-7.log'))).mode & 0o777).toBe(0o600);
  });

  it('appends the log of a further attempt', async () => {
    const test = await createTestRunner();
    for (const tool of ['exits-0', 'exits-0']) {
      await (
        await test.runner.start({ tool, argv: [], environment: {}, idJob: 1, epoch: 1 })
      ).ended;
    }
    expect(await test.log(1)).toBe('done\ndone\n');
  });

  it('gives arguments as they are and an environment with nothing of its own but the necessary', async () => {
    process.env['CANARY_OF_THE_PARENT'] = 'secret';
    const test = await createTestRunner({ SVC_HOME: '/somewhere' });
    const argv = ['-j', '7', '$(touch x)', 'a b;c\nd'];
    const child = await test.runner.start({
      tool: 'shows-itself',
      argv,
      environment: { SVC_JOB_EPOCH: '3' },
      idJob: 7,
      epoch: 1,
    });
    await child.ended;
    delete process.env['CANARY_OF_THE_PARENT'];
    const shown = JSON.parse(await test.log(7)) as {
      argv: string[];
      environment: Record<string, string>;
      cwd: string;
    };
    expect(shown.argv).toEqual(argv);
    expect(shown.cwd).toBe(test.directory);
    expect(shown.environment).toMatchObject({ SVC_HOME: '/somewhere', SVC_JOB_EPOCH: '3' });
    const names = Object.keys(shown.environment).filter(
      // sh sets PWD and the like for itself, and hands them on
      (name) => !['PATH', 'HOME', 'LANG', 'TZ', 'PWD', 'OLDPWD', 'SHLVL', '_'].includes(name),
    );
    expect(names.toSorted()).toEqual(['SVC_HOME', 'SVC_JOB_EPOCH', 'SVC_JOB_MARK']);
  });

  it('tells of a child that ran out of memory which limit it met', async () => {
    const test = await createTestRunner({}, undefined, 40 * 1024 ** 2);
    const start = { argv: [], environment: {}, idJob: 1, epoch: 1 };
    const hoards = await test.runner.start({ tool: 'hoards', ...start });
    expect(await hoards.ended).toMatchObject({
      signal: 'SIGABRT',
      outOfMemory: 'its JavaScript needed more than 42 MB (svc.worker.memory)',
    });
    // killed by somebody, while the kernel killed nobody
    const sleeps = await test.runner.start({ tool: 'sleeps', ...start, idJob: 2 });
    process.kill(await pidIn(test, 2), 'SIGKILL');
    expect(await sleeps.ended).toMatchObject({ signal: 'SIGKILL', outOfMemory: null });
  });

  it('ends a child that heeds SIGTERM', async () => {
    const test = await createTestRunner();
    const child = await test.runner.start({ tool: 'sleeps', argv: [], environment: {}, idJob: 1, epoch: 1 });
    const pid = await pidIn(test, 1);
    child.stop(30_000);
    expect(await child.ended).toEqual({
      code: null,
      signal: 'SIGTERM',
      logFault: null,
      outOfMemory: null,
      overLimit: null,
    });
    await isGone(pid);
  });

  it('kills a child that ignores SIGTERM, after the grace', async () => {
    const test = await createTestRunner();
    const child = await test.runner.start({
      tool: 'ignores-sigterm',
      argv: [],
      environment: {},
      idJob: 1,
      epoch: 1,
    });
    const pid = await pidIn(test, 1);
    child.stop(50);
    child.stop(50);
    expect(await child.ended).toEqual({
      code: null,
      signal: 'SIGKILL',
      logFault: null,
      outOfMemory: null,
      overLimit: null,
    });
    await isGone(pid);
  });

  it('kills grandchildren with the child', async () => {
    const test = await createTestRunner();
    const child = await test.runner.start({
      tool: 'starts-grandchild',
      argv: [],
      environment: {},
      idJob: 1,
      epoch: 1,
    });
    const grandchild = await pidIn(test, 1);
    expect(await runs(grandchild)).toBe(true);
    child.stop(50);
    await child.ended;
    await isGone(grandchild);
  });

  it('leaves no grandchild behind when the child ends by itself', async () => {
    const test = await createTestRunner();
    const child = await test.runner.start({
      tool: 'leaves-grandchild',
      argv: [],
      environment: {},
      idJob: 1,
      epoch: 1,
    });
    expect(await child.ended).toEqual({
      code: 0,
      signal: null,
      logFault: null,
      outOfMemory: null,
      overLimit: null,
    });
    await isGone(await pidIn(test, 1));
  });

  it('reports a tool whose entry is missing as ended, with the reason in the log', async () => {
    const test = await createTestRunner();
    const child = await test.runner.start({
      tool: 'is-not-there',
      argv: [],
      environment: {},
      idJob: 1,
      epoch: 1,
    });
    const { code } = await child.ended;
    expect(code).not.toBe(0);
    expect(await test.log(1)).toContain('is-not-there');
  });

  it('ends a grandchild that left the group for a session of its own', async () => {
    const test = await createTestRunner();
    const child = await test.runner.start({
      tool: 'starts-daemon',
      argv: [],
      environment: {},
      idJob: 1,
      epoch: 1,
    });
    const daemon = await pidIn(test, 1);
    expect(await runs(daemon)).toBe(true);
    child.stop(50);
    await child.ended;
    await isGone(daemon);
  });

  it('masks secrets in whatever is printed, also where they come in two writes, and changes no other byte', async () => {
    const test = await createTestRunner({}, async () => (text) => text.replaceAll('hunter2', '***'));
    const child = await test.runner.start({
      tool: 'prints-secrets',
      argv: [],
      environment: {},
      idJob: 1,
      epoch: 1,
    });
    expect(await child.ended).toMatchObject({ code: 0, logFault: null, outOfMemory: null, overLimit: null });
    const log = await readFile(join(test.directory, 'logs', 'job-1.log'));
    const long = 'x'.repeat(600_000);
    expect(
      log.equals(
        Buffer.concat([
          Buffer.from('whole ***\nin two writes ***!\nto stderr ***\n'),
          Buffer.from([0xff, 0xfe, 0x00, 0xe2, 0x82, 0xac, 0x0a]),
          Buffer.from(`${long} and the end ***`),
        ]),
      ),
    ).toBe(true);
  });

  it('ends the grandchildren, daemons included, when the worker is killed', async () => {
    const folder = await temporaryFolder();
    const script = fileURLToPath(new URL('../../../fixtures/processes/runs-a-sleeper.ts', import.meta.url));
    for (const tool of ['starts-grandchild', 'starts-daemon']) {
      const parent = spawn(process.execPath, [script, join(folder, tool), tool], { stdio: 'inherit' });
      const pid = await eventually(async () => {
        const text = await readFile(join(folder, tool, 'job-1.log'), 'utf8').catch(() => '');
        return text === '' ? null : Number(text);
      });
      expect(await runs(pid)).toBe(true);
      parent.kill('SIGKILL');
      await eventually(async () => ((await runs(pid)) ? null : true));
    }
  });

  it('ends the child when its parent is killed', async () => {
    const folder = await temporaryFolder();
    const script = fileURLToPath(new URL('../../../fixtures/processes/runs-a-sleeper.ts', import.meta.url));
    const parent = spawn(process.execPath, [script, folder], { stdio: 'inherit' });
    const pid = await eventually(async () => {
      const text = await readFile(join(folder, 'job-1.log'), 'utf8').catch(() => '');
      return text === '' ? null : Number(text);
    });
    expect(await runs(pid)).toBe(true);
    parent.kill('SIGKILL');
    await eventually(async () => ((await runs(pid)) ? null : true));
  });
});
