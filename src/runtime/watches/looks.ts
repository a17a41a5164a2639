/** Places that tenants name, looked at in processes of their own: within a time, a number of bytes, and an amount of memory. */
import {
  LookProcessEnd,
  type LookProcess,
  type LookProcesses,
} from '../../adapters/processes/look-processes.ts';
import { AppError, errorCatalogue, type ErrorCode } from '../../errors.ts';
import type { MetObject } from '../../ports/stores/watches.ts';
import type { WatchedLocation } from '../../ports/watched-locations.ts';
import { LookLimit } from '../../watches/scheduler/look-limit.ts';
import type { ChildFault } from '../child-requests.ts';
import type { LookPlace, LookRequest, LookSettings, OpenedPlace } from './look-place.ts';

/** Objects of one look, past it the look ends: each is a row of the metadata database. */
export const mostListed = 1_000_000;

/** AppErrors of the place, and `LookLimit`. The process is given back, or ended, when `signal` is aborted. */
export async function lookElsewhere(
  processes: LookProcesses,
  settings: LookSettings,
  idOrg: number,
  place: LookPlace,
  signal: AbortSignal,
): Promise<WatchedLocation> {
  signal.throwIfAborted();
  const process = await processes.take(idOrg);
  const release = (): void => process.release();
  if (signal.aborted) release();
  else signal.addEventListener('abort', release, { once: true });
  const { fileSystem } = (await ask(process, { what: 'open', place, settings })) as OpenedPlace;
  return {
    fileSystem,
    async *objects() {
      let count = 0;
      try {
        for await (const part of process.parts({ what: 'objects' } satisfies LookRequest)) {
          const objects = part as readonly MetObject[];
          count += objects.length;
          if (count > mostListed) throw new LookLimit(`it lists more than ${mostListed} files`);
          yield* objects;
        }
      } catch (error) {
        throw faultOf(error);
      }
    },
    digest: async (object) =>
      (await ask(process, { what: 'digest', object })) as Awaited<ReturnType<WatchedLocation['digest']>>,
  };
}

async function ask(process: LookProcess, request: LookRequest): Promise<unknown> {
  try {
    return await process.ask(request);
  } catch (error) {
    throw faultOf(error);
  }
}

/** Returns the error that the process reported, or the reason why it reported nothing. */
function faultOf(error: unknown): Error {
  if (error instanceof LookProcessEnd) {
    if (error.limit === null) return new AppError('service_unavailable', error.message);
    return new LookLimit(
      `the process that looked at it was ended: ${error.limit}; the watch is paused: resume it by PATCH with {"paused": false} when the place is mended`,
      true,
    );
  }
  if (error instanceof Error) return error;
  const { code, message } = error as ChildFault;
  if (code === null || !Object.hasOwn(errorCatalogue, code)) return new Error(message);
  // a limit of ours: the next look would exceed it again
  if (message.includes('svc.limits.')) return new LookLimit(message);
  return new AppError(code as ErrorCode, message);
}
