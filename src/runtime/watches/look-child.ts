/** The process that looks at places of watches: reads requests from its input, a line each, and prints their answers. */
import { createOutgoingGuard } from '../../service/access/outgoing-guard.ts';
import { createPinnedHttp, createHostResolver } from '../../network/checked-http.ts';
import type { ListedObject } from '../../ports/stores/watches.ts';
import type { WatchedLocation } from '../../ports/network.ts';
import type { LookPlace, LookRequest, LookSettings } from './look-place.ts';
import { serveRequests } from '../../process/child-requests.ts';
import { openRemote } from './remote.ts';
import { openRowsOfServer } from './rows.ts';

/** objects of one part of a list */
const partSize = 500;

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

async function answer(request: LookRequest, printPart: (part: unknown) => Promise<void>): Promise<unknown> {
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
  const { location } = current!;
  if (request.what === 'digest') return location.digest(request.object);
  let part: ListedObject[] = [];
  for await (const object of location.objects()) {
    part.push(object);
    if (part.length < partSize) continue;
    await printPart(part);
    part = [];
  }
  if (part.length > 0) await printPart(part);
  return null;
}

void serveRequests(answer);
