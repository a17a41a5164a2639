/** Downloads and uploads inputs and outputs of a job whose files are in a remote store. */
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { fetchFiles } from '../../adapters/local-files/file-store.ts';
import { AppError } from '../../errors.ts';
import { matchedLength, type PathPattern } from '../../files/path-pattern.ts';
import { jobFolder } from '../../runtime/open/files.ts';
import { createLookBudget } from '../inputs/matching-files.ts';
import type { ToolSession } from './tool-session.ts';

/** Whether a location is no path of this machine. */
export function isRemote(location: string): boolean {
  return location.startsWith('object:');
}

/** A folder of this job on this machine; its worker removes it. */
export function localFolder(session: ToolSession, name: string): string {
  return join(jobFolder(session.home.home, session.idJob), name);
}

/** Returns paths of local copies of these locations; paths of this machine stay as they are. */
export async function localCopies(
  session: ToolSession,
  locations: readonly string[],
  folder = 'in',
): Promise<string[]> {
  const paths: string[] = [];
  for (const [at, location] of locations.entries()) {
    if (!isRemote(location)) paths.push(location);
    else
      paths.push(
        await fetchFiles(session.home.adapters.files, location, localFolder(session, `${folder}/${at}`)),
      );
  }
  return paths;
}

/** Returns locations of the files and folders below a folder that match a pattern; none if nothing matches. */
export async function matching(
  session: ToolSession,
  folder: string,
  pattern: PathPattern,
): Promise<string[]> {
  const found = new Set<string>();
  const budget = createLookBudget();
  for await (const { name, location } of session.home.adapters.files.listFiles(folder)) {
    budget();
    const matched = matchedLength(pattern, name);
    if (matched !== null) found.add(location.slice(0, location.length - name.length + matched));
  }
  return [...found];
}

/** Whether a folder elsewhere holds any file. */
export async function isEmptyRemoteFolder(session: ToolSession, location: string): Promise<boolean> {
  for await (const _ of session.home.adapters.files.listFiles(location)) return false;
  return true;
}

/** Uploads all files of a local folder to a location. `refuse`: AppError `conflict` if one exists there. */
export async function uploadFolder(
  session: ToolSession,
  directory: string,
  location: string,
  existing: 'refuse' | 'replace',
): Promise<void> {
  const { files } = session.home.adapters;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  if (existing === 'refuse') {
    const wanted = new Set(names);
    for await (const { name } of files.listFiles(location))
      if (wanted.has(name)) throw new AppError('conflict', `${name} exists in the folder already`);
  }
  for (const name of names) {
    const body = Readable.toWeb(createReadStream(join(directory, name)));
    await files.write(`${location}/${name}`, body as unknown as ReadableStream<Uint8Array>);
  }
}
