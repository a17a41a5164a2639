/** The Python client as users have it: installed from the checkout, in an environment of its own. */
import { execFile } from 'node:child_process';
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectRoot } from './service/start.ts';
import { toolCache } from './tool-cache.ts';

const execute = promisify(execFile);

/**
 * The environment's Python. `name`: that of the environment, kept for the next run; `more`: packages beside the client, each with its
 * version. An error says why it cannot be had.
 */
export async function pythonWithClient(name: string, more: readonly string[]): Promise<string> {
  const folder = toolCache(name);
  await mkdir(folder, { recursive: true });
  const python = join(folder, 'bin', 'python');
  await execute('python3', ['-m', 'venv', folder]);
  // an installation leaves what it builds beside the sources
  const sources = join(folder, 'client');
  await rm(sources, { recursive: true, force: true });
  await cp(join(projectRoot, 'clients/python'), sources, { recursive: true });
  const quietly = [
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--retries',
    '0',
    '--timeout',
    '10',
  ];
  if (more.length > 0) await execute(python, ['-m', 'pip', 'install', ...quietly, ...more]);
  await execute(python, ['-m', 'pip', 'install', ...quietly, '--upgrade', sources]);
  return python;
}
