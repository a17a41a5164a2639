/**
 * Files below a prefix of a store, by the addresses of their folder: like the files of an organisation, for callers that may use the
 * place.
 */
import type { FileStore, ObjectStore } from '../../ports/files.ts';

export interface BucketFilesOptions {
  readonly objects: ObjectStore;
  /** location of the folder: the prefix of all locations in it */
  readonly location: string;
  /** prefix of the keys in it: '' or ending in '/' */
  readonly prefix: string;
}

export function createBucketFiles({
  objects,
  location: root,
  prefix,
}: BucketFilesOptions): Pick<FileStore, 'listFiles' | 'read' | 'write' | 'discard'> {
  const keyOf = (location: string): string => prefix + location.slice(root.length + 1);
  return {
    async *listFiles(location) {
      const above = location === root ? prefix : `${keyOf(location)}/`;
      for await (const { key, ...facts } of objects.listObjects(above))
        yield { ...facts, name: key.slice(above.length), location: `${root}/${key.slice(prefix.length)}` };
    },
    read: (location, range) => objects.read(keyOf(location), range),
    write: (location, body) => objects.write(keyOf(location), body),
    discard: (location) => objects.removeObject(keyOf(location)),
  };
}
