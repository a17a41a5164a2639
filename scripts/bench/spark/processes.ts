/** What the processors spent on processes that come and go, as a PostgreSQL and an application on Spark have them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** the kernel counts in hundredths of a second on every Linux that Node runs on */
const ticksPerSecond = 100;
const lookEveryMs = 100;

interface ProcessTimes {
  readonly parent: number;
  /** seconds, its own and those of its children that have ended and were waited for */
  readonly own: number;
  readonly ofEnded: number;
}

function timesOf(pid: number | string): ProcessTimes | null {
  try {
    // the name of the process, in brackets, may hold spaces
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').map(Number);
    const [user, system, childUser, childSystem] = fields.slice(11, 15) as [number, number, number, number];
    return {
      parent: fields[1]!,
      own: (user + system) / ticksPerSecond,
      ofEnded: (childUser + childSystem) / ticksPerSecond,
    };
  } catch {
    return null;
  }
}

function allProcesses(): Map<number, ProcessTimes> {
  const found = new Map<number, ProcessTimes>();
  for (const name of readdirSync('/proc')) {
    const times = /^\d+$/.test(name) ? timesOf(name) : null;
    if (times !== null) found.set(Number(name), times);
  }
  return found;
}

/** Seconds that a PostgreSQL has spent since its start, on all of its processes, those that have ended too. */
export function serverSeconds(dataFolder: string): number {
  const server = Number(readFileSync(join(dataFolder, 'postmaster.pid'), 'utf8').split('\n')[0]);
  const { own, ofEnded } = timesOf(server)!;
  let seconds = own + ofEnded;
  for (const { parent, own: spent } of allProcesses().values()) if (parent === server) seconds += spent;
  return seconds;
}

export interface TreeWatch {
  /** Seconds of all that a process has started, and what that has; not its own. To the last look at each of them. */
  end(): number;
}

export function watchTree(root: number): TreeWatch {
  const spent = new Map<number, number>();
  const look = (): void => {
    const all = allProcesses();
    for (const [pid, { own }] of all) if (pid !== root && isBelow(root, pid, all)) spent.set(pid, own);
  };
  const timer = setInterval(look, lookEveryMs);
  return {
    end() {
      clearInterval(timer);
      return spent.values().reduce((sum, one) => sum + one, 0);
    },
  };
}

function isBelow(root: number, pid: number, all: ReadonlyMap<number, ProcessTimes>): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = all.get(at)?.parent)
    if (at === root) return true;
  return false;
}
