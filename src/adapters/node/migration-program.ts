/** The migration program as a child process: an argument vector, its request in a private file, its output line by line. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { MigrationProgram, MigrationRun } from '../../ports/migration-program.ts';
import { signalGroup } from './process-group.ts';
import { baseEnvironment, findTie } from './process-runner.ts';

export interface MigrationProgramOptions extends Pick<
  MigrationProgram,
  'ownDatabase' | 'environmentPassword' | 'identity'
> {
  /** program and leading arguments: one element for an external program */
  readonly command: readonly [program: string, ...args: string[]];
  readonly workingDirectory: string;
}

export interface LocalMigrationProgram extends MigrationProgram {
  /** Ends what still runs; new runs fail. */
  close(): Promise<void>;
}

/** How long a process that was told to end may take before it is killed. */
const graceMs = 3000;
/** no answer is longer; what is written beyond goes to the log in pieces */
const maxLineCharacters = 64 * 1024;

export function createMigrationProgram(options: MigrationProgramOptions): LocalMigrationProgram {
  const { ownDatabase, environmentPassword, identity, command, workingDirectory } = options;
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let tie: Promise<readonly string[]> | null = null;

  const run: MigrationProgram['run'] = async (name, request, { signal, onLine }) => {
    const either = AbortSignal.any([signal, closing.signal]);
    either.throwIfAborted();
    // a folder of its own with 0700: the file is nobody else's from its first moment
    const folder = await mkdtemp(join(tmpdir(), 'migration-'));
    try {
      const file = join(folder, 'request.json');
      await writeFile(file, JSON.stringify(request), { mode: 0o600, flag: 'wx' });
      const words = [...(await (tie ??= findTie())), ...command, name, '--request', file];
      return await runToEnd(words, workingDirectory, either, onLine);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  return {
    ownDatabase,
    environmentPassword,
    identity,
    run: (...given) => {
      const result = run(...given);
      const settled = result.catch(() => undefined).finally(() => running.delete(settled));
      running.add(settled);
      return result;
    },
    async close() {
      closing.abort();
      await Promise.all(running);
    },
  };
}

async function runToEnd(
  words: readonly string[],
  workingDirectory: string,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<MigrationRun> {
  const [program = '', ...args] = words;
  const child = spawn(program, args, {
    cwd: workingDirectory,
    env: { ...baseEnvironment(), ...trustEnvironment(), TMPDIR: tmpdir() },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    shell: false,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code));
  });
  // settled before it is awaited, where the output ends later
  ended.catch(() => undefined);
  let kill: NodeJS.Timeout | undefined;
  const stop = (): void => {
    if (child.pid === undefined || child.exitCode !== null) return;
    signalGroup(child.pid, 'SIGTERM');
    kill = setTimeout(() => signalGroup(child.pid!, 'SIGKILL'), graceMs);
  };
  signal.addEventListener('abort', stop, { once: true });
  let lastLine: string | null = null;
  const outputs = [
    readLines(child.stdout, (line) => {
      if (line.trim() !== '') lastLine = line;
      onLine(line);
    }),
    readLines(child.stderr, onLine),
  ];
  try {
    const code = await ended;
    // what the program left behind would keep the output open
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
    await Promise.all(outputs);
    return { code, lastLine };
  } finally {
    clearTimeout(kill);
    signal.removeEventListener('abort', stop);
  }
}

/** Where the operator keeps certificates to trust beside the machine's own: for Node, and for programs like azcopy. */
export function trustEnvironment(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
  const found = names.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

async function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity }))
    onLine(line.slice(0, maxLineCharacters));
}
