/** Chooses users for the server if it may not be root: an unused number, and a borrowed name. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';

/** Numbers outside those of accounts and the ranges of containers, and the last small ones if these are unavailable. */
const largeNumbers = { first: 1_900_000_000, count: 200_000_000 };
const smallNumbers = { first: 60_578, count: 606 };

/** A user number that no account and no process has, always the same for one folder. */
export function privateUid(directory: string): number {
  const { first, count } = isMapped(largeNumbers.first + largeNumbers.count) ? largeNumbers : smallNumbers;
  const taken = new Set(accounts().map(({ uid }) => uid));
  const digest = createHash('sha256').update(directory).digest().readUInt32BE();
  for (let step = 0; step < count; step++) {
    const uid = first + ((digest + step) % count);
    if (!taken.has(uid)) return uid;
  }
  return first;
}

/** Returns the number of a system account without processes, or that of `nobody` if there is none. */
export function idleNamedUid(): number {
  const busy = uidsOfProcesses();
  const idle = accounts().filter(
    ({ name, uid }) => uid > 0 && uid < 1000 && name !== 'nobody' && !busy.has(uid),
  );
  return idle.at(-1)?.uid ?? 65534;
}

interface Account {
  readonly name: string;
  readonly uid: number;
}

function accounts(): readonly Account[] {
  return linesOf('/etc/passwd').map((line) => {
    const [name = '', , uid = ''] = line.split(':');
    return { name, uid: Number(uid) };
  });
}

function uidsOfProcesses(): ReadonlySet<number> {
  const uids = new Set<number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // A process may end between the two calls.
    const status = statSync(`/proc/${name}`, { throwIfNoEntry: false });
    if (status !== undefined) uids.add(status.uid);
  }
  return uids;
}

/** Returns whether the number is mapped: in a user namespace (a container without root), only a few numbers denote a user. */
function isMapped(uid: number): boolean {
  return linesOf('/proc/self/uid_map').some((line) => {
    const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return uid >= first && uid < first + count;
  });
}

function linesOf(path: string): readonly string[] {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
}
