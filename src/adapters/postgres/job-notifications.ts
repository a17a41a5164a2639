/** Waiting for work: the database notifies on the channel `svc_job`; a lost connection only costs the time-out. */
import postgres from 'postgres';
import type { Sql } from './connect.ts';

export interface JobNotifications {
  /** Resolves at a notification, after `timeoutMs`, or when aborted; never rejects. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Listens on a connection of its own, made at the first wait and made again when it breaks. */
export function createJobNotifications(sql: Sql): JobNotifications {
  const waiting = new Set<() => void>();
  // Between a claim that found nothing and the wait that follows, a notification must not be lost.
  let missed = false;
  let listening = false;
  let listener: postgres.Sql | null = null;

  const wake = (): void => {
    if (waiting.size === 0) missed = true;
    for (const resume of waiting) resume();
  };
  const listen = (): void => {
    if (listening) return;
    listening = true;
    listener ??= postgres({
      ...sql.options,
      // A parsed set of options is taken as it stands, with these replaced.
      max: 1,
      idle_timeout: null,
      max_lifetime: null,
      onclose: () => void (listening = false),
      onnotify: wake,
    } as unknown as postgres.Options<Record<string, never>>) as unknown as postgres.Sql;
    // Whatever came before we could hear it is looked for at once.
    listener.unsafe('listen svc_job').then(wake, () => void (listening = false));
  };

  return {
    async wait(timeoutMs, signal) {
      if (signal.aborted) return;
      listen();
      if (missed) {
        missed = false;
        return;
      }
      await new Promise<void>((resolve) => {
        const resume = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', resume);
          waiting.delete(resume);
          resolve();
        };
        const timer = setTimeout(resume, timeoutMs);
        signal.addEventListener('abort', resume);
        waiting.add(resume);
      });
    },
    async close() {
      for (const resume of waiting) resume();
      await listener?.end({ timeout: 1 });
      listener = null;
    },
  };
}
