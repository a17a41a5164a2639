/** Watches of a running service, as its clients use them. */
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
  };
}
