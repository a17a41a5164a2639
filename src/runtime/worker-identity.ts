/** Identifies a process that runs jobs in their records. */
import { randomBytes } from 'node:crypto';
import { hostname, networkInterfaces, userInfo } from 'node:os';
import type { WorkerIdentity } from '../ports/stores/jobs.ts';

/** `basePath`: the home folder, which `log_file` and relative paths of the job records start from. */
export function readWorkerIdentity(basePath: string): WorkerIdentity {
  const name = hostname();
  return {
    workerId: `${name}-${process.pid}-${randomBytes(4).toString('hex')}`,
    host: `${name}/${address()}`,
    osUser: userName(),
    basePath,
  };
}

function address(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const outward = addresses.filter(({ internal }) => !internal);
  return (outward.find(({ family }) => family === 'IPv4') ?? outward[0])?.address ?? '127.0.0.1';
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A user id without an entry in the user database, as containers have
    return String(process.getuid?.() ?? 'unknown');
  }
}
