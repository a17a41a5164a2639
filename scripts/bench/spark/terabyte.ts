/** What the costs of a job on Spark say for a terabyte, and what that waits for. */
import { renderTable, significant } from '../report.ts';

/** Of one core, in seconds, for a MB of the input, where nothing else is said. */
export interface TargetCosts {
  readonly name: string;
  /** the engine on executors, in all passes, without what a task costs */
  readonly executors: number;
  /** the machine that publishes, without what a unit costs */
  readonly publishing: number;
  /** PostgreSQL, while executors fill it, and then for its keys; null: another target */
  readonly server: { readonly filling: number; readonly keys: number } | null;
}

export interface FixedCosts {
  /** seconds by the clock, of a small job on Spark, and of one without */
  readonly job: number;
  readonly here: number;
  /** of a task, in seconds of one core of executors */
  readonly task: number;
  /** of a unit, in seconds of one core of the machine that publishes */
  readonly unit: number;
}

const megabytes = 1e6;
/** of a task, where nobody says otherwise */
const rangeBytes = 256 * 2 ** 20;
const executorCores = [16, 64, 256] as const;
export const serverCores = 16;
/** over which keys are made (src/targets/sql/postgres/sink.ts) */
export const keyConnections = 4;

/** Hours with so many cores for executors, and what takes the most of them. */
export function renderTerabyte(targets: readonly TargetCosts[], fixed: FixedCosts): string[] {
  return renderTable(
    [
      '1 TB, rows of `--row-tag`, into',
      ...executorCores.map((cores) => `${cores} cores, h`),
      'what binds at 16, 64, 256',
    ],
    targets.map((target) => {
      const parts = executorCores.map((cores) => partsOf(target, fixed, cores));
      return [
        target.name,
        ...parts.map(({ hours }) => significant(hours)),
        parts.map(({ binds }) => binds).join(', '),
      ];
    }),
  );
}

function partsOf(
  { executors, publishing, server }: TargetCosts,
  { job, task, unit }: FixedCosts,
  cores: number,
): { readonly hours: number; readonly binds: string } {
  const tasks = (megabytes * 1e6) / rangeBytes;
  // each range is looked for by one task, and loaded by another
  const inSpark = (2 * tasks * task + megabytes * executors) / cores;
  const filling = (megabytes * (server?.filling ?? 0)) / serverCores;
  const keys = (megabytes * (server?.keys ?? 0)) / keyConnections;
  // the server is filled while executors work
  const parts: [seconds: number, name: string][] = [
    [Math.max(inSpark, filling), filling > inSpark ? 'COPY' : 'executors'],
    [tasks * unit + megabytes * publishing, 'publishing machine'],
    [keys, 'keys'],
    [job, 'start'],
  ];
  const seconds = parts.reduce((sum, [part]) => sum + part, 0);
  return { hours: seconds / 3600, binds: parts.toSorted(([a], [b]) => b - a)[0]![1] };
}
