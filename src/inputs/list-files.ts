/** Inputs of a tool: files, folders, patterns, archives and stdin, as a stream of members in a settled order. */
import { createWriteStream, statSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileFault } from '../storage/staging/durable-file.ts';
import { AppError } from '../errors.ts';
import { parsePathPattern } from '../service/files/path-pattern.ts';
import { archiveKind, type ArchiveKind, defaultArchiveLimits, type ArchiveLimits } from './archives/kinds.ts';
import { ExternalFiles, rootOf, type OnRefused } from './external-files.ts';
import type { FileSpool } from './file-spool.ts';
import {
  matchingFiles,
  fileElsewhere,
  filesAtOnce,
  listedFile,
  walkFiles,
  type ListedFile,
  type Walk,
} from './walk-files.ts';
import { inputFault, isMisnamed, mayBeMisnamed, type Links } from './open-file.ts';
import { keyOfSource, type InputMember } from './members.ts';
import { namedFiles, type MemberTest, type NameVerdict } from './document-names.ts';
import { passedOverByName } from './archives/members.ts';

export interface InputSet {
  /** files on disk, archives counted as one */
  readonly fileCount: number;
  readonly totalBytes: number;
  /** approximate size of the documents: the unpacked size of packed ones is known when they are read */
  readonly expectedBytes: number;
  /** can be walked again and again */
  members(): AsyncIterable<InputMember>;
  /** Counts of the members after they were walked to the end; before that, of those seen so far. */
  seen(): InputsSeen;
  /** removes the file that stdin was copied to */
  dispose(): Promise<void>;
}

/** Counts of documents among the inputs, and of files passed over. */
export interface InputsSeen {
  readonly read: number;
  readonly skipped: number;
  /** the first files passed over, with the reason */
  readonly examples: readonly { readonly name: string; readonly why: string }[];
}

/** number of passed-over files that are named */
export const namedExamples = 20;
const maxKeys = 10_000;

export interface InputOptions {
  /** called for each input that is a file; it may throw */
  readonly named?: (input: string) => void;
  /** called for parts of documents that are not read, such as a DTD elsewhere */
  readonly refused?: OnRefused;
  /** sources that are never documents, whatever they hold: see `Walk` */
  readonly except?: ReadonlySet<string>;
  /** called once, when the members have been walked to the end */
  readonly walked?: (seen: InputsSeen) => void;
  /** holds some of the files, at their paths */
  readonly spool?: FileSpool;
  /** keyed by path: the address that a file was fetched from, without its neighbours there */
  readonly fetchedAlone?: ReadonlyMap<string, string>;
}

/**
 * `choose` applies to files of folders and archives; a file that is named directly is accepted whatever its name and content, unless
 * `options.named` throws. AppError `input_not_found` if an input does not exist, `invalid_option` if it is nearly a pattern.
 */
export async function openInputs(
  inputs: readonly string[],
  choose: MemberTest | ((name: string) => boolean),
  limits: ArchiveLimits = defaultArchiveLimits,
  links: Links = 'follow',
  options: InputOptions = {},
): Promise<InputSet> {
  const test = typeof choose === 'function' ? namedFiles(choose) : choose;
  const files: ListedFile[] = [];
  const passedOver: PassedOver[] = [];
  const spools: string[] = [];
  for (const input of inputs) {
    if (input === '-') {
      const path = await spoolStdin();
      spools.push(dirname(path));
      files.push(listedFile(path, 'stdin.xml', statSync(path).size));
      continue;
    }
    const found = await expand(input, { test, links, options, passedOver });
    if (found.length === 0 && passedOver.length === 0) {
      throw new AppError(
        'input_not_found',
        `${input}: there is no such file, or nothing in it that this tool reads${describePath(input, links)}`,
      );
    }
    files.push(...found);
  }
  return {
    ...setOf(
      withAddresses(files, options.fetchedAlone),
      {
        test,
        limits,
        links,
        except: options.except,
        external: new ExternalFiles(links, limits, options.refused),
        places: options.spool?.places,
      },
      passedOver,
      options.walked,
    ),
    dispose: async () => {
      for (const spool of spools) await rm(spool, { recursive: true, force: true });
    },
  };
}

/**
 * Files that are known by path and name, in the order that they are given; `test` chooses among them by their content, and members of
 * archives, which have the name of their archive before their own: so a document says which file it is of. Links are refused.
 */
export async function openFiles(
  named: readonly { readonly name: string; readonly path: string }[],
  test: MemberTest,
  limits: ArchiveLimits,
  spool: FileSpool,
  {
    walked,
    except,
    refused,
    fetchedAlone,
  }: Pick<InputOptions, 'walked' | 'except' | 'refused' | 'fetchedAlone'> = {},
): Promise<InputSet> {
  const files: ListedFile[] = [];
  for (const { name, path } of named) {
    if (files.length % filesAtOnce === 0) await nextTurn();
    const held = spool.get(path);
    // the name on disk tells the type of the file
    if (held === undefined) {
      const trust = trustOf(test.byName(name.replace(/\.gz$/i, '')), name);
      const root = rootOf(path, name);
      files.push({ ...listedFile(path, basename(path), statSync(path).size, trust, root), name });
    } else files.push(fileElsewhere(path, name, held));
  }
  const external = new ExternalFiles('refuse', limits, refused);
  const walk: Walk = { test, limits, links: 'refuse', except, external, places: spool.places };
  // each file of a watch has a state of its own
  const listed = withAddresses(files, fetchedAlone);
  const set = setOf(listed, walk, [], walked, Math.max(namedExamples, files.length));
  return {
    ...set,
    async *members() {
      for await (const member of set.members())
        yield isFile(member) ? member : { ...member, name: member.path };
    },
  };
}

function withAddresses(
  files: readonly ListedFile[],
  addresses: InputOptions['fetchedAlone'],
): readonly ListedFile[] {
  if (addresses === undefined || addresses.size === 0) return files;
  return files.map((file) => {
    const address = addresses.get(file.path);
    return address === undefined ? file : { ...file, address };
  });
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

interface PassedOver {
  readonly name: string;
  readonly why: string;
}

/** The files that a walk has passed over: all of them are counted, only the first are named. */
class PassedOverFiles {
  count: number;
  readonly #most: number;
  readonly #first: (PassedOver & { readonly key: string | null })[];
  /** keys of files that may be parts of a document */
  readonly #keys = new Set<string>();

  constructor(before: readonly PassedOver[], most: number) {
    this.count = before.length;
    this.#most = most;
    this.#first = before.slice(0, most).map((one) => ({ ...one, key: null }));
  }

  add(one: PassedOver, key: string): void {
    this.count += 1;
    // few files are parts of others
    if (this.#keys.size < maxKeys) this.#keys.add(key);
    if (this.#first.length < this.#most) this.#first.push({ ...one, key });
  }

  /** Returns the counts without files that turned out to be parts of documents. */
  without(isRead: (key: string) => boolean): Pick<InputsSeen, 'skipped' | 'examples'> {
    const parts = [...this.#keys].filter(isRead).length;
    const examples = this.#first.filter(({ key }) => key === null || !isRead(key));
    return {
      skipped: this.count - parts,
      examples: examples.map(({ name, why }) => ({ name, why })),
    };
  }
}

function setOf(
  files: readonly ListedFile[],
  walk: Walk,
  before: readonly PassedOver[],
  walked: InputOptions['walked'] = () => undefined,
  most = namedExamples,
): InputSet {
  const external = walk.external ?? new ExternalFiles(walk.links, walk.limits);
  let last: { readonly read: number; readonly passedOver: PassedOverFiles } | null = null;
  let isWhole = false;
  const seen = (): InputsSeen => {
    const { read, passedOver } = last ?? { read: 0, passedOver: new PassedOverFiles(before, most) };
    return { read, ...passedOver.without((key) => external.isRead(key)) };
  };
  async function* members(): AsyncIterable<InputMember> {
    const passedOver = new PassedOverFiles(before, most);
    let read = 0;
    const onPassedOver = (name: string, why: string, key: string): void => passedOver.add({ name, why }, key);
    const note = (): void => void (last = { read, passedOver });
    try {
      for await (const member of walkFiles(files, { ...walk, external, onPassedOver })) {
        read += 1;
        yield member;
      }
      note();
      if (!isWhole) walked(seen());
      isWhole = true;
    } finally {
      if (!isWhole && read + passedOver.count >= (last?.read ?? 0) + (last?.passedOver.count ?? 0)) note();
    }
  }
  return {
    seen,
    fileCount: files.length,
    totalBytes: files.reduce((sum, file) => sum + file.bytes, 0),
    expectedBytes: files.reduce((sum, { bytes, named }) => sum + bytes * (isPacked(named) ? packing : 1), 0),
    members,
    dispose: () => Promise.resolve(),
  };
}

/** Describes what is at the path of an input. Returns '' for a job, whose paths are not the user's own. */
function describePath(input: string, links: Links): string {
  if (links === 'refuse') return '';
  if (statSync(resolve(input), { throwIfNoEntry: false })?.isDirectory() === true)
    return '; the folder is there: documents are files whose content begins as XML does, also as .gz, .zip, .tar, .tgz, and schemas are *.xsd';
  return parsePathPattern(input) === null
    ? `; the path searched was ${resolve(input)}`
    : `; no file below ${resolve('.')} matches the pattern`;
}

/** Copies stdin to a file in a folder of its own, and returns the file. */
async function spoolStdin(): Promise<string> {
  let spool: string | null = null;
  try {
    spool = await mkdtemp(join(tmpdir(), 'xml-input-'));
    const path = join(spool, 'stdin.xml');
    await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }));
    return path;
  } catch (error) {
    // on a disk that it has filled, it would stay
    if (spool !== null) await rm(spool, { recursive: true, force: true });
    throw fileFault(error, `${tmpdir()}, where stdin is stored during the run (TMPDIR)`);
  }
}

interface Expanding {
  readonly test: MemberTest;
  readonly links: Links;
  readonly options: InputOptions;
  /** receives the files that are passed over because of their name, or as a link */
  readonly passedOver: PassedOver[];
}

/**
 * Decides how far a name is trusted. An archive is searched for documents. The content of a `.gz` determines its type, unless its name
 * does.
 */
function trustOf(verdict: NameVerdict, name: string): ListedFile['trust'] {
  if (verdict === 'take') return 'found';
  const kind = archiveKind(name);
  return kind !== null && kind !== 'gz' ? 'found' : 'look';
}

/** Bytes of a file of a folder; null: its name is not UTF-8, so that it cannot be opened. AppErrors of `inputFault`. */
function sizeOf(file: string): number | null {
  try {
    return statSync(file).size;
  } catch (error) {
    if (mayBeMisnamed(file) && (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw inputFault(error, file);
  }
}

async function expand(input: string, expanding: Expanding): Promise<ListedFile[]> {
  const { test, links, options, passedOver } = expanding;
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
    const found = new Map<string, ListedFile['trust']>();
    for (const entry of entries) {
      if (!entry.isFile() && !entry.isSymbolicLink()) continue;
      const { parentPath } = entry;
      const name =
        parentPath.length < above.length ? entry.name : join(parentPath.slice(above.length), entry.name);
      const verdict = test.byName(name.replace(/\.gz$/i, ''));
      const isArchive = archiveKind(name) !== null && !name.startsWith('.');
      if (verdict === 'hide' && !isArchive) continue;
      if (options.except?.has(keyOfSource(above + name, null)) === true) continue;
      if (entry.isSymbolicLink()) passedOver.push({ name, why: 'is a link: name it by itself' });
      else if (verdict === 'skip') passedOver.push({ name, why: passedOverByName });
      else found.set(name, trustOf(verdict, name));
    }
    for (const [held, why] of spool?.passedOverBelow(above) ?? [])
      passedOver.push({ name: held.slice(above.length), why });
    for (const held of spool?.below(above) ?? []) found.set(held.slice(above.length), 'given');
    const files: ListedFile[] = [];
    for (const name of [...found.keys()].toSorted()) {
      if (files.length % filesAtOnce === 0) await nextTurn();
      const file = above + name;
      const called = name.replaceAll('\\', '/');
      const held = spool?.get(file);
      if (held === undefined) {
        const size = sizeOf(file);
        if (size === null) passedOver.push({ name, why: isMisnamed });
        else files.push(listedFile(file, called, size, found.get(name), path));
      } else files.push(fileElsewhere(file, called, held));
    }
    return files;
  }
  if (facts !== null)
    throw new AppError('input_not_found', `${input}: is neither a file nor a folder; - reads a pipe`);
  // the inputs of a job, including patterns, were resolved before
  const pattern = links === 'follow' ? parsePathPattern(input) : null;
  if (pattern === null) return [];
  const files = new Map<string, ListedFile>();
  for await (const match of matchingFiles(pattern, resolve(pattern.folder))) {
    const matched = await expand(join(pattern.folder, match), expanding);
    if (matched.length === 0 && mayBeMisnamed(match)) passedOver.push({ name: match, why: isMisnamed });
    for (const file of matched) if (!files.has(file.path)) files.set(file.path, file);
  }
  return [...files.values()];
}
