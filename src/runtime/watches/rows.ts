/**
 * Rows of a database server as the location of a watch. It has at most one object: the rows that no job has loaded, identified by the
 * first of them. A job takes all rows that exist when it reads, so that the next look finds those that came later.
 */
import { createHash } from 'node:crypto';
import type { OutgoingGuard } from '../../service/access/outgoing-guard.ts';
import type { Adapters } from '../../ports/adapters.ts';
import type { QueryRows } from '../../ports/row-source.ts';
import type { QueryMark, QueryMarkStore, ListedObject } from '../../ports/stores/watches.ts';
import type { WatchedLocation } from '../../ports/network.ts';
import type { ToolRequest } from '../../service/jobs/request/tool-request.ts';
import { chooseColumns } from '../../tools/session/row-marks.ts';
import { nameOf, valueOf, withoutValue } from '../../tools/session/spooled-rows.ts';
import { rowServerOf } from '../../service/watches/define.ts';
import {
  lastLoaded,
  markSourceOf,
  rowDigest,
  openServerRows,
  type ServerRowsOptions,
} from '../../inputs/server-rows.ts';
import type { RowPlace } from './look-place.ts';

export interface RowLocationOptions {
  readonly guard: OutgoingGuard;
  readonly config: ServerRowsOptions['config'];
}

/** The place of a watch over rows, with how far its jobs have come. */
export async function rowPlaceOf(
  jobs: Pick<Adapters['jobs'], 'findJob'>,
  marks: QueryMarkStore,
  request: ToolRequest,
  idOrg: number,
): Promise<RowPlace> {
  const source = markSourceOf(request, rowServerOf(request.from!)!.address);
  const last = await lastLoaded(
    await marks.list(idOrg, source),
    async ({ idJob }) => (await jobs.findJob(idOrg, idJob))?.status === 'completed',
  );
  return { kind: 'rows', request, source, last };
}

export function openRowsOfServer(
  { guard, config }: RowLocationOptions,
  { request, source, last }: Omit<RowPlace, 'kind'>,
  signal: AbortSignal,
): WatchedLocation {
  const server = rowServerOf(request.from!)!;
  return {
    fileSystem: null,
    async *objects() {
      const { addresses } = await guard.check(server.host, server.port);
      const rows = await openServerRows(server, request.query ?? '', { config, addresses });
      // nothing is read any more: faults at its end do not matter
      const close = (): void => void rows.close().catch(() => undefined);
      signal.addEventListener('abort', close, { once: true });
      try {
        const first = await firstNew(rows, request, source, last);
        if (first !== null) yield first;
      } finally {
        signal.removeEventListener('abort', close);
        close();
      }
    },
    // its version identifies its first row
    digest: async (object) => ({
      sha256: createHash('sha256').update(`${object.name}\n${object.version}`).digest('hex'),
      object,
    }),
  };
}

/** Returns null if all rows that have a document are loaded. `source`: for another query or target, all rows are new. */
async function firstNew(
  rows: QueryRows,
  request: ToolRequest,
  source: string,
  last: QueryMark | null,
): Promise<ListedObject | null> {
  const columns = await rows.columns();
  const { document, carried, after } = chooseColumns(columns, request);
  const ordering = columns[after!]!;
  const seen = new Map<string, number>();
  for (const digest of last?.seen ?? []) seen.set(digest, (seen.get(digest) ?? 0) + 1);
  for await (const row of rows.rows({ column: ordering.name, from: last?.mark ?? null })) {
    const values = carried.map((at) => [columns[at]!.name, valueOf(columns[at]!.type, row[at]!)] as const);
    const name = nameOf(values, 0);
    const value = row[after!]!;
    if (typeof value !== 'string') throw withoutValue(ordering.name, name);
    const digest = rowDigest(name, row[document]!);
    const times = value === last?.mark ? (seen.get(digest) ?? 0) : 0;
    if (times > 0) seen.set(digest, times - 1);
    else if (row[document] !== null)
      return {
        name: nameOf([[ordering.name, valueOf(ordering.type, value)]], 0).replace(/\.xml$/, ''),
        version: `${digest} ${source.slice(0, 12)}`,
        bytes: 0,
        modified: null,
      };
  }
  return null;
}
