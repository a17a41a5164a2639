/**
 * One writer at a time in a bucket, as a courtesy: an object that says who writes, written again while it does. What keeps the tables right
 * when two take each other for dead are the steps, which are decided once each.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../../errors.ts';
import { isGoneProcess, startOfProcess } from '../../../adapters/file-staging/lock.ts';
import { parsed } from '../json.ts';
import type { DecidingStore } from '../../../ports/files.ts';
import type { PlaceLock } from './journal.ts';
import { neverConditional } from '../../../adapters/object-store/s3.ts';

export const bucketLockName = '.svc-lock';
const refreshMs = 10_000;
/** a holder that wrote nothing for so long is dead, by the clock of whoever waits */
const staleMs = 45_000;
const pollMs = 250;

interface Holder {
  readonly token: string;
  readonly host: string;
  readonly pid: number;
  readonly started: string | null;
  /** grows while it is held */
  readonly beat: number;
}

/** AppErrors: `invalid_option` where the store makes no difference between new and present objects, `service_unavailable` after `timeoutMs`. */
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
  // Made anew, it was taken away by one who waited and knew the dead writer's; or the store takes a second object for a new one.
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
      // a lock that stays is found dead by whoever comes next
      await isOwn(objects, key, own.token)
        .then((isStill) => (isStill ? objects.removeObject(key) : undefined))
        .catch(() => undefined);
    },
  };
}

/** Tried on a key of nobody else: a store that takes a second object for a new one would take a second version of a table, too. */
async function tellsNewObjects(objects: DecidingStore, key: string): Promise<boolean> {
  const [first, second] = ['first', 'second'].map((text) => new TextEncoder().encode(text));
  try {
    await objects.createObject(key, first!);
    return !(await objects.createObject(key, second!));
  } finally {
    // an object of some bytes that stays harms nobody
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
