/** Where a run's inputs lie: by hand anywhere, under a worker only in the folders that its organisation may use. */
import { glob } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { globFolder } from '../jobs/check-places.ts';
import { broughtHere, isElsewhere, matching } from './object-places.ts';
import type { ToolSession } from './tool-session.ts';

/** Paths for `openInputs`. AppError `path_not_allowed` or `input_not_found` under a worker. */
export async function inputPaths(session: ToolSession): Promise<readonly string[]> {
  if (session.byHand) return session.request.inputs;
  const located = await Promise.all(session.request.inputs.map((input) => locate(session, input)));
  return broughtHere(session, located.flat());
}

async function locate(session: ToolSession, input: string): Promise<readonly string[]> {
  try {
    return [await session.resolvePath(input, true)];
  } catch (error) {
    const folder = globFolder(input);
    if (folder === null || !(error instanceof AppError) || error.code !== 'input_not_found') throw error;
    const cwd = await session.resolvePath(folder, true);
    const pattern = folder === '.' ? input : input.slice(folder.length).replace(/^\/+/, '');
    if (isElsewhere(cwd)) {
      const found = await matching(session, cwd, pattern);
      if (found.length === 0) throw error;
      return found;
    }
    const paths: string[] = [];
    // A match may be a link, or lead out of the folder: each is looked at by itself
    for await (const match of glob(pattern, { cwd }))
      paths.push(await session.resolvePath(join(folder, match), true));
    if (paths.length === 0) throw error;
    return paths.toSorted();
  }
}
