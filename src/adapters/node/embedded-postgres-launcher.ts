/** Under which user the server's processes run, and how they keep sight of their files. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { AppError } from '../../errors.ts';
import type { PostgresBinaries } from './embedded-postgres-binaries.ts';
import type { ClusterFolder } from './embedded-postgres-state.ts';

/** `nobody`: PostgreSQL refuses to run as root. */
const unprivileged = 65534;

/** How the server's processes are started, so that they neither are root nor lose sight of their files. */
export interface Launcher {
  readonly command: readonly string[];
  readonly uid: number | undefined;
  /** owner that the data must have, seen from here */
  readonly dataOwner: number;
}

export function chooseLauncher(folder: ClusterFolder, binaries: PostgresBinaries): Launcher {
  const self = process.getuid?.() ?? 0;
  const namespace = ['unshare', '--user', `--map-user=${unprivileged}`];
  if (self !== 0) {
    // `initdb` wants to know its user by name: one without an entry (containers) borrows nobody's where it can.
    return { command: !hasName() && runs(namespace) ? namespace : [], uid: undefined, dataOwner: self };
  }
  if (openToOthers(folder.directory) && openToOthers(binaries.directory)) {
    return { command: [], uid: unprivileged, dataOwner: unprivileged };
  }
  // Below a folder that is closed to others the server must keep root's way in: as another name for root in a user
  // namespace, or, where those are switched off (containers), as nobody with the one capability that opens folders.
  if (runs(namespace)) return { command: namespace, uid: undefined, dataOwner: 0 };
  const capability = [
    'setpriv',
    `--reuid=${unprivileged}`,
    `--regid=${unprivileged}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
  if (runs(capability)) return { command: capability, uid: undefined, dataOwner: unprivileged };
  throw new AppError(
    'service_unavailable',
    `the embedded database cannot run as root below a closed folder (${folder.directory} or ${binaries.directory}): ` +
      'open the folders above it to others (chmod o+x), run as an ordinary user, or set metadb.url to the address of a PostgreSQL server',
  );
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

function runs(command: readonly string[]): boolean {
  return spawnSync(command[0] ?? '', [...command.slice(1), 'true'], { stdio: 'ignore' }).status === 0;
}

/** True when every folder on the way may be entered by anyone. */
function openToOthers(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

export function start(
  launcher: Launcher,
  program: string,
  args: readonly string[],
  output: number | 'pipe',
): ChildProcess {
  const [command, ...rest] = [...launcher.command, program, ...args];
  return spawn(command ?? program, rest, {
    uid: launcher.uid,
    gid: launcher.uid,
    cwd: '/',
    // Away from our terminal and process group: it outlives us, and Ctrl-C does not reach it.
    detached: true,
    stdio: ['ignore', output, output],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
  });
}
