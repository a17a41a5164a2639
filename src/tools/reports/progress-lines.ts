/** Progress of a long run, every few seconds, in its log and its record. */

/** The progress of a pass over documents. */
export interface PassProgress {
  readonly pass: 'checking' | 'reading' | 'loading' | 'writing' | 'publishing';
  /** number of completed documents */
  readonly documents: number;
  /** bytes of the input, unpacked */
  readonly bytes: number;
  /** null: the pass makes no rows */
  readonly rows: number | null;
}

export interface ProgressLines {
  /** `fraction` 0 … 1 of the job */
  take(fraction: number, done: PassProgress): void;
  end(): void;
}

/** `everyMs`: between two lines. A run that comes no further, as it waits for a lock or a server, says so at intervals that double. */
export function createProgressLines(log: (line: string) => void, everyMs: number): ProgressLines {
  let timer: NodeJS.Timeout | undefined;
  let last: { readonly fraction: number; readonly done: PassProgress } | null = null;
  let pass: PassProgress['pass'] | null = null;
  let since = 0;
  let told = '';
  let idle = 0;
  const tell = (): void => {
    if (last === null) return;
    const state = JSON.stringify(last);
    idle = state === told ? idle + 1 : 0;
    told = state;
    // 1, 2, 4, 8 …
    if ((idle & (idle - 1)) !== 0) return;
    const line = lineOf(last.fraction, last.done, (performance.now() - since) / 1000);
    log(idle === 0 ? line : `${line}; no progress for ${Math.round((idle * everyMs) / 1000)} s`);
  };
  return {
    take(fraction, done) {
      if (done.pass !== pass) {
        pass = done.pass;
        since = performance.now();
      }
      last = { fraction, done };
      timer ??= setInterval(tell, everyMs).unref();
    },
    end: () => clearInterval(timer),
  };
}

function lineOf(fraction: number, { pass, documents, bytes, rows }: PassProgress, seconds: number): string {
  const speed = pass === 'publishing' ? [] : [`${(bytes / 1e6 / seconds).toFixed(1)} MB/s`];
  const loaded = rows === null ? [] : [`${rows} rows`];
  const parts = [`${documents} documents`, ...speed, ...loaded];
  return `${pass}: ${parts.join(', ')}; ${Math.floor(Math.min(1, fraction) * 100)} % of the job`;
}
