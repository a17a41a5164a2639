/** Retries transfers over unreliable connections: they are resumed while that helps, and refused if the file has changed. */
import { setTimeout as pause } from 'node:timers/promises';
import { AppError } from '../../errors.ts';

const firstPauseMs = 200;

export interface Arrival {
  /** number of received bytes, or any other measure that shows that a further try is worthwhile */
  readonly progress: () => number;
  /** consecutive tries without progress after which it is given up */
  readonly tries: number;
  readonly signal: AbortSignal;
}

/**
 * Repeats `attempt` until it returns null, which means completion; other results are faults, and the pauses grow while there is no
 * progress. Returns null, or the fault of the last try. An exception of `attempt` ends it.
 */
export async function takeUp<Fault>(
  attempt: () => Promise<Fault | null>,
  { progress, tries, signal }: Arrival,
): Promise<Fault | null> {
  let before = progress();
  for (let failures = 1; ; failures += 1) {
    const fault = await attempt();
    if (fault === null) return null;
    const here = progress();
    if (here > before) failures = 1;
    before = here;
    if (failures >= tries) return fault;
    await pause(firstPauseMs * 2 ** (failures - 1), undefined, { signal });
  }
}

const pieceBytes = 4 * 1024 * 1024;

/**
 * Yields the bytes [from, to), a piece at a time; the next piece is requested while the current one is processed. `ask`: returns all
 * bytes of a piece.
 */
export async function* inPieces(
  { from, to }: { readonly from: number; readonly to: number },
  ask: (from: number, to: number) => Promise<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const askAt = (at: number): Promise<Uint8Array> => {
    const piece = ask(at, Math.min(to, at + pieceBytes));
    // the fault is handled by the caller that awaits it
    piece.catch(() => undefined);
    return piece;
  };
  let next = from < to ? askAt(from) : null;
  for (let at = from; next !== null; at += pieceBytes) {
    const piece: Uint8Array = await next;
    next = at + pieceBytes < to ? askAt(at + pieceBytes) : null;
    yield piece;
  }
}

const changeCause = 'changed';

/** Returns whether a file could not be read because it has changed. */
export function isChange(error: unknown): boolean {
  return error instanceof AppError && error.cause === changeCause;
}

/** The error for a file that is longer than listed: it has grown, or its server is wrong. */
export function longerThanListed(label: string, bytes: number): AppError {
  return new AppError(
    'unprocessable_input',
    `${label}: the server sends more than the ${bytes} bytes that it listed, so nothing was loaded; run it again if the file was replaced meanwhile`,
    { cause: changeCause },
  );
}

export function changed(label: string): AppError {
  return new AppError(
    'unprocessable_input',
    `${label}: changed while it was read, so nothing was loaded; run it again when nobody writes it`,
    { cause: changeCause },
  );
}
