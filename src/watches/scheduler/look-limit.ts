/** The time limit of a look (`svc.limits.look`): of all that one turn reads at the place of a watch. */
import { AppError } from '../../errors.ts';
import type { WatchedLocation, WatchedLocations, WatchedPlace } from '../../ports/watched-locations.ts';

/** The error for a look that exceeded a limit of ours. It would again, so `stalled` reports it at once. */
export class LookLimit extends AppError {
  /** the watch is to be paused: another look may take this machine's memory once more */
  readonly pauses: boolean;

  constructor(detail: string, pauses = false) {
    super('service_unavailable', detail);
    this.name = 'LookLimit';
    this.pauses = pauses;
  }
}

export interface LimitedLocations extends WatchedLocations {
  /** Ends the timer, and any pending reading. */
  close(): void;
}

/**
 * Limits locations: opening, listing and reading together take at most `lookMs`, from the first `open` on. Past it each of them rejects
 * with a `LookLimit`, even if the awaited source does not answer.
 */
export function limitLook(locations: WatchedLocations, lookMs: number): LimitedLocations {
  const late = new AbortController();
  const over = new AbortController();
  let timer: ReturnType<typeof setTimeout> | null = null;
  let opened: Promise<WatchedLocation> | null = null;
  const time = `${lookMs / 1000} s (svc.limits.look)`;
  const within = async <T>(work: Promise<T>, detail: string): Promise<T> => {
    const limit = Promise.withResolvers<never>();
    const stop = (): void => limit.reject(new LookLimit(detail));
    if (late.signal.aborted) stop();
    else late.signal.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([work, limit.promise]);
    } catch (error) {
      // the reason for the interruption says more than the fault that it caused
      if (late.signal.aborted && !(error instanceof LookLimit)) throw new LookLimit(detail);
      throw error;
    } finally {
      late.signal.removeEventListener('abort', stop);
    }
  };
  return {
    // all that a turn reads is of one watch
    open: (place, signal) => (opened ??= open(place, signal)),
    close() {
      clearTimeout(timer ?? undefined);
      over.abort();
    },
  };

  async function open(place: WatchedPlace, signal: AbortSignal): Promise<WatchedLocation> {
    timer ??= setTimeout(() => late.abort(), lookMs);
    const ended = AbortSignal.any([signal, late.signal, over.signal]);
    const location = await within(locations.open(place, ended), `the place did not answer within ${time}`);
    return limited(location, place);
  }

  function limited(location: WatchedLocation, { rows }: WatchedPlace): WatchedLocation {
    const listing =
      rows === null
        ? `the list of files did not end within ${time}`
        : `the query returned no row within ${time}: has --after ${rows.after?.column ?? ''} an index?`;
    return {
      fileSystem: location.fileSystem,
      async *objects() {
        const iterator = location.objects()[Symbol.asyncIterator]();
        let isDone = false;
        try {
          for (;;) {
            const next = await within(iterator.next(), listing);
            isDone = next.done === true;
            if (next.done === true) return;
            yield next.value;
          }
        } finally {
          // do not wait for a source that does not answer
          if (!isDone) void iterator.return?.()?.catch(() => undefined);
        }
      },
      digest: (object) => within(location.digest(object), `${object.name} could not be read within ${time}`),
    };
  }
}
