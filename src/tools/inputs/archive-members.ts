/** Members of .zip, .tar and .tgz archives and of .gz files, within limits of expansion (docs/decisions/service/limits.md). The readers are imported lazily, when there is an archive. */
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import type { Header } from 'tar-stream';
import type yauzl from 'yauzl';
import { InputError } from '../../engine/diagnostics.ts';
import { defaultLimits, fixedLimits, type Limits } from '../../config/limits.ts';
import type { CarriedValues } from './members.ts';
import { inputFileChunks, openInputFile, type Links } from './open-file.ts';

export type ArchiveKind = 'gz' | 'zip' | 'tar' | 'tgz';

export interface ArchiveMember {
  readonly name: string;
  /** of a row of `--from`: see `InputMember.carried` */
  readonly carried?: CarriedValues;
  chunks(): AsyncIterable<Uint8Array>;
}

/** A member as it stands in its archive. */
interface PackedMember extends ArchiveMember {
  /** bytes of the archive that were read for it and those before it */
  packedBytes(): number;
  /** what it is, where it is no file whose content can be read; null: it is one */
  readonly oddity: string | null;
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
  const advice = 'is it whole, and does its name say what it is (.gz, .zip, .tar, .tgz)?';
  return new InputError({ code: 'archive_broken', severity: 'error', message: `${reason}; ${advice}`, file });
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

/** The longest path of Linux; a name stands in logs, records and tables. */
const longestName = 4096;

function isSafeName(name: string): boolean {
  return (
    !name.startsWith('/') &&
    !/^[A-Za-z]:/.test(name) &&
    !name.split(/[/\\]/).includes('..') &&
    !name.includes('\0')
  );
}

/** `onNested` gets the names of archives among the members, which are not read. */
export async function* archiveMembers(
  path: string,
  kind: Exclude<ArchiveKind, 'gz'>,
  accept: (name: string) => boolean,
  limits: ArchiveLimits,
  links: Links = 'follow',
  onNested: (name: string) => void = () => undefined,
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
    if (member.name.length > longestName)
      throw broken(name, `has a member whose name is longer than ${longestName} characters`);
    if (!isSafeName(member.name))
      throw broken(name, `has a member whose name leaves the archive: ${member.name}`);
    const plain = member.name.replace(/\.gz$/i, '');
    const hidden = plain.split('/').some((part) => part.startsWith('.') || part === '__MACOSX');
    if (hidden) continue;
    if (!accept(plain)) {
      if (archiveKind(plain) !== null) onNested(`${name}/${member.name}`);
      continue;
    }
    // left out, its content would be missing without a word
    if (member.oddity !== null)
      throw broken(`${name}/${member.name}`, `is ${member.oddity}, which is not read from an archive`);
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
      oddity: zipOddity(entry),
    };
  }
}

/** APPNOTE.TXT 4.4.2 and 4.4.15: archives made on Unix hold the mode of a file in the upper half of its attributes. */
function zipOddity(entry: yauzl.Entry): string | null {
  if (entry.isEncrypted()) return 'encrypted';
  const unix = entry.versionMadeBy >>> 8 === 3;
  const type = unix ? (entry.externalFileAttributes >>> 28) & 0xf : 0;
  if (type === 0 || type === 0o10) return null;
  return type === 0o12 ? 'a symbolic link' : 'no regular file';
}

/** The check sum is looked at here: the reader compares sizes alone. */
async function* zipContent(archive: yauzl.ZipFile, entry: yauzl.Entry): AsyncIterable<Uint8Array> {
  let sum = 0;
  for await (const chunk of await archive.openReadStreamPromise(entry)) {
    const bytes = chunk as Uint8Array;
    sum = crc32(bytes, sum);
    yield bytes;
  }
  if (sum !== entry.crc32) throw new Error('its check sum is another, so it is damaged');
}

async function* tarMembers(
  path: string,
  name: string,
  zipped: boolean,
  limits: ArchiveLimits,
  links: Links,
): AsyncIterable<PackedMember> {
  const { default: tar } = await import('tar-stream');
  const spent = { bytes: 0 };
  let packed = 0;
  async function* counted(): AsyncIterable<Uint8Array> {
    for await (const chunk of inputFileChunks(path, links)) {
      packed += chunk.length;
      yield chunk;
    }
  }
  // members that nobody reads are unpacked too: what gzip makes of the archive has a limit of its own
  const source = Readable.from(zipped ? gunzipped(counted(), name, limits) : counted(), {
    objectMode: false,
  });
  const extract = tar.extract();
  source.on('error', (error) => extract.destroy(error));
  source.pipe(extract);
  const entries = extract[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await entries.next().catch((error: unknown) => {
        if (error instanceof InputError) throw error;
        throw broken(name, `cannot be unpacked: ${error instanceof Error ? error.message : String(error)}`);
      });
      if (next.done === true) break;
      const entry = next.value;
      if (!bareHeaders.has(entry.header.type ?? '')) {
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
          oddity: tarOddity(entry.header),
          ...carriedBy(entry.header),
        };
      }
      entry.resume();
    }
  } finally {
    source.destroy();
    extract.destroy();
  }
}

/** members of a tar that are no file by their nature */
const bareHeaders: ReadonlySet<string> = new Set(['directory', 'pax-header', 'pax-global-header']);

/** Record of a pax header that holds the other columns of a row as JSON. A tar of anybody may have it: it fills columns of a `--from` alone. */
export const carriedRecord = 'SVC.carried';

function carriedBy({ pax }: Header): Pick<ArchiveMember, 'carried'> {
  const text = (pax as Readonly<Record<string, string>> | undefined)?.[carriedRecord];
  return text === undefined ? {} : { carried: JSON.parse(text) as CarriedValues };
}

/** POSIX pax, "ustar Interchange Format": type flags; GNU tar, "Storing Sparse Files": by a type of their own or by records. */
function tarOddity({ type, pax }: Header): string | null {
  if (type === 'link') return 'a hard link';
  if (type === 'symlink') return 'a symbolic link';
  const sparse = Object.keys(pax ?? {}).some((key) => key.startsWith('GNU.sparse.'));
  if (sparse) return 'a sparse file';
  return type === 'file' || type === 'contiguous-file' ? null : 'no regular file';
}
