/** The transfer program as a child process: an argument vector, its request in a private file, its output line by line. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { JobFiles } from '../../ports/files.ts';
import { withStoredPackage } from './stored-package.ts';
import type { TransferProgram, TransferRun } from '../../ports/processes.ts';
import { signalGroup, createProcessGuard, type ProcessGuard } from '../../process/group.ts';
import { markVariable } from '../../process/successive-runs.ts';
import { baseEnvironment, findTie } from '../../process/tool-runner.ts';

export interface TransferProgramOptions extends Pick<
  TransferProgram,
  'ownDatabase' | 'environmentPassword' | 'identity'
> {
  /** program and leading arguments: one element for an external program */
  readonly command: readonly [program: string, ...args: string[]];
  readonly workingDirectory: string;
  /** folder for requests while their program runs, and for its temporary files; created when needed */
  readonly scratchDirectory: string;
  /** the store that folders of packages are in */
  readonly files: JobFiles;
}

export interface LocalTransferProgram extends TransferProgram {
  /** Run before the first transfer: removes leftovers of killed processes: requests, which hold passwords, and incomplete packages. */
  sweep(): Promise<void>;
  /** Ends the running programs; new runs fail. */
  close(): Promise<void>;
}

/** Time that a process may take to end before it is killed. */
const graceMs = 3000;
/** age after which any transfer is over */
const oldMs = 7 * 24 * 3_600_000;
/** no answer is longer; longer lines go to the log in pieces */
const maxLineCharacters = 64 * 1024;

export function createTransferProgram(options: TransferProgramOptions): LocalTransferProgram {
  const { ownDatabase, environmentPassword, identity, command, workingDirectory, scratchDirectory, files } =
    options;
  const guard = createProcessGuard();
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let tie: Promise<readonly string[]> | null = null;

  const run: TransferProgram['run'] = async (name, request, { signal, onLine }) => {
    const either = AbortSignal.any([signal, closing.signal]);
    either.throwIfAborted();
    await mkdir(scratchDirectory, { recursive: true, mode: 0o700 });
    // a folder of its own with 0700: no other user can ever read the file
    const folder = await mkdtemp(join(scratchDirectory, folderPrefix(process.pid)));
    try {
      return await withStoredPackage(files, name, request, join(folder, 'package'), async (local) => {
        const file = join(folder, 'request.json');
        await writeFile(file, JSON.stringify(local), { mode: 0o600, flag: 'wx' });
        const words = [...(await (tie ??= findTie())), ...command, name, '--request', file];
        return runToEnd(words, { workingDirectory, scratch: folder, guard }, either, onLine);
      });
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
      // the caller has `result`; who drains waits for its end alone
      const settled = result.catch(() => undefined).finally(() => running.delete(settled));
      running.add(settled);
      return result;
    },
    async sweep() {
      for (const name of await readdir(scratchDirectory).catch(() => [] as string[]))
        if (await isLeft(scratchDirectory, name))
          await rm(join(scratchDirectory, name), { recursive: true, force: true });
    },
    async close() {
      closing.abort();
      await Promise.all(running);
    },
  };
}

/** Says whose a folder is: several processes, on several machines, may share a home. */
function folderPrefix(pid: number): string {
  return `migration-${hostname().replaceAll(/[^A-Za-z0-9.]/g, '_')}-${pid}-`;
}

/** The process that made it is dead, or it is so old that its machine must be. */
async function isLeft(directory: string, name: string): Promise<boolean> {
  const pid = Number(/^migration-.*-(\d+)-[^-]*$/.exec(name)?.[1]);
  if (!Number.isSafeInteger(pid)) return false;
  // a folder with the pid of this process is of an earlier process: this one has made none yet
  if (name.startsWith(folderPrefix(pid))) return pid === process.pid || !isAlive(pid);
  const found = await stat(join(directory, name)).catch(() => null);
  return found !== null && found.mtimeMs < Date.now() - oldMs;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

interface Surroundings {
  readonly workingDirectory: string;
  /** folder for the program's temporary files */
  readonly scratch: string;
  readonly guard: ProcessGuard;
}

async function runToEnd(
  words: readonly string[],
  { workingDirectory, scratch, guard }: Surroundings,
  signal: AbortSignal,
  onLine: (line: string) => void,
): Promise<TransferRun> {
  const [program = '', ...args] = words;
  const mark = randomBytes(16).toString('hex');
  const child = spawn(program, args, {
    cwd: workingDirectory,
    env: { ...baseEnvironment(), ...trustEnvironment(), TMPDIR: scratch, [markVariable]: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    shell: false,
  });
  if (child.pid !== undefined) guard.watch(child.pid, mark);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code));
  });
  // handled before it is awaited, in case the output ends later
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
    // processes that the program left behind would keep the output open
    if (child.pid !== undefined) signalGroup(child.pid, 'SIGKILL');
    await Promise.all(outputs);
    return { code, lastLine };
  } finally {
    if (child.pid !== undefined) guard.release(child.pid);
    clearTimeout(kill);
    signal.removeEventListener('abort', stop);
  }
}

/** Returns the variables that name the operator's extra certificates: for Node, and for programs like azcopy. */
export function trustEnvironment(): Record<string, string> {
  const names = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];
  const found = names.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(found.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

async function readLines(stream: NodeJS.ReadableStream, onLine: (line: string) => void): Promise<void> {
  for await (const line of createInterface({ input: stream, crlfDelay: Infinity }))
    onLine(line.slice(0, maxLineCharacters));
}
