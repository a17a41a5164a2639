/** Runs blocks of shell commands in the project's folder, as a reader of the README would. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { projectRoot } from '../../rules/project-files.ts';

export type ShellEnvironment = Readonly<Record<string, string>>;

export interface ShellResult {
  readonly code: number | null;
  /** stdout and stderr, in order */
  readonly output: string;
}

export interface RunningShell {
  /** the output so far, once it matches */
  waitFor(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  /** resolves when the shell and all that holds its output have ended */
  readonly ended: Promise<ShellResult>;
  /** SIGTERM to the shell alone; answers how it ended */
  stop(): Promise<ShellResult>;
  /** SIGTERM to all that it has started: npx does not pass it on; answers how it ended */
  stopAll(): Promise<ShellResult>;
}

/** The settings of whoever runs the tests must not reach the service under test. */
function cleanEnvironment(extra: ShellEnvironment): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(SVC_|DATABASE_URL$|HOST$|PORT$|VITEST|NODE_ENV$|npm_)/.test(name),
  );
  return { ...Object.fromEntries(kept), ...extra };
}

export function startShell(script: string, environment: ShellEnvironment): RunningShell {
  const child = spawn('bash', ['-c', `set -euo pipefail\n${script}`], {
    cwd: projectRoot,
    env: cleanEnvironment(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let output = '';
  const watchers = new Set<() => void>();
  const read = (chunk: Buffer): void => {
    output += chunk.toString();
    for (const watcher of watchers) watcher();
  };
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const closed = once(child, 'close').then(([code]): ShellResult => ({
    code: code as number | null,
    output,
  }));
  return {
    ended: closed,
    waitFor: (pattern, withinMs = 60_000) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          watchers.delete(look);
          reject(new Error(`no ${pattern} within ${withinMs / 1000} s:\n${output}`));
        }, withinMs);
        const look = (): void => {
          const match = pattern.exec(output);
          if (match === null) return;
          watchers.delete(look);
          clearTimeout(timer);
          resolve(match);
        };
        watchers.add(look);
        void closed.then(() => {
          clearTimeout(timer);
          reject(new Error(`ended without ${pattern}:\n${output}`));
        });
        look();
      }),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      return await closed;
    },
    stopAll: async () => {
      // detached: the shell leads a group of its own
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGTERM');
      return await closed;
    },
  };
}

export async function runShell(script: string, environment: ShellEnvironment): Promise<ShellResult> {
  return await startShell(script, environment).ended;
}
