/** Inputs of a tool: files, folders, patterns, archives and stdin, as a stream of members in a settled order. */
import { createWriteStream, statSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileFault } from '../../adapters/file-staging/faults.ts';
import { AppError } from '../../errors.ts';
import { parsePathPattern } from '../../files/path-pattern.ts';
import { archiveKind, type ArchiveKind } from './archives/kinds.ts';
import { defaultArchiveLimits, type ArchiveLimits } from './archives/limits.ts';
import type { FileSpool } from './file-spool.ts';
import { matchingFiles } from './matching-files.ts';
import { inputFault, type Links } from './open-file.ts';
import {
  fileElsewhere,
  filesAtOnce,
  listedFile,
  walkFiles,
  type ListedFile,
  type Walk,
} from './walk-files.ts';
import type { InputMember } from './members.ts';

export interface InputSet {
  /** files on disk, archives counted as one */
  readonly fileCount: number;
  readonly totalBytes: number;
  /** about as many as documents have: what packed ones unpack to is known when they are read */
  readonly expectedBytes: number;
  /** can be walked again and again */
  members(): AsyncIterable<InputMember>;
  /** removes what stdin was spooled to */
  dispose(): Promise<void>;
}

export interface InputOptions {
  /** told of each input that is a file: it may throw */
  readonly named?: (input: string) => void;
  /** told of each archive within an archive, which is not read, whenever the members are walked */
  readonly nested?: (name: string) => void;
  /** holds some of the files, at their paths */
  readonly spool?: FileSpool;
}

/**
 * `accept` chooses files of folders and archives by name; a file named by itself is taken whatever its name, unless `options.named` throws. AppError `input_not_found` when an input leads nowhere, `invalid_option` when it is nearly a pattern.
 */
export async function openInputs(
  inputs: readonly string[],
  accept: (name: string) => boolean,
  limits: ArchiveLimits = defaultArchiveLimits,
  links: Links = 'follow',
  options: InputOptions = {},
): Promise<InputSet> {
  const files: ListedFile[] = [];
  const spools: string[] = [];
  for (const input of inputs) {
    if (input === '-') {
      const path = await spoolStdin();
      spools.push(dirname(path));
      files.push(listedFile(path, 'stdin.xml', statSync(path).size));
      continue;
    }
    const found = await expand(input, accept, links, options);
    if (found.length === 0) {
      throw new AppError(
        'input_not_found',
        `${input}: there is no such file, or nothing in it that this tool reads${whatIsThere(input, links)}`,
      );
    }
    files.push(...found);
  }
  return {
    ...setOf(files, { accept, limits, links, onNested: options.nested, places: options.spool?.places }),
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
  spool: FileSpool,
): Promise<InputSet> {
  const files: ListedFile[] = [];
  for (const { name, path } of named) {
    if (files.length % filesAtOnce === 0) await nextTurn();
    const held = spool.get(path);
    // what it is called on the disk tells what it may be
    if (held === undefined) files.push({ ...listedFile(path, basename(path), statSync(path).size), name });
    else files.push(fileElsewhere(path, name, held));
  }
  const set = setOf(files, { accept, limits, links: 'refuse', places: spool.places });
  return {
    ...set,
    async *members() {
      for await (const member of set.members())
        yield isFile(member) ? member : { ...member, name: member.path };
    },
  };
}

/** No member of an archive: it has its name by itself. */
function isFile({ path, source }: InputMember): boolean {
  return source.elsewhere !== undefined || path === source.file;
}

/** XML is packed to an eighth of its size, or less. */
const packing = 8;

function isPacked(kind: ArchiveKind | null): boolean {
  return kind !== null && kind !== 'tar';
}

function setOf(files: readonly ListedFile[], walk: Walk): InputSet {
  return {
    fileCount: files.length,
    totalBytes: files.reduce((sum, file) => sum + file.bytes, 0),
    expectedBytes: files.reduce((sum, { bytes, named }) => sum + bytes * (isPacked(named) ? packing : 1), 0),
    members: () => walkFiles(files, walk),
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
  options: InputOptions,
): Promise<ListedFile[]> {
  const path = resolve(input);
  const { spool } = options;
  const one = spool?.get(path);
  if (one !== undefined) return [fileElsewhere(path, basename(path), one)];
  const facts = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EACCES') throw inputFault(error, path);
    return null;
  });
  if (facts?.isFile()) {
    options.named?.(input);
    return [listedFile(path, basename(path), facts.size)];
  }
  if (facts?.isDirectory()) {
    const entries = await readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
      throw inputFault(error, path);
    });
    const above = path.endsWith(sep) ? path : path + sep;
    const names: string[] = [];
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const { parentPath } = entry;
      const name =
        parentPath.length < above.length ? entry.name : join(parentPath.slice(above.length), entry.name);
      if (accept(name) || (archiveKind(name) !== null && !name.startsWith('.'))) names.push(name);
    }
    for (const held of spool?.below(above) ?? []) names.push(held.slice(above.length));
    const files: ListedFile[] = [];
    for (const name of names.toSorted()) {
      if (files.length % filesAtOnce === 0) await nextTurn();
      const file = above + name;
      const called = name.replaceAll('\\', '/');
      const held = spool?.get(file);
      if (held === undefined) files.push(listedFile(file, called, statSync(file).size));
      else files.push(fileElsewhere(file, called, held));
    }
    return files;
  }
  if (facts !== null)
    throw new AppError('input_not_found', `${input}: is neither a file nor a folder; - reads a pipe`);
  // what a job names was found before, its patterns included
  const pattern = links === 'follow' ? parsePathPattern(input) : null;
  if (pattern === null) return [];
  const files = new Map<string, ListedFile>();
  for await (const match of matchingFiles(pattern, resolve(pattern.folder)))
    for (const file of await expand(join(pattern.folder, match), accept, links, options))
      if (!files.has(file.path)) files.set(file.path, file);
  return [...files.values()];
}
