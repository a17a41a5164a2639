/** Members of .zip, .tar and .tgz archives and of .gz files, within limits of expansion (interface-decisions §10). */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import tar from 'tar-stream';
import yauzl from 'yauzl';
import { InputError } from '../engine/diagnostics.ts';

export type ArchiveKind = 'gz' | 'zip' | 'tar' | 'tgz';

export interface ArchiveMember {
  readonly name: string;
  chunks(): AsyncIterable<Uint8Array>;
}

export const archiveLimits = {
  /** expanded bytes per archived byte */
  maxExpansion: 100,
  /** below this size expansion is no danger: small files of repeated text pack better than 1:100 */
  freeBytes: 128 * 1024 * 1024,
  maxMembers: 100_000,
} as const;

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
): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of source) {
      spent.bytes += chunk.length;
      if (spent.bytes > archiveLimits.freeBytes && spent.bytes > packedBytes() * archiveLimits.maxExpansion) {
        throw new InputError({
          code: 'archive_expansion_limit',
          severity: 'error',
          message: `expands to more than ${archiveLimits.maxExpansion} times its size; unpack it and give the files`,
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
export function gunzipped(source: Readable, name: string): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  let packed = 0;
  source.on('data', (chunk: Uint8Array) => (packed += chunk.length));
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  return guarded(gunzip, name, () => packed, { bytes: 0 });
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
): AsyncIterable<ArchiveMember> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const members = kind === 'zip' ? zipMembers(path, name) : tarMembers(path, name, kind === 'tgz');
  let count = 0;
  for await (const member of members) {
    count += 1;
    if (count > archiveLimits.maxMembers)
      throw broken(name, `has more than ${archiveLimits.maxMembers} members`);
    if (!isSafeName(member.name))
      throw broken(name, `has a member whose name leaves the archive: ${member.name}`);
    const plain = member.name.replace(/\.gz$/i, '');
    const hidden = plain.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');
    if (hidden || !accept(plain)) continue;
    yield plain === member.name ? member : { name: plain, chunks: () => unzippedMember(member) };
  }
}

async function* unzippedMember(member: ArchiveMember): AsyncIterable<Uint8Array> {
  const { Readable: NodeReadable } = await import('node:stream');
  yield* gunzipped(NodeReadable.from(member.chunks()), member.name);
}

async function* zipMembers(path: string, name: string): AsyncIterable<ArchiveMember> {
  let archive: yauzl.ZipFile;
  try {
    archive = await yauzl.openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: false });
  } catch (error) {
    throw broken(name, `is no zip archive: ${error instanceof Error ? error.message : String(error)}`);
  }
  const spent = { bytes: 0 };
  let packed = 0;
  const entries = archive.eachEntry()[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await entries.next().catch((error: unknown) => {
        throw broken(name, error instanceof Error ? error.message : String(error));
      });
      if (next.done === true) break;
      const entry = next.value;
      if (entry.fileName.endsWith('/')) continue;
      packed += entry.compressedSize;
      yield {
        name: entry.fileName,
        chunks: () => guarded(zipContent(archive, entry), `${name}/${entry.fileName}`, () => packed, spent),
      };
    }
  } finally {
    archive.close();
  }
}

async function* zipContent(archive: yauzl.ZipFile, entry: yauzl.Entry): AsyncIterable<Uint8Array> {
  yield* await archive.openReadStreamPromise(entry);
}

async function* tarMembers(path: string, name: string, zipped: boolean): AsyncIterable<ArchiveMember> {
  const source = createReadStream(path);
  const extract = tar.extract();
  const spent = { bytes: 0 };
  let packed = 0;
  source.on('data', (chunk) => (packed += chunk.length));
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
            guarded(entry as AsyncIterable<Uint8Array>, `${name}/${entry.header.name}`, () => packed, spent),
        };
      }
      entry.resume();
    }
  } finally {
    source.destroy();
    extract.destroy();
  }
}
