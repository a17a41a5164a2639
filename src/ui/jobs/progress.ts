/** The figures of a running job: from its record, and from the lines on its progress that its log has every ten seconds. */
import { getJson, type ShownJob } from '../shell/client.ts';
import { counted, duration, hasEnded } from '../parts/controls.ts';

export interface RunFigures {
  readonly documents: number;
  readonly mbPerSecond: number | null;
  readonly rows: number | null;
}

const line =
  /^.*?\b(?:checking|reading|loading|writing|publishing): (\d+) documents(?:, (\d+(?:\.\d+)?) MB\/s)?(?:, (\d+) rows)?; \d+ % of the job/gm;

/** Returns the figures of the last line on progress; null if there is none. */
export function figuresOf(log: string): RunFigures | null {
  const found = [...log.matchAll(line)].at(-1);
  if (found === undefined) return null;
  const [, documents, speed, rows] = found;
  return {
    documents: Number(documents),
    mbPerSecond: speed === undefined ? null : Number(speed),
    rows: rows === undefined ? null : Number(rows),
  };
}

/** less than this share of a job says nothing about the rest */
const leastShare = 0.02;

/** Milliseconds until the end of a running job if it goes on as it did; null if that is not known. */
export function timeLeft({ status, progress, start_date: start }: ShownJob, now = Date.now()): number | null {
  if (status !== 'R' || start === null || progress === null || progress < leastShare) return null;
  return Math.max(0, ((now - start) * (1 - progress)) / progress);
}

/** `3.1 MB/s, 12 documents, 400 rows, 8 s left`; '' for a job that does not run. */
export function runText(job: ShownJob, figures: RunFigures | null): string {
  if (hasEnded(job.status) || job.status === 'Q') return '';
  const left = timeLeft(job);
  return [
    figures?.mbPerSecond == null ? null : `${figures.mbPerSecond} MB/s`,
    figures === null ? null : counted(figures.documents, 'document'),
    figures?.rows == null ? null : counted(figures.rows, 'row'),
    left === null ? null : `${duration(left)} left`,
  ]
    .filter((part) => part !== null)
    .join(', ');
}

/** a log gets a new line every ten seconds */
const freshMs = 5000;
/** running jobs of a list whose logs are read */
const mostJobs = 10;
/** lines that are read from the end of a log */
const tailLines = 20;

/** Reads the figures of running jobs for a list that is shown again and again. */
export function createFigureReader(signal: AbortSignal) {
  const known = new Map<number, { readonly at: number; readonly figures: RunFigures | null }>();
  return async (jobs: readonly ShownJob[]): Promise<ReadonlyMap<number, RunFigures | null>> => {
    const running = jobs.filter(({ status }) => status === 'R').slice(0, mostJobs);
    await Promise.all(
      running.map(async ({ id_job: id }) => {
        const last = known.get(id);
        if (last !== undefined && Date.now() - last.at < freshMs) return;
        // the figures are a help: the list is shown without them
        const { log } = await getJson<{ readonly log: string }>(
          `v2/executions/log/${id}?tail=${tailLines}`,
          signal,
        ).catch(() => ({ log: '' }));
        known.set(id, { at: Date.now(), figures: figuresOf(log) ?? last?.figures ?? null });
      }),
    );
    return new Map([...known].map(([id, { figures }]) => [id, figures]));
  };
}
