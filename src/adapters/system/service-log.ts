/**
 * The log of a service: written to the destination that its host chooses, with the last part held in memory for callers that may read
 * it.
 */
import { type LogLevel, type ServiceLog } from '../../ports/log.ts';

/** Size of the last lines that are held in memory. */
const heldBytes = 1024 * 1024;
const initialLevel: LogLevel = 'INFO';

export interface WrittenLog extends ServiceLog {
  /** takes one line, its end included */
  write(line: string): void;
}

/** `write` receives the output; lines are held in memory up to 1 MiB. */
export function createServiceLog(write: (line: string) => void): WrittenLog {
  const lines: Buffer[] = [];
  let held = 0;
  let total = 0;
  let configured: LogLevel | null = null;
  return {
    write(line) {
      const bytes = Buffer.from(line);
      lines.push(bytes);
      held += bytes.length;
      total += bytes.length;
      while (held > heldBytes && lines.length > 1) held -= lines.shift()!.length;
      write(line);
    },
    level: () => configured ?? initialLevel,
    configured: () => configured,
    setLevel: (level) => {
      configured = level;
    },
    held: () => ({ from: total - held, bytes: new Uint8Array(Buffer.concat(lines)) }),
  };
}
