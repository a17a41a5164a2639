/**
 * Keeps temporary files in memory while the short form of the tests runs, if there is room for them. Databases of the tests sync each commit
 * and each new file; on a disk, files that load many targets take twice as long for that. The whole run uses the disk.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';

const place = '/dev/shm';
const prefix = 'conversion-tests-';
/** of statfs */
const tmpfsType = 0x01_02_19_94;
const wantedBytes = 4 * 1024 ** 3;

export default function setup(): (() => void) | undefined {
  const { TMPDIR, TEST_SCOPE } = process.env;
  if (TMPDIR !== undefined || TEST_SCOPE === 'all' || !hasRoom()) return undefined;
  removeLeftFolders();
  const folder = join(place, `${prefix}${process.pid}`);
  mkdirSync(folder);
  // servers of the tests run as other users
  chmodSync(folder, 0o1777);
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  if (!runsPrograms(folder)) {
    remove();
    return undefined;
  }
  process.env['TMPDIR'] = folder;
  return remove;
}

function hasRoom(): boolean {
  if (!existsSync(place)) return false;
  const { type, bavail, bsize } = statfsSync(place);
  return type === tmpfsType && bavail * bsize >= wantedBytes && freemem() >= 2 * wantedBytes;
}

/** The folders of runs that were killed. */
function removeLeftFolders(): void {
  for (const name of readdirSync(place))
    if (name.startsWith(prefix) && !existsSync(`/proc/${name.slice(prefix.length)}`))
      rmSync(join(place, name), { recursive: true, force: true, maxRetries: 5 });
}

/** Whether programs in the folder can be run. Containers often forbid that. */
function runsPrograms(folder: string): boolean {
  const program = join(folder, 'program');
  writeFileSync(program, '#!/bin/sh\nexit 0\n', { mode: 0o700 });
  try {
    execFileSync(program);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(program);
  }
}
