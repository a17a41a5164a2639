/**
 * Cycles of one fault each under everything that can run at once: all kinds of jobs, of targets and of save modes, on material of
 * the user's own, with the leases that are there by default.
 */
import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { execution, terminalStatuses } from '../../test/support/service/client.ts';
import { ended, noCounts, submit, type Counts } from './cycles.ts';
import { targetKinds, targetOf, type Counted, type FaultTarget } from './targets.ts';
import { toolDescendants, type Scene } from './scene.ts';

/** A job that is to be there once, and how that is seen. */
interface Task {
  readonly executions: readonly unknown[];
  /** rows too few and too many, once all of it is C; with `expected` none, once it is not */
  check(completed: boolean): Promise<{ readonly lost: number; readonly doubled: number }>;
  remove(): Promise<unknown>;
}

export interface VarietyOptions {
  readonly scene: Scene;
  /** compiled again by some jobs */
  readonly xsd: string;
  readonly rounds: number;
  readonly tasks: number;
  readonly fault: () => Promise<string>;
  readonly patienceMs: number;
  readonly tell: (line: string) => void;
}

export async function runVariety(options: VarietyOptions): Promise<Counts> {
  const { scene, tell } = options;
  const counts = noCounts();
  const expected = await targetOf(scene, 'metadb', 'undisturbed').count();
  const [logical] = await scene.sql<{ id: number }[]>`
    select max(id_lschma) as id from svc.job where job_type = 'Parse' and status = 'C'`;
  for (let round = 1; round <= options.rounds; round += 1) {
    const tasks = Array.from({ length: options.tasks }, (_, at) =>
      makeTask(
        scene,
        options.xsd,
        `v${round}_${at}`,
        (round * options.tasks + at) % (targetKinds.length * 2 + 3),
        expected,
        logical!.id,
      ),
    );
    const submitted = Promise.all(
      tasks.map(({ executions }) => submit(scene.installation, randomUUID(), JSON.stringify({ executions }))),
    );
    const told = delay(Math.random() * scene.usualMs * 2).then(async () => {
      const done = await options.fault();
      await scene.installation.mend();
      return done;
    });
    const workflows = await submitted;
    const what = await told;
    const until = performance.now() + options.patienceMs;
    const ends: string[] = [];
    for (const [at, idJobs] of workflows.entries()) {
      const records = [];
      for (const idJob of idJobs) records.push(await ended(scene.installation, idJob, until));
      counts.jobs += records.length;
      counts.stuck += records.filter((record) => record === null).length;
      const completed = records.every((record) => record?.status === 'C');
      counts.completed += records.filter((record) => record?.status === 'C').length;
      counts.failed += records.filter((record) => record !== null && record.status !== 'C').length;
      const { lost, doubled } = await tasks[at]!.check(completed);
      counts.lost += lost;
      counts.doubled += doubled;
      ends.push(
        records.map((record) => (record === null ? '?' : `${record.status}${record.attempt}`)).join('+'),
      );
      for (const record of records)
        if (record !== null && record.status !== 'C' && terminalStatuses.includes(record.status))
          ends.push(`(${record.failure})`);
      await tasks[at]!.remove();
    }
    counts.cycles += 1;
    counts.leftProcesses += (await toolDescendants(scene.installation)).length;
    tell(
      `${round}: ${what}: ${ends.join(' ')}; lost ${counts.lost}, doubled ${counts.doubled}, stuck ${counts.stuck}`,
    );
  }
  return counts;
}

function makeTask(
  scene: Scene,
  xsd: string,
  name: string,
  kind: number,
  expected: Counted,
  logical: number,
): Task {
  if (kind < targetKinds.length * 2) {
    const target = targetOf(scene, targetKinds[kind >> 1]!, name);
    return kind % 2 === 0 ? appended(scene, target, expected) : overwritten(scene, target, expected);
  }
  if (kind === targetKinds.length * 2) return compiled(xsd);
  if (kind === targetKinds.length * 2 + 1) return inferred(scene, name, expected);
  return writtenBack(scene, name, logical);
}

const nothing = (): Promise<void> => Promise.resolve();

function appended(scene: Scene, target: FaultTarget, expected: Counted): Task {
  return {
    executions: [execution('xml2er', scene.input, target.options, String(scene.origin))],
    check: (completed) => compare(target, completed ? expected : { rows: 0, documents: 0 }),
    remove: target.remove,
  };
}

/** Twice in one workflow: what the first wrote must be gone. */
function overwritten(scene: Scene, target: FaultTarget, expected: Counted): Task {
  const one = execution('xml2er', scene.input, [...target.options, ['-S', 'o']], String(scene.origin));
  return {
    executions: [one, one],
    // where the second failed, the first has its say
    check: async (completed) => (completed ? compare(target, expected) : { lost: 0, doubled: 0 }),
    remove: target.remove,
  };
}

function compiled(xsd: string): Task {
  return {
    executions: [execution('xsd2er', xsd, [['--name', `again-${randomUUID()}`]])],
    check: async () => ({ lost: 0, doubled: 0 }),
    remove: nothing,
  };
}

/** Documents alone: statistics and a model of their own, then their rows. */
function inferred(scene: Scene, name: string, { documents }: Counted): Task {
  const target = targetOf(scene, 'metadb', name);
  return {
    executions: [execution('xml2er', scene.input, target.options)],
    async check(completed) {
      if (!completed) return compare(target, { rows: 0, documents: 0 });
      const found = await target.count();
      return {
        lost: Math.max(0, documents - found.documents),
        doubled: Math.max(0, found.documents - documents),
      };
    },
    remove: target.remove,
  };
}

function writtenBack(scene: Scene, name: string, logical: number): Task {
  const folder = join(scene.folder, name);
  return {
    executions: [
      {
        app_name: 'er2xml',
        source: {},
        target: {
          generation: [
            ['-l', String(logical)],
            ['-i', 'metadb:undisturbed'],
            ['-o', folder],
          ].map(([command, value]) => ({ command, enabled: 'true', value })),
        },
      },
    ],
    async check(completed) {
      if (!completed) return { lost: 0, doubled: 0 };
      const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.xml'));
      const surplus = files.length - scene.documents;
      return { lost: Math.max(0, -surplus), doubled: Math.max(0, surplus) };
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function compare(target: FaultTarget, expected: Counted): Promise<{ lost: number; doubled: number }> {
  const found = await target.count().catch((error: unknown) => {
    // a place that no job came to
    if (expected.rows === 0) return { rows: 0, documents: 0 };
    throw error;
  });
  return {
    lost: Math.max(0, expected.rows - found.rows) + Math.max(0, expected.documents - found.documents),
    doubled: Math.max(0, found.rows - expected.rows) + Math.max(0, found.documents - expected.documents),
  };
}
