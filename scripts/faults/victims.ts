/** What is killed, stopped or broken in a cycle. */
import { readFileSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TestMariadb } from '../../test/support/servers/mariadb.ts';
import { toolProcesses } from '../../test/support/service/processes.ts';
import type { Installation } from './processes.ts';
import type { Scene } from './scene.ts';

const defaultLeaseMs = 30_000;

const oneOf = <T>(all: readonly T[]): T | undefined => all[Math.floor(Math.random() * all.length)];

export function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // it was quicker
    return false;
  }
}

/** Case 26: worker, tool or service, `kill -9` at this moment; now and then a worker is stopped beyond its lease instead. */
export function killSomething(installation: Installation, leaseMs: number): () => Promise<string> {
  return async () => {
    switch (Math.floor(Math.random() * 7)) {
      case 0:
      case 1: {
        const worker = oneOf(installation.workers());
        if (worker === undefined) return 'no worker';
        kill(worker.pid!, 'SIGKILL');
        return 'kill -9 of a worker';
      }
      case 2:
      case 3: {
        const tool = oneOf(await toolProcesses(installation.home));
        return tool !== undefined && kill(tool.pid, 'SIGKILL') ? 'kill -9 of a tool' : 'no tool to kill';
      }
      case 4: {
        const service = installation.service();
        kill(service.pid, 'SIGKILL');
        await service.ended;
        return 'kill -9 of the service';
      }
      case 5: {
        const worker = oneOf(installation.workers());
        if (worker === undefined) return 'no worker';
        kill(worker.pid!, 'SIGSTOP');
        await delay(leaseMs * 1.5 + Math.random() * leaseMs);
        kill(worker.pid!, 'SIGCONT');
        return 'a worker stopped beyond its lease';
      }
      default: {
        const tool = oneOf(await toolProcesses(installation.home));
        const workers = installation.workers();
        for (const worker of workers) kill(worker.pid!, 'SIGSTOP');
        if (tool !== undefined) kill(tool.pid, 'SIGSTOP');
        await delay(leaseMs * 1.5 + Math.random() * leaseMs);
        for (const worker of workers) kill(worker.pid!, 'SIGCONT');
        if (tool !== undefined) kill(tool.pid, 'SIGCONT');
        return 'all workers and a tool stopped beyond their leases';
      }
    }
  };
}

/** As `killSomething`, and a backend of the database; a worker is stopped for longer than the lease that is there by default. */
export function killAnything({ installation, sql }: Scene): () => Promise<string> {
  const something = killSomething(installation, defaultLeaseMs);
  return async () => {
    if (Math.random() > 0.15) return something();
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
       where application_name like 'conversion-job-service%' and pid <> pg_backend_pid()`;
    return 'every connection to the database ended';
  };
}

/** Case 27: the database server, or one of its backends, at this moment. */
export function killDatabase(installation: Installation): () => Promise<string> {
  return async () => {
    const file = join(installation.home.directory, 'db', 'data', 'postmaster.pid');
    const postmaster = Number((await readFile(file, 'utf8')).split('\n', 1)[0]);
    if (Math.random() < 0.5) {
      const backend = oneOf(await childrenOf(postmaster));
      if (backend !== undefined && kill(backend, 'SIGKILL')) return 'kill -9 of a backend';
    }
    kill(postmaster, 'SIGKILL');
    return 'kill -9 of the database server';
  };
}

/** The server of the target is killed or told to end, and comes back at once; now and then it is something of ours instead. */
export function endMariadb(server: TestMariadb, otherwise: () => Promise<string>): () => Promise<string> {
  return async () => {
    const chance = Math.random();
    if (chance < 0.35) return otherwise();
    const signal = chance < 0.75 ? 'SIGKILL' : 'SIGTERM';
    await server.restart(signal);
    return signal === 'SIGKILL' ? 'kill -9 of the MariaDB server' : 'a restart of the MariaDB server';
  };
}

export async function childrenOf(parent: number): Promise<number[]> {
  const found: number[] = [];
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent) found.push(Number(entry));
    } catch {
      // the process has ended
    }
  }
  return found;
}
