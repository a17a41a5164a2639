/** The files of an XSD set: all of a folder or archive, or one file and what it leads to. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, posix, relative, resolve, sep } from 'node:path';
import { InputError } from '../../engine/diagnostics.ts';
import type { EngineLimits } from '../../engine/limits.ts';
import type { CompileOptions } from '../../engine/xsd/compile-set.ts';
import { AppError } from '../../errors.ts';
import type { ToolRequest } from '../../jobs/request/tool-request.ts';
import { fixedLimits } from '../../config/limits.ts';
import type { NewOriginFile } from '../../ports/stores/catalog.ts';
import { defaultArchiveLimits, type ArchiveLimits } from './archives/limits.ts';
import { openInputs } from './list-files.ts';
import type { Links } from './open-file.ts';
import { findCatalogs, foldersOf, mappedFile, mayBeCatalog, readCatalog } from './xsd-catalogs.ts';
import { createReferenceReader, isRelativeLocation, type SetReference } from './schema-references.ts';
import { sourceKey, type InputMember } from './members.ts';

export interface XsdSetFiles {
  readonly files: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }[];
  readonly records: readonly NewOriginFile[];
  /** names of the files the set is entered by; undefined: those no other file leads to */
  readonly entries: readonly string[] | undefined;
  readonly bytes: number;
  /** what of the inputs it was read from */
  readonly sources: ReadonlySet<string>;
}

/** Those of the inputs that hold XSDs, by their names. */
export async function holdingXsds(
  inputs: readonly string[],
  limits: ArchiveLimits,
  links: Links,
): Promise<readonly string[]> {
  const holding: string[] = [];
  for (const input of inputs)
    if (input !== '-' && (await holdsXsd(input, limits, links))) holding.push(input);
  return holding;
}

async function holdsXsd(input: string, limits: ArchiveLimits, links: Links): Promise<boolean> {
  try {
    const set = await openInputs([input], isXsd, limits, links);
    for await (const { name } of set.members()) if (isXsd(name)) return true;
    return false;
  } catch (error) {
    // what cannot be read is told when the documents are read
    if (error instanceof AppError || error instanceof InputError) return false;
    throw error;
  }
}

/** How a set is compiled: in a job as for the API, as both remember what came of it under one fingerprint. */
export function compileOptions(
  { entries }: Pick<XsdSetFiles, 'entries'>,
  { missing }: Pick<ToolRequest, 'missing'>,
  limits: EngineLimits,
): CompileOptions {
  return { missing, limits, ...(entries === undefined ? {} : { entries }) };
}

const isXsd = (name: string): boolean => /\.xsd$/i.test(name);

function tooLarge(file: string): InputError {
  const message = `the files of the XSD set have more than ${fixedLimits.xsdSetBytes} bytes together`;
  return new InputError({ code: 'xsd_size_limit', severity: 'error', message, file });
}

/**
 * `follow`: a file named by itself brings the files its relative schemaLocations lead to (tools by hand). The service reads
 * nothing but what was given to it. `among`: files of other names are none of the set's.
 */
export async function readXsdSet(
  inputs: readonly string[],
  follow: boolean,
  limits: ArchiveLimits = defaultArchiveLimits,
  among?: 'among documents',
): Promise<XsdSetFiles> {
  const candidates = new Set<string>();
  const accept = (name: string): boolean => {
    if (isXsd(name)) return true;
    if (mayBeCatalog(name)) candidates.add(name.replaceAll('\\', '/'));
    return mayBeCatalog(name);
  };
  const set = await openInputs(inputs, accept, limits, follow ? 'follow' : 'refuse');
  let held = 0;
  const sources = new Set<string>();
  const members: { name: string; path: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  const catalogs: { name: string; path: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  try {
    for await (const member of set.members()) {
      const { name, path } = member;
      if (among !== undefined && !isXsd(name) && !candidates.has(name)) continue;
      const bytes = candidates.has(name)
        ? await readCatalog(member.chunks())
        : await readMember(member, fixedLimits.xsdSetBytes - held);
      held += bytes?.length ?? 0;
      if (held > fixedLimits.xsdSetBytes) throw tooLarge(name);
      if (bytes === null) continue;
      (candidates.has(name) ? catalogs : members).push({ name, path, bytes });
      sources.add(sourceKey(member));
    }
  } finally {
    await set.dispose();
  }
  if (members.length === 0 && candidates.size > 0)
    throw new AppError('input_not_found', `${inputs.join(', ')}: there is no XSD file (*.xsd) in it`);
  const alone =
    follow && inputs.every((input) => input !== '-' && isXsd(input)) && members.length === inputs.length;
  if (!alone) return described(differentlyNamed([...members, ...catalogs], follow), undefined, sources);
  const all = await followReferences(members);
  const paths = [...all.keys()];
  const top = commonFolder(paths);
  const nameOf = (path: string): string => relative(top, path).split(sep).join('/');
  const files = paths.map((path) => ({ name: nameOf(path), bytes: all.get(path)! }));
  return described(
    files,
    members.map((member) => nameOf(member.path)),
    sources,
  );
}

async function readMember(member: InputMember, room: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of member.chunks()) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > room) throw tooLarge(member.name);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/**
 * References tell files by their names: of two that have one name and are the same file twice, one is left out; where they differ, nobody
 * can say which is meant.
 */
function differentlyNamed<
  T extends { readonly name: string; readonly path: string; readonly bytes: Uint8Array },
>(members: readonly T[], withPaths: boolean): readonly T[] {
  const byName = new Map<string, T>();
  for (const member of members) {
    const name = posix.normalize(member.name);
    const other = byName.get(name);
    if (other === undefined) byName.set(name, member);
    else if (Buffer.compare(other.bytes, member.bytes) !== 0) {
      const paths = new Set([other.path, member.path]);
      const where = withPaths && paths.size > 1 ? ` (${[...paths].join(' and ')})` : '';
      const message = `two files of the XSD set have this name, and differ${where}: keep one, or give both in folders of different names, as one archive or the folder above them`;
      throw new InputError({ code: 'xsd_name_twice', severity: 'error', message, file: member.name });
    }
  }
  return [...byName.values()];
}

/** The files that references lead to, by absolute path: relative ones, and what catalogs beside the files say of the others. */
async function followReferences(
  members: readonly { readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }[],
): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const all = new Map(members.map((member) => [member.path, member.bytes]));
  const referencesIn = createReferenceReader();
  const pending = [...all.keys()];
  const unmapped = new Set<SetReference>();
  let catalogs: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = new Map();
  const follow = async (path: string): Promise<boolean> => {
    if (all.has(path)) return true;
    const content = await readFile(path).catch(() => null);
    // the compiler reports what is missing, with its place
    if (content === null) return false;
    all.set(path, new Uint8Array(content));
    pending.push(path);
    return true;
  };
  while (pending.length > 0) {
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      for (const reference of referencesIn(all.get(path)!)) {
        const { location } = reference;
        if (!isRelativeLocation(location) || !(await follow(resolve(dirname(path), location))))
          unmapped.add(reference);
      }
    }
    if (unmapped.size === 0) break;
    // what is found by a catalog has references of its own
    const found = await findCatalogs(foldersOf(all.keys()));
    for (const reference of unmapped) {
      const target = mappedFile(found, reference);
      if (target === null || !(await follow(target))) continue;
      unmapped.delete(reference);
      catalogs = found.files;
    }
  }
  return new Map([...all, ...catalogs]);
}

function commonFolder(paths: readonly string[]): string {
  let folder = dirname(paths[0]!);
  while (!paths.every((path) => path.startsWith(folder === sep ? sep : folder + sep)))
    folder = dirname(folder);
  return folder;
}

function described(
  files: readonly { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }[],
  entries: readonly string[] | undefined,
  sources: ReadonlySet<string>,
): XsdSetFiles {
  return {
    sources,
    files: files.map(({ name, bytes }) => ({ name, bytes })),
    records: files.map(({ name, bytes }) => ({
      name,
      bytes: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      content: bytes,
      ...(entries === undefined ? {} : { entry: entries.includes(name) }),
    })),
    entries,
    bytes: files.reduce((sum, { bytes }) => sum + bytes.length, 0),
  };
}
