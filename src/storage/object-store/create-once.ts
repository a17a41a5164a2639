/** Creates an object only if it does not exist, by one writer alone. */
import { AppError } from '../../errors.ts';

const busyTries = 5;

/**
 * Returns false if another writer created the object. After a failure, or a conflict with an earlier try of ours that did arrive, the
 * content shows who created it: each writer's content is unique. AppError `service_unavailable` if that cannot be found out. `put`:
 * sends one conditional request; `busy`: another request for the same key is pending.
 */
export async function createOnce(
  bytes: Uint8Array,
  put: () => Promise<'made' | 'there' | 'busy'>,
  get: () => Promise<Response>,
): Promise<boolean> {
  for (let number = 1; ; number += 1) {
    let outcome: Awaited<ReturnType<typeof put>>;
    try {
      outcome = await put();
    } catch (error) {
      if (error instanceof AppError && error.code === 'invalid_option') throw error;
      const there = await contentOf(get).catch(() => null);
      if (there === null) throw error;
      return isSame(there, bytes);
    }
    if (outcome === 'made') return true;
    if (outcome === 'there') {
      const there = await contentOf(get);
      return there !== null && isSame(there, bytes);
    }
    if (number === busyTries)
      throw new AppError(
        'service_unavailable',
        'the object store cannot be used now (other requests make the same object)',
      );
    await new Promise((resolve) => setTimeout(resolve, 100 * 2 ** number * Math.random()));
  }
}

async function contentOf(get: () => Promise<Response>): Promise<Uint8Array | null> {
  const answer = await get();
  if (answer.status === 404) {
    await answer.body?.cancel();
    return null;
  }
  return new Uint8Array(await answer.arrayBuffer());
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.byteLength === other.byteLength && one.every((byte, at) => byte === other[at]);
}
