/** The processes of this machine: from procfs on Linux, from `ps` elsewhere. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

export interface ProcessTable {
  /** When the process started: ticks of the kernel or, from `ps`, seconds since 1970; null if there is none, or only a zombie. */
  startOf(pid: number): Promise<number | null>;
  /** The user that a process belongs to, and its arguments; null if there is no such process. */
  commandOf(pid: number): Promise<RunningCommand | null>;
}

export interface RunningCommand {
  readonly uid: number;
  /** whether one of the arguments is this text */
  hasArgument(text: string): boolean;
}

const procfs: ProcessTable = {
  async startOf(pid) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    if (text === null) return null;
    // the name in parentheses may contain anything: state is the first field after it, start the 20th
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : Number(fields[19]);
  },
  async commandOf(pid) {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => null);
    const entry = await stat(`/proc/${pid}`).catch(() => null);
    if (text === null || entry === null) return null;
    const parts = text.split('\0');
    return { uid: entry.uid, hasArgument: (one) => parts.includes(one) };
  },
};

/** The columns of `ps` (POSIX.1, and `lstart` of macOS, BSD and procps). Arguments are one text there, in which spaces separate them. */
export const processesOfPs: ProcessTable = {
  async startOf(pid) {
    const line = await ps(pid, 'stat=,lstart=');
    const [, state, started] = /^\s*(\S+)\s+(.+?)\s*$/.exec(line ?? '') ?? [];
    return state === undefined || state.startsWith('Z') ? null : Date.parse(started!) / 1000;
  },
  async commandOf(pid) {
    const line = await ps(pid, 'uid=,args=');
    const [, uid, args] = /^\s*(\d+)\s+(.*?)\s*$/s.exec(line ?? '') ?? [];
    return uid === undefined
      ? null
      : { uid: Number(uid), hasArgument: (text) => ` ${args} `.includes(` ${text} `) };
  },
};

/** Returns the line of `ps` for a process, or null if there is none. */
async function ps(pid: number, columns: string): Promise<string | null> {
  const environment = { ...process.env, LC_ALL: 'C' };
  return promisify(execFile)('ps', ['-ww', '-p', String(pid), '-o', columns], { env: environment }).then(
    ({ stdout }) => (stdout.trim() === '' ? null : stdout),
    () => null,
  );
}

export const processTable: ProcessTable = process.platform === 'linux' ? procfs : processesOfPs;
