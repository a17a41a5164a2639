/** A place whose files are read there, without a copy on this machine: by the machine of a job, and by executors. */
import { createPinnedHttp } from '../../adapters/outgoing/checked-http.ts';
import { remoteBytes } from '../../adapters/remote-inputs/remote-bytes.ts';
import {
  createRemoteRequests,
  type PlaceAccess,
  type RemoteRequestOptions,
} from '../../adapters/remote-inputs/remote-requests.ts';
import { openRemoteStore, type StoreAccess } from '../../adapters/remote-inputs/stores.ts';
import { AppError } from '../../errors.ts';
import { parseRemoteLocation, storeLocation } from '../../files/remote-location.ts';
import type { FileSection } from '../../tools/inputs/open-file.ts';

/** Plain data, which other processes may get. */
export interface RemoteFile {
  /** number of its place, from 0 */
  readonly place: number;
  /** of the object; of the web its address */
  readonly key: string;
  /** the only one that is read */
  readonly version: string;
  readonly bytes: number;
}

export interface RemotePlace {
  /** plain data, of which `access` is secret: by it another process opens the place */
  readonly description: PlaceDescription;
  /** Of that version alone. AppErrors of `remoteBytes`. */
  bytes(file: RemoteFile, range: FileSection): AsyncIterable<Uint8Array>;
}

/** What a place is reached by. */
export interface PlaceDescription {
  /** an address in it, as the person gave it */
  readonly location: string;
  /** what it is read with; null: nothing */
  readonly access: PlaceAccess | null;
}

/** AppError `invalid_option`: of an address of SFTP, whose files are fetched. */
export function openDescribed(
  description: PlaceDescription,
  { check, signal }: Pick<RemoteRequestOptions, 'check' | 'signal'>,
): RemotePlace {
  const { access } = description;
  const location = storeLocation(parseRemoteLocation(description.location), access?.access ?? null);
  const { kind, text } = location;
  if (kind === 'sftp')
    throw new AppError('invalid_option', `${text}: is read by the machine of the job alone`);
  const bucket = kind === 'http' ? '' : location.bucket;
  const http = createPinnedHttp({ keepsConnections: true });
  const requests = createRemoteRequests({ check, signal, http }, access, bucket);
  const urlOf =
    kind === 'http'
      ? (): URL => location.url
      : openRemoteStore(requests.get, access!.access as StoreAccess, bucket).urlOf;
  return {
    description,
    bytes: ({ key, version, bytes }, range) => {
      const label = kind === 'http' ? text : `${kind}://${bucket}/${key}`;
      return remoteBytes(requests, { url: urlOf(key), label, version, bytes }, range, signal);
    },
  };
}
