/** POST /v2/file/upload: a body becomes a file of its organisation. */
import { spendUploadToken } from '../access/upload-token.ts';
import type { UploadKind } from '../access/upload-token.ts';
import { AppError } from '../errors.ts';
import type { AccessStore } from '../ports/stores/access.ts';
import type { FileStore } from '../ports/files/organisation-files.ts';
import { fixedLimits } from '../config/limits.ts';
import type { DiskSpace } from './disk-space.ts';
import { atPace } from './arriving-body.ts';
import { cleanFileName, defaultFileName } from './upload-name.ts';

/** The parts of an upload; `declaredBytes` is null if the client did not declare the length. */
export interface Upload {
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
