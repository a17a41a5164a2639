/**
 * Waiting for work, for kills and for ends: the database notifies on the channels `svc_job`, `svc_watch`, `svc_kill` (payload: the
 * job's id) and `svc_end` (the workflow's). A lost connection only costs the time-outs.
 */
import postgres from 'postgres';
import type { Sql } from '../postgres/connect.ts';

export interface JobNotifications {
  /** Resolves at a notification, after `timeoutMs`, or when aborted; never rejects. */
  waitForWork(timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Resolves when the job was asked to end, after `timeoutMs`, or when aborted; never rejects. */
  waitForKill(idJob: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Resolves when a job of the workflow has ended, after `timeoutMs`, or when aborted; never rejects. */
  waitForEnd(idWorkflow: number, timeoutMs: number, signal: AbortSignal): Promise<void>;
  /** Like `waitForWork`, but returns when a watch may be due. */
  waitForWatches(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Interval of probes: a silent connection may be dead without our knowledge. */
const probeMs = 10_000;

/** Listens on a connection of its own, made at the first wait and made again when it breaks. */
export function createJobNotifications(sql: Sql): JobNotifications {
  const waiting = new Set<() => void>();
  const waitingForKill = new Map<number, Set<() => void>>();
  const waitingForEnd = new Map<number, Set<() => void>>();
  // Between a claim that found nothing and the wait that follows, a notification must not be lost.
  let missed = false;
  const waitingForWatches = new Set<() => void>();
  let missedWatch = false;
  let listening = false;
  let listener: postgres.Sql | null = null;
  let probe: ReturnType<typeof setInterval> | null = null;

  const wake = (): void => {
    if (waiting.size === 0) missed = true;
    for (const resume of waiting) resume();
  };
  const wakeWatches = (): void => {
    if (waitingForWatches.size === 0) missedWatch = true;
    for (const resume of waitingForWatches) resume();
  };
  const wakeAll = (): void => {
    wake();
    wakeWatches();
    wakeOf(waitingForKill);
    wakeOf(waitingForEnd);
  };
  const notified = (channel: string, payload: string): void => {
    if (channel === 'svc_job') wake();
    else if (channel === 'svc_watch') wakeWatches();
    else
      for (const resume of (channel === 'svc_end' ? waitingForEnd : waitingForKill).get(Number(payload)) ??
        [])
        resume();
  };
  const listen = (): void => {
    if (listening) return;
    listening = true;
    listener ??= postgres({
      ...sql.options,
      // A parsed set of options is used unchanged, except these.
      max: 1,
      idle_timeout: null,
      max_lifetime: null,
      onclose: () => void (listening = false),
      onnotify: notified,
    } as unknown as postgres.Options<Record<string, never>>) as unknown as postgres.Sql;
    // Wakes all waiters at once for notifications sent before we listened.
    listener
      .unsafe('listen svc_job; listen svc_watch; listen svc_kill; listen svc_end')
      .then(wakeAll, () => void (listening = false));
    probe ??= startProbe();
  };
  function startProbe(): ReturnType<typeof setInterval> {
    const timer = setInterval(() => {
      // a connection that fails ends, and its end starts a new one
      if (listening) listener?.unsafe('select 1').catch(() => undefined);
      else if (waitingForKill.size > 0 || waitingForWatches.size > 0) listen();
    }, probeMs);
    // if timers can keep a process alive, this one must not
    (timer as { unref?: () => void }).unref?.();
    return timer;
  }

  return {
    async waitForWork(timeoutMs, signal) {
      if (signal.aborted) return;
      listen();
      if (missed) {
        missed = false;
        return;
      }
      await wait(timeoutMs, signal, waiting);
    },
    async waitForWatches(timeoutMs, signal) {
      if (signal.aborted) return;
      listen();
      if (missedWatch) {
        missedWatch = false;
        return;
      }
      await wait(timeoutMs, signal, waitingForWatches);
    },
    async waitForKill(idJob, timeoutMs, signal) {
      if (signal.aborted) return;
      listen();
      await waitFor(idJob, timeoutMs, signal, waitingForKill);
    },
    async waitForEnd(idWorkflow, timeoutMs, signal) {
      if (signal.aborted) return;
      listen();
      await waitFor(idWorkflow, timeoutMs, signal, waitingForEnd);
    },
    async close() {
      if (probe !== null) clearInterval(probe);
      for (const resume of waiting) resume();
      for (const resume of waitingForWatches) resume();
      wakeOf(waitingForKill);
      wakeOf(waitingForEnd);
      await listener?.end({ timeout: 1 });
      listener = null;
    },
  };
}

function wakeOf(waiting: ReadonlyMap<number, ReadonlySet<() => void>>): void {
  for (const resumes of waiting.values()) for (const resume of resumes) resume();
}

async function waitFor(
  id: number,
  timeoutMs: number,
  signal: AbortSignal,
  waiting: Map<number, Set<() => void>>,
): Promise<void> {
  const among = waiting.get(id) ?? new Set();
  waiting.set(id, among);
  await wait(timeoutMs, signal, among);
  if (among.size === 0 && waiting.get(id) === among) waiting.delete(id);
}

function wait(timeoutMs: number, signal: AbortSignal, among: Set<() => void>): Promise<void> {
  return new Promise<void>((resolve) => {
    const resume = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', resume);
      among.delete(resume);
      resolve();
    };
    const timer = setTimeout(resume, timeoutMs);
    signal.addEventListener('abort', resume);
    among.add(resume);
  });
}
