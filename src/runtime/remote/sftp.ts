/** Opens an address of an SFTP server with the access data of its credential or its source. */
import { readFile } from 'node:fs/promises';
import { openPlace, type SftpPlace } from '../../adapters/sftp/place.ts';
import type { PlaceAccess, RemoteRequestOptions } from '../../adapters/remote-inputs/remote-requests.ts';
import { AppError } from '../../errors.ts';
import { serverOf, type RemoteLocation } from '../../files/remote-location.ts';

export interface PlaceOptions {
  readonly check: RemoteRequestOptions['check'];
  /** access data for the place; null: none */
  readonly access: PlaceAccess | null;
  readonly signal: AbortSignal;
  /** a private folder for short-lived files that a program reads */
  readonly scratch: string;
  /** without other access data, use the keys of the current user: only for a person's own run */
  readonly ownKeys: boolean;
}

export type SftpLocation = Extract<RemoteLocation, { kind: 'sftp' }>;

/** AppErrors `path_not_allowed` if there are no access data, `invalid_option` if no user is given; those of `check`. */
export async function openSftpLocation(
  location: SftpLocation,
  { check, access, signal, scratch, ownKeys }: PlaceOptions,
): Promise<SftpPlace> {
  const { text, host, port } = location;
  const given = access?.access.kind === 'sftp' ? access.access : null;
  if (given === null && !ownKeys) throw noSource(text);
  const user = location.user ?? given?.user ?? null;
  if (user === null)
    throw new AppError('invalid_option', `${text}: names no user: write sftp://USER@HOST/PATH`);
  const { addresses } = await check(new URL(`sftp://${host}:${port}`), access?.by ?? 'request');
  return openPlace(
    {
      host,
      port,
      addresses,
      user,
      password: given?.password ?? null,
      key: given?.key ?? null,
      keyFile: given?.keyFile ?? null,
      hostKey: given?.hostKey ?? null,
      ownKeys: given === null,
      scratch,
      label: `sftp://${user}@${serverOf(location)}`,
    },
    signal,
  );
}

/**
 * Returns access data for processes that see neither keys nor known hosts of this machine's user: the key itself replaces the file that
 * holds it. Returns null if they cannot read the place, because the key of the server is in known_hosts alone, or no access data are
 * given.
 */
export async function accessElsewhere(given: PlaceAccess | null): Promise<PlaceAccess | null> {
  if (given?.access.kind !== 'sftp' || given.access.hostKey === null) return null;
  const { access } = given;
  if (access.keyFile === null) return given;
  return { ...given, access: { ...access, key: await readFile(access.keyFile, 'utf8'), keyFile: null } };
}

export function noSource(text: string): AppError {
  return new AppError(
    'path_not_allowed',
    `${text}: the operator has set no source for it (svc.sources.NAME.location), and no credential is named`,
  );
}

/** Returns the prefix of the paths of all files below a folder. */
export function folderOf(path: string): string {
  return path === '' || path === '.' || path.endsWith('/') ? path.replace(/^\.$/, '') : `${path}/`;
}

/** A file as the person knows it. */
export function sftpLabel(location: SftpLocation, path: string): string {
  const user = location.user === null ? '' : `${location.user}@`;
  return `sftp://${user}${serverOf(location)}${path.startsWith('/') ? '' : '/~/'}${path}`;
}
