/**
 * `--workers N`: documents are shredded in threads (src/tools/load/threads/load-thread.ts), their rows given to the sink here. No thread waits for another:
 * each unit of documents has a range of keys of its own, as wide as it has bytes, so that keys ascend in the order of the documents
 * as they do with one worker; only that they leave gaps, and that rows come in no particular order.
 */
import { packRelationalModel } from '../../../engine/model/packed/models.ts';
import type { ToolSession } from '../../session/tool-session.ts';
import { loadingJob, type DelegatedLoad } from '../row-loader.ts';
import { Gathering, type ThreadJob, Thread, Threads } from './pool.ts';
import { unitsOf, type ThreadLoad } from './unit-place.ts';

/** Least size of a unit: the cost of beginning one is small beside that. */
const minUnitBytes = 256 * 1024;
const maxUnitBytes = 32 * 2 ** 20;
/** Units for a worker: with so many, the time that the last ones take longer is small. */
const unitsPerWorker = 8;

/** `count`: of threads. */
export async function loadInThreads(
  session: ToolSession,
  load: ThreadLoad,
  count: number,
): Promise<DelegatedLoad> {
  const gathering = new Gathering(load.sink, load.logical.model.tables.length);
  const job = threadJob(session, load);
  const unitBytes = Math.min(
    maxUnitBytes,
    Math.max(minUnitBytes, load.inputs.totalBytes / (count * unitsPerWorker)),
  );
  const threads = new Threads(() => new Thread(job, gathering), count);
  let isOver = false;
  const placing = {
    keyOffsets: await load.sink.keyOffsets(),
    unitBytes,
    isOver: () => isOver || gathering.failed,
  };
  const units = unitsOf(session, load, threads, placing);
  // if a thread takes the SHA-256 of documents, one thread must be free for that
  const nextUnit = askedAhead(units, load.options.rowTag === null ? 0 : count);
  let done = 0;
  try {
    await Promise.all(
      Array.from({ length: count }, async () => {
        for (;;) {
          const next = await nextUnit();
          if (next.done === true) return;
          const { unit, diskBytes } = next.value;
          if (gathering.needsNot(unit.number)) continue;
          await threads.lend((thread) => thread.load(unit));
          done += diskBytes;
          session.progress(done / Math.max(1, load.inputs.totalBytes), {
            pass: 'loading',
            ...gathering.done,
          });
        }
      }),
    );
    await threads.end();
  } finally {
    isOver = true;
    await threads.terminate();
    // a document whose parts are being looked for is open
    await units.return(undefined);
  }
  return gathering.result(load.options.withStatistics);
}

/** Asks for the next units while those before are loaded: so many ahead. */
function askedAhead<Unit>(units: AsyncGenerator<Unit>, count: number): () => Promise<IteratorResult<Unit>> {
  const asked: Promise<IteratorResult<Unit>>[] = [];
  const ask = (): void => {
    const next = units.next();
    // the consumer of the promise gets the fault; nobody consumes the units after a failed one
    next.catch(() => undefined);
    asked.push(next);
  };
  for (let at = 0; at < count; at += 1) ask();
  return () => {
    ask();
    return asked.shift()!;
  };
}

function threadJob(session: ToolSession, { logical, sink, options, known }: ThreadLoad): ThreadJob {
  const { model, ...stored } = logical;
  return {
    ...loadingJob(session, sink, options),
    packed: packRelationalModel(model),
    stored,
    hashed: known.hashes !== null || options.rowTag !== null,
  };
}
