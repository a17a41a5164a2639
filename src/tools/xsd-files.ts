/** The files of an XSD set: all of a folder or archive, or one file and what it leads to. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, posix, relative, resolve, sep } from 'node:path';
import { InputError } from '../engine/diagnostics.ts';
import type { EngineLimits } from '../engine/limits.ts';
import type { CompileOptions } from '../engine/xsd/compile-xsd-set.ts';
import { parseXmlTree } from '../engine/xml/tree.ts';
import type { ToolRequest } from '../jobs/tool-request.ts';
import { fixedLimits } from '../limits.ts';
import type { NewOriginFile } from '../ports/catalog-store.ts';
import { defaultArchiveLimits, type ArchiveLimits } from './archive-members.ts';
import { openInputs } from './input-files.ts';

export interface XsdSetFiles {
  readonly files: { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> }[];
  readonly records: readonly NewOriginFile[];
  /** names of the files the set is entered by; undefined: those no other file leads to */
  readonly entries: readonly string[] | undefined;
  readonly bytes: number;
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
const xsNamespace = 'http://www.w3.org/2001/XMLSchema';
const references = new Set(['include', 'import', 'redefine', 'override']);

function tooLarge(file: string): InputError {
  const message = `the files of the XSD set have more than ${fixedLimits.xsdSetBytes} bytes together`;
  return new InputError({ code: 'xsd_size_limit', severity: 'error', message, file });
}

/**
 * `follow`: a file named by itself brings the files its relative schemaLocations lead to (tools by hand). The service reads
 * nothing but what was given to it.
 */
export async function readXsdSet(
  inputs: readonly string[],
  follow: boolean,
  limits: ArchiveLimits = defaultArchiveLimits,
): Promise<XsdSetFiles> {
  const set = await openInputs(inputs, isXsd, limits, follow ? 'follow' : 'refuse');
  let held = 0;
  const members: { name: string; path: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  try {
    for await (const member of set.members()) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of member.chunks()) {
        chunks.push(chunk);
        held += chunk.length;
        if (held > fixedLimits.xsdSetBytes) throw tooLarge(member.name);
      }
      members.push({ name: member.name, path: member.path, bytes: new Uint8Array(Buffer.concat(chunks)) });
    }
  } finally {
    await set.dispose();
  }
  const alone =
    follow && inputs.every((input) => input !== '-' && isXsd(input)) && members.length === inputs.length;
  if (!alone) return described(differentlyNamed(members, follow), undefined);
  const all = await followReferences(members);
  const paths = [...all.keys()];
  const top = commonFolder(paths);
  const nameOf = (path: string): string => relative(top, path).split(sep).join('/');
  const files = paths.map((path) => ({ name: nameOf(path), bytes: all.get(path)! }));
  return described(
    files,
    members.map((member) => nameOf(member.path)),
  );
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
      const places = new Set([other.path, member.path]);
      const where = withPaths && places.size > 1 ? ` (${[...places].join(' and ')})` : '';
      const message = `two files of the XSD set have this name, and differ${where}: keep one, or give both in folders of different names, as one archive or the folder above them`;
      throw new InputError({ code: 'xsd_name_twice', severity: 'error', message, file: member.name });
    }
  }
  return [...byName.values()];
}

async function followReferences(
  members: readonly { readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }[],
): Promise<Map<string, Uint8Array<ArrayBuffer>>> {
  const all = new Map(members.map((member) => [member.path, member.bytes]));
  for (const [path, bytes] of all) {
    for (const location of locationsIn(bytes)) {
      const target = resolve(dirname(path), location);
      if (all.has(target)) continue;
      const content = await readFile(target).catch(() => null);
      // the compiler reports what is missing, with its place
      if (content !== null) all.set(target, new Uint8Array(content));
    }
  }
  return all;
}

/** Relative schemaLocations of a schema document; none where it is not well-formed, which the compiler will say. */
function locationsIn(bytes: Uint8Array): string[] {
  try {
    return parseXmlTree(bytes).children.flatMap((child) => {
      if (
        typeof child === 'string' ||
        child.name.namespaceUri !== xsNamespace ||
        !references.has(child.name.localName)
      )
        return [];
      const location = child.attributes.find(({ name }) => name.localName === 'schemaLocation')?.value.trim();
      return location === undefined || location === '' || /^(?:[A-Za-z][A-Za-z0-9+.-]*:|[/\\])/.test(location)
        ? []
        : [location];
    });
  } catch {
    return [];
  }
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
): XsdSetFiles {
  return {
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
