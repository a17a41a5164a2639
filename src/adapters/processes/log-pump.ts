/** Copies a process's output to its job's log: whole lines, masked, in the order of writing. */
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { LogAppender } from '../../ports/files/log-appender.ts';
import { logName } from '../local-files/file-store.ts';

/** Takes secrets out of a text whose characters are the bytes of the log (ISO-8859-1), so that all other bytes stay as they are. */
export type LogMask = (text: string) => string;

/** A line is held back until it ends, so that no secret slips through in two writes; longer ones are cut at a blank. */
const longestLineBytes = 256 * 1024;

/** Resolves at the end of the output; returns the error code if the log could not be written, after calling `onFault`. */
export async function copyToLog(
  output: Readable,
  log: LogAppender,
  mask: LogMask,
  onFault: () => void,
): Promise<string | null> {
  let rest: Buffer = Buffer.alloc(0);
  let fault: string | null = null;
  const write = async (bytes: Buffer): Promise<void> => {
    if (bytes.length === 0 || fault !== null) return;
    try {
      await log.append(Buffer.from(mask(bytes.toString('latin1')), 'latin1'));
    } catch (error) {
      fault = faultOf(error);
      onFault();
    }
  };
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = lineEnd(bytes);
      rest = bytes.subarray(end);
      await write(bytes.subarray(0, end));
    }
  } catch {
    // given up: only the output so far is written
  }
  await write(rest);
  try {
    await log.close();
  } catch (error) {
    fault ??= faultOf(error);
  }
  return fault;
}

/** `job-<id>.log` in a folder, made when missing; for its owner alone, and never a link. */
export async function openLocalLog(logsDirectory: string, idJob: number): Promise<LogAppender> {
  await mkdir(logsDirectory, { recursive: true, mode: 0o700 });
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW;
  const file = await open(join(logsDirectory, logName(idJob)), flags, 0o600);
  return {
    append: (bytes) => file.appendFile(bytes),
    close: () => file.close(),
  };
}

function faultOf(error: unknown): string {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' ? code : String(error);
}

function lineEnd(bytes: Buffer): number {
  const end = Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d)) + 1;
  if (bytes.length - end < longestLineBytes) return end;
  const blank = bytes.lastIndexOf(0x20) + 1;
  return blank > end ? blank : bytes.length;
}
