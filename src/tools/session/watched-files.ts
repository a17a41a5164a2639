/** Opens the files that a watch hands to its job: fetched if they are remote, and checked to have the versions that were noticed. */
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fetchFiles, fileVersion } from '../../storage/local/file-store.ts';
import { AppError } from '../../errors.ts';
import { isRemoteLocation } from '../../service/files/remote-location.ts';
import type { WatchedFiles } from '../../service/jobs/request/shape.ts';
import { changedFile } from '../../inputs/changed-file.ts';
import { isRemote, localFolder } from './remote-sources.ts';
import { settledSession, type ToolSession } from './tool-session.ts';
import { createPathMask } from '../../runtime/host-paths.ts';
import type { RemovedFiles } from '../../ports/stores/watches.ts';
import { nameWithoutGz } from '../../service/watches/define.ts';

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
    const { fetchRemote } = await import('./resolve-inputs.ts');
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

// Files of a watch that bring documents of one key: the later file is used: by modification time, then by name.

export interface FileOfWatch {
  readonly name: string;
  /** modification time, epoch milliseconds; if an object has none, the time when it was first found */
  readonly modified: number;
}

/**
 * Returns the file of the watch that brought a document, by the document's name in `_documents`. Documents from elsewhere are left out.
 */
export type FilesOfDocuments = (documents: readonly string[]) => Promise<ReadonlyMap<string, FileOfWatch>>;

/** Whether the second file is the later one. */
export function isLater(first: FileOfWatch, second: FileOfWatch): boolean {
  return first.modified === second.modified ? second.name > first.name : second.modified > first.modified;
}

/** The file of a job that brings a document; null if it is none of them. */
export function filesOfJob({ files }: WatchedFiles): (document: string) => FileOfWatch | null {
  const known = new Map<string, FileOfWatch>();
  for (const { name, modified = 0 } of files)
    known.set(name, { name, modified }).set(nameWithoutGz(name), { name, modified });
  return (document) => fileAmong(known, document);
}

/** The files that brought documents of earlier jobs, as the watch knows them. */
export function filesOfWatch({ home, idOrg }: ToolSession, idWatch: number): FilesOfDocuments {
  return async (documents) => {
    const names = new Set(documents.flatMap((document) => possibleFiles(document)));
    const asked = [...names].flatMap((name) => [name, `${name}.gz`, `${name}.GZ`]);
    const known = new Map<string, FileOfWatch>();
    for (const file of await home.adapters.watches.listBroughtFiles(idOrg, idWatch, asked))
      known.set(file.name, file).set(nameWithoutGz(file.name), file);
    const found = new Map<string, FileOfWatch>();
    for (const document of documents) {
      const file = fileAmong(known, document);
      if (file !== null) found.set(document, file);
    }
    return found;
  };
}

/**
 * Finds the files of other watches whose rows a job removes, by the names of the documents that it removes, each with the document that
 * has its key; null: it removes all. Only files that are one document are found by names. Undefined: there are none.
 */
export type FindRemovedFiles = (
  documents: ReadonlyMap<string, string | null> | null,
) => Promise<RemovedFiles | undefined>;

/** `label`: of the target. */
export function removedFilesIn({ home, idOrg, request }: ToolSession, label: string): FindRemovedFiles {
  // in records of watches, paths below the organisation's files are without the folders above
  const target = createPathMask(home.home, idOrg)(label);
  const { watches } = home.adapters;
  return async (documents) => {
    if (documents === null) {
      const any = await watches.listFilesInTarget(idOrg, target, null, null);
      return any.length === 0 ? undefined : { target, files: 'all' };
    }
    const asked = [...documents.keys()].flatMap((name) => [name, `${name}.gz`, `${name}.GZ`]);
    const names = await watches.listFilesInTarget(idOrg, target, asked, request.watched?.watch ?? null);
    const files = names.map((name) => ({
      name,
      by: documents.get(name) ?? documents.get(nameWithoutGz(name)) ?? null,
    }));
    return files.length === 0 ? undefined : { target, files };
  };
}

function fileAmong(files: ReadonlyMap<string, FileOfWatch>, document: string): FileOfWatch | null {
  for (const name of possibleFiles(document)) {
    const file = files.get(name);
    if (file !== undefined) return file;
  }
  return null;
}

/** `a.zip/b.xml#3`: that name itself, `a.zip/b.xml` (`--row-tag`), and `a.zip` (a member of an archive). */
function possibleFiles(document: string): string[] {
  const names = [document];
  const part = document.replace(/#\d+$/, '');
  if (part !== document) names.push(part);
  for (let at = document.lastIndexOf('/'); at > 0; at = document.lastIndexOf('/', at - 1))
    names.push(document.slice(0, at));
  return names;
}
