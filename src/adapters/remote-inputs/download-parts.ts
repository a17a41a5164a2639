/** A large file from elsewhere, several ranges of it at a time: one connection seldom has all that the way there carries. */
import { open } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import { changed, takeUp } from '../file-staging/arrivals.ts';
import { fileFault } from '../file-staging/faults.ts';
import { pinnedOf } from './pinned.ts';
import type { SendGet } from './remote-requests.ts';

const partBytes = 16 * 1024 * 1024;
/** Size from which downloading a file in parts is worthwhile. */
export const partedBytes = 4 * partBytes;
/** ranges at the same time */
const atOnce = 4;
/** tries without a byte more between them */
const tries = 3;

export interface PartedDownload {
  /** name for the user, for messages */
  readonly label: string;
  readonly signal: AbortSignal;
  readonly onBytes?: (count: number) => void;
  /** the version that is wanted; absent: the one that is there */
  readonly version?: string;
  /** size of the file, as it was listed */
  readonly bytes: number;
}

/**
 * Downloads a file in parts and returns its size; its folder must exist. Returns null if this is impossible, because the server does
 * not support ranges, or the length has changed: a request for the whole file then reports the fault. AppError `unprocessable_input` if
 * it changes meanwhile; those of a full disk.
 */
export async function downloadParts(
  get: SendGet,
  url: URL,
  path: string,
  { label, signal, onBytes, version, bytes }: PartedDownload,
  size = partBytes,
): Promise<number | null> {
  let pinned = version ?? null;
  let isOver = false;
  const starts = Array.from({ length: Math.ceil(bytes / size) }, (_, at) => at * size).values();
  const file = await open(path, 'w', 0o600).catch((error: unknown) => {
    throw fileFault(error, path);
  });

  /** Returns the end of the range in the answer, or null if the answer does not have that range. */
  const take = async (answer: Response, from: number, to: number): Promise<number | null> => {
    const found = answer.status === 206 ? pinnedOf(answer, from) : null;
    if (found === null || found.bytes !== bytes || (found.version ?? '') === '') {
      await answer.body?.cancel();
      return null;
    }
    pinned ??= found.version;
    if (pinned !== found.version) {
      await answer.body?.cancel();
      throw changed(label);
    }
    let at = from;
    try {
      // leaving the loop ends the connection
      for await (const chunk of answer.body ?? []) {
        if (isOver || at + chunk.byteLength > to) return null;
        await file.write(chunk, 0, chunk.byteLength, at).catch((error: unknown) => {
          throw fileFault(error, path);
        });
        at += chunk.byteLength;
        onBytes?.(chunk.byteLength);
      }
    } catch (error) {
      signal.throwIfAborted();
      // a broken connection: the received bytes are there
      if (error instanceof AppError || at === from) throw error;
    }
    return at;
  };

  const bringPart = async (from: number): Promise<boolean> => {
    const to = Math.min(bytes, from + size);
    let at = from;
    const attempt = async (): Promise<'broke' | null> => {
      if (isOver) return null;
      try {
        const next = await take(await get(url, { Range: `bytes=${at}-${to - 1}` }), at, to);
        if (next === null) return null;
        at = next;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError) throw error;
      }
      return at < to ? 'broke' : null;
    };
    await takeUp(attempt, { progress: () => at, tries, signal });
    return at === to;
  };

  const worker = async (): Promise<void> => {
    for (const from of starts) {
      if (isOver) return;
      try {
        if (await bringPart(from)) continue;
        isOver = true;
      } catch (error) {
        isOver = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  await file.close();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return isOver ? null : bytes;
}
