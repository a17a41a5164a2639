/** Logs of jobs in a folder of this machine, `job-<id>.log`. */
import { constants } from 'node:fs';
import { mkdir, open, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogStore } from '../../ports/files.ts';

const logsAtOnce = 64;

export function createLocalLogStore(directory: string): LogStore {
  const logFile = (idJob: number): string => join(directory, logName(idJob));

  const logSize: LogStore['logSize'] = async (idJob) => {
    try {
      return (await stat(logFile(idJob))).size;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  };

  return {
    // the file is for its owner alone, and never a link
    async openLog(idJob) {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
      const file = await open(logFile(idJob), flags, 0o600);
      return {
        append: (bytes) => file.appendFile(bytes),
        close: () => file.close(),
      };
    },

    removeLog: async (idJob) => {
      await rm(logFile(idJob), { force: true });
    },

    logSize,
    async logBytes(idJobs) {
      let sum = 0;
      for (let at = 0; at < idJobs.length; at += logsAtOnce) {
        const sizes = await Promise.all(idJobs.slice(at, at + logsAtOnce).map(logSize));
        for (const size of sizes) sum += size ?? 0;
      }
      return sum;
    },

    readLog: async (idJob, offset, length) => {
      const handle = await open(logFile(idJob), constants.O_RDONLY | constants.O_NOFOLLOW).catch(
        (error: unknown) => {
          if (isMissing(error)) return null;
          throw error;
        },
      );
      // removed with its job since its size was asked for
      if (handle === null) return new Uint8Array(0);
      try {
        const bytes = new Uint8Array(length);
        let filled = 0;
        while (filled < length) {
          const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return bytes.subarray(0, filled);
      } finally {
        await handle.close();
      }
    },
  };
}

export function logName(idJob: number): string {
  return `job-${idJob}.log`;
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
