/** Where a tool writes: plain lines in a log, a progress bar before a person. */

export interface Terminal {
  log(line: string): void;
  complain(line: string): void;
  progress(fraction: number): void;
  endProgress(): void;
}

const barWidth = 30;

export function createTerminal(): Terminal {
  const person = process.stderr.isTTY === true;
  let shown = false;
  let last = 0;
  const clear = (): void => {
    if (shown) process.stderr.write('\r\x1b[K');
    shown = false;
  };
  return {
    log(line) {
      clear();
      process.stdout.write(`${line}\n`);
    },
    complain(line) {
      clear();
      process.stderr.write(`${line}\n`);
    },
    progress(fraction) {
      const now = performance.now();
      if (!person || now - last < 100) return;
      last = now;
      const done = Math.round(Math.min(1, fraction) * barWidth);
      const bar = '█'.repeat(done) + '░'.repeat(barWidth - done);
      process.stderr.write(`\r${bar} ${String(Math.round(fraction * 100)).padStart(3)} %`);
      shown = true;
    },
    endProgress: clear,
  };
}
