/**
 * A lock for one writer at a time in a bucket. It is an object that names the writer, and that the writer refreshes. The lock only avoids
 * wasted work. If two writers take each other for dead, the tables remain correct because each step is decided only once.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../errors.ts';
import { isGoneProcess, startOfProcess } from '../../../storage/staging/lock.ts';
import { parsed } from '../json.ts';
import type { DecidingStore } from '../../../ports/files.ts';
import type { PlaceLock } from './journal.ts';
import { neverConditional } from '../../../storage/object-store/s3.ts';

export const bucketLockName = '.svc-lock';
const refreshMs = 10_000;
/** a holder that wrote nothing for this long is dead, by the clock of the waiting process */
const staleMs = 45_000;
const pollMs = 250;

interface Holder {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  readonly started: string | null;
  /** increases while the lock is held */
  readonly beat: number;
}

/**
 * Takes the lock. AppErrors: `invalid_option` if the store does not distinguish new from existing objects, `service_unavailable` after
 * `timeoutMs`.
 */
export async function lockBucket(
  objects: DecidingStore,
  key: string,
  timeoutMs: number,
  label: string,
): Promise<PlaceLock> {
  const own = { token: randomUUID(), host: hostname(), pid: process.pid };
  const started = await startOfProcess(process.pid);
  const holder = (beat: number): Uint8Array =>
    new TextEncoder().encode(JSON.stringify({ ...own, started, beat } satisfies Holder));
  const deadline = Date.now() + timeoutMs;
  let seen = { text: '', since: Date.now() };
  while (!(await objects.createObject(key, holder(0)))) {
    const text = await textAt(objects, key);
    if (text !== seen.text) seen = { text: text ?? '', since: Date.now() };
    if (text !== null && (Date.now() - seen.since > staleMs || (await isDead(text))))
      await objects.removeObject(key);
    else if (Date.now() > deadline)
      throw new AppError('service_unavailable', `Another job has been writing into ${label} for long.`);
    else await sleep(pollMs * (0.5 + Math.random()));
  }
  // If creating the object again succeeds, a waiting process that knew the dead writer's lock has removed it, or the store accepts a second
  // object as new.
  const isMadeAnew = await objects.createObject(key, holder(-1));
  if (isMadeAnew && !(await tellsNewObjects(objects, `${key}-${own.token}`))) throw neverConditional();
  let beat = 0;
  let isEnded = false;
  let writing: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    writing = writing
      .then(async () => {
        if (isEnded || !(await isOwn(objects, key, own.token))) return;
        beat += 1;
        await objects.write(key, holder(beat));
      })
      // a waiting process then takes this one for dead; the steps show it to this process
      .catch(() => undefined);
  }, refreshMs);
  timer.unref();
  return {
    isHeld: () => isOwn(objects, key, own.token),
    release: async () => {
      clearInterval(timer);
      isEnded = true;
      await writing;
      // the next process finds a remaining lock dead
      await isOwn(objects, key, own.token)
        .then((isStill) => (isStill ? objects.removeObject(key) : undefined))
        .catch(() => undefined);
    },
  };
}

/**
 * Tests with a key that no other process uses. A store that accepts a second object as new would also accept a second version of a table.
 */
async function tellsNewObjects(objects: DecidingStore, key: string): Promise<boolean> {
  const [first, second] = ['first', 'second'].map((text) => new TextEncoder().encode(text));
  try {
    await objects.createObject(key, first!);
    return !(await objects.createObject(key, second!));
  } finally {
    // a remaining object of a few bytes is harmless
    await objects.removeObject(key).catch(() => undefined);
  }
}

async function textAt(objects: DecidingStore, key: string): Promise<string | null> {
  const body = await objects.read(key);
  return body === null ? null : new Response(body).text();
}

async function isOwn(objects: DecidingStore, key: string, token: string): Promise<boolean> {
  return parsed<Partial<Holder>>((await textAt(objects, key)) ?? '')?.token === token;
}

/** Returns whether the lock holder is a process of this machine that has ended. */
async function isDead(text: string): Promise<boolean> {
  const holder = parsed<Partial<Holder>>(text);
  return (
    holder?.host === hostname() &&
    typeof holder.pid === 'number' &&
    isGoneProcess(holder.pid, holder.started ?? null)
  );
}
