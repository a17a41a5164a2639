/** How late a follower of a log is: from the moment bytes are in the file to the moment its events bring them. */
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile, type Scene } from './scene.ts';

export interface LagFigures {
  readonly followers: number;
  /** appends whose arrival was seen */
  readonly appends: number;
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  /** followers whose bytes differ from those of the file */
  readonly different: number;
  /** from the record's end to the `end` event */
  readonly endP99: number;
}

/** Jobs one after the other, each with followers that break off and resume, and loads beside them. */
export async function measureLag(scene: Scene, jobs: number, followers: number): Promise<LagFigures> {
  const lags: number[] = [];
  const ends: number[] = [];
  let different = 0;
  for (let at = 0; at < jobs; at += 1) {
    const idJob = await scene.load(`metadb:followed_${at}`);
    const file = join(scene.installation.home.directory, 'logs', `job-${idJob}.log`);
    const sizes = watchSize(file);
    const heard = await Promise.all(Array.from({ length: followers }, () => follow(scene, idJob)));
    await delay(50);
    sizes.stop();
    const [row] = await scene.sql<
      { ended: number }[]
    >`select extract(epoch from end_date)::float8 * 1000 as ended from svc.job where id_job = ${idJob}`;
    const bytes = await readFile(file);
    for (const { text, arrivals, endedAt } of heard) {
      if (!Buffer.from(text, 'utf8').equals(bytes)) different += 1;
      ends.push(endedAt - row!.ended);
      for (const { size, at: appended } of sizes.grown) {
        const arrival = arrivals.find(({ offset }) => offset >= size);
        if (arrival !== undefined) lags.push(Math.max(0, arrival.at - appended));
      }
    }
    await scene.sql`drop schema if exists ${scene.sql(`followed_${at}`)} cascade`;
  }
  return {
    followers: jobs * followers,
    appends: lags.length,
    p50: quantile(lags, 0.5),
    p99: quantile(lags, 0.99),
    worst: quantile(lags, 1),
    different,
    endP99: quantile(ends, 0.99),
  };
}

/** When the file had grown to which size. */
function watchSize(file: string): { readonly grown: { size: number; at: number }[]; stop(): void } {
  const grown: { size: number; at: number }[] = [];
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    if (size > (grown.at(-1)?.size ?? 0)) grown.push({ size, at: Date.now() });
  };
  void (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await delay(5);
    }
  })();
  return { grown, stop: () => stopping.abort() };
}

interface Heard {
  readonly text: string;
  /** `offset`: everything before it has come */
  readonly arrivals: readonly { readonly offset: number; readonly at: number }[];
  readonly endedAt: number;
}

/** Follows to the end; breaks off after a while, now and then, and resumes with `Last-Event-ID`. */
async function follow(scene: Scene, idJob: number): Promise<Heard> {
  let text = '';
  let lastId: string | null = null;
  const arrivals: { offset: number; at: number }[] = [];
  for (;;) {
    const leaving = new AbortController();
    const leaves = setTimeout(() => leaving.abort(), 500 + Math.random() * 4000);
    try {
      const response = await scene.installation.service().client.fetch(`/v2/executions/log/${idJob}`, {
        headers: { Accept: 'text/event-stream', ...(lastId === null ? {} : { 'Last-Event-ID': lastId }) },
        signal: leaving.signal,
      });
      if (response.status !== 200)
        throw new Error(`follower refused: ${response.status}`, { cause: 'refused' });
      let rest = '';
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        const at = Date.now();
        const events = (rest + chunk).split('\n\n');
        rest = events.pop()!;
        for (const event of events) {
          const lines = event.split('\n');
          const id = lines.find((line) => line.startsWith('id: '))?.slice(4) ?? null;
          if (lines.includes('event: end')) return { text, arrivals, endedAt: at };
          if (id === null) continue;
          lastId = id;
          text += lines
            .filter((line) => line.startsWith('data: '))
            .map((line) => line.slice(6))
            .join('\n');
          arrivals.push({ offset: Number(id), at });
        }
      }
    } catch (error) {
      if ((error as Error).cause === 'refused') throw error;
    } finally {
      clearTimeout(leaves);
    }
  }
}
