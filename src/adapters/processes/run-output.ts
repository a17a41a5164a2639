/** The output of a process that does one run after the other, each run's apart. */
import { PassThrough, type Readable } from 'node:stream';

export interface RunOutput {
  /** Starts a run: output from now on, until the process waits or ends, belongs to it. */
  begin(): Readable;
}

/** `ending`: the text that ends a run, not part of its output; then `onEnd` is called. Output between two runs is discarded. */
export function splitOutput(output: Readable, ending: Buffer, onEnd: () => void): RunOutput {
  let current: PassThrough | null = null;
  let rest: Buffer = Buffer.alloc(0);
  const write = (bytes: Buffer): void => {
    if (bytes.length === 0 || current === null || current.write(bytes)) return;
    output.pause();
    current.once('drain', () => output.resume());
  };
  const end = (): void => {
    current?.end();
    current = null;
    // a finished run never signals that there is room, and the next run must not wait for it
    output.resume();
  };
  output.on('data', (chunk: Buffer) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const at = bytes.indexOf(ending);
    if (at !== -1) {
      write(bytes.subarray(0, at));
      rest = Buffer.alloc(0);
      end();
      onEnd();
      return;
    }
    const kept = beginningAtEnd(bytes, ending);
    write(bytes.subarray(0, bytes.length - kept));
    rest = bytes.subarray(bytes.length - kept);
  });
  const close = (): void => {
    write(rest);
    rest = Buffer.alloc(0);
    end();
  };
  output.on('end', close).on('close', close).on('error', close);
  return {
    begin() {
      const begun = new PassThrough();
      current = begun;
      if (output.destroyed || output.readableEnded) end();
      return begun;
    },
  };
}

/** Returns how many of the last bytes may be the beginning of the ending. */
function beginningAtEnd(bytes: Buffer, ending: Buffer): number {
  for (let length = Math.min(ending.length - 1, bytes.length); length > 0; length -= 1)
    if (ending.subarray(0, length).equals(bytes.subarray(bytes.length - length))) return length;
  return 0;
}
