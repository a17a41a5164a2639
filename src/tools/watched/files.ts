/** Opens the files that a watch hands to its job: fetched if they are remote, and checked to have the versions that were noticed. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fetchFiles } from '../../adapters/local-files/file-store.ts';
import { fileVersion } from '../../adapters/local-files/log-files.ts';
import { AppError } from '../../errors.ts';
import { isRemoteLocation } from '../../files/remote-location.ts';
import type { WatchedFiles } from '../../jobs/request/shape.ts';
import { changedFile } from './changed-file.ts';
import { isRemote, localFolder } from '../session/remote-files.ts';
import { settledSession, type ToolSession } from '../session/tool-session.ts';

/** A file on this machine, by the name that it has below the location of its watch. */
export interface NamedFile {
  readonly name: string;
  readonly path: string;
}

/** AppError `input_not_found`, `path_not_allowed`, `service_unavailable`; InputError `changed_file`. */
export async function watchedFiles(session: ToolSession, { files }: WatchedFiles): Promise<NamedFile[]> {
  if (files.length === 0) return [];
  const location = session.request.inputs[0]!;
  if (isRemoteLocation(location)) {
    const { fetchRemote } = await import('../session/fetch-remote.ts');
    const paths = await fetchRemote(session, location, 'watched', { wanted: files, spools: 'documents' });
    return files.map(({ name }, at) => ({ name, path: paths[at]! }));
  }
  const found: NamedFile[] = [];
  for (const { name, version } of files) {
    const place = await resolved(session, join(location, name), name);
    const path = isRemote(place) ? await fetched(session, place, name, version) : place;
    if (!isRemote(place)) await checkVersion(path, name, version);
    found.push({ name, path });
  }
  return found;
}

/** The session, whose rows are committed only while every file on a disk of this machine still is as it was noticed. */
export function heldToVersions(session: ToolSession): ToolSession {
  const { watched, inputs } = session.request;
  // rows have no fixed version: those that are new since then are loaded, too
  if (watched === undefined || inputs[0] === undefined || isRemoteLocation(inputs[0])) return session;
  const held = settledSession(session, session.request);
  return Object.defineProperties(held, {
    beginCommit: {
      value: async (written: Parameters<ToolSession['beginCommit']>[0]) => {
        for (const { name, version } of watched.files) {
          const place = await resolved(session, join(inputs[0]!, name), name);
          if (!isRemote(place)) await checkVersion(place, name, version);
        }
        return session.beginCommit(written);
      },
      enumerable: true,
    },
  });
}

async function resolved(session: ToolSession, path: string, name: string): Promise<string> {
  try {
    return await session.resolvePath(path, true);
  } catch (error) {
    throw error instanceof AppError && error.code === 'input_not_found' ? changedFile(name) : error;
  }
}

async function checkVersion(path: string, name: string, version: string): Promise<void> {
  const facts = await stat(path, { bigint: true }).catch(() => null);
  if (facts === null || fileVersion(facts) !== version) throw changedFile(name);
}

/** Objects change as a whole: one that has its version still after it was read was read as such. */
async function fetched(session: ToolSession, place: string, name: string, version: string): Promise<string> {
  const { files } = session.home.adapters;
  const directory = localFolder(session, join('watched', dirname(name)));
  const path = await fetchFiles(files, place, directory);
  for await (const facts of files.listFiles(place)) if (facts.version === version) return path;
  throw changedFile(name);
}
