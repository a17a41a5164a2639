/** Job logs: a slice by bytes, the last lines, or the log as it grows (docs/decisions/service/job-queue.md). */
import { AppError, isOutage } from '../../errors.ts';
import type { LogAppender, LogReader } from '../../ports/files.ts';
import type { JobStore } from '../../ports/stores/jobs.ts';
import { terminalStatuses, type JobStatus } from './record.ts';
import { pause } from './worker/waiting.ts';

/** Bytes up to the last whole UTF-8 character; all of them when the end is no cut character. */
function textBoundary(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(4, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return back < needed ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

type LogAdapters = { readonly jobs: JobStore; readonly logs: LogReader };

/** A slice that starts at `offset`; the next one starts at `nextOffset`. Sizes and offsets in bytes. */
interface LogSlice {
  readonly status: JobStatus;
  readonly offset: number;
  readonly nextOffset: number;
  readonly totalSize: number;
  /** the job has ended: its log is whole, whichever part of it this is */
  readonly completed: boolean;
  readonly bytes: Uint8Array;
}

interface LogRange {
  /** bytes to leave out at the front; past the end means the end */
  readonly offset?: number;
  /** greatest number of bytes, at most `maxSliceBytes` */
  readonly limit?: number;
  /** the last lines instead, as far as they fit a slice */
  readonly tail?: number;
}

/** Largest slice: the rest of a larger request follows with the next offset. */
export const maxSliceBytes = 4 * 1024 * 1024;

const stepBytes = 64 * 1024;

/** A slice never ends inside a UTF-8 character unless the limit is shorter than one. AppError `not_found`. */
export async function readJobLog(
  adapters: LogAdapters,
  idOrg: number,
  idJob: number,
  range: LogRange,
): Promise<LogSlice> {
  const status = await statusOf(adapters.jobs, idOrg, idJob);
  const totalSize = (await adapters.logs.logSize(idJob)) ?? 0;
  const start =
    range.tail === undefined
      ? Math.min(range.offset ?? 0, totalSize)
      : await tailOffset(adapters.logs, idJob, totalSize, range.tail);
  const limit = Math.min(range.limit ?? maxSliceBytes, maxSliceBytes, totalSize - start);
  const read = limit === 0 ? new Uint8Array(0) : await adapters.logs.readLog(idJob, start, limit);
  const whole = start + read.length >= totalSize ? read.length : textBoundary(read);
  const bytes = read.subarray(0, whole === 0 ? read.length : whole);
  const nextOffset = start + bytes.length;
  return {
    status,
    offset: start,
    nextOffset,
    totalSize,
    completed: terminalStatuses.has(status),
    bytes,
  };
}

/** Streams the log from an offset to its current end, in pieces: memory does not depend on its size. AppError `not_found`. */
export async function* streamJobLog(
  adapters: LogAdapters,
  idOrg: number,
  idJob: number,
  range: Pick<LogRange, 'offset' | 'limit'> = {},
  mayGoOn: () => Promise<boolean> = () => Promise.resolve(true),
): AsyncGenerator<Uint8Array, void, undefined> {
  await statusOf(adapters.jobs, idOrg, idJob);
  const totalSize = (await adapters.logs.logSize(idJob)) ?? 0;
  let offset = Math.min(range.offset ?? 0, totalSize);
  const end = Math.min(totalSize, offset + (range.limit ?? totalSize));
  while (offset < end) {
    const bytes = await adapters.logs.readLog(idJob, offset, Math.min(stepBytes, end - offset));
    if (bytes.length === 0) return;
    offset += bytes.length;
    yield bytes;
    if (!(await mayGoOn())) throw new AppError('unauthorized', 'the key was revoked');
  }
}

/** `bytes` end at a line end if one is within reach, always between characters; `nextOffset` resumes after them. */
export type LogEvent =
  | {
      readonly kind: 'data';
      readonly offset: number;
      readonly nextOffset: number;
      readonly bytes: Uint8Array;
    }
  | { readonly kind: 'end'; readonly offset: number; readonly status: JobStatus };

/** Follows a log until its job has ended and all of it was given, or until aborted. AppError `not_found`. */
export async function* followJobLog(
  adapters: LogAdapters,
  idOrg: number,
  idJob: number,
  options: {
    readonly offset: number;
    readonly pollMs: number;
    readonly signal: AbortSignal;
    /** asked before each look: false ends the following, without an end event */
    readonly mayGoOn: () => Promise<boolean>;
  },
): AsyncGenerator<LogEvent, void, undefined> {
  let offset = options.offset;
  for (;;) {
    if (options.signal.aborted) return;
    const may = await unlessOutage(options.mayGoOn());
    if (may === false) return;
    // The status is read first: the log then contains all output from before the job ended
    const status = may === null ? null : await unlessOutage(statusOf(adapters.jobs, idOrg, idJob));
    if (status === null) {
      await pause(options.pollMs, options.signal);
      continue;
    }
    const ended = terminalStatuses.has(status);
    const size = (await adapters.logs.logSize(idJob)) ?? 0;
    while (offset < size && !options.signal.aborted) {
      const still = await unlessOutage(options.mayGoOn());
      if (still === false) return;
      if (still === null) break;
      const read = await adapters.logs.readLog(idJob, offset, Math.min(stepBytes, size - offset));
      const atEnd = ended && offset + read.length >= size;
      const cut = atEnd ? read.length : lineBoundary(read);
      if (cut === 0) break;
      yield { kind: 'data', offset, nextOffset: offset + cut, bytes: read.subarray(0, cut) };
      offset += cut;
    }
    if (ended && offset >= size) {
      if (!options.signal.aborted) yield { kind: 'end', offset, status };
      return;
    }
    await pause(options.pollMs, options.signal);
  }
}

/** Returns null while the database does not answer, so that a client that follows a job through a restart is not disconnected. */
async function unlessOutage<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (isOutage(error)) return null;
    throw error;
  }
}

async function statusOf(jobs: JobStore, idOrg: number, idJob: number): Promise<JobStatus> {
  const record = await jobs.findJob(idOrg, idJob);
  if (record === null) throw new AppError('not_found', 'there is no such job');
  return record.status;
}

/**
 * Returns the offset at which the last `lines` lines start. A line end at the very end closes the last line and does not start another.
 */
async function tailOffset(logs: LogReader, idJob: number, size: number, lines: number): Promise<number> {
  if (lines === 0) return size;
  const lowest = Math.max(0, size - maxSliceBytes);
  let end = size;
  let missing = lines;
  while (end > lowest) {
    const start = Math.max(lowest, end - stepBytes);
    const bytes = await logs.readLog(idJob, start, end - start);
    for (let at = bytes.length - 1; at >= 0; at -= 1) {
      if (bytes[at] !== 0x0a || start + at === size - 1) continue;
      missing -= 1;
      if (missing === 0) return start + at + 1;
    }
    end = start;
  }
  return lowest;
}

/** After the last line end; a line longer than a step is given in pieces. */
function lineBoundary(bytes: Uint8Array): number {
  const line = bytes.lastIndexOf(0x0a) + 1;
  return line > 0 || bytes.length < stepBytes ? line : textBoundary(bytes);
}

// Ends a job's log at its size limit: the output of a job depends on its documents, of which there may be any number.

const lineEnd = 0x0a;

/**
 * Limits a log to `maxBytes`: appends whole lines while they fit, then a last line that says so, and nothing more. `sizeBytes`: size
 * of the output of earlier attempts and notes.
 */
export function boundedLog(log: LogAppender, sizeBytes: number, maxBytes: number): LogAppender {
  const last = new TextEncoder().encode(
    `the log ends here, at ${maxBytes} bytes (svc.limits.job_log): further lines are omitted; the result of the job is in its record\n`,
  );
  const room = Math.max(0, maxBytes - last.length);
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
