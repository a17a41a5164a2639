/** Watches of a running service, as its clients use them. */
import type { Sql } from '../../../src/postgres/connect.ts';
import type { WatchFileRecord, WatchRecord } from '../../../src/ports/stores/watches.ts';
import type { ServiceClient } from './client.ts';
import { eventually } from './waiting.ts';

export interface WatchClient {
  create(members: Readonly<Record<string, unknown>>): Promise<WatchRecord>;
  get(idWatch: number): Promise<WatchRecord>;
  change(idWatch: number, members: Readonly<Record<string, unknown>>): Promise<WatchRecord>;
  /** All files, the last met first. */
  files(idWatch: number): Promise<WatchFileRecord[]>;
  /** Waits until every file has come to rest and there are so many of them. */
  settled(idWatch: number, count: number): Promise<WatchFileRecord[]>;
  /** Asks for looks until the watch is stalled. The service itself pauses for 15 s in all between the looks that it takes. */
  stalled(idWatch: number): Promise<WatchRecord & { readonly stalled: string }>;
}

export function watchClient(client: ServiceClient): WatchClient {
  const send = async (method: string, path: string, body: unknown): Promise<WatchRecord> => {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await client.fetch(path, { method, headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as WatchRecord;
  };
  const files = async (idWatch: number): Promise<WatchFileRecord[]> => {
    const all: WatchFileRecord[] = [];
    for (let page = 0; ; page += 1) {
      const { content } = await client.get<{ content: WatchFileRecord[] }>(
        `/v2/watches/${idWatch}/files?size=500&page=${page}`,
      );
      all.push(...content);
      if (content.length < 500) return all;
    }
  };
  return {
    create: (members) => send('POST', '/v2/watches', members),
    get: (idWatch) => client.get(`/v2/watches/${idWatch}`),
    change: (idWatch, members) => send('PATCH', `/v2/watches/${idWatch}`, members),
    files,
    settled: (idWatch, count) =>
      eventually(
        `${count} files of watch ${idWatch}`,
        async () => {
          const found = await files(idWatch);
          const isOver = found.every(({ status }) => status !== 'waiting' && status !== 'loading');
          return isOver && found.length >= count ? found : null;
        },
        50,
        500,
      ),
    stalled: (idWatch) => {
      let lastLook: number | null | undefined;
      return eventually(
        `a stall of watch ${idWatch}`,
        async () => {
          const watch = await client.get<WatchRecord>(`/v2/watches/${idWatch}`);
          const { stalled, last_run: last } = watch;
          if (stalled !== null) return { ...watch, stalled };
          // a request while the watch is looked at delays the next look
          if (last !== lastLook) await client.post(`/v2/watches/${idWatch}/run`, {});
          lastLook = last;
          return null;
        },
        50,
        500,
      );
    },
  };
}

/** Watches over rows of a database whose XML is orders, each into a target called like the watched table. */
export interface WatchedOrders {
  /** `more`: other fields of the watch, in the place of these. */
  watch(name: string, more?: Readonly<Record<string, unknown>>): ReturnType<WatchClient['create']>;
  /** Numbers of the orders in a target, once there are so many of them. */
  loaded(name: string, count: number): Promise<number[]>;
  /** Nothing waits or is loading, and no job runs. */
  atRest(id: number): Promise<unknown>;
}

/** `given`: what is there once a test begins. `after`: the column that watches go by. */
export function watchedOrders(
  after: string,
  given: () => { readonly watches: WatchClient; readonly location: string; readonly metadb: Sql },
): WatchedOrders {
  return {
    watch(name, more = {}) {
      const { watches, location } = given();
      return watches.create({
        name,
        location,
        target: `metadb:${name}`,
        every: '1s',
        settle: '0s',
        options: { '--query': `SELECT * FROM ${name}`, '--xml-column': 'payload', '--after': after },
        ...more,
      });
    },
    loaded: (name, count) =>
      eventually(
        `${count} orders in ${name}`,
        async () => {
          const { metadb } = given();
          const found = await metadb`select number::int as n from ${metadb(name)}."order" order by 1`.catch(
            () => [],
          );
          return found.length >= count ? found.map(({ n }) => n as number) : null;
        },
        50,
        500,
      ),
    atRest: (id) =>
      eventually(`rest of watch ${id}`, async () => {
        const { files, id_job: job } = await given().watches.get(id);
        return files.waiting + files.loading === 0 && job === null ? true : null;
      }),
  };
}
