/**
 * Job logs as objects, which cannot be appended to: a log is a row of chunks of one size, the last of which is written again as it
 * grows. Each attempt has chunks of its own, so that a worker which has lost its job cannot write over those of the next.
 */
import type { LogAppender, LogStore, ObjectStore } from '../../ports/files.ts';

/** A log of a gigabyte is a thousand objects; a line a second writes little again. */
const chunkBytes = 1024 * 1024;
const flushMs = 400;

export function createObjectLogStore(objects: ObjectStore, prefix: string): LogStore {
  return {
    openLog: (idJob, epoch) => openObjectLog(objects, prefix, idJob, epoch),
    async removeLog(idJob) {
      for await (const { key } of objects.listObjects(logPrefix(prefix, idJob)))
        await objects.removeObject(key);
    },
    logSize: (idJob) => objectLogSize(objects, prefix, idJob),
    logBytes: (idJobs) => objectLogBytes(objects, prefix, new Set(idJobs)),
    readLog: (idJob, offset, length) => readObjectLog(objects, prefix, idJob, offset, length),
  };
}

function logPrefix(prefix: string, idJob: number): string {
  return `${logsPrefix(prefix)}${idJob}/`;
}

function logsPrefix(prefix: string): string {
  return `${prefix}logs/job-`;
}

async function openObjectLog(
  objects: ObjectStore,
  prefix: string,
  idJob: number,
  epoch: number,
): Promise<LogAppender> {
  const own = `${logPrefix(prefix, idJob)}${String(epoch).padStart(10, '0')}-`;
  let index = 0;
  let chunk = new Uint8Array(chunkBytes);
  let filled = 0;
  let stored = 0;
  // the same attempt may have written before: its target was queried, or its process was restarted
  for await (const { key, bytes } of objects.listObjects(own)) {
    index = Number(key.slice(own.length));
    filled = bytes;
  }
  if (filled > 0 && filled < chunkBytes) {
    const earlier = await objects.read(keyOf());
    chunk.set(new Uint8Array(await new Response(earlier).arrayBuffer()));
    stored = filled;
  } else if (filled === chunkBytes) next();

  let writing: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | null = null;

  function keyOf(): string {
    return `${own}${String(index).padStart(8, '0')}`;
  }
  function next(): void {
    index += 1;
    chunk = new Uint8Array(chunkBytes);
    filled = 0;
    stored = 0;
  }
  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const [key, bytes] = [keyOf(), filled];
    if (bytes === stored) return writing;
    stored = bytes;
    const content = chunk.slice(0, bytes);
    writing = writing.then(async () => void (await objects.write(key, content)));
    // the caller that awaits it gets the error; the chain itself must not become an unhandled rejection
    writing.catch(() => undefined);
    return writing;
  }

  return {
    async append(bytes) {
      for (let at = 0; at < bytes.byteLength;) {
        const taken = Math.min(chunkBytes - filled, bytes.byteLength - at);
        chunk.set(bytes.subarray(at, at + taken), filled);
        filled += taken;
        at += taken;
        if (filled < chunkBytes) continue;
        await flush();
        next();
      }
      // the next `append` or `close` hears of it, as `writing` keeps the failure
      timer ??= setTimeout(() => void flush().catch(() => undefined), flushMs);
      // a failure of a background write
      await Promise.race([writing, Promise.resolve()]);
    },
    async close() {
      await flush();
    },
  };
}

/** Size of a log over all its attempts; null when there is none. */
async function objectLogSize(objects: ObjectStore, prefix: string, idJob: number): Promise<number | null> {
  let size: number | null = null;
  for await (const { bytes } of objects.listObjects(logPrefix(prefix, idJob))) size = (size ?? 0) + bytes;
  return size;
}

/** Size of the logs of these jobs together. One list has the logs of all jobs: a list for each job would take as many requests. */
async function objectLogBytes(
  objects: ObjectStore,
  prefix: string,
  idJobs: ReadonlySet<number>,
): Promise<number> {
  const all = logsPrefix(prefix);
  let sum = 0;
  for await (const { key, bytes } of objects.listObjects(all))
    if (idJobs.has(Number(key.slice(all.length, key.indexOf('/', all.length))))) sum += bytes;
  return sum;
}

/** Bytes [offset, offset + length), fewer at the end. */
async function readObjectLog(
  objects: ObjectStore,
  prefix: string,
  idJob: number,
  offset: number,
  length: number,
): Promise<Uint8Array> {
  const read = new Uint8Array(length);
  let filled = 0;
  let start = 0;
  for await (const { key, bytes } of objects.listObjects(logPrefix(prefix, idJob))) {
    const from = Math.max(0, offset + filled - start);
    if (from < bytes && filled < length) {
      const body = await objects.read(key, { offset: from, length: Math.min(bytes - from, length - filled) });
      const part = new Uint8Array(await new Response(body).arrayBuffer());
      read.set(part, filled);
      filled += part.byteLength;
    }
    start += bytes;
    if (filled === length) break;
  }
  return read.subarray(0, filled);
}
