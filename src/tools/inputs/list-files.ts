/** Inputs of a tool: files, folders, patterns, archives and stdin, as a stream of members in a settled order. */
import { createWriteStream, statSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { constants, gunzipSync } from 'node:zlib';
import { fileFault } from '../../adapters/file-staging/faults.ts';
import { AppError } from '../../errors.ts';
import { parsePathPattern } from '../../files/path-pattern.ts';
import {
  archiveKind,
  archiveMembers,
  gunzipped,
  type ArchiveKind,
  defaultArchiveLimits,
  type ArchiveLimits,
} from './archive-members.ts';
import { matchingFiles } from './matching-files.ts';
import {
  fleetingFileChunks,
  inputFault,
  inputFileChunks,
  readHead,
  smallFileBytes,
  smallFileChunks,
  type Links,
} from './open-file.ts';
import type { InputMember } from './members.ts';

/** A file that an input led to. */
interface InputFile {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly archive: ArchiveKind | null;
}

export interface InputSet {
  /** files on disk, archives counted as one */
  readonly fileCount: number;
  readonly totalBytes: number;
  /** can be walked again and again */
  members(): AsyncIterable<InputMember>;
  /** removes what stdin was spooled to */
  dispose(): Promise<void>;
}

/** Told of what there is among inputs. */
export interface InputNotices {
  /** of each input that is a file: it may throw */
  readonly named?: (input: string) => void;
  /** of each archive within an archive, which is not read, whenever the members are walked */
  readonly nested?: (name: string) => void;
}

/**
 * `accept` chooses files of folders and archives by name; a file named by itself is taken whatever its name, unless `notices` throw. AppError `input_not_found` when an input leads nowhere, `invalid_option` when it is nearly a pattern.
 */
export async function openInputs(
  inputs: readonly string[],
  accept: (name: string) => boolean,
  limits: ArchiveLimits = defaultArchiveLimits,
  links: Links = 'follow',
  notices: InputNotices = {},
): Promise<InputSet> {
  const files: InputFile[] = [];
  const spools: string[] = [];
  for (const input of inputs) {
    if (input === '-') {
      const path = await spoolStdin();
      spools.push(dirname(path));
      files.push(inputFile(path, 'stdin.xml', 'follow', new Uint8Array(headBytes)));
      continue;
    }
    const found = await expand(input, accept, links, notices);
    if (found.length === 0) {
      throw new AppError(
        'input_not_found',
        `${input}: there is no such file, or nothing in it that this tool reads${whatIsThere(input, links)}`,
      );
    }
    files.push(...found);
  }
  return {
    ...setOf(files, (chosen) => walk(chosen, accept, limits, links, notices.nested)),
    dispose: async () => {
      for (const spool of spools) await rm(spool, { recursive: true, force: true });
    },
  };
}

/**
 * Files that are known by path and name, in the order that they are given; `accept` chooses members of archives, which have the name of their archive before
 * their own: so a document says which file it is of. Links are refused.
 */
export async function openFiles(
  named: readonly { readonly name: string; readonly path: string }[],
  accept: (name: string) => boolean,
  limits: ArchiveLimits,
): Promise<InputSet> {
  const head = new Uint8Array(headBytes);
  const files: InputFile[] = [];
  for (const { name, path } of named) {
    if (files.length % filesAtOnce === 0) await nextTurn();
    files.push({ ...inputFile(path, basename(path), 'refuse', head), name });
  }
  return setOf(files, async function* (chosen) {
    for await (const member of walk(chosen, accept, limits, 'refuse', undefined))
      yield member.path === member.source.file ? member : { ...member, name: member.path };
  });
}

function setOf(
  files: readonly InputFile[],
  members: (files: readonly InputFile[]) => AsyncIterable<InputMember>,
): InputSet {
  return {
    fileCount: files.length,
    totalBytes: files.reduce((sum, file) => sum + file.bytes, 0),
    members: () => members(files),
    dispose: () => Promise.resolve(),
  };
}

/** Which of the two it is; of a job, whose paths are not the person's own, nothing more is told. */
function whatIsThere(input: string, links: Links): string {
  if (links === 'refuse') return '';
  if (statSync(resolve(input), { throwIfNoEntry: false })?.isDirectory() === true)
    return '; the folder is there: of folders and archives, documents are *.xml and schemas *.xsd, also as .gz, .zip, .tar, .tgz, and a file of any other name is to be named by itself';
  return parsePathPattern(input) === null
    ? `; it was looked for as ${resolve(input)}`
    : `; no file below ${resolve('.')} matches the pattern`;
}

/** Answers the file, in a folder of its own. */
async function spoolStdin(): Promise<string> {
  let spool: string | null = null;
  try {
    spool = await mkdtemp(join(tmpdir(), 'xml-input-'));
    const path = join(spool, 'stdin.xml');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    return path;
  } catch (error) {
    // on a disk that is full by it, it would stay
    if (spool !== null) await rm(spool, { recursive: true, force: true });
    throw fileFault(error, `${tmpdir()}, where stdin is kept meanwhile (TMPDIR)`);
  }
}

async function expand(
  input: string,
  accept: (name: string) => boolean,
  links: Links,
  notices: InputNotices,
): Promise<InputFile[]> {
  const path = resolve(input);
  const head = new Uint8Array(headBytes);
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') throw inputFault(error, path);
    return null;
  });
  if (facts?.isFile()) {
    notices.named?.(input);
    return [inputFile(path, basename(path), links, head)];
  }
  if (facts?.isDirectory()) {
    const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
      throw inputFault(error, path);
    });
    const names = entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(path, join(entry.parentPath, entry.name)))
      .filter((name) => accept(name) || (archiveKind(name) !== null && !name.startsWith('.')));
    const files: InputFile[] = [];
    for (const name of names.toSorted()) {
      if (files.length % filesAtOnce === 0) await nextTurn();
      files.push(inputFile(join(path, name), name.replaceAll('\\', '/'), links, head));
    }
    return files;
  }
  if (facts !== null)
    throw new AppError('input_not_found', `${input}: is neither a file nor a folder; - reads a pipe`);
  // what a job names was found before, its patterns included
  const pattern = links === 'follow' ? parsePathPattern(input) : null;
  if (pattern === null) return [];
  const files = new Map<string, InputFile>();
  for await (const match of matchingFiles(pattern, resolve(pattern.folder)))
    for (const file of await expand(join(pattern.folder, match), accept, links, notices))
      if (!files.has(file.path)) files.set(file.path, file);
  return [...files.values()];
}

/** `buffer`: for the first bytes of the file */
function inputFile(path: string, name: string, links: Links, buffer: Uint8Array): InputFile {
  const { size } = statSync(path);
  const named = archiveKind(name);
  const archive =
    named === null || named === 'gz'
      ? (archiveKindOf(buffer.subarray(0, readHead(path, links, buffer))) ?? named)
      : named;
  return { path, name, bytes: size, archive };
}

/** small files that are looked at without a turn for others */
const filesAtOnce = 16;

/** enough of a file to tell what it is, also where it is packed */
const headBytes = 4096;

/** Uploads may have lost their suffix: archives are told by their first bytes. A `.gz` may hold a tar archive. */
function archiveKindOf(head: Uint8Array): ArchiveKind | null {
  if (head[0] === 0x1f && head[1] === 0x8b) return isTar(unpackedHead(head)) ? 'tgz' : 'gz';
  if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4) return 'zip';
  return isTar(head) ? 'tar' : null;
}

/** What the first bytes of a gzip file unpack to; nothing where they are broken. */
function unpackedHead(head: Uint8Array): Uint8Array {
  try {
    return gunzipSync(head, { finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return new Uint8Array(0);
  }
}

/** POSIX.1-1988 header: `ustar` at 257. The NUL behind the member's name is what no document in UTF-8 holds. */
function isTar(head: Uint8Array): boolean {
  const magic = String.fromCharCode(...head.subarray(257, 262));
  return magic === 'ustar' && head[0] !== 0x3c && head.subarray(1, 100).includes(0);
}

async function* walk(
  files: readonly InputFile[],
  accept: (name: string) => boolean,
  limits: ArchiveLimits,
  links: Links,
  onNested: InputNotices['nested'],
): AsyncIterable<InputMember> {
  // one buffer for all small files: one is read before the next is asked for
  let buffer: Uint8Array | null = null;
  for (const [at, file] of files.entries()) {
    // between small files, events of sockets and timers are handled
    if (at % filesAtOnce === filesAtOnce - 1) await nextTurn();
    if (file.archive === null) {
      yield {
        name: file.name,
        path: file.path,
        diskBytes: file.bytes,
        source: { file: file.path, member: 0, packed: false, direct: true },
        chunks: (fleeting) => {
          if (fleeting === undefined) return inputFileChunks(file.path, links);
          if (file.bytes > smallFileBytes) return fleetingFileChunks(file.path, links);
          buffer ??= new Uint8Array(smallFileBytes);
          return smallFileChunks(file.path, links, buffer);
        },
        parts: {
          bytes: (range) => fleetingFileChunks(file.path, links, range),
          modified: async () => (await stat(file.path)).mtimeMs,
        },
      };
    } else if (file.archive === 'gz') {
      yield {
        name: file.name.replace(/\.gz$/i, ''),
        path: file.path,
        diskBytes: file.bytes,
        source: { file: file.path, member: 0, packed: true, direct: true },
        chunks: () => gunzipped(inputFileChunks(file.path, links), file.name, limits),
      };
    } else {
      let index = 0;
      for await (const member of archiveMembers(file.path, file.archive, accept, limits, links, onNested)) {
        yield {
          name: member.name,
          path: `${file.name}/${member.name}`,
          diskBytes: index === 0 ? file.bytes : 0,
          source: { file: file.path, member: index, packed: true, direct: file.archive === 'zip' },
          chunks: member.chunks,
          ...(member.carried === undefined ? {} : { carried: member.carried }),
        };
        index += 1;
      }
    }
  }
}
