/**
 * The heartbeat of a run by hand. A timer sends it while the event loop turns; while this thread computes without a pause (a large
 * model is drawn, keys are checked), a thread of its own sends it.
 */
import type { Worker } from 'node:worker_threads';
import { startThread as startProgramThread } from '../../installation.ts';
import type { Claim, JobStore } from '../../ports/stores/jobs.ts';
import type { OpenedInstallation } from '../../runtime/open-installation.ts';
import type { HeartbeatOrder } from './heartbeat-thread.ts';

/** The size of the work ahead: elements of a source model that is drawn, or bytes of documents. */
export interface WorkSize {
  readonly elements?: number;
  readonly bytes?: number;
}

export interface LeaseKeeper {
  /** Called before work that may take long without a pause; starts the thread, unless the work is small. */
  expectWork(size: WorkSize): void;
  /** Resolves when no heartbeat is sent any more. */
  stop(): Promise<void>;
}

/** Time between two heartbeats: a person who ends a run expects it to end soon. */
const beatMs = 1500;
/** Shorter runs, and runs with less to do, have no thread: starting one takes 20 ms of processor time. */
const shortRunMs = 1000;
const smallWork = { elements: 200, bytes: 64 * 1024 };

/** `onEnd`: called if the job was killed on request, or another process has claimed it. */
export function keepLeaseByHand(
  {
    databaseUrl,
    roles,
    adapters,
  }: Pick<OpenedInstallation, 'databaseUrl' | 'roles'> & {
    readonly adapters: { readonly jobs: Pick<JobStore, 'heartbeat'> };
  },
  claim: Claim,
  leaseMs: number,
  onEnd: (why: 'kill' | 'lost') => void,
): LeaseKeeper {
  const beats = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const count = new Int32Array(beats);
  let thread: Worker | null = null;
  const timer = setInterval(
    () => {
      Atomics.add(count, 0, 1);
      adapters.jobs
        .heartbeat(claim, leaseMs)
        .then((answer) => answer === 'ok' || onEnd(answer))
        // an outage says nothing about the job: the next heartbeat asks again
        .catch(() => undefined);
    },
    Math.min(beatMs, leaseMs / 4),
  );
  timer.unref();
  const startThread = (): void => {
    if (thread !== null) return;
    const order: HeartbeatOrder = {
      databaseUrl,
      hasServiceRole: roles.service,
      claim,
      leaseMs,
      beats,
    };
    thread = startProgramThread('tools/heartbeat', {
      workerData: order,
      env: {},
      resourceLimits: { maxYoungGenerationSizeMb: 4 },
    });
    // without the thread the timer continues alone
    thread.on('error', () => undefined);
    thread.unref();
  };
  const later = setTimeout(startThread, shortRunMs);
  later.unref();
  return {
    expectWork({ elements = 0, bytes = 0 }) {
      if (elements > smallWork.elements || bytes > smallWork.bytes) startThread();
    },
    async stop() {
      clearInterval(timer);
      clearTimeout(later);
      await thread?.terminate();
    },
  };
}
