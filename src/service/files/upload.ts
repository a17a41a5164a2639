/** POST /v2/file/upload: a body becomes a file of its organisation. */
import { spendUploadToken, type UploadKind } from '../access/tokens.ts';
import { AppError } from '../../errors.ts';
import type { AccessStore } from '../../ports/stores/access.ts';
import type { FileStore } from '../../ports/files.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { DiskSpace } from './disk-space.ts';

/** The parts of an upload; `declaredBytes` is null if the client did not declare the length. */
interface Upload {
  readonly kind: UploadKind;
  readonly token: string | undefined;
  readonly name: string | undefined;
  readonly declaredBytes: number | null;
  /** requested once everything else is valid: a client may wait until then */
  body(): ReadableStream<Uint8Array> | null;
}

/**
 * Stores one uploaded file and returns its path. The token is checked first: `invalid_upload_token` before any other fault; then
 * `payload_too_large` (nothing is left on disk) and `missing_body`.
 */
export async function storeUpload(
  access: AccessStore,
  files: FileStore,
  { uploadBytes, space }: { readonly uploadBytes: number; readonly space: DiskSpace },
  upload: Upload,
): Promise<string> {
  const claim = await spendUploadToken(access, upload.token, upload.kind);
  const maxBytes = Math.min(claim.maxBytes, uploadBytes);
  if (upload.declaredBytes !== null && upload.declaredBytes > maxBytes) {
    throw new AppError('payload_too_large', `the file may have at most ${maxBytes} bytes`);
  }
  const declaredBytes = upload.declaredBytes ?? 0;
  await space.check(claim.idOrg, declaredBytes);
  const body = upload.body();
  const opened = body === null ? null : await openBody(atPace(body, fixedLimits.uploadPace));
  if (opened === null)
    throw new AppError('missing_body', 'the operation needs the bytes of the file as its body');
  const name =
    upload.name === undefined || upload.name === ''
      ? defaultFileName(upload.kind, opened.start)
      : upload.name;
  const stored = await space.within(claim.idOrg, declaredBytes, opened.body, (bytes) =>
    files.saveUpload(claim.idOrg, cleanFileName(name, upload.kind), bytes, maxBytes),
  );
  return stored.path;
}

/** Looks at the first bytes without taking them away; null for an empty body. */
async function openBody(
  body: ReadableStream<Uint8Array>,
): Promise<{ readonly start: Uint8Array; readonly body: ReadableStream<Uint8Array> } | null> {
  const reader = body.getReader();
  let start = new Uint8Array(0);
  while (start.byteLength < 262) {
    const { done, value } = await reader.read();
    if (done) break;
    const joined = new Uint8Array(start.byteLength + value.byteLength);
    joined.set(start);
    joined.set(value, start.byteLength);
    start = joined;
  }
  if (start.byteLength === 0) return null;
  let first: Uint8Array | null = start;
  return {
    start,
    body: new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (first !== null) {
            controller.enqueue(first);
            first = null;
            return;
          }
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        },
        async cancel(reason) {
          await reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    ),
  };
}

// Names of uploaded files.

const maxBytes = 200;
const readable = /\.(?:xml|xsd|gz|zip|tar|tgz)$/i;

/**
 * Returns a name that is safe in a path: the last step of the client's text, without control characters and characters that have a
 * meaning in shells, URLs or file systems. A name without a suffix that the tools know gets that of its kind.
 */
function cleanFileName(given: string, kind: UploadKind): string {
  const last = given.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  const safe = last
    .replace(/[^\p{L}\p{M}\p{N}._ @+=-]/gu, '_')
    .replace(/^[\s.~-]+/, '')
    .replace(/[\s.]+$/, '');
  const named = safe === '' ? 'upload' : safe;
  return shorten(readable.test(named) ? named : `${named}.${kind}`);
}

/** Returns the name of a body that came without one, from its first bytes. */
function defaultFileName(kind: UploadKind, start: Uint8Array): string {
  if (start[0] === 0x1f && start[1] === 0x8b) return `upload.${kind}.gz`;
  if (start[0] === 0x50 && start[1] === 0x4b) return 'upload.zip';
  const magic = new TextDecoder('latin1').decode(start.subarray(257, 262));
  return magic === 'ustar' ? 'upload.tar' : `upload.${kind}`;
}

/** Cut in front of the ending, never inside a character. */
function shorten(name: string): string {
  const encoder = new TextEncoder();
  if (encoder.encode(name).byteLength <= maxBytes) return name;
  const ending = /(?:\.(?:xml|xsd|tar))?\.[a-z]+$/i.exec(name)?.[0] ?? '';
  const characters = Array.from(name.slice(0, name.length - ending.length));
  while (encoder.encode(characters.join('') + ending).byteLength > maxBytes) characters.pop();
  return characters.join('') + ending;
}

// Rejects bodies that arrive too slowly: a sender of a byte now and then must not hold a connection, a file and memory for ever.

interface Pace {
  /** bytes that must arrive at least … */
  readonly bytes: number;
  /** … in each stretch of so many milliseconds */
  readonly everyMs: number;
}

/**
 * Passes the same bytes on. Reading fails with AppError `invalid_body` if the body is slower than its pace, which cancels it, or breaks
 * off: a sender that hangs up is no fault of the service.
 */
export function atPace(body: ReadableStream<Uint8Array>, pace: Pace): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let arrived = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (): void => clearTimeout(timer);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        let late = false;
        // Only waiting time counts: a slow reader does not make the sender slow
        timer ??= setTimeout(() => {
          late = true;
          timer = undefined;
          const fault = new AppError('invalid_body', 'the body arrives too slowly');
          controller.error(fault);
          // the reader of the body has the fault; the sender need not take it
          reader.cancel(fault).catch(() => undefined);
        }, pace.everyMs);
        try {
          const { done, value } = await reader.read();
          if (late) return;
          if (done) {
            stop();
            controller.close();
            return;
          }
          arrived += value.byteLength;
          if (arrived >= pace.bytes) {
            arrived = 0;
            stop();
            timer = undefined;
          }
          controller.enqueue(value);
        } catch {
          stop();
          if (!late) controller.error(new AppError('invalid_body', 'the body ended early'));
        }
      },
      async cancel(reason) {
        stop();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}
