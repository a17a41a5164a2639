/** The figures that are promised, measured under default settings: each line says what was asked for and what was found. */
import { join } from 'node:path';
import { freightXsdFolder } from '../../test/support/service/fixtures.ts';
import { writeLargeDocument } from '../../test/support/documents/large.ts';
import { measureFlood } from './flood.ts';
import { measureLag } from './follower-lag.ts';
import { killStates, measureKills } from './kill-latency.ts';
import { openScene } from './scene.ts';
import { measureTakeovers } from './takeover.ts';
import { runVariety } from './variety.ts';
import { killAnything } from './victims.ts';

export interface FiguresWanted {
  /** from each state */
  readonly kills: number;
  /** jobs whose log is followed */
  readonly followed: number;
  readonly takeovers: number;
  /** cycles of faults under all kinds of jobs and targets */
  readonly variety: number;
  /** jobs that one organisation queues */
  readonly flood: number;
  readonly database: string;
  readonly megabytes: number;
  /** material of the user's own; absent: made here */
  readonly xsd?: string;
  readonly document?: string;
  /** for what is made here */
  readonly folder: string;
  readonly tell: (line: string) => void;
}

const killLimitMs = 15_000;
const lagLimitMs = 1_000;
const takeoverLimitMs = 45_000;
const claimLimitMs = 50;
/** a worker that is stopped is waited for 10 s: not as often as the others */
const slowShare = 0.2;
/** two leases, and what is run again */
const patienceMs = 180_000;

/** Whether all limits were kept. */
export async function measureFigures(wanted: FiguresWanted): Promise<boolean> {
  const { tell } = wanted;
  const scene = await openScene({
    workers: 2,
    database: wanted.database,
    xsd: wanted.xsd ?? freightXsdFolder,
    document: wanted.document ?? (await writeLargeDocument(join(wanted.folder, 'freight.xml'), 1e6)).path,
    megabytes: wanted.megabytes,
  });
  let sound = true;
  const keeps = (kept: boolean): string => {
    sound &&= kept;
    return kept ? 'kept' : 'BROKEN';
  };
  try {
    tell(`a job: ${scene.documents} documents, ${scene.usualMs} ms undisturbed; default settings, 2 workers`);
    for (const state of wanted.kills > 0 ? killStates : []) {
      const times = state === 'worker stopped' ? Math.ceil(wanted.kills * slowShare) : wanted.kills;
      const { p50, p99, ends, wrong, left } = await measureKills(scene, state, times);
      const kept = keeps(p99 <= killLimitMs && wrong === 0 && left === 0);
      tell(
        `kill in ${state}: ${times} kills, p50 ${p50} ms, p99 ${p99} ms (limit ${killLimitMs}), ends ${JSON.stringify(ends)}, ` +
          `records that lie ${wrong}, processes left ${left}: ${kept}`,
      );
    }
    if (wanted.followed > 0) {
      const { followers, appends, p50, p99, endP99, different } = await measureLag(scene, wanted.followed, 5);
      tell(
        `follower of a log: ${followers} followers, ${appends} appends, p50 ${p50} ms, p99 ${p99} ms, end p99 ${endP99} ms ` +
          `(limit ${lagLimitMs}), texts that differ ${different}: ${keeps(p99 <= lagLimitMs && different === 0)}`,
      );
    }
    for (const how of wanted.takeovers > 0 ? (['SIGKILL', 'SIGSTOP'] as const) : []) {
      const { takeovers, p50, worst, wrong } = await measureTakeovers(scene, wanted.takeovers, how);
      tell(
        `${how} of a worker: ${takeovers} jobs taken again, p50 ${p50} ms, worst ${worst} ms (limit ${takeoverLimitMs}), ` +
          `jobs without their rows once ${wrong}: ${keeps(worst <= takeoverLimitMs && wrong === 0)}`,
      );
    }
    if (wanted.flood > 0) {
      const flood = await measureFlood(scene, wanted.flood, 20);
      const { claimP50, claimP99, listP99, others, waitP50, waitWorst, ran, wrong } = flood;
      tell(
        `${wanted.flood} queued jobs: claim p50 ${claimP50} ms, p99 ${claimP99} ms (limit ${claimLimitMs}), list p99 ${listP99} ms, ` +
          `${others} jobs of another organisation started after p50 ${waitP50} ms, worst ${waitWorst} ms; ` +
          `${ran} of the flood ran, not exactly once ${wrong}: ${keeps(claimP99 <= claimLimitMs && wrong === 0)}`,
      );
    }
    if (wanted.variety > 0) {
      const counts = await runVariety({
        scene,
        xsd: wanted.xsd ?? freightXsdFolder,
        rounds: wanted.variety,
        tasks: 6,
        fault: killAnything(scene),
        patienceMs,
        tell: (line) => tell(`  ${line}`),
      });
      tell(
        `all kinds of jobs and targets: cycles ${counts.cycles}, jobs ${counts.jobs} (${counts.completed} completed, ${counts.failed} failed), ` +
          `rows lost ${counts.lost}, rows doubled ${counts.doubled}, jobs stuck ${counts.stuck}, processes left ${counts.leftProcesses}: ` +
          keeps(counts.lost + counts.doubled + counts.stuck + counts.leftProcesses === 0),
      );
    }
  } finally {
    await scene.close();
  }
  return sound;
}
