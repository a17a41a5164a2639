/** Ends a job's log at its size limit: the output of a job depends on its documents, of which there may be any number. */
import type { LogAppender } from '../ports/files.ts';

const lineEnd = 0x0a;

/**
 * Limits a log to `mostBytes`: appends whole lines while they fit, then a last line that says so, and nothing more. `sizeBytes`: size
 * of the output of earlier attempts and notes.
 */
export function boundedLog(log: LogAppender, sizeBytes: number, mostBytes: number): LogAppender {
  const last = new TextEncoder().encode(
    `the log ends here, at ${mostBytes} bytes (svc.limits.job_log): what else the job says is left out; what came of it is in its record\n`,
  );
  const room = Math.max(0, mostBytes - last.length);
  let size = sizeBytes;
  let endsInLine = false;
  return {
    async append(bytes) {
      if (size > room || bytes.length === 0) return;
      const fits = bytes.length <= room - size;
      const kept = fits ? bytes : bytes.subarray(0, wholeLines(bytes, room - size));
      if (kept.length > 0) {
        await log.append(kept);
        endsInLine = kept.at(-1) !== lineEnd;
      }
      if (fits) {
        size += kept.length;
        return;
      }
      size = Infinity;
      await log.append(endsInLine ? new Uint8Array([lineEnd, ...last]) : last);
    },
    close: () => log.close(),
  };
}

/** Returns the number of bytes up to the last line end within `most`; 0 if there is none. */
function wholeLines(bytes: Uint8Array, most: number): number {
  return most === 0 ? 0 : bytes.lastIndexOf(lineEnd, most - 1) + 1;
}
