/** The process that looks at places of watches and fetches sources of schemas: reads requests from its input, a line each, and prints their answers. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createOutgoingGuard } from '../../access/outgoing-guard.ts';
import { createPinnedHttp } from '../../adapters/outgoing/checked-http.ts';
import { createHostResolver } from '../../adapters/outgoing/host-resolver.ts';
import { AppError } from '../../errors.ts';
import type { MetObject } from '../../ports/stores/watches.ts';
import type { WatchedLocation } from '../../ports/watched-locations.ts';
import type { LookFault, LookPlace, LookRequest, LookSettings } from './look-place.ts';
import { openRemote } from './remote.ts';
import { openRowsOfServer } from './rows.ts';

/** objects of one part of a list */
const partSize = 500;

try {
  // where memory is short, the system ends this process before the service
  writeFileSync('/proc/self/oom_score_adj', '1000');
} catch {
  // there is no such setting here
}

const http = createPinnedHttp();
let current: { readonly location: WatchedLocation; readonly over: AbortController } | null = null;

function open(place: LookPlace, settings: LookSettings, signal: AbortSignal): WatchedLocation {
  const resolver = createHostResolver();
  const guards = {
    request: createOutgoingGuard(settings.allowedHosts, resolver),
    operator: createOutgoingGuard(['*'], resolver),
  };
  if (place.kind === 'files') return openRemote({ guards, http, scratch: settings.scratch }, place, signal);
  const { plainPasswordHosts, targetMessageBytes } = settings;
  const config = { plainPasswordHosts, limits: { targetMessageBytes } };
  return openRowsOfServer({ guard: guards.request, config }, place, signal);
}

async function print(answer: object): Promise<void> {
  if (!process.stdout.write(`${JSON.stringify(answer)}\n`)) await once(process.stdout, 'drain');
}

async function answer(id: number, request: LookRequest): Promise<unknown> {
  if (request.what === 'close') {
    current?.over.abort();
    current = null;
    return null;
  }
  if (request.what === 'open') {
    const over = new AbortController();
    const location = open(request.place, request.settings, over.signal);
    current = { location, over };
    return { fileSystem: location.fileSystem };
  }
  if (request.what === 'fetch') {
    const { fetchSources } = await import('../remote/source-fetch.ts');
    return fetchSources(request.fetch);
  }
  const { location } = current!;
  if (request.what === 'digest') return location.digest(request.object);
  let part: MetObject[] = [];
  for await (const object of location.objects()) {
    part.push(object);
    if (part.length < partSize) continue;
    await print({ id, part });
    part = [];
  }
  if (part.length > 0) await print({ id, part });
  return null;
}

function faultOf(error: unknown): LookFault {
  if (error instanceof AppError && error.code !== 'internal_error')
    return { code: error.code, message: error.message };
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  return {
    code: null,
    isTimeout,
    message: error instanceof Error ? (error.stack ?? error.message) : String(error),
  };
}

void serve();

async function serve(): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, request } = JSON.parse(line) as { readonly id: number; readonly request: LookRequest };
    void answer(id, request)
      .then(
        (value) => print({ id, value }),
        (error: unknown) => print({ id, error: faultOf(error) }),
      )
      // whoever asked is gone
      .catch(() => process.exit(1));
  }
  // idle connections would keep the process alive
  process.exit(0);
}
