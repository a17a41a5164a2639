/**
 * Downloads one file to this machine, or reads parts of it. A broken connection is resumed at the byte where it broke (RFC 9110, 14: range
 * requests), as long as the entity tag, or the modification time, and the length are those of the first answer.
 */
import { createWriteStream, writeFileSync } from 'node:fs';
import { stat, open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { AppError } from '../../errors.ts';
import { changed, longerThanListed, takeUp, inPieces } from '../../storage/staging/staged-files.ts';
import { fileFault } from '../../storage/staging/durable-file.ts';
import type { RemoteRequests, SendGet } from './requests.ts';

// The version of a file by a server's answers, which shows that the file was replaced.

/** Facts about a file, known since its first answer. */
interface Pinned {
  /** its entity tag, otherwise its modification time; null: the server sends nothing that would show a change */
  readonly version: string | null;
  /** size of the whole file; null: unknown */
  readonly bytes: number | null;
}

/** `from`: the first byte that was asked for. */
function pinnedOf(answer: Response, from: number): Pinned {
  const { headers } = answer;
  const version = headers.get('etag') ?? headers.get('last-modified');
  if (answer.status !== 206) {
    const length = headers.get('content-length');
    return { version, bytes: length === null ? null : Number(length) };
  }
  const [, first, total] = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(headers.get('content-range') ?? '') ?? [];
  // a range other than the requested one cannot be used
  if (Number(first) !== from) return { version: '', bytes: -1 };
  return { version, bytes: total === '*' ? null : Number(total) };
}

function isOther(pinned: Pinned, found: Pinned): boolean {
  if (pinned.version !== found.version) return true;
  return pinned.bytes !== null && found.bytes !== null && pinned.bytes !== found.bytes;
}

// Downloads a whole file.

/** tries without a byte more between them */
const tries = 5;
/** the highest expansion ratio of DEFLATE */
const unpackedTimes = 1032;
/** up to here a file is asked for and written at once */
export const smallBytes = 64 * 1024;

export interface DownloadOptions {
  /** name for the user, for messages */
  readonly label: string;
  readonly signal: AbortSignal;
  /** called with the number of bytes as they arrive */
  readonly onBytes?: (count: number) => void;
  /** the version that is wanted, in the form of the place; absent: the current one */
  readonly version?: string;
  /** size in the listing; absent: unknown */
  readonly bytes?: number;
  /** takes a small file in place of its path; false: it does not. The bytes are valid until it returns. */
  readonly take?: (bytes: Uint8Array) => boolean;
}

/**
 * Downloads a file and returns its size; its folder must exist. AppError `input_not_found` if there is none, `unprocessable_input` if
 * it changes meanwhile or its length differs from the declared one, `service_unavailable` if the place cannot be reached.
 */
export async function downloadFile(
  requests: RemoteRequests,
  url: URL,
  path: string,
  options: DownloadOptions,
): Promise<number> {
  const { label, signal, onBytes, version, bytes = Infinity } = options;
  const small = bytes <= smallBytes ? await downloadSmall(requests, url, path, options) : null;
  if (small !== null) return small;
  const isLarge = bytes >= partedBytes && bytes < Infinity;
  const parted = isLarge ? await downloadParts(requests.get, url, path, { ...options, bytes }) : null;
  if (parted !== null) return parted;
  let pinned: Pinned | null = null;
  let received = 0;
  /** returns the fault, or null if the file is complete */
  const attempt = async (): Promise<string | null> => {
    try {
      const answer = await requests.get(url, received === 0 ? {} : { Range: `bytes=${received}-` });
      const refused = refusalOf(answer.status, label);
      if (refused !== null) {
        await dropBody(answer);
        throw refused;
      }
      if (answer.ok) {
        const found = pinnedOf(answer, received);
        // a server that ignores the range sends the whole file again
        const isWhole = answer.status !== 206;
        if (isWhole) received = 0;
        const most = mostOf(answer, bytes);
        const first = pinned === null || (received === 0 && pinned.version === null) ? found : pinned;
        const refusal = refusalOfVersion(first, found, { label, version, bytes, most });
        if (refusal !== null) {
          await dropBody(answer);
          throw refusal;
        }
        pinned = first;
        received = await append(answer, path, received, {
          onBytes,
          most,
          tooLong: () => longerThanListed(label, bytes),
        });
        // a response without a length has the listed one, or more if a store unpacks it
        const least = pinned.bytes ?? (bytes < Infinity ? bytes : received);
        if (received === least || (pinned.bytes === null && received > least)) return null;
        if (received > least) throw changed(label);
        const fault = `it ended after ${received} of ${least} bytes`;
        // nothing shows that further bytes would belong to the same file
        if (pinned.version === null) received = 0;
        return fault;
      }
      await answer.body?.cancel();
      if (answer.status === 416 || answer.status === 412) throw changed(label);
      return `status ${answer.status}`;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof AppError) throw error;
      const told = fileFault(error, path);
      if (told instanceof AppError) throw told;
      // bytes count once they are in the file, not once they arrive
      received = pinned === null || pinned.version === null ? 0 : await bytesOf(path);
      return causeOf(error);
    }
  };
  const fault = await takeUp(attempt, { progress: () => received, tries, signal });
  if (fault === null) return received;
  throw new AppError('service_unavailable', `${label}: cannot be read now (${fault}); nothing was loaded`);
}

/** Returns null if the quick way failed; nothing is written then. */
async function downloadSmall(
  { getSmall }: RemoteRequests,
  url: URL,
  path: string,
  { label, signal, onBytes, version, take, bytes = Infinity }: DownloadOptions,
): Promise<number | null> {
  const received = await getSmall(url, smallBytes, (answer) => {
    signal.throwIfAborted();
    if (version !== undefined && answer.version !== version) throw changed(label);
    // the regular request finds out the reason
    if (answer.bytes.byteLength > bytes) return null;
    if (take?.(answer.bytes) !== true) writeWhole(path, answer.bytes);
    onBytes?.(answer.bytes.byteLength);
    return answer.bytes.byteLength;
  });
  signal.throwIfAborted();
  return received;
}

/**
 * Writes a small file synchronously: with thousands of them, most of the time went into handing each step to another thread. AppError
 * if the disk is full.
 */
function writeWhole(path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes, { mode: 0o600 });
  } catch (error) {
    throw fileFault(error, path);
  }
}

/** Appends an answer to the file, whose folder must exist, and returns the file's size. */
async function append(
  answer: Response,
  path: string,
  from: number,
  {
    onBytes,
    most,
    tooLong,
  }: Pick<DownloadOptions, 'onBytes'> & { readonly most: number; readonly tooLong: () => AppError },
): Promise<number> {
  const length = Number(answer.headers.get('content-length') ?? Infinity);
  if (from === 0 && length <= smallBytes) {
    const bytes = new Uint8Array(await answer.arrayBuffer());
    writeWhole(path, bytes);
    onBytes?.(bytes.byteLength);
    return bytes.byteLength;
  }
  const body =
    answer.body === null
      ? Readable.from([])
      : Readable.fromWeb(answer.body as unknown as NodeReadableStream<Uint8Array>);
  let received = from;
  await pipeline(
    body,
    async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        received += chunk.byteLength;
        // leaving the loop ends the connection
        if (received > most) throw tooLong();
        onBytes?.(chunk.byteLength);
        yield chunk;
      }
    },
    createWriteStream(path, from === 0 ? { mode: 0o600 } : { flags: 'r+', start: from }),
  );
  return received;
}

/** Ends an answer whose body nobody reads: otherwise its connection stays open and keeps the process running. */
async function dropBody(answer: Response): Promise<void> {
  // the refusal is reported, whatever becomes of the connection
  await answer.body?.cancel().catch(() => undefined);
}

/** Returns the error for an answer that is not of the version that is downloaded, or null. `first` describes the first answer. */
function refusalOfVersion(
  first: Pinned,
  found: Pinned,
  {
    label,
    version,
    bytes,
    most,
  }: Pick<DownloadOptions, 'label' | 'version'> & { readonly bytes: number; readonly most: number },
): AppError | null {
  if ((version !== undefined && found.version !== version) || isOther(first, found)) return changed(label);
  return (found.bytes ?? 0) > most ? longerThanListed(label, bytes) : null;
}

/** Returns the highest number of bytes for a file with the listed size; Google's store unpacks files that are stored packed. */
function mostOf({ headers }: Response, bytes: number): number {
  const stored = headers.get('x-goog-stored-content-encoding') ?? 'identity';
  return stored === 'identity' ? bytes : bytes * unpackedTimes;
}

async function bytesOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Returns null for a status that may succeed another time, or has succeeded. */
function refusalOf(status: number, label: string): AppError | null {
  if (status === 404 || status === 410)
    return new AppError('input_not_found', `${label}: there is no such file (status ${status})`);
  if (status === 401 || status === 403)
    return new AppError(
      'unprocessable_input',
      `${label}: may not be read (status ${status}); a source of the operator gives credentials (svc.sources.NAME.*)`,
    );
  if (status < 400 ? status >= 300 : status < 500 && ![408, 412, 416, 425, 429].includes(status))
    return new AppError('unprocessable_input', `${label}: answered with status ${status}`);
  return null;
}

/** Returns the cause of a network fault as a short code. */
export function causeOf(error: unknown): string {
  const { code, cause } = error as { code?: unknown; cause?: { code?: unknown } };
  for (const known of [cause?.code, code]) if (typeof known === 'string') return known;
  return error instanceof Error ? error.message : String(error);
}

// Downloads several ranges of a large file at a time, because one connection seldom uses the whole bandwidth.

const partBytes = 16 * 1024 * 1024;
/** Size from which downloading a file in parts is worthwhile. */
const partedBytes = 4 * partBytes;
/** ranges at the same time */
const atOnce = 4;
/** tries without a byte more between them */
const triesOfPart = 3;

interface PartedDownload {
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
    await takeUp(attempt, { progress: () => at, tries: triesOfPart, signal });
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

// Reads bytes of one version of a remote file when they are needed. Each piece is requested by its range (RFC 9110, 14), so that no
// connection waits for the reader, and a broken one is resumed.

/** A file that was listed, or looked at. */
interface RemoteVersion {
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
        if (received + chunk.byteLength > piece.length) return 'it sent more bytes than were requested';
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
  return new AppError(
    'unprocessable_input',
    `${label}: the server no longer answers range requests; run the job again`,
  );
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
