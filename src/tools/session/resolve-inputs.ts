/** Resolves the inputs of a run. A person may name any path; a worker reads only the folders that its organisation may use. */
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import { parsePathPattern, type PathPattern } from '../../service/files/path-pattern.ts';
import { isRemoteLocation } from '../../service/files/remote-location.ts';
import { kindOf, matchingFiles } from '../../inputs/walk-files.ts';
import type { Fetching } from './fetch-remote.ts';
import { localCopies, isRemote, matching } from './remote-sources.ts';
import type { ToolSession } from './tool-session.ts';

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
    const { fetchRemote } = await import('./fetch-remote.ts');
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
