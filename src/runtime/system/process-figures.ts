/** Figures of this process, from Node and, on Linux, from /proc. */
import { readFile, readdir } from 'node:fs/promises';
import type { ProcessFigures } from '../../ports/processes.ts';

export function createProcessFigures(): ProcessFigures {
  return {
    async read() {
      const { user, system } = process.cpuUsage();
      const { rss, heapUsed } = process.memoryUsage();
      const [open, limits, status] = await Promise.all([
        readdir('/proc/self/fd').catch(() => null),
        readFile('/proc/self/limits', 'utf8').catch(() => ''),
        readFile('/proc/self/status', 'utf8').catch(() => ''),
      ]);
      const most = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
      const virtual = /^VmSize:\s+(\d+) kB/m.exec(status)?.[1];
      return {
        process_cpu_seconds_total: (user + system) / 1e6,
        process_start_time_seconds: Math.round(Date.now() / 1000 - process.uptime()),
        process_resident_memory_bytes: rss,
        ...(virtual === undefined ? {} : { process_virtual_memory_bytes: Number(virtual) * 1024 }),
        process_heap_bytes: heapUsed,
        ...(open === null ? {} : { process_open_fds: open.length }),
        ...(most === undefined ? {} : { process_max_fds: Number(most) }),
      };
    },
  };
}
