/** Programs of other package registries that some tests use: fetched once, kept outside the project, never needed. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export function toolCache(name: string): string {
  const root = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(root, 'conversion-job-service', name);
}

/** Path of a program from PyPI in an environment of its own. An error says why it cannot be had. */
export async function pythonProgram(requirement: string, program: string): Promise<string> {
  const folder = toolCache(requirement.replace(/[^\w.-]+/g, '-'));
  const path = join(folder, 'bin', program);
  const whole = join(folder, 'whole');
  if (existsSync(whole)) return path;
  await mkdir(folder, { recursive: true });
  await execute('python3', ['-m', 'venv', folder]);
  const quietly = ['--quiet', '--disable-pip-version-check', '--no-input'];
  const briefly = ['--retries', '0', '--timeout', '10'];
  await execute(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', ...quietly, ...briefly, requirement]);
  await writeFile(whole, '');
  return path;
}

/** Why something cannot be had: the first line of an error. */
export function firstLine(error: unknown): string {
  return String(error).split('\n', 1)[0]!;
}
