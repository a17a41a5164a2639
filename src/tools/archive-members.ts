/** Members of .zip, .tar and .tgz archives and of .gz files, within limits of expansion (interface-decisions §10). What reads them is loaded where there is one. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type yauzl from 'yauzl';
import { InputError } from '../engine/diagnostics.ts';
import { defaultLimits, fixedLimits, type Limits } from '../limits.ts';
import { inputFileChunks, openInputFile, type Links } from './open-file.ts';

export type ArchiveKind = 'gz' | 'zip' | 'tar' | 'tgz';

export interface ArchiveMember {
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
}

/** A member as it stands in its archive. */
interface PackedMember extends ArchiveMember {
  /** bytes of the archive that were read for it and those before it */
  packedBytes(): number;
}

/** `svc.limits.archive_expansion` and `svc.limits.archive_members`. */
export interface ArchiveLimits {
  /** expanded bytes per archived byte */
  readonly maxExpansion: number;
  readonly maxMembers: number;
}

export const defaultArchiveLimits: ArchiveLimits = archiveLimitsOf(defaultLimits);

export function archiveLimitsOf(limits: Pick<Limits, 'archiveExpansion' | 'archiveMembers'>): ArchiveLimits {
  return { maxExpansion: limits.archiveExpansion, maxMembers: limits.archiveMembers };
}

/** By the name's ending. */
export function archiveKind(name: string): ArchiveKind | null {
  if (/\.(?:tgz|tar\.gz)$/i.test(name)) return 'tgz';
  if (/\.gz$/i.test(name)) return 'gz';
  if (/\.zip$/i.test(name)) return 'zip';
  return /\.tar$/i.test(name) ? 'tar' : null;
}

function broken(file: string, reason: string): InputError {
  return new InputError({ code: 'archive_broken', severity: 'error', message: reason, file });
}

/** Counts what an archive expands to and stops it at the limit. */
async function* guarded(
  source: AsyncIterable<Uint8Array>,
  file: string,
  packedBytes: () => number,
  spent: { bytes: number },
  limits: ArchiveLimits,
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of source) {
      spent.bytes += chunk.length;
      if (spent.bytes > fixedLimits.freeArchiveBytes && spent.bytes > packedBytes() * limits.maxExpansion) {
        throw new InputError({
          code: 'archive_expansion_limit',
          severity: 'error',
          message: `expands to more than ${limits.maxExpansion} times its size; unpack it and give the files`,
          file,
        });
      }
      yield chunk;
    }
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw broken(file, `cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The content of a gzip stream; `name` is for messages. */
export function gunzipped(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  limits: ArchiveLimits,
): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  const source = Readable.from(chunks, { objectMode: false });
  let packed = 0;
  source.on('data', (chunk: Uint8Array) => (packed += chunk.length));
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  return guarded(gunzip, name, () => packed, { bytes: 0 }, limits);
}

function isSafeName(name: string): boolean {
  return (
    !name.startsWith('/') &&
    !/^[A-Za-z]:/.test(name) &&
    !name.split(/[/\\]/).includes('..') &&
    !name.includes('\0')
  );
}

export async function* archiveMembers(
  path: string,
  kind: Exclude<ArchiveKind, 'gz'>,
  accept: (name: string) => boolean,
  limits: ArchiveLimits,
  links: Links = 'follow',
): AsyncIterable<ArchiveMember> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const members =
    kind === 'zip'
      ? zipMembers(path, name, limits, links)
      : tarMembers(path, name, kind === 'tgz', limits, links);
  // what members that are packed themselves expand to, together, as a multiple of the archive
  const unpacked = { bytes: 0 };
  let count = 0;
  for await (const member of members) {
    count += 1;
    if (count > limits.maxMembers) throw broken(name, `has more than ${limits.maxMembers} members`);
    if (!isSafeName(member.name))
      throw broken(name, `has a member whose name leaves the archive: ${member.name}`);
    const plain = member.name.replace(/\.gz$/i, '');
    const hidden = plain.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');
    if (hidden || !accept(plain)) continue;
    if (plain === member.name) yield member;
    else {
      const inner = (): AsyncIterable<Uint8Array> => gunzipped(member.chunks(), member.name, limits);
      const packed = (): number => member.packedBytes();
      yield { name: plain, chunks: () => guarded(inner(), `${name}/${plain}`, packed, unpacked, limits) };
    }
  }
}

async function* zipMembers(
  path: string,
  name: string,
  limits: ArchiveLimits,
  links: Links,
): AsyncIterable<PackedMember> {
  const file = await openInputFile(path, links);
  try {
    yield* zipMembersOf(file, name, limits);
  } finally {
    await file.close();
  }
}

async function* zipMembersOf(
  file: FileHandle,
  name: string,
  limits: ArchiveLimits,
): AsyncIterable<PackedMember> {
  const { default: zip } = await import('yauzl');
  let archive: yauzl.ZipFile;
  try {
    archive = await zip.fromFdPromise(file.fd, {
      lazyEntries: true,
      autoClose: false,
      strictFileNames: false,
    });
  } catch (error) {
    throw broken(name, `is no zip archive: ${error instanceof Error ? error.message : String(error)}`);
  }
  const spent = { bytes: 0 };
  let packed = 0;
  const entries = archive.eachEntry()[Symbol.asyncIterator]();
  for (;;) {
    const next = await entries.next().catch((error: unknown) => {
      throw broken(name, error instanceof Error ? error.message : String(error));
    });
    if (next.done === true) break;
    const entry = next.value;
    if (entry.fileName.endsWith('/')) continue;
    packed += entry.compressedSize;
    // members may claim the same bytes of the archive: together they are no more than it has
    const packedBytes = (): number => Math.min(packed, archive.fileSize);
    yield {
      name: entry.fileName,
      chunks: () =>
        guarded(zipContent(archive, entry), `${name}/${entry.fileName}`, packedBytes, spent, limits),
      packedBytes,
    };
  }
}

async function* zipContent(archive: yauzl.ZipFile, entry: yauzl.Entry): AsyncIterable<Uint8Array> {
  yield* await archive.openReadStreamPromise(entry);
}

async function* tarMembers(
  path: string,
  name: string,
  zipped: boolean,
  limits: ArchiveLimits,
  links: Links,
): AsyncIterable<PackedMember> {
  const { default: tar } = await import('tar-stream');
  const source = Readable.from(inputFileChunks(path, links), { objectMode: false });
  const extract = tar.extract();
  const spent = { bytes: 0 };
  let packed = 0;
  source.on('data', (chunk: Uint8Array) => (packed += chunk.length));
  source.on('error', (error) => extract.destroy(error));
  if (zipped) {
    const gunzip = createGunzip();
    gunzip.on('error', (error) => extract.destroy(error));
    source.pipe(gunzip).pipe(extract);
  } else source.pipe(extract);
  const entries = extract[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await entries.next().catch((error: unknown) => {
        throw broken(name, `cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`);
      });
      if (next.done === true) break;
      const entry = next.value;
      if (entry.header.type === 'file') {
        yield {
          name: entry.header.name.replace(/^\.\//, ''),
          chunks: () =>
            guarded(
              entry as AsyncIterable<Uint8Array>,
              `${name}/${entry.header.name}`,
              () => packed,
              spent,
              limits,
            ),
          packedBytes: () => packed,
        };
      }
      entry.resume();
    }
  } finally {
    source.destroy();
    extract.destroy();
  }
}
