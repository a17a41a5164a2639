/** Follows references from a schema document that was named singly: relative references within its place, as for a file on a disk. */
import { mkdir, readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fixedLimits } from '../../config/limits.ts';
import { AppError } from '../../errors.ts';
import { createReferenceReader, isRelativeLocation } from '../../tools/inputs/schema-references.ts';

export interface SchemaPlace {
  /** Resolves a relative reference of the document. Returns null if it does not lead to this place. */
  resolve(key: string, location: string): string | null;
  /** Returns the name below the local folder, chosen so that references lead from one document to the other there. */
  nameOf(key: string): string;
  /** Downloads it and returns its size. AppError `input_not_found` if there is none. */
  download(key: string, to: string): Promise<number>;
}

/** documents that are asked for at the same time */
const atOnce = 16;

/** Schema names for buckets and servers: keys with slashes. */
export const keyedSchemas: Pick<SchemaPlace, 'resolve' | 'nameOf'> = {
  resolve(key, location) {
    const path = posix.join(posix.dirname(key), location);
    return path === '..' || path.startsWith('../') ? null : path;
  },
  nameOf: (key) => key.replace(/^\/+/, ''),
};

/** Schema names for the web: addresses of one host. */
export const addressedSchemas: Pick<SchemaPlace, 'resolve' | 'nameOf'> = {
  resolve(key, location) {
    const url = URL.canParse(location, key) ? new URL(location, key) : null;
    if (url === null || url.origin !== new URL(key).origin) return null;
    url.hash = '';
    return url.href;
  },
  nameOf(key) {
    const { pathname } = new URL(key);
    try {
      return decodeURIComponent(pathname.slice(1));
    } catch {
      // no UTF-8 escapes: names as written
      return pathname.slice(1);
    }
  },
};

/**
 * Downloads documents and all their references into the folder; returns their own paths. The compiler reports missing documents,
 * because it knows the line.
 */
export async function followSchemas(
  place: SchemaPlace,
  first: readonly string[],
  directory: string,
  {
    mostFiles,
    mostBytes = fixedLimits.xsdSetBytes,
  }: { readonly mostFiles: number; readonly mostBytes?: number },
): Promise<{ readonly paths: string[]; readonly files: number }> {
  const referencesIn = createReferenceReader();
  const known = new Set(first);
  const own = new Set(first);
  const pathOf = (key: string): string => join(directory, place.nameOf(key));
  let bytes = 0;
  let files = 0;

  async function bring(key: string): Promise<readonly string[]> {
    const to = pathOf(key);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    let received: number;
    try {
      received = await place.download(key, to);
    } catch (error) {
      if (own.has(key) || !(error instanceof AppError) || error.code !== 'input_not_found') throw error;
      return [];
    }
    files += 1;
    bytes += received;
    // more than a set may have: the reader of the set reports it
    if (bytes > mostBytes) return [];
    return referencesIn(new Uint8Array(await readFile(to))).flatMap(({ location }) => {
      const target = isRelativeLocation(location) ? place.resolve(key, location) : null;
      return target === null ? [] : [target];
    });
  }

  const waiting = [...first];
  while (waiting.length > 0) {
    const found = await Promise.all(waiting.splice(0, atOnce).map(bring));
    for (const key of found.flat()) {
      if (known.has(key)) continue;
      known.add(key);
      if (known.size > mostFiles)
        throw new AppError(
          'unprocessable_input',
          `${first[0]}: leads to more than ${mostFiles} schema documents; svc.limits.xsd_files allows no more files of an XSD set`,
        );
      waiting.push(key);
    }
  }
  return { paths: first.map(pathOf), files };
}
