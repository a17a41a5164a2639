/** An address of an SFTP server, opened with what its credential or its source says. */
import { openPlace, type SftpPlace } from '../../adapters/sftp/place.ts';
import type { PlaceAccess, RemoteRequestOptions } from '../../adapters/remote-inputs/remote-requests.ts';
import { AppError } from '../../errors.ts';
import { serverOf, type RemoteLocation } from '../../files/remote-location.ts';

export interface PlaceOptions {
  readonly check: RemoteRequestOptions['check'];
  /** what the place is read with; null: nothing */
  readonly access: PlaceAccess | null;
  readonly signal: AbortSignal;
  /** a folder of this user for what a program reads from files, for moments */
  readonly scratch: string;
  /** where nothing else is given, with the keys of whoever runs this: a person's own */
  readonly ownKeys: boolean;
}

type SftpLocation = Extract<RemoteLocation, { kind: 'sftp' }>;

/** AppErrors `path_not_allowed` where there is nothing to read it with, `invalid_option` where nobody says the user; those of `check`. */
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

export function noSource(text: string): AppError {
  return new AppError(
    'path_not_allowed',
    `${text}: the operator has set no source for it (svc.sources.NAME.location), and no credential is named`,
  );
}

/** What the paths of all files below a folder begin with. */
export function folderOf(path: string): string {
  return path === '' || path === '.' || path.endsWith('/') ? path.replace(/^\.$/, '') : `${path}/`;
}

/** A file as the person knows it. */
export function sftpLabel(location: SftpLocation, path: string): string {
  const user = location.user === null ? '' : `${location.user}@`;
  return `sftp://${user}${serverOf(location)}${path.startsWith('/') ? '' : '/~/'}${path}`;
}
