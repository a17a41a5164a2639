/** Resolves the inputs of a run. A person may name any path; a worker reads only the folders that its organisation may use. */
import { parseRemoteLocation, isRemoteLocation } from '../../service/files/remote-location.ts';
import type { WatchedFiles } from '../../service/jobs/request/shape.ts';
import { fetchLocation } from '../../inputs/remote/fetch.ts';
import { counted } from '../reports/summary.ts';
import {
  createFetchRoom,
  localFolder,
  accessFor,
  checksOf,
  localCopies,
  isRemote,
  matching,
} from './remote-sources.ts';
import type { ToolSession } from './tool-session.ts';
import { AppError } from '../../errors.ts';
import { join } from 'node:path';
import { parsePathPattern, type PathPattern } from '../../service/files/path-pattern.ts';
import { kindOf, matchingFiles } from '../../inputs/walk-files.ts';

// Fetches inputs from buckets and the web to a folder of the job on this machine.

/** Options of fetching a location. */
export interface Fetching {
  /** the files below it that are wanted, in the listed version; absent: all files that the location leads to */
  readonly wanted?: WatchedFiles['files'];
  /** small documents need be no files: who opens them looks into `session.spool` */
  readonly spools?: 'documents';
}

/**
 * Paths of the files and folders that the location leads to, as a path of this machine would. AppErrors of `parseRemoteLocation`,
 * `accessFor`, `fetchLocation`.
 */
export async function fetchRemote(
  session: ToolSession,
  text: string,
  folder: string,
  { wanted, spools }: Fetching = {},
): Promise<string[]> {
  const location = parseRemoteLocation(text);
  const begun = performance.now();
  let bytes = 0;
  const { home } = session;
  // a run that a person started may fill the person's own disk
  const room = session.byHand
    ? null
    : createFetchRoom({ directory: home.home.directory, maxBytes: home.config.limits.diskBytes });
  const access = await accessFor(session, location);
  // executors of Spark read documents themselves
  const leaves = spools === 'documents' && session.request.engine === 'spark';
  const { paths, alone, files, left } = await fetchLocation(location, {
    check: checksOf(session),
    access,
    directory: localFolder(session, folder),
    signal: session.interrupted,
    scratch: localFolder(session, 'ssh'),
    ownKeys: session.byHand,
    // the service reads only files that it was given, like on a disk
    follows: session.byHand ? { maxFiles: session.limits.xsdMaxFiles } : false,
    onBytes: (count) => {
      bytes += count;
      session.progress(0);
      room?.(count);
    },
    wanted: wanted ?? null,
    spool: spools === undefined ? null : session.spool,
    ...(leaves ? { leaves: text } : {}),
  });
  for (const path of alone) session.fetchedAlone.set(path, text);
  const seconds = (performance.now() - begun) / 1000;
  if (left > 0) session.log(`${text}: ${counted(left, 'document')}, read in place`);
  if (left < files || files === 0)
    session.log(
      `${text}: ${counted(files - left, 'file')}, ${(bytes / 1e6).toFixed(1)} MB, fetched in ${seconds.toFixed(1)} s`,
    );
  return paths;
}

// Resolves inputs.

/**
 * Returns paths for `openInputs`; `folder` is for copies of files in a remote store. `spools`: as in `fetchRemote`. AppError
 * `path_not_allowed`, `invalid_option` or `input_not_found` under a worker.
 */
export async function inputPaths(
  session: ToolSession,
  inputs: readonly string[] = session.request.inputs,
  folder = 'in',
  spools?: Fetching['spools'],
): Promise<readonly string[]> {
  const fetched = await fetchAll(session, inputs, folder, spools === undefined ? {} : { spools });
  if (session.byHand) return inputs.flatMap((input, at) => fetched.get(at) ?? [input]);
  const located = await Promise.all(
    inputs.map(async (input, at) => {
      const paths = fetched.get(at);
      return paths ?? locate(session, input);
    }),
  );
  return localCopies(session, located.flat(), folder);
}

/** Returns paths of inputs in buckets and on the web, by their index among the inputs. */
async function fetchAll(
  session: ToolSession,
  inputs: readonly string[],
  folder: string,
  fetching: Fetching,
): Promise<ReadonlyMap<number, readonly string[]>> {
  const paths = new Map<number, readonly string[]>();
  for (const [at, input] of inputs.entries()) {
    if (!isRemoteLocation(input)) continue;
    const { fetchRemote } = await import('./resolve-inputs.ts');
    paths.set(at, await fetchRemote(session, input, `${folder}/remote-${at}`, fetching));
  }
  return paths;
}

async function locate(session: ToolSession, input: string): Promise<readonly string[]> {
  try {
    return [await session.resolvePath(input, true)];
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'input_not_found') throw error;
    const pattern = parsePathPattern(input);
    if (pattern === null) throw error;
    const directory = await session.resolvePath(pattern.folder, true);
    const found = isRemote(directory)
      ? await matching(session, directory, pattern)
      : await matchingHere(session, directory, pattern);
    if (found.length === 0) throw error;
    return found;
  }
}

/** Each match is checked separately, because it may be a link, or behind one. */
async function matchingHere(
  session: ToolSession,
  directory: string,
  pattern: PathPattern,
): Promise<readonly string[]> {
  const resolved = (path: string): Promise<string> => session.resolvePath(join(pattern.folder, path), true);
  const found: string[] = [];
  for await (const path of matchingFiles(pattern, directory, async (link) => kindOf(await resolved(link))))
    found.push(await resolved(path));
  return found;
}
