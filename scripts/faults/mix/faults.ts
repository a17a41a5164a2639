/** The faults of mixed cycles: what each one does to the scene, and what it needs. */
import { execFile } from 'node:child_process';
import { open, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { toolProcesses } from '../../../test/support/service/processes.ts';
import type { Installation } from '../processes.ts';
import { childrenOf, kill } from '../victims.ts';
import type { MixScene } from './scene.ts';

/** Chooses from the list; the choices follow from the seed. */
export type Choose = <T>(all: readonly T[]) => T | undefined;

export interface MixFault {
  readonly name: string;
  /** Does the harm, waits, ends it, and says in a few words what was done. Processes that ended are not started here. */
  strike(scene: MixScene, choose: Choose): Promise<string>;
  /** Says what the scene lacks for this fault, or null. */
  lacks?(scene: MixScene): string | null;
}

/** What `strike` returns if the process that it ends or stalls does not run. */
export const noVictim = 'none was running';

/** longer and shorter than the lease of a job, which is 2 s */
const harmMs = [500, 1500, 3000, 6000];

const noMounts = ({ disks }: MixScene): string | null =>
  disks.length > 0 ? null : 'needs root that may mount file systems';
const noMariadb = ({ mariadb }: MixScene): string | null =>
  mariadb === null ? 'needs MariaDB and its client' : null;
const noPgBouncer = ({ pgbouncer }: MixScene): string | null =>
  pgbouncer === null ? 'needs PgBouncer' : null;

export const mixFaults: readonly MixFault[] = [
  {
    name: 'kill of a service',
    async strike({ installations }, choose) {
      const service = choose(installations)!.service();
      kill(service.pid, 'SIGKILL');
      await service.ended;
      return 'killed';
    },
  },
  {
    name: 'kill of a worker',
    async strike({ installations }, choose) {
      return killOne(workerPids(installations), choose);
    },
  },
  {
    name: 'stall of a worker',
    async strike({ installations }, choose) {
      return stall(oneOf(workerPids(installations), choose), choose);
    },
  },
  {
    name: 'kill of a tool',
    async strike({ installations }, choose) {
      return killOne(await runningTools(installations), choose);
    },
  },
  {
    name: 'stall of a tool',
    async strike({ installations }, choose) {
      return stall(oneOf(await runningTools(installations), choose), choose);
    },
  },
  {
    name: 'kill of a guard',
    async strike({ installations }, choose) {
      return killOne(await waitForSome(() => guardPids(installations)), choose);
    },
  },
  {
    name: 'kill of a guard, then of its worker',
    async strike({ installations }, choose) {
      const worker = choose(workerPids(installations));
      if (worker === undefined) return noVictim;
      for (const guard of await guardsOf(worker)) kill(guard, 'SIGKILL');
      kill(worker, 'SIGKILL');
      return 'killed';
    },
  },
  {
    name: 'kill of PostgreSQL',
    async strike({ postgres }) {
      await postgres.restart('SIGKILL');
      return 'killed and restarted';
    },
  },
  {
    name: 'stall of PostgreSQL',
    async strike({ postgres }, choose) {
      return stall([postgres.pid(), ...(await childrenOf(postgres.pid()))], choose);
    },
  },
  {
    name: 'kill of MariaDB',
    lacks: noMariadb,
    async strike({ mariadb }) {
      await mariadb!.restart('SIGKILL');
      return 'killed and restarted';
    },
  },
  {
    name: 'stall of MariaDB',
    lacks: noMariadb,
    async strike({ mariadb }, choose) {
      return stall([mariadb!.pid()], choose);
    },
  },
  {
    name: 'kill of PgBouncer',
    lacks: noPgBouncer,
    async strike({ pgbouncer }) {
      await pgbouncer!.restart();
      return 'killed and restarted';
    },
  },
  {
    name: 'stall of PgBouncer',
    lacks: noPgBouncer,
    async strike({ pgbouncer }, choose) {
      return stall([pgbouncer!.pid()], choose);
    },
  },
  {
    name: 'half-open connections',
    async strike({ proxies }, choose) {
      const proxy = choose(proxies)!;
      const closed = choose(['server', 'client'] as const)!;
      proxy.halfOpen(closed);
      await delay(choose(harmMs)!);
      proxy.endGhosts();
      return `${placeOf(proxies, proxy)}, the side of the ${closed} closed`;
    },
  },
  {
    name: 'black-holed connections',
    async strike({ proxies }, choose) {
      const proxy = choose(proxies)!;
      proxy.swallow();
      await delay(choose(harmMs)!);
      proxy.heal();
      proxy.endGhosts();
      return placeOf(proxies, proxy);
    },
  },
  {
    name: 'full disk',
    lacks: noMounts,
    async strike({ disks }, choose) {
      const disk = choose(disks)!;
      await fill(disk, choose(harmMs)!);
      return disk.endsWith('logs') ? 'of logs' : 'of targets';
    },
  },
  {
    name: 'read-only disk',
    lacks: noMounts,
    async strike({ disks }, choose) {
      const disk = choose(disks)!;
      await makeReadOnly(disk, choose(harmMs)!);
      return disk.endsWith('logs') ? 'of logs' : 'of targets';
    },
  },
  {
    name: 'jump of a clock',
    lacks: ({ clock }) => (clock === null ? 'needs libfaketime' : null),
    async strike({ clock }, choose) {
      const offset = choose(['+3600', '-3600', '+172800', '-172800'])!;
      await writeFile(clock!, offset);
      await delay(choose(harmMs)!);
      await writeFile(clock!, '+0');
      return `${offset} s and back`;
    },
  },
];

const workerPids = (installations: readonly Installation[]): number[] =>
  installations.flatMap((one) => one.workers().map(({ pid }) => pid!));

const runningTools = (installations: readonly Installation[]): Promise<number[]> =>
  waitForSome(async () =>
    (await Promise.all(installations.map(({ home }) => toolProcesses(home)))).flat().map(({ pid }) => pid),
  );

/** Empty only if there is none for some seconds. */
async function waitForSome(find: () => Promise<number[]>): Promise<number[]> {
  for (const until = performance.now() + 3000; ;) {
    const found = await find();
    if (found.length > 0 || performance.now() > until) return found;
    await delay(50);
  }
}

async function guardPids(installations: readonly Installation[]): Promise<number[]> {
  return (await Promise.all(workerPids(installations).map(guardsOf))).flat();
}

/** The shells that end the tools of a worker that died (src/process/group.ts). */
async function guardsOf(worker: number): Promise<number[]> {
  const found: number[] = [];
  for (const pid of await childrenOf(worker))
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).startsWith('/bin/sh\0-c\0\ntrap'))
      found.push(pid);
  return found;
}

const oneOf = (pids: readonly number[], choose: Choose): number[] => {
  const pid = choose(pids);
  return pid === undefined ? [] : [pid];
};

function killOne(pids: readonly number[], choose: Choose): string {
  const [pid] = oneOf(pids, choose);
  return pid !== undefined && kill(pid, 'SIGKILL') ? 'killed' : noVictim;
}

async function stall(pids: readonly number[], choose: Choose): Promise<string> {
  if (pids.length === 0) return noVictim;
  const ms = choose(harmMs)!;
  for (const pid of pids) kill(pid, 'SIGSTOP');
  await delay(ms);
  for (const pid of pids) kill(pid, 'SIGCONT');
  return `stopped for ${ms} ms`;
}

const placeOf = <T>(proxies: readonly T[], proxy: T): string =>
  proxies.indexOf(proxy) === 0 ? 'to PostgreSQL' : 'to MariaDB';

/** Takes all room of the disk, also what becomes free meanwhile. */
async function fill(disk: string, ms: number): Promise<void> {
  const path = join(disk, 'filler');
  const until = performance.now() + ms;
  const file = await open(path, 'w');
  const chunk = new Uint8Array(1 << 20);
  try {
    while (performance.now() < until) {
      const { bavail, bsize } = await statfs(disk);
      if (bavail === 0) await delay(50);
      else await file.write(chunk.subarray(0, Math.min(chunk.length, bavail * bsize))).catch(() => undefined);
    }
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

/**
 * Mounts the disk a second time over itself, read-only: all files that are opened from then on are. The kernel refuses to remount a disk on which a file
 * is open for writing.
 */
async function makeReadOnly(disk: string, ms: number): Promise<void> {
  const run = promisify(execFile);
  await run('mount', ['--bind', disk, disk]);
  try {
    while (
      !(await run('mount', ['-o', 'remount,bind,ro', disk]).then(
        () => true,
        () => false,
      ))
    )
      await delay(5);
    await delay(ms);
  } finally {
    await run('umount', ['-l', disk]);
  }
}
