/** The contract of a runner of tools. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProcessRunner, ToolEnd, ToolProcess, ToolRun } from '../ports/processes.ts';
import { collectCases, expectEqual, expectSame, type ContractCase } from './cases.ts';

/** The programs that the cases run, as tools are: modules that a runner gets with their arguments. */
const programs = {
  shows: `process.stdout.write(JSON.stringify({ argv: process.argv.slice(2), environment: process.env }));`,
  writes: `for (let from = 0; from < 20_000; from += 500) {
    const lines = Array.from({ length: 500 }, (_, at) => \`line \${from + at}\\n\`).join('');
    if (!process.stdout.write(lines)) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }`,
  complains: `process.stderr.write('this went wrong\\n'); process.exitCode = 3;`,
  exits: `process.stdout.write('ending', () => process.exit(75));`,
  throws: `console.log('begun'); throw new Error('a fault of the tool');`,
  'goes on': `console.log('begun'); setInterval(() => undefined, 1000);`,
  loops: `console.log('begun'); setTimeout(() => { for (;;); }, 50);`,
} as const;

interface Subject {
  readonly runner: ProcessRunner;
  start(program: keyof typeof programs, more?: Partial<ToolRun>): Promise<ToolProcess & { text(): string }>;
  readonly folder: string;
}

/** The contract that every `ProcessRunner` must satisfy. `open` opens a runner, which each case closes. */
export function processRunnerContract(open: () => Promise<ProcessRunner>): readonly ContractCase[] {
  const { cases, it } = collectCases(
    () => openSubject(open),
    async ({ runner, folder }) => {
      await runner.close();
      await rm(folder, { recursive: true, force: true });
    },
  );

  it('gives a tool its arguments and its variables, and no others of this process', async ({ start }) => {
    process.env['CONTRACT_SECRET'] = 'of the host';
    try {
      const argv = ['-j', '7', '$(touch x)', 'a b;c\nd', ''];
      const run = await start('shows', { argv, environment: { SVC_HOME: '/a home', SVC_JOB_EPOCH: '3' } });
      expectEqual('the exit code', (await run.ended).code, 0);
      const shown = JSON.parse(run.text()) as { argv: string[]; environment: Record<string, string> };
      expectSame('the arguments', shown.argv, argv);
      expectEqual('SVC_HOME', shown.environment['SVC_HOME'], '/a home');
      expectEqual('SVC_JOB_EPOCH', shown.environment['SVC_JOB_EPOCH'], '3');
      expectEqual('PATH', typeof shown.environment['PATH'], 'string');
      expectEqual('a variable of the host', shown.environment['CONTRACT_SECRET'], undefined);
    } finally {
      delete process.env['CONTRACT_SECRET'];
    }
  });

  it('hands all output on, in order, before the end', async ({ start }) => {
    const run = await start('writes');
    expectEqual('the exit code', (await run.ended).code, 0);
    const expected = Array.from({ length: 20_000 }, (_, line) => `line ${line}\n`).join('');
    expectEqual('the output', run.text(), expected);
  });

  it('hands output on to a log that is slow', async ({ start }) => {
    let text = '';
    const decoder = new TextDecoder();
    let pieces = 0;
    const append = async (bytes: Uint8Array): Promise<void> => {
      pieces += 1;
      if (pieces <= 4) await new Promise((resolve) => setTimeout(resolve, 800));
      text += decoder.decode(bytes, { stream: true });
    };
    const run = await start('writes', { output: { append } });
    await run.ended;
    expectEqual('the length of the output', text.length, 208_890);
  });

  it('reports an exit code, and what was written to stderr', async ({ start }) => {
    const run = await start('complains');
    expectEqual('the exit code', (await run.ended).code, 3);
    expectEqual('the output', run.text(), 'this went wrong\n');
  });

  it('reports the code of process.exit', async ({ start }) => {
    const run = await start('exits');
    expectEqual('the exit code', (await run.ended).code, 75);
    expectEqual('the output', run.text(), 'ending');
  });

  it('reports the failure of a tool that throws, with its message in the output', async ({ start }) => {
    const run = await start('throws');
    expectEqual('the exit code', (await run.ended).code, 1);
    expectEqual('whether the output has the message', run.text().includes('a fault of the tool'), true);
  });

  it('fails if there is no such module', async ({ start, folder }) => {
    const end = await start('shows', { entry: join(folder, 'absent.mjs') }).then(
      (run) => run.ended,
      () => ({ code: 1 }),
    );
    expectEqual('whether it failed', end.code !== 0, true);
  });

  for (const program of ['goes on', 'loops'] as const)
    for (const graceMs of [0, 300])
      it(`stops a tool that ${program}, with ${graceMs} ms of grace`, async ({ start }) => {
        const run = await start(program);
        await untilSaid(run, 'begun');
        await new Promise((resolve) => setTimeout(resolve, 100));
        run.stop(graceMs);
        run.stop(graceMs);
        const end = await within(run.ended, 10_000);
        expectEqual('whether it completed', end.code === 0, false);
        run.stop(0);
      });

  it('runs several tools at a time, each with its own output', async ({ start }) => {
    const runs = await Promise.all(
      ['a', 'b', 'c'].map((name, idJob) => start('shows', { argv: [name], idJob })),
    );
    for (const [at, run] of runs.entries()) {
      expectEqual('the exit code', (await run.ended).code, 0);
      expectSame('the arguments', (JSON.parse(run.text()) as { argv: string[] }).argv, [['a', 'b', 'c'][at]]);
    }
  });

  it('runs one tool after the other for an organisation', async ({ start }) => {
    for (const name of ['a', 'b']) {
      const run = await start('shows', { argv: [name], idOrg: 7 });
      expectEqual('the exit code', (await run.ended).code, 0);
      expectSame('the arguments', (JSON.parse(run.text()) as { argv: string[] }).argv, [name]);
    }
  });

  return cases;
}

async function openSubject(open: () => Promise<ProcessRunner>): Promise<Subject> {
  const folder = await mkdtemp(join(tmpdir(), 'runner-contract-'));
  const runner = await open();
  return {
    runner,
    folder,
    async start(program, more = {}) {
      const entry = join(folder, `${program.replace(' ', '-')}.mjs`);
      await writeFile(entry, programs[program]);
      let text = '';
      const decoder = new TextDecoder();
      const run = await runner.start({
        tool: program,
        entry,
        argv: [],
        environment: {},
        idJob: 1,
        epoch: 1,
        output: { append: async (bytes) => void (text += decoder.decode(bytes, { stream: true })) },
        ...more,
      });
      return { ended: run.ended, stop: (graceMs) => run.stop(graceMs), text: () => text };
    },
  };
}

async function untilSaid(run: { text(): string }, words: string): Promise<void> {
  for (let tries = 0; !run.text().includes(words); tries += 1) {
    if (tries > 2000) throw new Error(`the output: expected ${words} within 20 s, found ${run.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

async function within(ended: Promise<ToolEnd>, ms: number): Promise<ToolEnd> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the end of a stopped tool: expected within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([ended, late]);
  } finally {
    clearTimeout(timer);
  }
}
