/** Under which user the server's processes run, and how they keep sight of their files. */
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { AppError } from '../../errors.ts';
import type { PostgresBinaries } from './binaries.ts';
import type { ClusterFolder } from './state.ts';
import { idleNamedUid, privateUid } from './user-ids.ts';

/** The name that a process has inside its user namespace; nobody outside shares it. */
const nameInside = 65534;

/** Starts the server's processes so that they neither are root nor lose access to their files. */
export interface Launcher {
  readonly command: readonly string[];
  readonly uid: number | undefined;
  /** owner that the data must have, seen from here */
  readonly dataOwner: number;
}

/**
 * Chooses how to start `postgres`. PostgreSQL refuses to run as root, and any process of its user can become its superuser (through its
 * memory and its files). As root, the server therefore runs under another name for root in a user namespace, or under a number that no
 * other process has.
 */
export function chooseLauncher(folder: ClusterFolder, binaries: PostgresBinaries): Launcher {
  const self = process.getuid?.() ?? 0;
  const namespace = ['unshare', '--user', `--map-user=${nameInside}`];
  if (self !== 0) {
    close(folder.directory, 0o700);
    // `initdb` requires a name for its user: a user without an entry (containers) gets a name in a namespace if possible
    return { command: !hasName() && runs(namespace) ? namespace : [], uid: undefined, dataOwner: self };
  }
  if (runs(namespace)) {
    close(folder.directory, 0o700);
    return { command: namespace, uid: undefined, dataOwner: 0 };
  }
  return underUid(folder, binaries, privateUid(folder.directory));
}

/** Chooses how to start `initdb`, which must find its user by name: meanwhile an account without processes lends its own. */
export function chooseInitLauncher(folder: ClusterFolder, binaries: PostgresBinaries): Launcher {
  const launcher = chooseLauncher(folder, binaries);
  const self = process.getuid?.() ?? 0;
  return self !== 0 || launcher.dataOwner === 0 ? launcher : underUid(folder, binaries, idleNamedUid());
}

/** User namespaces are switched off (containers): another user, with the one capability that opens closed folders. */
function underUid(folder: ClusterFolder, binaries: PostgresBinaries, uid: number): Launcher {
  const capability = [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${uid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
  if (runs(capability)) {
    close(folder.directory, 0o700);
    return { command: capability, uid: undefined, dataOwner: uid };
  }
  // Without that tool the path to the data must be open; secrets there are protected by their own mode.
  const above = dirname(folder.directory);
  close(folder.directory, 0o711);
  if (statSync(above).uid === 0) chmodSync(above, statSync(above).mode | 0o001);
  if (openToOthers(folder.directory) && openToOthers(binaries.directory))
    return { command: [], uid, dataOwner: uid };
  throw new AppError(
    'service_unavailable',
    `the embedded database cannot run as root below a closed folder (${folder.directory} or ${binaries.directory}): ` +
      'open the folders above it to others (chmod o+x), run as an ordinary user, or set metadb.url to the address of a PostgreSQL server',
  );
}

/** Sets the mode of a folder that another way of starting the server needed open. */
function close(directory: string, mode: number): void {
  if ((statSync(directory).mode & 0o777) !== mode) chmodSync(directory, mode);
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
