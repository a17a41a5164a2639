/**
 * Reads bytes of a remote file as they are needed, of one version alone: a piece at a time, each requested by its range (RFC 9110, 14),
 * so that no connection waits for the reader, and a broken one is resumed where it broke.
 */
import { AppError } from '../../errors.ts';
import { changed, inPieces, takeUp } from '../file-staging/arrivals.ts';
import { causeOf, refusalOf, smallBytes } from './download.ts';
import { pinnedOf } from './pinned.ts';
import type { RemoteRequests } from './remote-requests.ts';

/** tries without a byte more between them */
const tries = 5;

/** A file that was listed, or looked at. */
export interface RemoteVersion {
  readonly url: URL;
  /** name for the user, for messages */
  readonly label: string;
  /** its entity tag, otherwise its modification time, as answers show it */
  readonly version: string;
  /** size of the whole file */
  readonly bytes: number;
}

/**
 * Yields the bytes [from, to), fewer if the file ends before; the next piece is requested while the current one is processed.
 * AppErrors: `input_not_found` if the file is gone, `unprocessable_input` if it has changed, `service_unavailable` if the place cannot
 * be reached.
 */
export async function* remoteBytes(
  requests: RemoteRequests,
  file: RemoteVersion,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): AsyncIterable<Uint8Array> {
  const end = Math.min(to, file.bytes);
  if (from >= end) return;
  const small =
    from === 0 && end === file.bytes && end <= smallBytes ? await wholeSmall(requests, file) : null;
  signal.throwIfAborted();
  if (small !== null) {
    yield small;
    return;
  }
  yield* inPieces({ from, to: end }, (at, until) => pieceOf(requests, file, at, until, signal));
}

/** Returns null if the quick way failed. */
async function wholeSmall(
  { getSmall }: RemoteRequests,
  { url, label, version, bytes }: RemoteVersion,
): Promise<Uint8Array | null> {
  return getSmall(url, smallBytes, (answer) => {
    if (answer.version !== version || answer.bytes.byteLength !== bytes) throw changed(label);
    return Uint8Array.from(answer.bytes);
  });
}

async function pieceOf(
  { get }: RemoteRequests,
  { url, label, version, bytes }: RemoteVersion,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const piece = new Uint8Array(to - from);
  let received = 0;
  /** returns the fault, or null if all bytes are there */
  const attempt = async (): Promise<string | null> => {
    try {
      const answer = await get(url, { Range: `bytes=${from + received}-${to - 1}` });
      const refused = refusalOf(answer.status, label);
      const found = answer.status === 206 ? pinnedOf(answer, from + received) : null;
      if (found === null) {
        await answer.body?.cancel();
        if (refused !== null) throw refused;
        if (answer.status === 416 || answer.status === 412) throw changed(label);
        if (answer.ok) throw noRanges(label);
        return `status ${answer.status}`;
      }
      if (found.version !== version || found.bytes !== bytes) {
        await answer.body?.cancel();
        throw changed(label);
      }
      // leaving the loop ends the connection
      for await (const chunk of answer.body ?? []) {
        if (received + chunk.byteLength > piece.length) return 'it sent more than was asked for';
        piece.set(chunk, received);
        received += chunk.byteLength;
      }
      return received === piece.length ? null : `it ended after ${from + received} of ${to} bytes`;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      return causeOf(error);
    }
  };
  const fault = await takeUp(attempt, { progress: () => received, tries, signal });
  if (fault === null) return piece;
  throw new AppError('service_unavailable', `${label}: cannot be read now (${fault}); nothing was loaded`);
}

function noRanges(label: string): AppError {
  return new AppError('unprocessable_input', `${label}: the server answers no ranges any more; run it again`);
}

/**
 * Returns the listing facts of the single file at an address, without reading its bytes. Returns an empty object if they do not suffice
 * to read it by ranges. AppErrors as in `RemoteRequests`.
 */
export async function lookAt(
  { get }: RemoteRequests,
  url: URL,
): Promise<{ readonly listed?: string; readonly bytes?: number }> {
  const answer = await get(url, { Range: 'bytes=0-0' }).catch((error: unknown) => {
    if (error instanceof AppError || (error as Error).name === 'AbortError') throw error;
    // the fetch tries again, and reports the fault
    return null;
  });
  await answer?.body?.cancel();
  if (answer?.status !== 206) return {};
  const { version, bytes } = pinnedOf(answer, 0);
  return version === null || version === '' || bytes === null ? {} : { listed: version, bytes };
}
