/** The meaning of the end of a tool's process: exit codes, signals, and the state that is left behind. */
import type { Tool } from '../request/tools.ts';

/**
 * Exit codes with which a tool reports to its worker, or to a person, how its run ended
 * (docs/decisions/service/tools-are-processes.md).
 */
export const exitCodes = {
  completed: 0,
  failed: 1,
  usage: 2,
  /** result for a job that died while it published: none of its rows are in the target */
  notPublished: 3,
  /** under a worker: the job waits for a server or for room on a disk, without losing the attempt (sysexits.h EX_UNAVAILABLE) */
  waits: 69,
  /** under a worker: an outage, the job may be tried again (sysexits.h EX_TEMPFAIL) */
  tryAgain: 75,
} as const;

/** The state that a run leaves behind if it was ended early, by tool. */
export const leftBehind: Readonly<Record<Tool, string>> = {
  xsd2er: 'nothing was published',
  xml2er: 'nothing was published',
  er2xml: 'documents that were already written are complete, and stay',
  unload: 'nothing was removed',
};

/** Environment variable for a tool that must only check whether its job's rows are in the target. */
export const reconcileVariable = 'SVC_JOB_RECONCILE';

/** Signals by which a program ends that is at fault itself; it would be again. SIGKILL and SIGTERM come from outside. */
export const crashSignals: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGFPE',
  'SIGILL',
  'SIGSEGV',
  'SIGTRAP',
]);
