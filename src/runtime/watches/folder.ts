/** A folder as the location of a watch: of a disk of this machine, or of the store that the installation keeps its files in. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { AppError } from '../../errors.ts';
import type { FileStore, LocatedFile } from '../../ports/files/organisation-files.ts';
import type { MetObject } from '../../ports/stores/watches.ts';
import type { WatchedLocation, WatchedPlace } from '../../ports/watched-locations.ts';
import { nameTest } from '../../watches/names.ts';
import { LookLimit } from '../../watches/scheduler/look-limit.ts';
import { mostListed } from './looks.ts';

/** AppErrors of `FileStore.resolve`; `invalid_option` for a file. */
export async function openFolder(
  files: FileStore,
  { idOrg, location, pattern }: WatchedPlace,
  signal: AbortSignal,
): Promise<WatchedLocation> {
  const accept = nameTest(pattern);
  const place = await files.resolve(idOrg, location, false);
  // a store has folders only through their content: a folder that lost its last file is empty
  const isStored = place.startsWith('object:');
  const folder = isStored ? place : await files.resolve(idOrg, location, true);
  const facts = isStored ? null : await stat(folder, { bigint: true }).catch(told);
  return {
    fileSystem: facts === null ? null : String(facts.dev),
    async *objects() {
      let isEmpty = true;
      let count = 0;
      const onEntry = (): void => {
        count += 1;
        if (count > mostListed) throw new LookLimit(`it lists more than ${mostListed} files and folders`);
      };
      try {
        for await (const file of files.listFiles(folder, { accept, onEntry })) {
          isEmpty = false;
          if (file.location === folder)
            throw new AppError('invalid_option', 'it is a file: a watch looks at a folder');
          if (accept(file.name)) yield metObject(file);
        }
      } catch (error) {
        told(error);
      }
      // one that went meanwhile is not an empty one
      if (isEmpty && !isStored) await files.resolve(idOrg, location, true);
    },
    digest: (object) => digestOf(object).catch(told),
  };

  async function digestOf({ name }: MetObject): ReturnType<WatchedLocation['digest']> {
    const path = `${location.replace(/\/+$/, '')}/${name}`;
    const place = await files.resolve(idOrg, path, true).catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'input_not_found') return null;
      throw error;
    });
    const before = place === null ? null : await factsOf(files, place);
    if (place === null || before === null) return null;
    const body = await files.read(place).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EACCES' || error.code === 'EPERM')
        throw new AppError('unprocessable_input', 'the service may not read it');
      throw error;
    });
    if (body === null) return null;
    const hash = createHash('sha256');
    for await (const chunk of body) {
      signal.throwIfAborted();
      hash.update(chunk);
    }
    const after = await factsOf(files, place);
    if (after === null) return null;
    const isSame = after.version === before.version;
    // the bytes belong to neither version: the file is found again as a new one
    const version = isSame ? after.version : `${after.version} ${Date.now()}`;
    return { sha256: hash.digest('hex'), object: { ...metObject(after), name, version } };
  }
}

/** Translates a fault of the file system, which says nothing about the folder's content; it passes, or a person repairs it. */
function told(error: unknown): never {
  const { code } = error as { code?: unknown };
  if (error instanceof AppError || typeof code !== 'string' || !(error instanceof Error)) throw error;
  const why =
    code === 'EACCES' || code === 'EPERM'
      ? `the user that the service runs as has no right to all of it: give it that (${code})`
      : `it cannot be read now (${code})`;
  throw new AppError('service_unavailable', why, { cause: error });
}

async function factsOf(files: FileStore, place: string): Promise<LocatedFile | null> {
  for await (const file of files.listFiles(place)) return file.location === place ? file : null;
  return null;
}

function metObject({ name, version, bytes, modified }: LocatedFile): MetObject {
  return { name, version, bytes, modified };
}
