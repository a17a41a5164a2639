/** Logs as JSON, one object a line: time, level, message, then the event's own fields. */
import { type Logger, logLevels, type LogLevel, type ServiceLog } from '../../ports/environment.ts';

// The lines.

interface JsonLoggerOptions {
  /** takes one line, its end included */
  readonly write: (line: string) => void;
  /** below it nothing is written; absent: all is */
  readonly level?: () => LogLevel;
  /** fields of every entry, before its own */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** masks secrets in the text of an entry */
  readonly mask: (text: string) => string;
}

export function createJsonLogger(options: JsonLoggerOptions): Logger {
  const log = (
    level: 'error' | 'warn' | 'info',
    message: string,
    fields: Readonly<Record<string, unknown>> = {},
  ): void => {
    const lowest = logLevels.indexOf(options.level?.() ?? 'INFO');
    if (logLevels.findIndex((name) => name.toLowerCase() === level) > lowest) return;
    const event = { time: new Date().toISOString(), level, message, ...options.fields, ...fields };
    const line = JSON.stringify(event, (_, value: unknown) => plain(value, options.mask));
    options.write(`${line}\n`);
  };
  return {
    info: (message, fields) => log('info', message, fields),
    warn: (message, fields) => log('warn', message, fields),
    error: (message, fields) => log('error', message, fields),
  };
}

function plain(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Error)
    return { name: value.name, message: mask(value.message), stack: mask(value.stack ?? '') };
  return value;
}

// The log of a service, written to the destination that its host chooses. Its last part is held in memory for callers that may read it.

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
