/** The lock of tables in a bucket, where others take dead writers' locks away at the same moment. */
import { expect, it } from 'vitest';
import { lockBucket } from '../../../../src/targets/files/place/bucket.ts';
import { AppError } from '../../../../src/errors.ts';
import type { DecidingStore } from '../../../../src/ports/files.ts';

/** `made`: called after each object that is taken for new. */
function memoryStore(
  made: (key: string, objects: Map<string, Uint8Array>) => void,
  tells = true,
): { readonly store: DecidingStore; readonly objects: Map<string, Uint8Array> } {
  const objects = new Map<string, Uint8Array>();
  const store: DecidingStore = {
    async createObject(key, bytes) {
      if (tells && objects.has(key)) return false;
      objects.set(key, bytes);
      made(key, objects);
      return true;
    },
    head: () => Promise.reject(new Error('not asked for')),
    async read(key) {
      const bytes = objects.get(key);
      return bytes === undefined ? null : new Blob([new Uint8Array(bytes)]).stream();
    },
    async write(key, body) {
      const bytes = new Uint8Array(await new Response(body as BodyInit).arrayBuffer());
      objects.set(key, bytes);
      return bytes.length;
    },
    removeObject: async (key) => void objects.delete(key),
    async *listObjects() {},
  };
  return { store, objects };
}

it('is held where another writer takes it away as that of a dead one', async () => {
  let taken = 0;
  const { store, objects } = memoryStore((key, all) => {
    if (key !== 'lock') return;
    taken += 1;
    if (taken === 1) all.delete(key);
  });
  const lock = await lockBucket(store, 'lock', 1000, 'the bucket');
  expect(await lock.isHeld()).toBe(true);
  expect([...objects.keys()]).toEqual(['lock']);
  await lock.release();
  expect([...objects.keys()]).toEqual([]);
});

it('is refused where the store takes every object for a new one', async () => {
  const { store } = memoryStore(() => undefined, false);
  const refused = lockBucket(store, 'lock', 1000, 'the bucket');
  await expect(refused).rejects.toThrow(/cannot create an object only if it does not exist yet/);
  await expect(refused).rejects.toBeInstanceOf(AppError);
});
