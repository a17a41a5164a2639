/** Processes of clusters on this machine. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir, readlink } from 'node:fs/promises';

/** Processes of this machine that work in a folder below, and whose command lines hold the text. */
export async function processesIn(folder: string, text: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const [line, place] = await Promise.all([
      readFile(`/proc/${name}/cmdline`, 'latin1').catch(() => ''),
      readlink(`/proc/${name}/cwd`).catch(() => ''),
    ]);
    if (line.includes(text) && place.startsWith(`${folder}/`)) found.push(Number(name));
  }
  return found;
}

/** Kills it, where it has not ended, and waits for its end. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
