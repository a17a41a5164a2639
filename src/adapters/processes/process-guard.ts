/**
 * Ends the processes that a killed worker leaves behind: a small shell process in a session of its own holds the reading end of a pipe
 * and a list of process groups. When the pipe closes, however its writer ended, it kills the groups. The kernel's tie (`setpriv
 * --pdeathsig`) ends a tool itself; this also ends the processes that the tool has started.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { markVariable } from './successive-runs.ts';

export interface ProcessGuard {
  watch(groupId: number, mark: string): void;
  release(groupId: number): void;
}

// `grep -z` reads an environment as the kernel shows it; if it cannot, the groups are ended all the same.
const script = `
trap '' HUP INT TERM
groups=
while read -r sign group mark; do
  kept=
  for one in $groups; do case $one in "$group":*) ;; *) kept="$kept $one" ;; esac; done
  groups=$kept
  if [ "$sign" = + ]; then groups="$groups $group:$mark"; fi
done
set --
for one in $groups; do
  kill -9 -- "-\${one%%:*}" 2>/dev/null
  set -- "$@" -e "${markVariable}=\${one#*:}"
done
if [ $# -gt 0 ]; then
  for file in $(grep -lszxF "$@" /proc/[0-9]*/environ 2>/dev/null); do
    file=\${file#/proc/}
    kill -9 "\${file%/environ}" 2>/dev/null
  done
fi`;

export function createProcessGuard(): ProcessGuard {
  const watched = new Map<number, string>();
  let guard: ChildProcess | null = null;

  function start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', script], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
      cwd: '/',
      detached: true,
    });
    const gone = (): void => {
      if (guard === child) guard = null;
    };
    child.once('exit', gone);
    child.once('error', gone);
    child.stdin?.on('error', gone);
    // Neither keeps this process running
    child.unref();
    (child.stdin as { unref?: () => void } | null)?.unref?.();
    return child;
  }

  /** A guard that was ended itself is replaced, and gets all groups again. */
  function tell(line: string): void {
    if (guard !== null) {
      guard.stdin?.write(line);
      return;
    }
    if (watched.size === 0) return;
    guard = start();
    guard.stdin?.write([...watched].map(([groupId, mark]) => `+ ${groupId} ${mark}\n`).join(''));
  }

  return {
    watch(groupId, mark) {
      watched.set(groupId, mark);
      tell(`+ ${groupId} ${mark}\n`);
    },
    release(groupId) {
      watched.delete(groupId);
      tell(`- ${groupId}\n`);
      if (watched.size > 0) return;
      // nothing is left to guard, and the program that this worker is a part of may go on without it
      guard?.stdin?.end();
      guard = null;
    },
  };
}
