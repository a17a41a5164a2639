/** From a process's output to its job's log: whole lines, masked, in the order they were written. */
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** Takes secrets out of a text whose characters are the bytes of the log (ISO-8859-1), so that all other bytes stay as they are. */
export type LogMask = (text: string) => string;

/** A line is held back until it ends, so that no secret slips through in two writes; longer ones are cut at a blank. */
const longestLineBytes = 256 * 1024;

/** Resolves at the end of the output; answers the error code when the log could not take it, after `onFault`. */
export async function copyToLog(
  output: Readable,
  log: FileHandle,
  mask: LogMask,
  onFault: () => void,
): Promise<string | null> {
  let open: Buffer = Buffer.alloc(0);
  let fault: string | null = null;
  const write = async (bytes: Buffer): Promise<void> => {
    if (bytes.length === 0 || fault !== null) return;
    try {
      await log.appendFile(Buffer.from(mask(bytes.toString('latin1')), 'latin1'));
    } catch (error) {
      fault = (error as NodeJS.ErrnoException).code ?? String(error);
      onFault();
    }
  };
  try {
    for await (const chunk of output as AsyncIterable<Buffer>) {
      const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk]);
      const end = lineEnd(bytes);
      open = bytes.subarray(end);
      await write(bytes.subarray(0, end));
    }
  } catch {
    // given up on: what came so far is written
  }
  await write(open);
  return fault;
}

function lineEnd(bytes: Buffer): number {
  const end = Math.max(bytes.lastIndexOf(0x0a), bytes.lastIndexOf(0x0d)) + 1;
  if (bytes.length - end < longestLineBytes) return end;
  const blank = bytes.lastIndexOf(0x20) + 1;
  return blank > end ? blank : bytes.length;
}
