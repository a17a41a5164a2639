/** The scheduler of watches in this process, beside its worker: only if commands may be run. */
import { join } from 'node:path';
import { launcher } from '../../installation.ts';
import {
  createLookProcesses,
  type LookProcesses,
  LookProcessEnd,
  type LookProcess,
} from '../../process/look-processes.ts';
import { isRemoteLocation } from '../../service/files/remote-location.ts';
import type { WatchedLocations, WatchedLocation, WatchedPlace } from '../../ports/network.ts';
import { createScheduler, type Scheduler, LookLimit } from '../../service/watches/turn.ts';
import type { OpenedInstallation } from '../open-installation.ts';
import { remotePlaceOf } from './remote.ts';
import { rowPlaceOf } from './rows.ts';
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { AppError, errorCatalogue, type ErrorCode } from '../../errors.ts';
import type { FileStore, LocatedFile } from '../../ports/files.ts';
import type { ListedObject } from '../../ports/stores/watches.ts';
import { nameTest } from '../../service/watches/define.ts';
import type { ChildFault } from '../../process/child-requests.ts';
import type { LookPlace, LookRequest, LookSettings, OpenedPlace } from './look-place.ts';

/** Turns of a process at the same time: one organisation has at most four of them (`createTurnShares`). */
const concurrency = 8;

/** Returns null if commands are disabled here. */
export function createWatchScheduler(opened: OpenedInstallation): Scheduler | null {
  const { adapters, config, home, schedule } = opened;
  if (!config.commandsEnabled) return null;
  const processes = createLookProcesses({
    entry: [launcher, 'service/look'],
    workingDirectory: home.directory,
    memoryBytes: config.limits.lookMemoryBytes,
    most: concurrency,
    waitMs: config.worker.idleMs,
  });
  const scheduler = createScheduler({
    schedule,
    locations: createLocations(opened, processes),
    adapters,
    settings: config,
    logger: adapters.logger,
    lookMs: config.limits.lookMs,
    concurrency,
  });
  return {
    start: () => scheduler.start(),
    async stop() {
      await scheduler.stop();
      await processes.close();
    },
  };
}

function createLocations(
  { adapters, config, home, marks }: OpenedInstallation,
  processes: LookProcesses,
): WatchedLocations {
  const { allowedHosts, plainPasswordHosts, limits, sources = [] } = config;
  const { targetMessageBytes } = limits;
  const scratch = join(home.directory, 'tmp');
  const settings = { allowedHosts, plainPasswordHosts, targetMessageBytes, scratch };
  return {
    async open(place, signal) {
      const { idOrg, rows, location } = place;
      if (rows === null && !isRemoteLocation(location)) return openFolder(adapters.files, place, signal);
      const elsewhere =
        rows === null
          ? await remotePlaceOf(adapters, sources, place)
          : await rowPlaceOf(adapters.jobs, marks, rows, idOrg);
      return lookElsewhere(processes, settings, idOrg, elsewhere, signal);
    },
  };
}

// A folder as the location of a watch: of a disk of this machine, or of the store that the installation keeps its files in.

/** AppErrors of `FileStore.resolve`; `invalid_option` for a file. */
export async function openFolder(
  files: FileStore,
  { idOrg, location, pattern }: WatchedPlace,
  signal: AbortSignal,
): Promise<WatchedLocation> {
  const accept = nameTest(pattern);
  const place = await files.resolve(idOrg, location, false);
  // a store has folders only through their content: a folder that lost its last file is empty
  const isStored = place.startsWith('object:');
  const folder = isStored ? place : await files.resolve(idOrg, location, true);
  const facts = isStored ? null : await stat(folder, { bigint: true }).catch(told);
  return {
    fileSystem: facts === null ? null : String(facts.dev),
    async *objects() {
      let isEmpty = true;
      let count = 0;
      const onEntry = (): void => {
        count += 1;
        if (count > maxListed) throw new LookLimit(`it lists more than ${maxListed} files and folders`);
      };
      try {
        for await (const file of files.listFiles(folder, { accept, onEntry })) {
          isEmpty = false;
          if (file.location === folder)
            throw new AppError('invalid_option', 'it is a file, but a watch needs a folder');
          if (accept(file.name)) yield listedObject(file);
        }
      } catch (error) {
        told(error);
      }
      // one that went meanwhile is not an empty one
      if (isEmpty && !isStored) await files.resolve(idOrg, location, true);
    },
    digest: (object) => digestOf(object).catch(told),
  };

  async function digestOf({ name }: ListedObject): ReturnType<WatchedLocation['digest']> {
    const path = `${location.replace(/\/+$/, '')}/${name}`;
    const place = await files.resolve(idOrg, path, true).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'input_not_found') return null;
      throw error;
    });
    const before = place === null ? null : await factsOf(files, place);
    if (place === null || before === null) return null;
    const body = await files.read(place).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EACCES' || error.code === 'EPERM')
        throw new AppError('unprocessable_input', 'the service may not read it');
      throw error;
    });
    if (body === null) return null;
    const hash = createHash('sha256');
    for await (const chunk of body) {
      signal.throwIfAborted();
      hash.update(chunk);
    }
    const after = await factsOf(files, place);
    if (after === null) return null;
    const isSame = after.version === before.version;
    // the bytes belong to neither version: the file is found again as a new one
    const version = isSame ? after.version : `${after.version} ${Date.now()}`;
    return { sha256: hash.digest('hex'), object: { ...listedObject(after), name, version } };
  }
}

/** Translates a fault of the file system, which says nothing about the folder's content; it passes, or a person repairs it. */
function told(error: unknown): never {
  const { code } = error as { code?: unknown };
  if (error instanceof AppError || typeof code !== 'string' || !(error instanceof Error)) throw error;
  const why =
    code === 'EACCES' || code === 'EPERM'
      ? `the user that runs the service cannot read all of it: grant read permission (${code})`
      : `it cannot be read now (${code})`;
  throw new AppError('service_unavailable', why, { cause: error });
}

async function factsOf(files: FileStore, place: string): Promise<LocatedFile | null> {
  for await (const file of files.listFiles(place)) return file.location === place ? file : null;
  return null;
}

function listedObject({ name, version, bytes, modified }: LocatedFile): ListedObject {
  return { name, version, bytes, modified };
}

// Places that tenants name, looked at in processes of their own: within a time, a number of bytes, and an amount of memory.

/** Objects of one look, past it the look ends: each is a row of the metadata database. */
const maxListed = 1_000_000;

/** AppErrors of the place, and `LookLimit`. The process is given back, or ended, when `signal` is aborted. */
async function lookElsewhere(
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
          const objects = part as readonly ListedObject[];
          count += objects.length;
          if (count > maxListed) throw new LookLimit(`it lists more than ${maxListed} files`);
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
      `the process that checked it was ended: ${error.limit}; the watch is paused: resume it by PATCH with {"paused": false} when the location is repaired`,
      true,
    );
  }
  if (error instanceof Error) return error;
  const { code, message } = error as ChildFault;
  if (code === null || !Object.hasOwn(errorCatalogue, code)) return new Error(message);
  // a limit of this program, which the next check would exceed again
  if (message.includes('svc.limits.')) return new LookLimit(message);
  return new AppError(code as ErrorCode, message);
}
