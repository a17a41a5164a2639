/** Fetches inputs from buckets and the web to a folder of the job on this machine. */
import { parseRemoteLocation } from '../../files/remote-location.ts';
import type { WatchedFiles } from '../../jobs/request/shape.ts';
import { fetchLocation } from '../../runtime/remote/fetch.ts';
import { counted } from '../reports/counted.ts';
import { createFetchRoom } from './fetch-room.ts';
import { localFolder } from './remote-files.ts';
import { accessFor, checksOf } from './remote-sources.ts';
import type { ToolSession } from './tool-session.ts';

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
    : createFetchRoom({ directory: home.home.directory, mostBytes: home.config.limits.diskBytes });
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
    follows: session.byHand ? { mostFiles: session.limits.xsdMaxFiles } : false,
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
  if (left > 0) session.log(`${text}: ${counted(left, 'document')}, read where they lie`);
  if (left < files || files === 0)
    session.log(
      `${text}: ${counted(files - left, 'file')}, ${(bytes / 1e6).toFixed(1)} MB, fetched in ${seconds.toFixed(1)} s`,
    );
  return paths;
}
