/** Checks for health whether an object store answers: requests one listing, in bounded time, and caches the answer for further probes. */
import type { HealthComponent } from '../../ports/environment.ts';
import type { ObjectStore } from '../../ports/files.ts';

export interface ObjectStoreHealthOptions {
  readonly objects: Pick<ObjectStore, 'listObjects'>;
  /** prefix of the keys that are listed */
  readonly prefix: string;
  /** location for people, without credentials */
  readonly location: string;
  readonly timeoutMs?: number;
  /** an answer is given again for so long */
  readonly keepMs?: number;
  readonly nowMs?: () => number;
}

/**
 * Returns the probe of one store; it never rejects. Only an answer is cached, never a pending request: workerd ties those to one
 * incoming request.
 */
export function createObjectStoreHealth(options: ObjectStoreHealthOptions): () => Promise<HealthComponent> {
  const { objects, prefix, location, timeoutMs = 2000, keepMs = 5000, nowMs = Date.now } = options;
  let known: { readonly atMs: number; readonly answer: HealthComponent } | null = null;

  async function ask(): Promise<HealthComponent> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no answer')), timeoutMs);
    });
    try {
      await Promise.race([firstOf(objects.listObjects(prefix)), late]);
      return { status: 'UP', details: { location } };
    } catch {
      return { status: 'DOWN', details: { location } };
    } finally {
      clearTimeout(timer);
    }
  }

  return async () => {
    if (known === null || nowMs() - known.atMs >= keepMs) {
      const answer = await ask();
      known = { atMs: nowMs(), answer };
    }
    return known.answer;
  };
}

async function firstOf(listing: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of listing) return;
}
