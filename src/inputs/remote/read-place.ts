/** A place whose files are read there, without a copy on this machine: by the machine of a job, and by executors. */
import { createPinnedHttp } from '../../network/checked-http.ts';
import { remoteBytes } from './download.ts';
import { createRemoteRequests, type PlaceAccess } from './requests.ts';
import { openRemoteStore, type StoreAccess } from './listing.ts';
import {
  type SftpPlace,
  openSftpLocation,
  sftpLabel,
  type PlaceOptions,
  type SftpLocation,
} from '../sftp/place.ts';
import { parseRemoteLocation, storeLocation } from '../../service/files/remote-location.ts';
import type { FileSection } from '../open-file.ts';

/** Plain data, which other processes may get. */
export interface RemoteFile {
  /** number of its place, from 0 */
  readonly place: number;
  /** key of the object; for the web its address */
  readonly key: string;
  /** the only one that is read */
  readonly version: string;
  readonly bytes: number;
}

export interface RemotePlace {
  /** plain data, of which `access` is secret: by it another process opens the place */
  readonly description: PlaceDescription;
  /** Reads a range of that version alone. AppErrors of `remoteBytes` and `SftpPlace`. */
  bytes(file: RemoteFile, range: FileSection): AsyncIterable<Uint8Array>;
  /** Ends connections that keep a process alive; a later read opens them again. */
  close(): void;
}

/** The data needed to reach a place. */
export interface PlaceDescription {
  /** an address in it, as the person gave it */
  readonly location: string;
  /** access data for it; null: none */
  readonly access: PlaceAccess | null;
}

/** `scratch`: as of `PlaceOptions`. */
export type DescribedOptions = Pick<PlaceOptions, 'check' | 'signal' | 'scratch'>;

export function openDescribed(description: PlaceDescription, options: DescribedOptions): RemotePlace {
  const { check, signal } = options;
  const { access } = description;
  const location = storeLocation(parseRemoteLocation(description.location), access?.access ?? null);
  const { kind, text } = location;
  if (kind === 'sftp') return openDescribedSftp(location, description, options);
  const bucket = kind === 'http' ? '' : location.bucket;
  const http = createPinnedHttp({ keepsConnections: true });
  const requests = createRemoteRequests({ check, signal, http }, access, bucket);
  const urlOf =
    kind === 'http'
      ? (): URL => location.url
      : openRemoteStore(requests.get, access!.access as StoreAccess, bucket).urlOf;
  return {
    description,
    close: () => undefined,
    bytes: ({ key, version, bytes }, range) => {
      const label = kind === 'http' ? text : `${kind}://${bucket}/${key}`;
      return remoteBytes(requests, { url: urlOf(key), label, version, bytes }, range, signal);
    },
  };
}

function openDescribedSftp(
  location: SftpLocation,
  description: PlaceDescription,
  options: DescribedOptions,
): RemotePlace {
  const { access } = description;
  let opening: Promise<SftpPlace> | null = null;
  return {
    description,
    // a place that never opened needs no closing
    close: () => void opening?.then((place) => place.close()).catch(() => undefined),
    async *bytes({ key, version, bytes }, { from, to }) {
      opening ??= openSftpLocation(location, { ...options, access, ownKeys: false });
      const place = await opening;
      yield* place.bytes(
        key,
        { from, to: Math.min(to, bytes) },
        { version, label: sftpLabel(location, key) },
      );
    },
  };
}
