/** Files of an SFTP server: listed, and copied to this machine, over one connection, which is reopened if it breaks. */
import { createWriteStream } from 'node:fs';
import { stat, readFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { AppError } from '../../errors.ts';
import type { StoredObject } from '../../ports/files.ts';
import { changed, inPieces, takeUp } from '../../storage/staging/staged-files.ts';
import { fileFault } from '../../storage/staging/durable-file.ts';
import {
  ProtocolFault,
  statuses,
  type FileAttributes,
  StatusFault,
  type SftpFile,
  type SftpSession,
} from './session.ts';
import { openSftp, type OpenSftp, type SftpAddress } from './ssh.ts';
import type { PlaceAccess, RemoteRequestOptions } from '../remote/requests.ts';
import { serverOf, type RemoteLocation } from '../../service/files/remote-location.ts';

interface SftpDownload {
  readonly signal: AbortSignal;
  readonly onBytes?: (count: number) => void;
  /** the version that is wanted; absent: the one that is there */
  readonly version?: string;
  readonly label: string;
}

export interface SftpPlace {
  /** Returns null if there is nothing. */
  stat(path: string): Promise<(FileAttributes & { readonly version: string }) | null>;
  /** Files below a folder, at any depth, links left out; `enter`: which folders are looked into. Keys are below the folder. */
  list(folder: string, enter: (path: string) => boolean): AsyncIterable<StoredObject>;
  /**
   * Downloads a file and returns its size. AppError `input_not_found`; `unprocessable_input` with the cause `changed` if it changes
   * meanwhile; `service_unavailable` if it cannot be read now.
   */
  download(path: string, to: string, options: SftpDownload): Promise<number>;
  /** Yields the bytes [from, to) of that version alone, and resumes if the connection breaks. AppErrors of `download`. */
  bytes(
    path: string,
    range: { readonly from: number; readonly to: number },
    options: Required<Pick<SftpDownload, 'version' | 'label'>>,
  ): AsyncIterable<Uint8Array>;
  /**
   * Reads a whole file, and returns its facts, which held from its first byte to its last; null if it is gone. `begin` is called again
   * if the file must be read again.
   */
  read(
    path: string,
    begin: () => void,
    take: (bytes: Uint8Array) => void,
  ): Promise<(FileAttributes & { readonly version: string }) | null>;
  close(): void;
}

/** tries without a byte more between them */
const tries = 5;
/** characters, as Linux has it */
const longestPath = 4096;

/** Returns a version from size and modification time, which a server reports. */
function versionOf({ bytes, modified }: FileAttributes): string {
  return `${modified ?? 'never'}-${bytes}`;
}

export function openPlace(address: SftpAddress, signal: AbortSignal): SftpPlace {
  let open: Promise<OpenSftp> | null = null;
  const connected = (): Promise<OpenSftp> => {
    if (open !== null) return open;
    const opening = openSftp(address, signal);
    open = opening;
    const forget = (): void => void (open === opening && (open = null));
    opening.then(({ ended }) => ended.catch(forget), forget);
    return opening;
  };
  /** Retries if the connection breaks; `progress`: any measure that shows that a further try is worthwhile. */
  const tried = async <T>(
    label: string,
    work: (session: SftpSession) => Promise<T>,
    progress = () => 0,
  ): Promise<T> => {
    const done: T[] = [];
    const attempt = async (): Promise<AppError | null> => {
      try {
        done.push(await work((await connected()).session));
        return null;
      } catch (error) {
        signal.throwIfAborted();
        const fault = faultOf(error, label);
        if (fault.code !== 'service_unavailable') throw fault;
        return fault;
      }
    };
    const fault = await takeUp(attempt, { progress, tries, signal });
    if (fault !== null) throw told(fault, label);
    return done[0]!;
  };
  /** replaces the name of the connection with the name of the file in a fault */
  const told = (fault: AppError, label: string): AppError =>
    new AppError(fault.code, fault.message.replace(`${address.label}: `, `${label}: `), { cause: fault });
  return {
    stat: (path) =>
      tried(address.label, async (session) => {
        const found = await orNull(session.stat(path));
        return found === null ? null : { ...found, version: versionOf(found) };
      }),
    async *list(folder, enter) {
      const waiting = [''];
      for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
        const path = below === '' ? folder : `${folder.replace(/\/$/, '')}/${below}`;
        const entries = await tried(address.label, (session) => Array.fromAsync(session.list(path)));
        for (const entry of entries) {
          const key = below === '' ? entry.name : `${below}/${entry.name}`;
          if (entry.name === '' || /[/\0]/.test(entry.name) || key.length > longestPath)
            throw faultOf(new ProtocolFault('names a file as none can be named'), address.label);
          if (entry.kind === 'folder' && enter(key)) waiting.push(key);
          if (entry.kind === 'file')
            yield {
              key,
              bytes: entry.bytes,
              modified: (entry.modified ?? Number.NaN) * 1000,
              version: versionOf(entry),
            };
        }
      }
    },
    async download(path, to, { version, label, onBytes }) {
      let pinned: string | null = version ?? null;
      let received = 0;
      return tried(
        label,
        async (session) => {
          // bytes count once they are in the file, not once they arrive
          received = received === 0 ? 0 : (await stat(to)).size;
          const file = await session.open(path);
          try {
            const facts = await file.attributes();
            if (facts.kind !== 'file') throw new AppError('input_not_found', `${label}: is not a file`);
            if (pinned !== null && versionOf(facts) !== pinned) throw changed(label);
            pinned = versionOf(facts);
            const counted = async function* (): AsyncIterable<Uint8Array> {
              for await (const bytes of file.read(received, facts.bytes - received)) {
                onBytes?.(bytes.length);
                yield bytes;
                received += bytes.length;
              }
            };
            await pipeline(
              counted(),
              createWriteStream(to, received === 0 ? { mode: 0o600 } : { flags: 'r+', start: received }),
            );
            await requireSame(file, pinned, received === facts.bytes, label);
            return received;
          } finally {
            await file.close();
          }
        },
        () => received,
      );
    },
    bytes: (path, range, { version, label }) =>
      inPieces(range, (from, to) => {
        const piece = new Uint8Array(to - from);
        let received = 0;
        return tried(
          label,
          async (session) => {
            const file = await session.open(path);
            try {
              if (versionOf(await file.attributes()) !== version) throw changed(label);
              for await (const bytes of file.read(from + received, piece.length - received)) {
                piece.set(bytes, received);
                received += bytes.length;
              }
              await requireSame(file, version, received === piece.length, label);
              return piece;
            } finally {
              await file.close();
            }
          },
          () => received,
        );
      }),
    read: (path, begin, take) =>
      tried(address.label, async (session) => {
        const file = await orNull(session.open(path));
        if (file === null) return null;
        try {
          const facts = await file.attributes();
          let bytes = 0;
          begin();
          for await (const chunk of file.read(0, facts.bytes)) {
            bytes += chunk.length;
            take(chunk);
          }
          const after = await file.attributes();
          // the bytes belong to neither version: the file is found again as a new one
          const isSame = versionOf(after) === versionOf(facts) && bytes === facts.bytes;
          return { ...after, version: isSame ? versionOf(after) : `${versionOf(after)} changes` };
        } finally {
          await file.close();
        }
      }),
    // a session that never opened needs no closing
    close: () => void open?.then((one) => one.close()).catch(() => undefined),
  };
}

/** Returns null if the server has no such file. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StatusFault && error.status === statuses.noSuchFile) return null;
    throw error;
  }
}

/** `isWhole`: all that was asked for came. */
async function requireSame(file: SftpFile, version: string, isWhole: boolean, label: string): Promise<void> {
  const after = await file.attributes();
  if (versionOf(after) !== version || !isWhole) throw changed(label);
}

/** Describes a fault in the service's own words. */
function faultOf(error: unknown, label: string): AppError {
  const told = fileFault(error, label, 'read');
  if (told instanceof AppError) return told;
  if (error instanceof StatusFault)
    return error.status === statuses.noSuchFile
      ? new AppError('input_not_found', `${label}: there is no such file or folder`)
      : new AppError(
          'unprocessable_input',
          `${label}: ${error.status === statuses.permissionDenied ? 'may not be read by this user' : `the server refuses it (status ${error.status})`}`,
        );
  if (error instanceof ProtocolFault)
    return new AppError(
      'unprocessable_input',
      `${label}: is not a trustworthy SFTP server: it ${error.message}`,
    );
  return new AppError('service_unavailable', `${label}: cannot be read now`, { cause: error });
}

// Opens an address of an SFTP server with the login of its credential or its source.

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
