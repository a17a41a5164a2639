/** Objects as stores answer them over HTTP. */
import { AppError } from '../../errors.ts';
import type { ByteRange, StoredObject } from '../../ports/files.ts';

/** Returns the facts in the response to HEAD, or null if there is no object. */
export function factsOf(key: string, { status, headers }: Response): StoredObject | null {
  if (status === 404) return null;
  return {
    key,
    bytes: Number(headers.get('content-length')),
    modified: Date.parse(headers.get('last-modified') ?? ''),
    version: headers.get('etag') ?? '',
  };
}

/** Like `ObjectStore.read`. `get` sends a request with these headers. */
export async function readObject(
  get: (headers: Readonly<Record<string, string>>) => Promise<Response>,
  range?: ByteRange,
): Promise<ReadableStream<Uint8Array> | null> {
  if (range !== undefined && range.length === 0) return new Blob([]).stream();
  const answer = await get(
    range === undefined ? {} : { Range: `bytes=${range.offset}-${range.offset + range.length - 1}` },
  );
  return answer.status === 404 ? null : wholeBody(answer);
}

/**
 * Returns the body, which fails if it ends before its length. The body is referenced at once: Node cancels the body of an unreferenced
 * response during garbage collection, and then it would merely be empty.
 */
function wholeBody(answer: Response): ReadableStream<Uint8Array> {
  const { body } = answer;
  if (body === null) return new Blob([]).stream();
  const length = answer.headers.get('content-length');
  const encoded = answer.headers.has('content-encoding');
  const reader = body.getReader();
  let received = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (!done) {
          received += value.byteLength;
          controller.enqueue(value);
        } else if (length !== null && !encoded && received !== Number(length)) {
          throw new AppError(
            'service_unavailable',
            `the object store ended an object of ${length} bytes after ${received}`,
          );
        } else controller.close();
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}
